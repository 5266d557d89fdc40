"""Hotwords: what fits of them, and that they reach the real decoder's prompt."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from audio.recognizer.faster_whisper import FasterWhisperRecognizer, WhisperOptions
from audio.recognizer.hotwords import MOST_TOKENS, fitting, listed, no_hotwords
from tests.audio.spoken import HOUSEHOLD_WHISPER, WordErrorRate, said, utterance
from tests.figures import figure

SENTENCES = ["Turn on the kitchen light.", "What time is it?", "Where are my keys?", "Good morning."]


def words_of(text: str) -> int:
    return len(text.split())


def test_what_fits_is_cut_between_words_and_each_is_there_once() -> None:
    assert fitting(["Ada", "Bo", "Ada", "Cy"], words_of, 2) == "Ada, Bo"
    assert fitting(["New York City", "Bo"], words_of, 2) == ""
    assert fitting(no_hotwords(), words_of) == ""


def test_a_setting_separates_by_commas() -> None:
    assert listed(" ComfyUI, Ägidius ,,New York ") == ["ComfyUI", "Ägidius", "New York"]
    assert listed("") == []


def prompted(words: Sequence[str]) -> tuple[FasterWhisperRecognizer, str]:
    """Return a real recognizer that expects these words, and what its model writes in front of each decode."""
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 2, WhisperOptions(hotwords=lambda: words))
    recognizer.warm()
    assert recognizer._loaded
    return recognizer, recognizer._loaded.hotwords(lambda: words)


@pytest.mark.shows("V13")
def test_they_reach_the_prompt_of_the_real_decoder(tmp_path: Path) -> None:
    from faster_whisper.tokenizer import Tokenizer

    recognizer, prompt = prompted(["ComfyUI", "Ägidius"])
    assert prompt == "ComfyUI, Ägidius"
    assert recognizer._loaded
    model, prompts = recognizer._loaded.model, []
    original = model.get_prompt

    def kept(tokenizer: Tokenizer, *arguments: object, **options: object) -> list[int]:
        tokens: list[int] = original(tokenizer, *arguments, **options)
        prompts.append((tokenizer, tokens))
        return tokens

    model.get_prompt = kept
    recognizer.transcribe(utterance(said("What time is it?", "en-us", tmp_path)))
    tokenizer, tokens = prompts[-1]
    assert tokens[0] == tokenizer.sot_prev
    assert tokenizer.decode(tokens[1 : tokens.index(tokenizer.sot)]) == " ComfyUI, Ägidius"


@pytest.mark.shows("V13")
def test_a_list_too_long_is_cut_by_tokens_and_leaves_room_to_answer(tmp_path: Path) -> None:
    recognizer, prompt = prompted([f"Zyx{number}qua" for number in range(500)])
    assert recognizer._loaded
    assert 0.8 * MOST_TOKENS < recognizer._loaded._tokens_of(f" {prompt}") <= MOST_TOKENS
    assert not prompt.endswith(",")
    assert recognizer.transcribe(utterance(said("Good morning.", "en-us", tmp_path))).text


@pytest.mark.shows("V13")
def test_words_that_change_are_told_from_the_next_utterance_on(tmp_path: Path) -> None:
    told: list[str] = []
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 2, WhisperOptions(hotwords=lambda: tuple(told)))
    spoken = utterance(said("Good morning.", "en-us", tmp_path))
    recognizer.transcribe(spoken)
    assert recognizer._loaded
    assert recognizer._loaded._prompt == ""
    told.append("Anna")
    recognizer.transcribe(spoken)
    assert recognizer._loaded._prompt == "Anna"


def test_what_the_small_whisper_makes_of_a_prompt_it_never_saw(tmp_path: Path) -> None:
    """No gain is claimed of it: it was trained without prompts. The figure says what they do to it."""
    recognizer, _ = prompted(["Anna", "kitchen"])
    rate = WordErrorRate()
    for sentence in SENTENCES:
        rate.add(sentence, recognizer.transcribe(utterance(said(sentence, "en-us", tmp_path))).text)
    figure("whisper-household with two hotwords in a prompt that it was not trained for", str(rate))
    assert rate.words == 15
