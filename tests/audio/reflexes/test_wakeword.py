"""The wake word in real clips."""

from collections.abc import Iterator

import numpy as np
import pytest

from audio.capture.recording import read_recording
from audio.errors import ModelNotFound
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk, Samples
from audio.reflexes.wakeword import WakeWord, wake_words
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
def test_other_speech_wakes_it_hardly_ever() -> None:
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
def test_debians_clips_do_not_wake_it() -> None:
    for clip in debian_clips("cards"):
        assert not [name for name in wake_words() if wakes(name, clip.samples)]


@needs_clips
@pytest.mark.shows("V15", "V4")
def test_its_own_voice_does_not_wake_it() -> None:
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


def test_a_word_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ModelNotFound, match=r"no wake word 'nakari'; there are .*alexa"):
        WakeWord("nakari", lambda _: None)
