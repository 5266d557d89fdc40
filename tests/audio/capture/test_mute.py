"""Mute: what is said while it is on reaches nobody, from one chunk to the next."""

import numpy as np
import pytest

from audio.capture.mute import MUTED, Mute, MutedSource
from audio.pcm import AudioChunk
from audio.speech import RecognizedTurn, Transcript, Utterance
from tests.audio.ears_fakes import ScriptedSource


@pytest.mark.shows("V29")
async def test_it_holds_from_the_next_chunk_on_and_time_goes_on() -> None:
    mute = Mute()
    inner = ScriptedSource("#" * 6)
    source = MutedSource(inner, mute)
    seen, times = [], []
    async for chunk in source.chunks():
        seen.append(bool(np.any(chunk.samples)))
        times.append(chunk.started_at)
        mute.is_on = len(seen) in {2, 3}
    plain = [chunk async for chunk in ScriptedSource("#" * 6).chunks()]
    audible = [bool(np.any(chunk.samples)) for chunk in plain]
    assert seen == [audible[0], audible[1], False, False, audible[4], audible[5]]
    assert any(seen)
    assert times == [inner.at(number) for number in range(6)]
    assert mute.dropped_chunks == 2


@pytest.mark.shows("V15", "V29")
async def test_while_it_is_on_one_watcher_alone_is_shown_the_sound_and_nothing_from_before() -> None:
    mute, shown = Mute(), list[tuple[float, bool, bool]]()
    inner = ScriptedSource("#" * 7)

    def wake(chunk: AudioChunk, probability: float, covered: bool) -> None:
        shown.append((chunk.started_at, bool(np.any(chunk.samples)), covered))

    seen = []
    async for chunk in MutedSource(inner, mute, wake).chunks():
        seen.append(bool(np.any(chunk.samples)))
        mute.is_on = len(seen) in {1, 2, 3, 5}
    assert seen == [True, False, False, False, True, False, True]
    assert shown == [(inner.at(number), True, number in {1, 5}) for number in (1, 2, 3, 5)]


async def test_a_box_may_start_muted() -> None:
    source = MutedSource(ScriptedSource("##"), Mute(is_on=True))
    assert not [chunk async for chunk in source.chunks() if np.any(chunk.samples)]
    assert source.name
    assert source.dropped_chunks == 0


@pytest.mark.shows("V29")
def test_a_turn_that_was_open_when_it_was_muted_reaches_nobody() -> None:
    turn = RecognizedTurn(
        Utterance(np.zeros(160, np.int16), 1.0, 2.0, 3.0, 1.0), Transcript("psst", "en", "scripted"), 3.1
    )
    mute = Mute()
    assert mute.guard(turn) == ""
    mute.is_on = True
    assert mute.guard(turn) == MUTED
