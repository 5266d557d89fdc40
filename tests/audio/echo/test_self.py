"""nakari's own words are no utterance; a person's are, even when they are the same."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from audio.echo.self_echo import REASON, SelfEcho, repeats, words_of
from audio.interfaces import Synthesizer
from audio.playback.earcons import bell
from audio.playback.queued_sentence import SpokenSentence
from audio.playback.speech_output import SpeechOutput
from audio.speech import RecognizedTurn, SpeechAudio, Transcript, Utterance
from tests.audio.ears_fakes import Unfollowed
from tests.audio.mouth_fakes import Following, ScriptedPlayer, ScriptedVoice, SilentPlayer
from tests.audio.spoken import silence
from tests.loops import together

SAID = "The weather tomorrow will be mostly sunny, with a light wind from the west."
SAID_ZH = "明天大部分时间是晴天,有微风。"


def heard(text: str, started_at: float, ended_at: float, suspicion: float = 0.0) -> RecognizedTurn:
    seconds = ended_at - started_at
    utterance = Utterance(silence(0.5), started_at, ended_at, ended_at + 0.7, seconds, echo_suspicion=suspicion)
    return RecognizedTurn(utterance, Transcript(text, "en", "scripted"), ended_at + 1)


def guard(text: str = SAID, started_at: float = 100.0, ended_at: float = 105.0) -> SelfEcho:
    made = SelfEcho(Unfollowed(), lambda: 0.0)
    made.spoken(text, started_at, ended_at)
    return made


@pytest.mark.shows("V4")
@pytest.mark.parametrize(
    "words",
    [
        "the weather tomorrow will be mostly sunny with a light wind from the west",
        "weather tomorrow will be mostly sunny",
        "the whether tomorrow will be mostly sunny",
        "mostly sunny with the light win from the vest",
        "a light wind",
        "tomorrow will mostly sunny",
    ],
)
def test_what_it_says_and_a_recognizer_makes_of_it_is_its_own(words: str) -> None:
    assert guard()(heard(words, 100.5, 104.8)) == REASON


@pytest.mark.shows("V4")
@pytest.mark.parametrize(
    "words",
    [
        "what about the day after",
        "stop",
        "tomorrow",
        "sunny",
        "light wind",
        "and the day after tomorrow will I need an umbrella",
        "no I asked about the weather in Paris",
        "turn the light off please",
        "",
    ],
)
def test_what_a_person_says_while_it_speaks_is_theirs(words: str) -> None:
    assert guard()(heard(words, 101.0, 103.0)) == ""


@pytest.mark.shows("V4")
def test_after_its_sentence_the_same_words_are_an_answer() -> None:
    words = "mostly sunny with a light wind"
    spoken = guard()
    assert spoken(heard(words, 105.2, 107.0)) == REASON, "an echo may begin as it ends"
    assert spoken(heard(words, 105.6, 107.0)) == ""
    assert spoken(heard(words, 140.0, 142.0)) == ""
    assert spoken(heard(words, 97.0, 99.5)) == "", "before it began"


@pytest.mark.shows("V4")
def test_while_it_speaks_the_end_is_open_and_what_was_cut_off_is_known_afterwards() -> None:
    spoken = SelfEcho(Unfollowed(), lambda: 0.0)
    spoken.spoken(SAID, 100.0)
    assert spoken(heard("mostly sunny with a light wind", 102.0, 104.0)) == REASON
    spoken.spoken("The weather tomorrow will", 100.0, 101.5)
    assert spoken(heard("the weather tomorrow", 100.2, 101.6)) == REASON
    assert spoken(heard("mostly sunny with a light wind", 101.0, 104.0)) == ""


def test_an_echo_of_the_end_of_one_sentence_and_the_beginning_of_the_next_is_its_own() -> None:
    spoken = guard(ended_at=103.0)
    spoken.spoken("Shall I wake you at seven?", 103.2, 105.0)
    assert spoken(heard("wind from the west shall I wake you", 102.0, 104.6)) == REASON


@pytest.mark.shows("V4")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("明天大部分时间是晴天", REASON),
        ("明天大部份时间是晴天", REASON),
        ("晴天", ""),
        ("今天晚上下雨吗", ""),
        ("", ""),
    ],
)
def test_in_chinese_characters_are_compared(words: str, reason: str) -> None:
    assert guard(SAID_ZH)(heard(words, 100.2, 103.0)) == reason


@pytest.mark.shows("V4")
def test_a_short_word_of_its_own_is_an_echo_only_when_it_also_sounds_like_one() -> None:
    assert guard()(heard("tomorrow", 101.0, 101.6, suspicion=0.95)) == REASON
    assert guard()(heard("tomorrow", 101.0, 101.6, suspicion=0.3)) == ""
    assert guard()(heard("stop", 101.0, 101.6, suspicion=0.95)) == "", "it is none of its words"


def test_figures_are_compared_as_they_are_said() -> None:
    assert words_of("It is 7:30 o'clock.") == words_of("it is seven thirty o'clock")
    assert guard("I have set a timer for 25 minutes.")(heard("set a timer for twenty five minutes", 101, 103)) == REASON


def test_words_scattered_over_a_long_reply_are_nobodys_echo() -> None:
    played = words_of(" ".join(f"the {number} thing is filler and more filler here" for number in range(30)))
    assert not repeats(("thing", "twenty", "and", "three", "more", "is"), list(played))
    assert not repeats((), list(played))
    assert not repeats(("the",), [])


@pytest.mark.shows("V29")
def test_what_was_spoken_is_forgotten_but_for_what_is_being_said() -> None:
    spoken = guard(SAID)
    spoken.spoken(SAID, 200.0)
    spoken.forget()
    assert spoken(heard("the weather tomorrow will be sunny", 101.0, 103.0)) == ""
    assert spoken(heard("the weather tomorrow will be sunny", 201.0, 203.0)) == REASON


class _OneSound(Synthesizer):
    """A `Synthesizer` of a tenth of a second."""

    name = "one sound"
    sends_to = ()

    async def speak(self, sentence: str, language: str) -> AsyncIterator[SpeechAudio]:
        yield SpeechAudio(silence(0.1), 16_000)


async def test_it_follows_what_is_spoken_whoever_else_does() -> None:
    told: list[str] = []
    mouth = SpeechOutput(_OneSound(), SilentPlayer(), lambda: 50.0)
    spoken = SelfEcho(mouth, lambda: 55.0)
    mouth.observe(
        Following(first=lambda sentence, at: told.append("first"), ended=lambda heard, whole: told.append("ended"))
    )
    async with asyncio.TaskGroup() as group:
        running = group.create_task(together(mouth.loops()))
        await mouth.say(SpokenSentence("reply", 1, SAID, "en"))
        await mouth.quiet()
        running.cancel()
    assert told == ["first", "ended"]
    assert spoken(heard("the weather tomorrow will be sunny", 50.5, 54.0)) == REASON


async def test_sentences_of_two_rooms_that_overlap_are_both_known() -> None:
    now = 100.0
    spoken = SelfEcho(Unfollowed(), lambda: now)
    one = SpokenSentence("a", 1, "The roses are dry today.", "en")
    other = SpokenSentence("b", 1, "It will rain soon.", "en")
    spoken.first_sound(one, 10.0)
    spoken.first_sound(other, 11.0)
    now = 12.0
    await spoken.sentence_ended(one, one.text, whole=True)
    now = 13.0
    await spoken.sentence_ended(other, other.text, whole=True)
    assert spoken(heard("the roses are dry today", 10.1, 11.9)) == REASON
    assert spoken(heard("it will rain soon", 11.1, 12.9)) == REASON
    assert spoken(heard("the roses are dry today", 14.0, 15.0)) == ""


async def test_an_announcement_is_no_turn_either() -> None:
    mouth = SpeechOutput(ScriptedVoice(), ScriptedPlayer(), lambda: 50.0)
    spoken = SelfEcho(mouth, lambda: 50.0)
    await mouth.announce(bell(), SpokenSentence("", 0, "Timer: the pasta is done.", "en"))
    assert spoken(heard("timer the pasta is done", 49.9, 50.1)) == REASON
    assert spoken(heard("timer the pasta is done", 52.0, 53.0)) == ""
