"""The real faster-whisper path on the small model of the tests; through the listener, from a sound file."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.capture.recording import RecordingSource
from audio.errors import ModelNotFound, RecognitionFailed
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import (
    MOST_HOTWORD_TOKENS,
    WHOLE,
    FasterWhisperRecognizer,
    WhisperOptions,
    Window,
    _evidence,
    fitting,
    has_helped,
    listed,
    no_hotwords,
    short_window,
)
from audio.speech import Transcript, Utterance
from audio.turns.endpointer import Endpointer
from audio.turns.listener import Listener
from audio.turns.vad import load_detector
from benchmarks.sound import write_wav
from tests.audio.ears_fakes import Intake
from tests.audio.reflexes.test_spotter import FLITE
from tests.audio.spoken import HOUSEHOLD_WHISPER, WordErrorRate, said, silence, trimmed, utterance, word_errors
from tests.figures import figure

SENTENCES = [
    "Turn on the kitchen light.",
    "Set a timer for ten minutes.",
    "What time is it?",
    "Remember that my keys are in the drawer.",
    "Where are my keys?",
    "What is on the shopping list?",
    "Turn the volume down.",
    "Good morning.",
    "Wake me up at seven o'clock.",
    "How much time is left?",
    "Tell me a joke.",
    "Add coffee to the shopping list.",
]


@pytest.fixture(scope="module")
def recognizer() -> FasterWhisperRecognizer:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", threads=2)
    recognizer.warm()
    return recognizer


@pytest.mark.shows("V9")
def test_sentences_are_understood(recognizer: FasterWhisperRecognizer, tmp_path: Path) -> None:
    rate = WordErrorRate()
    for sentence in SENTENCES:
        rate.add(sentence, recognizer.transcribe(utterance(said(sentence, "en-us", tmp_path))).text)
    figure("faster-whisper, whisper-household on its own sentences by espeak-ng", str(rate))
    assert rate.rate < 0.05, rate


@pytest.mark.shows("V12")
def test_a_transcript_carries_its_evidence(recognizer: FasterWhisperRecognizer, tmp_path: Path) -> None:
    transcript = recognizer.transcribe(utterance(said("Good morning.", "en-us", tmp_path)))
    assert transcript.recognizer == "faster-whisper:whisper-household"
    assert (transcript.language, transcript.confidence) == ("en", "normal")
    assert -1.0 < transcript.evidence["avg_logprob"] < 0.0
    assert 0.0 <= transcript.evidence["no_speech_prob"] < 0.1
    assert 0.0 < transcript.evidence["compression_ratio"] < 2.4
    assert transcript.evidence["language_probability"] == 1.0


def test_a_model_of_one_language_needs_none_named(recognizer: FasterWhisperRecognizer, tmp_path: Path) -> None:
    question = utterance(said("What time is it?", "en-us", tmp_path))
    assert FasterWhisperRecognizer(HOUSEHOLD_WHISPER).transcribe(question) == recognizer.transcribe(question)


def test_a_language_that_the_model_does_not_know_is_told() -> None:
    with pytest.raises(ModelNotFound, match="whisper-household does not know the language 'zh'; take another one"):
        FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "zh").warm()


def test_a_decoder_that_fails_is_a_failed_recognition() -> None:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en")
    recognizer.warm()
    assert recognizer._loaded
    recognizer._loaded.model.max_length = 8  # upstream refuses a prompt and new tokens that are longer together
    with pytest.raises(RecognitionFailed, match=r"faster-whisper:whisper-household failed on an utterance: .*tokens"):
        recognizer.transcribe(utterance(silence(1.0)))


@pytest.mark.parametrize("voice", FLITE)
def test_it_says_how_likely_a_word_is(recognizer: FasterWhisperRecognizer, voice: str, tmp_path: Path) -> None:
    stop, other = (
        recognizer.log_probability("stop", said(each, voice, tmp_path)) for each in ("stop", "how far is the moon")
    )
    assert stop is not None
    assert other is not None
    assert -1.5 < stop < 0.0
    assert other < stop - 2.0
    assert FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en").log_probability("stop", silence(1.0)) is None


def test_a_sound_that_cannot_be_judged_is_a_failed_recognition() -> None:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en")
    recognizer.warm()
    window = recognizer._load().window
    window.encoder = _breaks
    with pytest.raises(RecognitionFailed, match="Whisper failed on a word: out of memory"):
        recognizer.log_probability("stop", silence(1.0))


def _breaks(features: NDArray[np.float32]) -> object:
    raise RuntimeError("out of memory")


def test_the_worst_segment_speaks_for_an_utterance() -> None:
    good = SimpleNamespace(avg_logprob=-0.1, no_speech_prob=0.01, compression_ratio=1.0)
    bad = SimpleNamespace(avg_logprob=-1.5, no_speech_prob=0.7, compression_ratio=3.0)
    assert _evidence([good, bad]) == {"avg_logprob": -1.5, "no_speech_prob": 0.7, "compression_ratio": 3.0}
    assert _evidence([]) == {}


@pytest.mark.shows("V10")
def test_the_same_features_are_encoded_once() -> None:
    asked: list[NDArray[np.float32]] = []

    def encode(features: NDArray[np.float32]) -> object:
        asked.append(features.copy())
        return len(asked)

    once = Window(encode)
    first, second = np.zeros((80, 3000), np.float32), np.ones((80, 3000), np.float32)
    assert [once(first), once(first.copy()), once(second), once(second), once(first)] == [1, 1, 2, 2, 3]
    first += 1
    assert once(np.zeros((80, 3000), np.float32)) == 3


@pytest.mark.shows("V10")
def test_the_short_window_is_the_utterance_and_a_second() -> None:
    assert short_window(3 * SAMPLE_RATE) == 400
    assert short_window(SAMPLE_RATE + 1) == 202
    assert short_window(40 * SAMPLE_RATE) == WHOLE == short_window(29 * SAMPLE_RATE)


@pytest.mark.shows("V10")
def test_the_window_is_what_the_encoder_gets() -> None:
    shapes: list[tuple[int, ...]] = []

    def encode(features: NDArray[np.float32]) -> object:
        shapes.append(features.shape)
        return len(shapes)

    window = Window(encode)
    features = np.zeros((80, 3000), np.float32)
    assert window(features) == window(features) == 1
    window.cut_to(250)
    assert window(features) == 2
    window.cut_to(250)
    assert window(features) == 3
    assert shapes == [(80, 3000), (80, 250), (80, 250)]


@pytest.fixture(scope="module")
def short() -> FasterWhisperRecognizer:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 2, WhisperOptions(short_window=True))
    recognizer.warm()
    return recognizer


@pytest.mark.shows("V10")
def test_sentences_are_understood_in_the_short_window(short: FasterWhisperRecognizer, tmp_path: Path) -> None:
    rate = WordErrorRate()
    for sentence in SENTENCES:
        spoken = utterance(said(sentence, "en-us", tmp_path))
        transcript = short.transcribe(spoken)
        rate.add(sentence, transcript.text)
        assert transcript.evidence["window_frames"] == short_window(len(spoken.samples)) < WHOLE
        assert "retried" not in transcript.evidence
    figure("the same in the short window", str(rate))
    assert rate.rate < 0.05, rate


@pytest.mark.shows("V10")
def test_what_the_short_window_gives_against_its_own_evidence_is_tried_again_in_the_whole_one(
    short: FasterWhisperRecognizer, recognizer: FasterWhisperRecognizer
) -> None:
    click = Utterance(silence(0.4), 0.1, 0.2, 0.3, 0.1)  # the closed set makes some sentence of it, far too fast
    heard = short.transcribe(click)
    assert (heard.evidence["window_frames"], heard.evidence["retried"]) == (WHOLE, 1.0)
    assert heard.text == recognizer.transcribe(click).text


@pytest.mark.shows("V10")
def test_the_language_is_looked_for_once_in_an_utterance(tmp_path: Path) -> None:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER)
    recognizer.warm()
    assert recognizer._loaded
    window, encoded = recognizer._loaded.window, []
    whole = window.encoder

    def counted(features: NDArray[np.float32]) -> object:
        encoded.append(features.shape)
        return whole(features)

    window.encoder = counted
    spoken = utterance(said("What time is it?", "en-us", tmp_path))
    recognizer.transcribe(spoken)
    assert len(encoded) == 1
    recognizer.transcribe(spoken)
    assert len(encoded) == 2, "a measurement would take what was kept for the model's speed"


@pytest.mark.shows("V1", "V6", "V9")
async def test_a_recording_becomes_its_sentences_in_order_at_their_times(
    recognizer: FasterWhisperRecognizer, tmp_path: Path
) -> None:
    spoken = [trimmed(said(sentence, "en-us", tmp_path)) for sentence in SENTENCES]
    pieces: list[Samples] = []
    begins: list[float] = []
    for samples in spoken:
        pieces.append(silence(1.5))
        begins.append(sum(map(len, pieces)) / SAMPLE_RATE)
        pieces.append(samples)
    source = RecordingSource(write_wav(tmp_path / "day.wav", np.concatenate(pieces)), fast=True)
    intake = Intake()
    listener = Listener(source, load_detector(), Endpointer(), recognizer, intake)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen())
        group.create_task(listener.recognize())

    rate, heard = WordErrorRate(), intake.heard
    assert len(heard) == len(SENTENCES)
    for sentence, began, one, samples in zip(SENTENCES, begins, heard, spoken, strict=True):
        rate.add(sentence, one.transcript.text)
        started = one.utterance.started_at - source.started_at
        assert began - 0.1 < started < began + 0.3
        sound = np.abs(one.utterance.samples)
        assert np.flatnonzero(sound > sound.max() / 50)[0] / SAMPLE_RATE >= 0.2
        assert one.utterance.ended_at - source.started_at == pytest.approx(began + len(samples) / SAMPLE_RATE, abs=0.35)
    figure("the same from a WAV through the whole listener", str(rate))
    assert rate.rate < 0.05, rate
    assert listener.counters.suppressed == {}


PROMPTED_SENTENCES = ["Turn on the kitchen light.", "What time is it?", "Where are my keys?", "Good morning."]


def words_of(text: str) -> int:
    return len(text.split())


def test_what_fits_is_cut_between_words_and_each_is_there_once() -> None:
    assert fitting(["Ada", "Bo", "Ada", "Cy"], words_of, 2) == "Ada, Bo"
    assert fitting(["New York City", "Bo"], words_of, 2) == ""
    assert fitting(no_hotwords("en"), words_of) == ""


def test_a_setting_separates_by_commas() -> None:
    assert listed(" ComfyUI, Ägidius ,,New York ") == ["ComfyUI", "Ägidius", "New York"]
    assert listed("") == []


def prompted(words: Sequence[str]) -> tuple[FasterWhisperRecognizer, str]:
    """Return a real recognizer that expects these words, and what its model writes in front of each decode."""
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 2, WhisperOptions(hotwords=lambda _: words))
    recognizer.warm()
    assert recognizer._loaded
    return recognizer, recognizer._loaded.hotwords(words)


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
    [(tokenizer, tokens)] = [each for each in prompts if each[1][0] == each[0].sot_prev]
    assert tokenizer.decode(tokens[1 : tokens.index(tokenizer.sot)]) == " ComfyUI, Ägidius"


@pytest.mark.shows("V13")
def test_a_list_too_long_is_cut_by_tokens_and_leaves_room_to_answer(tmp_path: Path) -> None:
    recognizer, prompt = prompted([f"Zyx{number}qua" for number in range(500)])
    assert recognizer._loaded
    assert 0.8 * MOST_HOTWORD_TOKENS < recognizer._loaded._tokens_of(f" {prompt}") <= MOST_HOTWORD_TOKENS
    assert not prompt.endswith(",")
    assert recognizer.transcribe(utterance(said("Good morning.", "en-us", tmp_path))).text


@pytest.mark.shows("V13")
def test_words_that_change_are_told_from_the_next_utterance_on(tmp_path: Path) -> None:
    told: list[str] = []
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 2, WhisperOptions(hotwords=lambda _: tuple(told)))
    spoken = utterance(said("Good morning.", "en-us", tmp_path))
    recognizer.transcribe(spoken)
    assert recognizer._loaded
    assert recognizer._loaded._prompt == ""
    told.append("Anna")
    recognizer.transcribe(spoken)
    assert recognizer._loaded._prompt == "Anna"


@pytest.mark.shows("V13")
def test_a_prompt_that_spoils_what_is_heard_is_left_out(tmp_path: Path) -> None:
    recognizer, prompt = prompted(["Ottoline", "Xanthippe", "Siobhan", "Björn", "Anna", "Bo"] * 2)
    assert prompt
    for sentence in PROMPTED_SENTENCES:
        assert word_errors(sentence, recognizer.transcribe(utterance(said(sentence, "en-us", tmp_path))).text) <= 1


@pytest.mark.shows("V13")
def test_where_no_name_is_heard_the_words_are_those_without_a_prompt(tmp_path: Path) -> None:
    names, (without, _) = ["Ottoline", "Xanthippe"], prompted([])
    recognizer, prompt = prompted(names)
    assert prompt
    for sentence in PROMPTED_SENTENCES:
        spoken = utterance(said(sentence, "slt", tmp_path))
        assert recognizer.transcribe(spoken).text == without.transcribe(spoken).text


@pytest.mark.shows("V13")
@pytest.mark.parametrize(("logprob", "text"), [(-0.2, "Maya has a tea"), (-0.31, "May I have a tea")])
def test_a_name_is_believed_only_where_whisper_is_surer_of_it(logprob: float, text: str) -> None:
    class Torn(FasterWhisperRecognizer):
        def _decode(self, utterance: Utterance, frames: int, language: str | None, prompt: str) -> Transcript:
            said, sure = ("Maya has a tea", logprob) if prompt else ("May I have a tea", -0.3)
            return Transcript(said, "en", self.name, evidence={"avg_logprob": sure, "language_probability": 1.0})

    recognizer = Torn(HOUSEHOLD_WHISPER, "en", 2, WhisperOptions(hotwords=lambda _: ["Maya"]))
    assert recognizer.transcribe(utterance(silence(1.5))).text == text


@pytest.mark.parametrize(
    ("text", "has_one"),
    [
        *(
            ("Ottoline, Bo.", False),
            ("bo Anna", False),
            ("", False),
            (" ...", False),
            ("Anna", True),
            ("Anna, Bo", False),
        ),
        *(("Ottoline, Bo, Anna, where are you?", True), ("Where is Bo?", True), ("Where is Bob?", False)),
        *(("Thank you. Anna, Anna,", False), ("Is Bo in New York by now?", True), ("The new one", False)),
        *(("请给欧阳打电话。", True), ("欧阳", True), ("请打电话。", False), ("欧阳欧阳", False)),
    ],
)
def test_a_prompt_has_helped_where_one_of_its_names_is_among_other_words(text: str, has_one: bool) -> None:
    assert has_helped(text, "Ottoline, Bo, Anna, New York, 欧阳") is has_one


def test_what_the_small_whisper_makes_of_a_prompt_it_never_saw(tmp_path: Path) -> None:
    """No gain is claimed of it: it was trained without prompts. The figure says what they do to it."""
    recognizer, _ = prompted(["Anna", "kitchen"])
    rate = WordErrorRate()
    for sentence in PROMPTED_SENTENCES:
        rate.add(sentence, recognizer.transcribe(utterance(said(sentence, "en-us", tmp_path))).text)
    figure("whisper-household with two hotwords in a prompt that it was not trained for", str(rate))
    assert rate.words == 15
