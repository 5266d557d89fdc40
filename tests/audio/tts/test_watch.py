"""What every voice owes whoever listens."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterable

import numpy as np
import pytest

from audio.interfaces import Synthesizer
from audio.speech import SpeechAudio
from audio.tts.chain import VoiceChain, watched
from tests.audio.mouth_fakes import Outcome, ScriptedVoice, listen

RATE = 1000
TEXT = "Tea is hot."


class Pieces(Synthesizer):
    """A voice of pieces of sound: (seconds, level); with None it waits for ever."""

    name = "pieces"
    sends_to = ()

    def __init__(self, pieces: Iterable[tuple[float, int] | None]) -> None:
        self._pieces = pieces
        self.is_closed = False

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        try:
            for piece in self._pieces:
                if piece is None:
                    await asyncio.Event().wait()
                else:
                    yield SpeechAudio(np.full(round(piece[0] * RATE), piece[1], np.int16), RATE)
        finally:
            self.is_closed = True


async def heard(*pieces: tuple[float, int] | None) -> Outcome:
    voice = Pieces(pieces)
    outcome = await listen(watched(voice, TEXT, "en", 0.05, 0.05))
    assert voice.is_closed
    return outcome


async def test_what_is_whole_is_heard_whole_its_silences_included() -> None:
    outcome = await heard((0.2, 0), (0.1, 1), (0.2, 0), (0.3, 2), (0.1, 0))
    assert (outcome.failure, len(outcome.samples)) == ("", 900)


async def test_nothing_is_heard_of_a_voice_that_is_late_after_a_little() -> None:
    outcome = await heard((0.2, 1), None)
    assert (outcome.failure, outcome.pieces) == ("pieces: no sound within 0.1 s", [])


@pytest.mark.shows("F27", "V19")
async def test_silence_is_no_sound() -> None:
    """A server that failed may send a second of zeros."""
    assert (await heard((1.0, 0), None)).pieces == []
    outcome = await heard((1.0, 0))
    assert (outcome.failure, outcome.pieces) == ("pieces: nothing but silence", [])
    assert (await heard()).failure == "pieces: no sound"


@pytest.mark.shows("F27", "V19")
async def test_a_voice_that_stops_in_the_middle_is_not_waited_for() -> None:
    outcome = await heard((0.5, 1), (0.5, 2), None)
    assert (outcome.failure, outcome.seconds) == ("pieces: no further sound within 0.1 s", 1.0)


async def test_time_that_the_listener_takes_is_not_the_voices() -> None:
    voice = Pieces([(0.5, 1), (0.5, 2), (0.5, 3)])
    pieces = []
    async for piece in watched(voice, TEXT, "en", 0.05, 0.05):
        pieces.append(piece)
        threading.Event().wait(0.08)  # longer than the voice has
    assert len(pieces) == 3


@pytest.mark.shows("F27")
async def test_a_sentence_without_an_end_is_ended() -> None:
    outcome = await heard(*[(1.0, 1)] * 1000)
    assert outcome.failure.startswith("pieces: the sentence has no end (")
    assert 10 < outcome.seconds < 20


@pytest.mark.shows("V19")
async def test_in_a_chain_the_next_voice_takes_over_from_one_that_stalls() -> None:
    stalled, whole = Pieces([(0.5, 1), None]), ScriptedVoice("second", level=5000)
    outcome = await listen(VoiceChain([stalled, whole], stall_deadline=0.05).speak(TEXT, "en"))
    assert (outcome.failure, whole.asked) == ("", [(TEXT, "en")])
