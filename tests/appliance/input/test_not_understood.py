"""Speech that was not understood reaches nobody, and is told now and then in the language of the house."""

import asyncio
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from appliance.input.not_understood import (
    CLEAR_AFTER,
    FORGOTTEN_AFTER,
    LEAST_IN_ANOTHER_LANGUAGE,
    LEAST_UNDERSTOOD,
    LONGEST_UNTOLD,
    NOT_UNDERSTOOD,
    TOLD_NOT_AGAIN_WITHIN,
    UNCLEAR_NOT_AGAIN_WITHIN,
    Unanswered,
    understood_guard,
)
from audio.playback.earcons import Sign
from audio.playback.speech_output import SpokenSentence
from audio.speech import RecognizedTurn, Transcript
from audio.turns.evidence import REFUSED
from tests.audio.heard import heard

pytestmark = pytest.mark.shows("V12")


def understood(probability: float | None, seconds: float = 2.0) -> RecognizedTurn:
    evidence = {} if probability is None else {"understood": probability}
    return replace(heard("", 0.0, seconds), transcript=Transcript("the the", "en", "pocketsphinx", "low", evidence))


@pytest.mark.parametrize(
    ("language", "probability", "reason"),
    [
        *(("en", 0.0, NOT_UNDERSTOOD), ("en", LEAST_UNDERSTOOD, ""), ("en", 1.0, ""), ("zh", None, "")),
        *(("zh", LEAST_UNDERSTOOD, NOT_UNDERSTOOD), ("zh", LEAST_IN_ANOTHER_LANGUAGE, "")),
        *(("auto", LEAST_UNDERSTOOD, ""), ("auto", 0.0, NOT_UNDERSTOOD)),
    ],
)
def test_only_what_a_recognizer_says_it_did_not_understand_is_held_back(
    language: str, probability: float | None, reason: str
) -> None:
    assert understood_guard(language)(understood(probability)) == reason


@dataclass
class Room:
    """Somebody who speaks, at times of one clock, and what is said to them."""

    language: str = "en"
    now: float = 100.0
    said: list[SpokenSentence] = field(default_factory=list)
    signs: int = 0

    def __post_init__(self) -> None:
        self.follower = Unanswered(self.give, self.say, lambda began, ended: True, self.language, lambda: self.now)

    async def say(self, sentence: SpokenSentence) -> None:
        self.said.append(sentence)

    async def give(self, sign: Sign) -> None:
        assert sign == "unclear"
        self.signs += 1

    async def speak(self, reason: str = NOT_UNDERSTOOD, after: float = 0.0, seconds: float = 2.0) -> bool:
        """End a turn of clear speech for a reason; return whether anything was said of it."""
        before = len(self.said)
        self.now += after
        turn = understood(0.0, seconds)
        self.follower.turn_ended(replace(turn, utterance=replace(turn.utterance, probability=0.95)), reason)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(self.follower.run())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            running.cancel()
        return len(self.said) > before


async def test_it_is_told_at_most_now_and_then() -> None:
    room = Room()
    assert await room.speak()
    assert not await room.speak(after=TOLD_NOT_AGAIN_WITHIN - 1)
    assert await room.speak(after=1)
    assert not await room.speak(after=2 * TOLD_NOT_AGAIN_WITHIN - 1)
    assert await room.speak(after=LONGEST_UNTOLD)
    assert await room.speak(after=LONGEST_UNTOLD + FORGOTTEN_AFTER)
    assert not await room.speak(after=TOLD_NOT_AGAIN_WITHIN - 1)
    assert await room.speak(after=1)


async def test_meanwhile_a_sign_stands_for_it_once_a_minute_at_most_and_ever_less_often() -> None:
    room, within = Room(), UNCLEAR_NOT_AGAIN_WITHIN
    assert await room.speak()
    signs = []
    for after in (1.0, within - 1, 1.0, 2 * within, CLEAR_AFTER + 4 * within):
        await room.speak(after=after)
        room.follower.turn_ended(understood(1.0), "")
        signs.append(room.signs)
    assert signs == [1, 1, 2, 3, 3], "after a while without any it is told in words again"


async def test_that_sign_and_the_one_for_refused_words_share_one_rest() -> None:
    room, refused = Room(), f"{REFUSED}: unlikely words"
    assert await room.speak()
    assert not await room.speak(after=1.0)
    assert room.signs == 1
    await room.speak(refused, after=1.0)
    assert room.signs == 1
    await room.speak(refused, after=UNCLEAR_NOT_AGAIN_WITHIN)
    assert room.signs == 2
    assert not await room.speak(after=UNCLEAR_NOT_AGAIN_WITHIN)
    assert room.signs == 2


async def test_nothing_is_told_of_a_syllable_or_of_another_reason() -> None:
    room = Room()
    assert not await room.speak(seconds=0.8)
    assert not await room.speak("not addressed to nakari")
    assert not await room.speak("")
    assert room.signs == 0
    room.follower.turn_ended(None, NOT_UNDERSTOOD)
    own = understood(0.0)
    room.follower.turn_ended(replace(own, utterance=replace(own.utterance, echo_suspicion=0.5)), NOT_UNDERSTOOD)
    assert room.signs == 0
    assert room.said == []
    assert await room.speak()


@pytest.mark.parametrize(("language", "spoken"), [("en", "en"), ("zh", "zh"), ("auto", "en"), ("de", "en")])
async def test_it_is_told_in_english_or_chinese_with_how_to_get_a_model(language: str, spoken: str) -> None:
    room = Room(language)
    assert await room.speak()
    [sentence] = room.said
    assert sentence.language == spoken
    assert "Whisper" in sentence.text
    assert "nakari models" in sentence.text
    assert ("英语" in sentence.text) is (spoken == "zh")
