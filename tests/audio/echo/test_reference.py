"""What is played, asked for by time; and chunks cut to frames and joined again."""

import threading

import numpy as np
import pytest

from audio.echo.canceller import REFRAMING_SAMPLES, Reframer
from audio.echo.reference import KEPT_SECONDS, MOST_BUFFERS, PlayedReference
from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE, AudioChunk, Samples
from tests.audio.echo_room import joined

BEGAN = 500.0


def tone(seconds: float, rate: int = SAMPLE_RATE, hertz: float = 440.0) -> Samples:
    return (8000 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(np.int16)


def fed(
    samples: Samples, rate: int = SAMPLE_RATE, *, late: float = 0.0, ppm: float = 0.0, block: float = 0.02
) -> PlayedReference:
    """Return a reference that was told of the samples block by block, each up to `late` seconds late."""
    reference = PlayedReference()
    lateness = np.random.default_rng(0).uniform(0.0, late, len(samples))
    size = round(block * rate)
    for number, start in enumerate(range(0, len(samples), size)):
        at = BEGAN + start / (rate * (1 + ppm * 1e-6)) + lateness[number]
        reference.take(samples[start : start + size], rate, at)
    return reference


def read(reference: PlayedReference, start: float, seconds: float, lateness: float = 0.0) -> Samples:
    """Return what is read frame by frame from `start` seconds after the beginning."""
    late = np.random.default_rng(1).uniform(0.0, lateness, round(seconds * 100))
    return np.concatenate([reference.read(BEGAN + start + n / 100 + late[n], 160) for n in range(len(late))])


@pytest.mark.shows("V4")
@pytest.mark.parametrize("rate", [16_000, 24_000, 44_100, 48_000])
def test_every_sample_is_found_at_the_time_at_which_it_was_heard(rate: int) -> None:
    reference = fed(tone(2.0, rate), rate)
    wanted = tone(2.0)[SAMPLE_RATE // 2 : SAMPLE_RATE * 3 // 2].astype(float)
    found = read(reference, 0.5, 1.0).astype(float)
    assert np.sqrt(np.mean((found - wanted) ** 2)) < 0.03 * np.sqrt(np.mean(wanted**2))


@pytest.mark.shows("V4")
def test_before_the_first_sample_and_after_the_last_there_is_silence() -> None:
    assert not np.any(PlayedReference().read(BEGAN, 160))
    reference = fed(tone(1.0))
    assert not np.any(reference.read(BEGAN - 1.0, 160))
    assert not np.any(reference.read(BEGAN + 1.5, 160))
    assert np.any(reference.read(BEGAN + 0.5, 160))


def test_what_is_older_than_it_keeps_is_silence() -> None:
    reference = fed(tone(KEPT_SECONDS + 1.0))
    assert not np.any(reference.read(BEGAN + 0.5, 160))
    assert np.any(reference.read(BEGAN + 1.5, 160))


@pytest.mark.shows("V4")
def test_the_jitter_of_both_sides_is_not_heard_as_a_wobble() -> None:
    """Each block and each frame is told up to 10 ms late; a seam or a jump would show as a click in the tone."""
    found = read(fed(tone(3.0), late=0.01), 0.1, 2.8, lateness=0.01).astype(float)
    steepest = 8000 * 2 * np.pi * 440 / SAMPLE_RATE
    assert np.abs(np.diff(found)).max() < 1.02 * steepest


@pytest.mark.shows("V4")
@pytest.mark.parametrize("ppm", [-100.0, 100.0])
def test_drift_is_followed_for_as_long_as_it_lasts(ppm: float) -> None:
    """After 60 s the two clocks are 6 ms apart: a reader that only counts samples would be 96 of them off."""
    rate, reference = SAMPLE_RATE, PlayedReference()
    pulse = np.zeros(rate, np.int16)
    pulse[rate // 2] = 16_000
    worst = 0.0
    for second in range(60):
        for start in range(0, rate, 320):
            at = BEGAN + (second * rate + start) / (rate * (1 + ppm * 1e-6))
            reference.take(pulse[start : start + 320], rate, at)
        if second == 0:
            continue
        found = read(reference, second - 1, 1.0)
        true = (second - 0.5) / (1 + ppm * 1e-6) - (second - 1)
        worst = max(worst, abs(int(np.argmax(found)) / rate - true))
    assert worst < 0.0015


@pytest.mark.shows("V4", "V3")
def test_a_player_that_was_gone_for_a_while_is_paired_again_by_its_times() -> None:
    reference = fed(tone(1.0))
    before = read(reference, 0.4, 0.5)
    for start in range(0, SAMPLE_RATE, 320):
        reference.take(tone(1.0, hertz=880)[start : start + 320], SAMPLE_RATE, BEGAN + 1.7 + start / SAMPLE_RATE)
    gap, after = read(reference, 1.05, 0.6), read(reference, 1.8, 0.5)
    assert not np.any(gap)
    assert [_hertz(each) for each in (before, after)] == [440, 880]


@pytest.mark.shows("V4")
def test_a_stall_is_a_jump_in_the_midst_of_sound() -> None:
    reference = PlayedReference()
    for at, sound in ((0.0, True), (0.5, True), (1.3, True), (1.8, False), (2.6, False), (3.4, True)):
        reference.take(tone(0.5) if sound else np.zeros(SAMPLE_RATE // 2, np.int16), SAMPLE_RATE, BEGAN + at)
        reference.read(BEGAN + at, 160)
    assert reference.stalls == 1, "between the second and the third; where nothing sounds nobody is misled"


def test_what_a_stop_dropped_is_not_in_it_because_it_was_never_told() -> None:
    reference = fed(np.concatenate([tone(0.5), np.zeros(8000, np.int16)]))
    assert np.any(reference.read(BEGAN + 0.4, 160))
    assert not np.any(reference.read(BEGAN + 0.6, 160))


def test_the_sound_cards_thread_never_waits_and_its_buffer_is_copied() -> None:
    reference, buffer = PlayedReference(), tone(0.02)
    done = threading.Event()

    def card() -> None:
        for number in range(3 * MOST_BUFFERS):
            reference.take(buffer, SAMPLE_RATE, BEGAN + number * 0.02)
        done.set()

    thread = threading.Thread(target=card)
    thread.start()
    thread.join(30)
    buffer[:] = 0
    assert done.is_set()
    assert np.any(reference.read(BEGAN + (3 * MOST_BUFFERS - 10) * 0.02, 160))
    assert not np.any(reference.read(BEGAN + 1.0, 160)), "the oldest is dropped"


def test_another_sample_rate_in_the_middle_is_the_same_sound() -> None:
    reference = fed(tone(1.0, 24_000), 24_000)
    for start in range(0, 48_000, 960):
        reference.take(tone(1.0, 48_000)[start : start + 960], 48_000, BEGAN + 1.0 + start / 48_000)
    assert [_hertz(read(reference, at, 0.5)) for at in (0.2, 1.2)] == [440, 440]


def _hertz(samples: Samples) -> int:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return round(int(np.argmax(spectrum)) * SAMPLE_RATE / len(samples))


def test_frames_are_ten_milliseconds_and_chunks_come_back_whole_a_quarter_chunk_later() -> None:
    samples = np.arange(20 * CHUNK_SAMPLES).astype(np.int16)
    reframer, out = Reframer(), []
    for number in range(20):
        start = number * CHUNK_SAMPLES
        chunk = AudioChunk(samples[start : start + CHUNK_SAMPLES], BEGAN + start / SAMPLE_RATE)
        frames, at = reframer.cut(chunk)
        assert frames.shape[1] == 160
        assert at == pytest.approx(BEGAN + int(frames[0, 0]) / SAMPLE_RATE)
        out.append(AudioChunk(reframer.join(frames), 0.0))
        assert len(out[-1].samples) == CHUNK_SAMPLES
    assert np.array_equal(joined(out)[REFRAMING_SAMPLES:], samples[:-REFRAMING_SAMPLES])
