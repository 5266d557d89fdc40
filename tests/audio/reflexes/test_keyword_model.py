"""The keyword network on made voices: what it takes for a word, and what level, noise and the time before it change."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from audio.pcm import Samples
from audio.reflexes.keyword_search import BANDS, BEFORE_FRAMES, MODEL, WINDOW_FRAMES, KeywordModel, bands, window
from audio.reflexes.words import asked
from tests.audio.spoken import said, silence, trimmed

VOICES = ("slt", "awb", "rms", "kal", "en-us", "en-gb-scotland")


@pytest.fixture(scope="module")
def model() -> KeywordModel:
    return KeywordModel()


def told(model: KeywordModel, word: Samples) -> Mapping[str, float]:
    """Return what the network says of a word in a quiet room, cut as the spotter cuts it."""
    sound = np.concatenate([silence(0.32), word, silence(0.19)])
    noisy = (sound + np.random.default_rng(0).normal(0, 3, len(sound))).clip(-32768, 32767).astype(np.int16)
    return model.probabilities(noisy, 0.32)


@pytest.mark.shows("V16")
@pytest.mark.parametrize("word", ["stop", "wait", "mute"])
def test_the_words_that_matter_most_are_told_in_every_voice(model: KeywordModel, word: str, tmp_path: Path) -> None:
    found = [told(model, trimmed(said(word, voice, tmp_path))) for voice in VOICES]
    assert [max(each, key=lambda word: each[word]) for each in found].count(word) >= 5


@pytest.mark.parametrize("word", ["shop", "what", "music", "seven", "coffee"])
def test_of_another_word_it_is_never_sure(model: KeywordModel, word: str, tmp_path: Path) -> None:
    for voice in ("slt", "rms", "kal"):
        found = told(model, trimmed(said(word, voice, tmp_path)))
        assert max(likely for each, likely in found.items() if asked(each)) < 0.8


def test_the_level_makes_no_difference(model: KeywordModel, tmp_path: Path) -> None:
    word = np.concatenate([silence(0.32), trimmed(said("stop", "slt", tmp_path)), silence(0.19)])
    softer = (word / 10).astype(np.int16)
    assert model.probabilities(softer, 0.32)["stop"] == pytest.approx(model.probabilities(word, 0.32)["stop"], abs=0.15)


def test_noise_and_silence_are_no_word(model: KeywordModel) -> None:
    hiss = np.random.default_rng(1).normal(0, 800, 16_000).astype(np.int16)
    for sound in (hiss, silence(1.0), silence(0.01)):
        found = model.probabilities(sound, 0.32)
        assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)
        assert max(found[word] for word in ("stop", "wait", "mute")) < 0.5


def test_the_window_begins_before_the_speech_wherever_it_begins() -> None:
    sound = bands(np.random.default_rng(2).normal(0, 500, 16_000).astype(np.int16))
    assert sound.shape[1] == BANDS
    early, late = window(sound, 0.1), window(sound, 0.5)
    assert early.shape == late.shape == (WINDOW_FRAMES, BANDS)
    assert not early[: BEFORE_FRAMES - 10].any()
    assert np.array_equal(early[BEFORE_FRAMES - 10 :][:40], sound[:40])
    assert np.array_equal(late[:40], sound[50 - BEFORE_FRAMES :][:40])


def test_the_file_is_small_and_another_one_is_refused(tmp_path: Path) -> None:
    assert MODEL.stat().st_size <= 300_000
    (tmp_path / "model.npz").write_bytes(b"no network")
    with pytest.raises(ValueError, match="pickled"):
        KeywordModel(tmp_path / "model.npz")
