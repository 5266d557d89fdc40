import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audio.pcm import Samples
from audio.playback.ring import SampleRing

CAPACITY = 16


def read(ring: SampleRing, count: int) -> tuple[list[int], int]:
    out: Samples = np.full(count, -7, np.int16)
    given = ring.read(out)
    return out.tolist(), given


def test_what_was_written_is_read_in_order_and_then_silence() -> None:
    ring = SampleRing(4)

    assert ring.write(np.array([1, 2, 3], np.int16)) == 3
    assert read(ring, 2) == ([1, 2], 2)
    assert read(ring, 3) == ([3, 0, 0], 1)
    assert read(ring, 1) == ([0], 0)


def test_only_what_fits_is_taken() -> None:
    ring = SampleRing(4)

    assert ring.write(np.arange(1, 7, dtype=np.int16)) == 4
    assert ring.write(np.array([9], np.int16)) == 0
    assert (ring.waiting, ring.room) == (4, 0)
    assert read(ring, 4) == ([1, 2, 3, 4], 4)


def test_what_was_dropped_is_never_read_and_what_comes_after_is() -> None:
    ring = SampleRing(8)
    ring.write(np.array([1, 2, 3, 4], np.int16))
    read(ring, 1)

    assert ring.drop() == 3
    assert ring.drop() == 0
    ring.write(np.array([5, 6], np.int16))

    assert ring.waiting == 2
    assert read(ring, 3) == ([5, 6, 0], 2)


@given(st.lists(st.tuples(st.sampled_from(["write", "read", "drop"]), st.integers(0, 20)), max_size=60))
def test_it_behaves_like_a_list(steps: list[tuple[str, int]]) -> None:
    ring, model, next_value = SampleRing(CAPACITY), list[int](), 1

    for step, count in steps:
        if step == "write":
            values = list(range(next_value, next_value + count))
            taken = ring.write(np.array(values, np.int16))
            assert taken <= CAPACITY - len(model)
            model += values[:taken]
            next_value += count
        elif step == "drop":
            assert ring.drop() == len(model)
            model.clear()
        else:
            expected = model[:count]
            del model[:count]
            assert read(ring, count) == (expected + [0] * (count - len(expected)), len(expected))
        assert ring.waiting == len(model)


def test_two_threads_lose_and_double_nothing() -> None:
    ring, total = SampleRing(64), 5_000
    heard: list[int] = []

    def listen() -> None:
        out = np.zeros(17, np.int16)
        while len(heard) < total:
            heard.extend(out[: ring.read(out)].tolist())

    listener = threading.Thread(target=listen)
    listener.start()
    sound = (np.arange(total) + 1).astype(np.int16)
    written = 0
    while written < total:
        written += ring.write(sound[written : written + 23])
    listener.join()

    assert heard == sound.tolist()
