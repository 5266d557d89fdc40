"""The evidence gate over the real detector, endpointer and recognizers: what no human said, and what one did."""

from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from agent.intents.language.grammar import command_grammar
from audio.interfaces import Recognizer
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.speech import RecognizedTurn, Utterance
from audio.turns.evidence import evidence_guard
from audio.turns.silero import load_silero
from tests.audio.cutting import cut, in_a_room
from tests.audio.spoken import HOUSEHOLD_WHISPER, debian_clips, go_forward, said, silence, trimmed
from tests.figures import figure
from tests.room import sounds
from tests.room.acoustics import Sound
from tests.sample import sample

ORDERS = ["stop", "yes", "no", "hello", "louder", "thank you", "good morning", "never mind", "what time is it"]

SENTENCES = ["Turn on the kitchen light.", "What time is it?", "Where are my keys?", "Good morning.", "Stop.", "Yes."]


@pytest.fixture(scope="module")
def pocketsphinx() -> Recognizer:
    return PocketsphinxRecognizer(command_grammar("en"))


@pytest.fixture(scope="module")
def whisper() -> Recognizer:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en")
    recognizer.warm()
    return recognizer


def pcm(sound: Sound, peak: float) -> Samples:
    return np.asarray(sound / np.abs(sound).max() * peak).astype(np.int16)


def breath(seed: int) -> Sound:
    """Return one audible breath, a second long."""
    rush = sounds.noise(1.0, seed, lambda hertz: 1 / (1 + ((hertz - 1500.0) / 1200.0) ** 2))
    return np.asarray(rush * np.sin(np.pi * np.linspace(0.0, 1.0, len(rush))) ** 2, np.float32)


def repeated(make: Callable[[int], Sound], times: int = 10) -> Samples:
    """Return a sound of so many seeds, each at its own level, in a quiet room."""
    random = np.random.default_rng(5)
    whole = [
        in_a_room(pcm(make(seed), 1000.0), peak=random.uniform(1000.0, 12000.0), seed=seed) for seed in range(times)
    ]
    return np.concatenate(whole)


def in_silence(sound: Sound, peak: float) -> Samples:
    return np.concatenate([silence(1.0), pcm(sound, peak), silence(1.5)])


def no_speech() -> dict[str, Samples]:
    """Return what no human said: about seven minutes."""
    return {
        "silence": silence(20.0),
        "white noise": in_silence(sounds.white(20.0), 3000.0),
        "pink noise": in_silence(sounds.pink(20.0), 6000.0),
        "a vacuum cleaner": in_silence(sounds.vacuum_cleaner(20.0), 8000.0),
        "music": in_silence(sounds.music(45.0, seed=6), 3000.0),
        "other music": in_silence(sounds.music(45.0, seed=11, key=330.0, beats_a_minute=80.0), 9000.0),
        "a song without words": in_silence(sounds.song(45.0), 3000.0),
        "another song": in_silence(sounds.song(45.0, seed=21), 9000.0),
        "coughs": repeated(lambda seed: sounds.cough(1 + seed % 4, seed + 20)),
        "doors": repeated(lambda seed: sounds.door(seed + 20)),
        "breaths": repeated(breath),
        "mhm": repeated(lambda _: sounds.mhm(), 2),
    }


@pytest.fixture(scope="module")
def mistaken() -> list[tuple[str, Utterance]]:
    """What the detector and the endpointer take for speech of that; the gate is what is left."""
    detector = load_silero()
    return [(name, utterance) for name, sound in no_speech().items() for utterance in cut(sound, detector)]


def passed(recognizer: Recognizer, utterance: Utterance) -> tuple[str, str]:
    """Return the words and why nobody gets them."""
    transcript = recognizer.transcribe(utterance)
    reason = evidence_guard(RecognizedTurn(utterance, transcript, 0.0)) if transcript.text else "no words"
    return transcript.text, reason


@pytest.mark.shows("V11", "V12")
@pytest.mark.parametrize("name", ["pocketsphinx", "whisper"])
def test_no_invented_transcript_passes(
    name: str, mistaken: list[tuple[str, Utterance]], request: pytest.FixtureRequest, every_step: bool
) -> None:
    """pocketsphinx takes as long as the sound lasts, and hears a half of it; all with `--every-step`."""
    put = mistaken if every_step or name == "whisper" else mistaken[::2]
    found = [(what, *passed(request.getfixturevalue(name), utterance)) for what, utterance in put]
    invented = [each for each in found if each[1]]
    got_through = [each for each in invented if not each[2]]
    figure(
        f"evidence gate, {name}, in minutes that no human spoke in",
        f"{len(found)} utterances, {len(invented)} with invented words, {len(got_through)} got through",
    )
    assert len(invented) >= {"pocketsphinx": 3, "whisper": 5}[name], "nothing was put to the test"
    assert got_through == []


@pytest.mark.shows("V11", "V30")
def test_human_clips_pass(pocketsphinx: Recognizer, every_step: bool) -> None:
    detector = load_silero()
    clips = [*debian_clips("cards"), *debian_clips("librivox")[:2], go_forward()]
    short = [clip for clip in clips if every_step or clip.seconds < 3.0]
    for clip in sample(short, 2, whole=every_step):
        for utterance in cut(in_a_room(trimmed(clip.samples)), detector):
            text, reason = passed(pocketsphinx, utterance)
            assert (bool(text), reason) == (True, ""), (clip.name, text)


@pytest.mark.shows("V11", "V30")
def test_short_orders_pass(pocketsphinx: Recognizer, tmp_path: Path, every_step: bool) -> None:
    """A sample by turns in two voices; all of them in both with `--every-step`."""
    detector = load_silero()
    turns = [*zip(ORDERS, cycle([("slt", "rms"), ("rms", "slt")]), strict=False)]
    for order, voices in sample(turns, 3, whole=every_step):
        for voice in voices if every_step else voices[:1]:
            (utterance,) = cut(in_a_room(trimmed(said(order, voice, tmp_path))), detector)
            text, reason = passed(pocketsphinx, utterance)
            assert (bool(text), reason) == (True, ""), (order, voice, text)


@pytest.mark.shows("V9", "V11")
def test_the_small_whispers_own_sentences_pass(whisper: Recognizer, tmp_path: Path) -> None:
    detector = load_silero()
    for sentence in SENTENCES:
        (utterance,) = cut(in_a_room(trimmed(said(sentence, "en-us", tmp_path))), detector)
        assert passed(whisper, utterance) == (sentence, "")


@pytest.mark.shows("V11")
def test_an_order_in_noise_passes(pocketsphinx: Recognizer, tmp_path: Path) -> None:
    speech = in_a_room(trimmed(said("what time is it", "slt", tmp_path))).astype(np.float64)
    background = sounds.pink(len(speech) / SAMPLE_RATE)[: len(speech)] * 32768.0
    loud = speech[2 * SAMPLE_RATE : -2 * SAMPLE_RATE]
    background *= 10 ** (-8 / 20) * np.sqrt(np.mean(loud**2)) / np.sqrt(np.mean(background**2))
    (utterance,) = cut((speech + background).astype(np.int16), load_silero())
    assert passed(pocketsphinx, utterance)[1] == ""


@pytest.mark.shows("V12")
def test_a_quiet_voice_passes_beside_the_constant_that_a_cheap_converter_adds(
    whisper: Recognizer, tmp_path: Path
) -> None:
    sound = in_a_room(said("Turn on the kitchen light.", "en-us", tmp_path), peak=2000.0) + np.int16(1500)
    (utterance,) = cut(sound, load_silero())
    transcript = whisper.transcribe(utterance)
    assert transcript.text.endswith("the kitchen light.")
    assert evidence_guard(RecognizedTurn(utterance, transcript, 0.0)) == ""
