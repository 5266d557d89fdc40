"""Half duplex: what is covered while she speaks, and for how long after."""

import pytest

from audio.echo.half_duplex import HalfDuplex
from audio.pcm import AudioChunk
from tests.audio.ears_fakes import marked


def chunk(at: float) -> AudioChunk:
    return AudioChunk(marked(0), at)


@pytest.mark.shows("V4")
def test_what_was_recorded_while_she_spoke_or_just_after_is_covered() -> None:
    gate = HalfDuplex(lambda: 100.0, margin=0.3)
    assert [gate.covers(chunk(at)) for at in (99.0, 100.0, 100.29, 100.3, 101.0)] == [True, True, True, False, False]


def test_who_never_spoke_covers_nothing() -> None:
    gate = HalfDuplex(lambda: 0.0)
    assert not gate.covers(chunk(0.1))


def test_it_asks_for_each_chunk_anew() -> None:
    busy_until = [0.0, 50.0, 50.0]
    gate = HalfDuplex(lambda: busy_until.pop(0))
    assert [gate.covers(chunk(at)) for at in (49.0, 49.1, 60.0)] == [False, True, False]
