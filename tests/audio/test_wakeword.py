"""The wake word in real clips, and whom words are for: with a wake word and without."""

from collections.abc import Iterator

import numpy as np
import pytest

from audio.errors import ModelNotFound
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk, Samples
from audio.recording import read_recording
from audio.speech import Heard, Transcript, Utterance
from audio.wakeword import FOLLOW_UP_SECONDS, NOT_ADDRESSED, ONLY_WOKEN, Attention, WakeWord, wake_words
from tests.audio.spoken import SHARED_CLIPS, debian_clips
from tests.figures import figure

CLIPS = SHARED_CLIPS / "clips"
WAKES = {
    "alexa": {"openWakeWord__alexa_test.wav", "willow__alexa_turn_off_dining_room.wav"},
    "hey_mycroft": {"openWakeWord__hey_mycroft_test.wav"},
}
needs_clips = pytest.mark.skipif(not CLIPS.is_dir(), reason="the shared clips are not on this machine")


def chunks(sound: Samples) -> Iterator[AudioChunk]:
    noise = np.random.default_rng(0).normal(0, 20, 24_000).astype(np.int16)
    whole = np.concatenate([noise, sound, noise[:16_000]])
    for number in range(len(whole) // CHUNK_SAMPLES):
        yield AudioChunk(whole[number * CHUNK_SAMPLES : (number + 1) * CHUNK_SAMPLES], number * CHUNK_SECONDS)


def wakes(name: str, sound: Samples, *, covered: bool = False) -> list[float]:
    heard: list[float] = []
    watch = WakeWord(name, heard.append)
    for chunk in chunks(sound):
        watch(chunk, 0.0, covered)
    return heard


def heard(words: str, started_at: float, seconds: float = 1.0) -> Heard:
    end = started_at + seconds
    utterance = Utterance(np.zeros(16_000, np.int16), started_at, end, end + 0.7, seconds)
    return Heard(utterance, Transcript(words, "en", "scripted"), end + 0.8)


@needs_clips
@pytest.mark.shows("V15")
@pytest.mark.parametrize("name", sorted(WAKES))
def test_it_is_heard_once_where_it_was_said(name: str) -> None:
    for file in WAKES[name]:
        sound = read_recording(CLIPS / file)
        (at,) = wakes(name, sound)
        assert 1.5 < at < 1.5 + len(sound) / 16_000 + 0.3


@needs_clips
@pytest.mark.shows("V15")
def test_other_speech_wakes_her_hardly_ever() -> None:
    files = [file for file in sorted(CLIPS.glob("*.[wf][al][va]*")) if file.name not in WAKES["alexa"]]
    false = dict.fromkeys(wake_words(), 0)
    seconds = 0.0
    for file in files:
        sound = read_recording(file)
        seconds += len(sound) / 16_000
        for name in false:
            false[name] += 0 if file.name in WAKES.get(name, ()) else len(wakes(name, sound))
    figure(f"false wakes in {seconds:.0f} s of other speech", ", ".join(f"{n} {c}" for n, c in false.items()))
    assert sum(false.values()) <= 1


@pytest.mark.shows("V15")
def test_debians_clips_do_not_wake_her() -> None:
    for clip in debian_clips("cards"):
        assert not [name for name in wake_words() if wakes(name, clip.samples)]


@needs_clips
@pytest.mark.shows("V15", "V4")
def test_her_own_voice_does_not_wake_her() -> None:
    assert wakes("alexa", read_recording(CLIPS / "openWakeWord__alexa_test.wav"), covered=True) == []


@needs_clips
@pytest.mark.shows("V15")
def test_a_silence_after_the_word_asks_for_a_sign_and_more_words_do_not() -> None:
    signs: list[str] = []
    watch = WakeWord("alexa", lambda _: signs.append("wake"), lambda: signs.append("alone"))
    sound = read_recording(CLIPS / "openWakeWord__alexa_test.wav")
    for chunk in chunks(sound):
        watch(chunk, 0.1 if "wake" in signs else 0.9, False)
    assert signs == ["wake", "alone"]
    signs.clear()
    watch = WakeWord("alexa", lambda _: signs.append("wake"), lambda: signs.append("alone"))
    for number, chunk in enumerate(chunks(sound)):
        watch(chunk, 0.1 if number % 5 == 0 else 0.9, False)
    assert signs == ["wake"]


@pytest.mark.shows("V15")
def test_the_word_alone_is_known_by_its_time_whatever_was_understood() -> None:
    attention = Attention("alexa")
    attention.wake(200.6)
    assert attention.guard(heard("where are my keys", 200.0, 0.6)) == ONLY_WOKEN
    assert attention.guard(heard("where are my keys", 200.0, 2.0)) == ""


def test_a_word_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ModelNotFound, match=r"no wake word 'nakari'; there are .*alexa"):
        WakeWord("nakari", lambda _: None)


@pytest.mark.shows("V15")
def test_with_a_wake_word_nothing_else_is_for_her() -> None:
    attention = Attention("alexa")
    assert attention.guard(heard("what a lovely day", 100.0)) == NOT_ADDRESSED
    attention.wake(200.4)
    assert attention.guard(heard("alexa turn off the light", 200.0)) == ""
    assert attention.wakes == 1


@pytest.mark.shows("V15")
def test_who_wakes_her_may_take_a_breath() -> None:
    attention = Attention("alexa", follow_up=8.0)
    attention.wake(200.4)
    assert attention.guard(heard("alexa", 200.0, 0.5)) == ONLY_WOKEN
    assert attention.guard(heard("turn off the light", 203.0)) == ""
    assert attention.guard(heard("said the television", 209.0)) == NOT_ADDRESSED


@pytest.mark.shows("V15")
def test_her_name_in_the_words_opens_as_well() -> None:
    attention = Attention("alexa", names=("nakari", "那卡里"))
    assert attention.guard(heard("Nakari, what time is it?", 100.0)) == ""
    assert attention.guard(heard("那卡里，几点了", 110.0)) == ""
    assert attention.guard(heard("Nakari!", 120.0)) == ONLY_WOKEN
    assert attention.guard(heard("what time is it", 123.0)) == ""


@pytest.mark.shows("V15")
def test_after_a_reply_no_wake_word_is_needed_for_a_while() -> None:
    now = [100.0]
    attention = Attention("alexa", clock=lambda: now[0])
    attention.speaking(True)
    assert attention.guard(heard("no, tomorrow", 99.0)) == "", "into her words"
    now[0] = 105.0
    attention.speaking(False)
    assert attention.guard(heard("and tomorrow", 105.0 + FOLLOW_UP_SECONDS - 0.1)) == ""
    assert attention.guard(heard("and now the weather", 105.0 + FOLLOW_UP_SECONDS + 0.1)) == NOT_ADDRESSED


@pytest.mark.shows("V15")
def test_without_a_wake_word_all_passes_with_its_evidence() -> None:
    now = [100.0]
    attention = Attention(clock=lambda: now[0])
    assert attention.guard(heard("what a lovely day", 100.0)) == ""
    assert attention.evidence(heard("what a lovely day", 100.0)) == {"woken": False, "named": False, "follow_up": False}
    attention.speaking(False)
    assert attention.evidence(heard("nakari and tomorrow", 104.0)) == {"woken": False, "named": True, "follow_up": True}
    assert attention.marks(heard("nakari and tomorrow", 104.0)) == {"addressed": "named follow_up"}
    assert attention.marks(heard("what a lovely day", 150.0)) == {"addressed": "unknown"}


@pytest.mark.shows("V15")
def test_whether_she_listens_to_all_can_be_asked_before_the_words_are_known() -> None:
    assert Attention().is_open(1.0, 2.0)
    attention = Attention("alexa")
    assert not attention.is_open(1.0, 2.0)
    attention.wake(1.5)
    assert attention.is_open(1.0, 2.0)
