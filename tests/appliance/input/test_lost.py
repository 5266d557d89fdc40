"""Words that a recognizer lost end in a sign for no, ever less often while none are recognized."""

import asyncio
from dataclasses import dataclass, field

import pytest

from appliance.input.lost import LONGEST_REST, NOT_AGAIN_WITHIN, LostTurns
from audio.speech import SpeechStarted
from audio.turns.endpointer import Endpointer, EndpointerSettings
from audio.turns.listener import FAILED, TOO_SHORT, TOO_SLOW, Listener
from tests.audio.ears_fakes import FAILED as STUMBLES
from tests.audio.ears_fakes import Intake, ScriptedDetector, ScriptedRecognizer, ScriptedSource, unasked
from tests.audio.heard import heard


@dataclass
class Room:
    """Somebody who speaks, at times of one clock, and the signs that are heard."""

    now: float = 100.0
    is_addressed: bool = True
    spans: list[tuple[float, float]] = field(default_factory=list)
    signs: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lost = LostTurns(self.give, self.is_for_her, lambda: self.now)

    async def give(self) -> None:
        self.signs.append(self.now)

    def is_for_her(self, began: float, ended: float) -> bool:
        self.spans.append((began, ended))
        return self.is_addressed

    async def speak(self, reason: str, after: float = 0.0) -> bool:
        """Let a turn be lost for a reason; return whether a sign was heard of it."""
        before = len(self.signs)
        self.now += after
        self.lost.speech_started(SpeechStarted(self.now - 1.0, unasked))
        self.lost.turn_ended(None, reason)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(self.lost.run())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            running.cancel()
        return len(self.signs) > before


@pytest.mark.shows("V11")
@pytest.mark.parametrize(("reason", "is_lost"), [(FAILED, True), (TOO_SLOW, True), (TOO_SHORT, False)])
async def test_what_was_lost_is_signed_and_what_was_no_speech_is_not(reason: str, is_lost: bool) -> None:
    assert await Room().speak(reason) is is_lost


async def test_words_that_were_recognized_need_no_sign_whatever_became_of_them() -> None:
    room = Room()
    room.lost.turn_ended(heard("what time is it", 98.0, 99.0), "not addressed to nakari")
    room.lost.turn_ended(heard("what time is it", 98.0, 99.0), "")
    assert room.spans == []


async def test_with_a_wake_word_only_words_for_her_are_signed() -> None:
    room = Room(is_addressed=False)
    assert not await room.speak(FAILED)
    assert room.spans == [(99.0, 100.0)]
    room.is_addressed = True
    assert await room.speak(FAILED), "what was not for her does not use up the sign"


async def test_a_recognizer_that_stays_broken_is_signed_ever_less_often() -> None:
    room = Room()
    for _ in range(2000):
        await room.speak(FAILED, after=10.0)
    gaps = [later - earlier for earlier, later in zip(room.signs, room.signs[1:], strict=False)]
    assert gaps[0] >= NOT_AGAIN_WITHIN
    assert gaps == sorted(gaps)
    assert gaps[-1] == pytest.approx(LONGEST_REST, abs=10.0)


async def test_once_words_are_recognized_the_next_loss_is_signed_at_once() -> None:
    room = Room()
    assert await room.speak(FAILED)
    assert not await room.speak(FAILED, after=1.0)
    room.lost.turn_ended(heard("what time is it", 98.0, 99.0), "")
    assert await room.speak(FAILED, after=1.0)


async def test_the_ears_tell_of_a_recognizer_that_stumbled() -> None:
    pattern = "." * 40 + "#" * 10 + "." * 40
    room, intake = Room(), Intake()
    source, recognizer = ScriptedSource(pattern), ScriptedRecognizer([STUMBLES, STUMBLES])
    ears = Listener(source, ScriptedDetector(pattern), Endpointer(EndpointerSettings()), recognizer, intake)
    ears.observe(room.lost)
    async with asyncio.TaskGroup() as group:
        signing = group.create_task(room.lost.run())
        listening = group.create_task(ears.listen())
        await ears.recognize()
        await listening
        await asyncio.sleep(0)
        signing.cancel()
    assert len(room.signs) == 1
    assert intake.heard == []
