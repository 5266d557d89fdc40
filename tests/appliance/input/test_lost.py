"""Words that were lost, and speech whose words were not understood, end in a sign, ever less often while it goes on."""

import asyncio
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from appliance.input.not_understood import LONGEST_REST, LOST_NOT_AGAIN_WITHIN, UNCLEAR_NOT_AGAIN_WITHIN, Unanswered
from audio.capture.mute import MUTED
from audio.playback.earcons import Sign
from audio.playback.speech_output import SpokenSentence
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.endpointer import Endpointer
from audio.turns.evidence import REFUSED
from audio.turns.listener import FAILED, NO_WORDS, REFLEX, TOO_SHORT, TOO_SLOW, Listener
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
    meant: list[Sign] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lost = Unanswered(self.give, self.say, self.is_for_it, "en", lambda: self.now)

    async def say(self, sentence: SpokenSentence) -> None:
        raise AssertionError("it was understood that nothing was understood")

    async def give(self, meaning: Sign) -> None:
        self.signs.append(self.now)
        self.meant.append(meaning)

    def is_for_it(self, began: float, ended: float) -> bool:
        self.spans.append((began, ended))
        return self.is_addressed

    async def speak(self, reason: str, after: float = 0.0) -> bool:
        """Let a turn be lost for a reason; return whether a sign was heard of it."""
        self.now += after
        self.lost.speech_started(SpeechStarted(self.now - 1.0, unasked))
        return await self.ends(None, reason)

    async def mumble(self, reason: str, after: float = 0.0, **sound: float) -> bool:
        """Let two seconds of clear speech (or what is said of it) be held back; return whether a sign was heard."""
        self.now += after
        turn = heard("xyzzy", self.now - 2.5, self.now - 0.5)
        sounds = replace(turn.utterance, **{"probability": 0.95} | sound)
        return await self.ends(replace(turn, utterance=sounds), reason)

    async def ends(self, turn: RecognizedTurn | None, reason: str) -> bool:
        before = len(self.signs)
        self.lost.turn_ended(turn, reason)
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


async def test_with_a_wake_word_only_words_for_it_are_signed() -> None:
    room = Room(is_addressed=False)
    assert not await room.speak(FAILED)
    assert room.spans == [(99.0, 100.0)]
    room.is_addressed = True
    assert await room.speak(FAILED), "what was not for it does not use up the sign"


async def test_a_recognizer_that_stays_broken_is_signed_ever_less_often() -> None:
    room = Room()
    for _ in range(2000):
        await room.speak(FAILED, after=10.0)
    gaps = [later - earlier for earlier, later in zip(room.signs, room.signs[1:], strict=False)]
    assert gaps[0] >= LOST_NOT_AGAIN_WITHIN
    assert gaps == sorted(gaps)
    assert gaps[-1] == pytest.approx(LONGEST_REST, abs=10.0)


async def test_once_words_are_recognized_the_next_loss_is_signed_at_once() -> None:
    room = Room()
    assert await room.speak(FAILED)
    assert not await room.speak(FAILED, after=1.0)
    room.lost.turn_ended(heard("what time is it", 98.0, 99.0), "")
    assert await room.speak(FAILED, after=1.0)


UNCLEAR = f"{REFUSED}: unlikely words, no speech to the recognizer"


@pytest.mark.shows("V11", "V12")
async def test_speech_that_was_heard_and_not_understood_is_signed_as_that() -> None:
    for reason in (UNCLEAR, NO_WORDS):
        room = Room()
        assert await room.mumble(reason)
        assert room.meant == ["unclear"]


@pytest.mark.shows("V11")
@pytest.mark.parametrize(
    "sound", [{"probability": 0.7}, {"speech_seconds": 0.6}, {"echo_suspicion": 0.5}], ids=["noise", "short", "echo"]
)
async def test_what_sounds_like_noise_or_its_own_voice_is_not(sound: dict[str, float]) -> None:
    assert not await Room().mumble(UNCLEAR, **sound)


@pytest.mark.shows("V11")
@pytest.mark.parametrize("reason", ["", REFLEX, MUTED, "not addressed to nakari", "its own words"])
async def test_what_was_taken_up_or_held_back_for_another_reason_is_not(reason: str) -> None:
    assert not await Room().mumble(reason)


@pytest.mark.shows("V11")
async def test_that_sign_comes_once_a_minute_at_most_and_ever_less_often_beside_a_television() -> None:
    room = Room()
    for _ in range(2000):
        await room.mumble(UNCLEAR, after=10.0)
        room.lost.turn_ended(heard("what time is it", room.now, room.now + 1.0), "")
    gaps = [later - earlier for earlier, later in zip(room.signs, room.signs[1:], strict=False)]
    assert gaps[0] >= UNCLEAR_NOT_AGAIN_WITHIN
    assert gaps == sorted(gaps)
    assert not await room.mumble(UNCLEAR)
    assert await room.mumble(UNCLEAR, after=2 * LONGEST_REST)
    assert await room.mumble(UNCLEAR, after=2 * UNCLEAR_NOT_AGAIN_WITHIN), "it has been quiet: as at the first time"


async def test_the_ears_tell_of_a_recognizer_that_stumbled() -> None:
    pattern = "." * 40 + "#" * 10 + "." * 40
    room, intake = Room(), Intake()
    source, recognizer = ScriptedSource(pattern), ScriptedRecognizer([STUMBLES, STUMBLES])
    ears = Listener(source, ScriptedDetector(pattern), Endpointer(), recognizer, intake)
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
