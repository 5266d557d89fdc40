"""Voices as vectors: the same person's are near, two people's are not, and what cannot be told is not."""

from pathlib import Path

import numpy as np
import pytest

from audio.pcm import SAMPLE_RATE, Samples
from audio.speakers.encoder import MODEL, SpeakerEncoder, mel_bands, speech_of, unit
from audio.speakers.gallery import nearness, threshold
from audio.speakers.recognizer import SpeakerRecognizer, voice_in
from audio.speech import Transcript, Utterance, Voice
from tests.audio.spoken import DEBIAN_CLIPS, debian_clips

ENCODER = SpeakerEncoder()

needs_people = pytest.mark.skipif(not DEBIAN_CLIPS.is_dir(), reason="pocketsphinx-testdata is not installed")


def utterance(samples: Samples, echo: float = 0.0) -> Utterance:
    seconds = len(samples) / SAMPLE_RATE
    return Utterance(samples, 0.0, seconds, seconds, seconds, -25.0, -60.0, echo)


def voice(samples: Samples) -> Voice:
    found = voice_in(utterance(samples), ENCODER)
    assert found is not None
    return found


class Words:
    """A recognizer of always the same words."""

    name, sends_to = "words", ()

    def warm(self) -> None:
        pass

    def transcribe(self, utterance: Utterance) -> Transcript:
        return Transcript("hello", "en", self.name)


@needs_people
@pytest.mark.shows("V27")
def test_one_man_and_one_woman_are_told_apart_by_three_enrolled_clips() -> None:
    people = {name: [voice(clip.samples).vector for clip in debian_clips(name)] for name in ("cards", "librivox")}
    for name, vectors in people.items():
        other = next(found for each, found in people.items() if each != name)
        own = min(nearness(each, vectors[:3]) for each in vectors[3:])
        assert own > threshold(2.4, 30.0)
        assert own > max(nearness(each, vectors[:3]) for each in other)


@needs_people
def test_a_voice_is_the_same_at_every_level_and_with_silence_around_it() -> None:
    clip = debian_clips("librivox")[0].samples[: 3 * SAMPLE_RATE]
    quiet = np.concatenate([np.zeros(8000, np.int16), (clip / 6).astype(np.int16), np.zeros(16000, np.int16)])
    assert float(voice(clip).vector @ voice(quiet).vector) > 0.97
    assert voice(quiet).seconds == pytest.approx(voice(clip).seconds, abs=0.2)


@needs_people
@pytest.mark.shows("V27")
def test_two_voices_in_one_utterance_are_not_one() -> None:
    man = np.concatenate([clip.samples for clip in debian_clips("cards")])
    woman = debian_clips("librivox")[1].samples
    half = 2 * SAMPLE_RATE
    assert voice(woman[: 2 * half]).is_one
    assert not voice(np.concatenate([speech(man)[:half], speech(woman)[:half]])).is_one


def speech(samples: Samples) -> Samples:
    return (speech_of(samples) * 32767 * 3).clip(-32768, 32767).astype(np.int16)


def tone(seconds: float) -> Samples:
    at = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (9000 * np.sin(2 * np.pi * 180 * at) * (1 + 0.5 * np.sin(2 * np.pi * 4 * at))).astype(np.int16)


@pytest.mark.parametrize("samples", [tone(0.5), np.zeros(32000, np.int16), np.zeros(0, np.int16)])
def test_too_little_speech_is_nobody_s(samples: Samples) -> None:
    assert voice_in(utterance(samples), ENCODER) is None


def test_what_may_be_its_own_voice_is_nobody_s() -> None:
    assert voice_in(utterance(tone(3.0), echo=0.9), ENCODER) is None
    assert voice_in(utterance(tone(3.0)), ENCODER) is not None


def test_the_bands_are_powers_so_that_twice_the_amplitude_is_four_times_as_much() -> None:
    sound = np.sin(np.arange(16000) * 0.3).astype(np.float32)
    assert mel_bands(sound).shape == (101, 40)
    assert np.allclose(mel_bands(2 * sound), 4 * mel_bands(sound), rtol=1e-4)


def test_the_network_gives_vectors_of_length_one_and_a_window_each_0_8_seconds() -> None:
    found = ENCODER.vectors(speech_of(tone(4.0)))
    assert len(found) == 4
    assert all(each.shape == (256,) and np.linalg.norm(each) == pytest.approx(1.0, abs=1e-5) for each in found)
    assert np.allclose(unit(np.zeros(256)), 0)


@pytest.mark.shows("V27")
def test_words_come_where_the_network_is_missing_or_damaged(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(MODEL.read_bytes()[:5000])
    for file in (tmp_path / "missing.onnx", damaged):
        recognizer = SpeakerRecognizer(Words(), SpeakerEncoder(file), lambda: None)
        for _ in range(2):
            heard = recognizer.transcribe(utterance(tone(2.0)))
            assert (heard.text, heard.voice) == ("hello", None)


@pytest.mark.shows("V27")
def test_the_voice_comes_with_the_words() -> None:
    heard = SpeakerRecognizer(Words(), ENCODER, lambda: None).transcribe(utterance(tone(2.0)))
    assert heard.voice is not None
    assert heard.voice.snr_db == 35.0
