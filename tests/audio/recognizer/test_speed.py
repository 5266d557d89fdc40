"""Which model a box is given: a decision on figures, the measuring on a clock of its own, and for real."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from audio.errors import AudioError, ModelNotFound
from audio.interfaces import Recognizer
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.models.catalog import Model
from audio.recognizer.models.speed import (
    BOUND,
    HOPELESS,
    MOST_THREADS,
    SAMPLE_SECONDS,
    TRIES,
    Measurement,
    choose,
    measure,
    sample_utterance,
    thread_counts,
)
from audio.speech import Transcript, Utterance
from tests.audio.spoken import HOUSEHOLD_WHISPER

MB = 1_000_000
SIZES = {"tiny": 75 * MB, "base": 145 * MB, "small": 484 * MB, "medium": 1528 * MB}
SIZES |= {f"{name}.en": size - 50_000 for name, size in SIZES.items()}


def seen(*figures: tuple[str, int, float]) -> list[Measurement]:
    return [Measurement(name, SIZES[name], threads, factor) for name, threads, factor in figures]


def chosen(*figures: tuple[str, int, float]) -> tuple[str, int]:
    best = choose(seen(*figures))
    assert best is not None
    return best.model, best.threads


@pytest.mark.shows("V9")
def test_the_largest_that_keeps_up_is_chosen() -> None:
    assert chosen(("tiny", 4, 0.05), ("base", 4, 0.1), ("small", 4, 0.29), ("medium", 4, 0.31)) == ("small", 4)


def test_the_bound_itself_is_too_slow() -> None:
    assert chosen(("tiny", 4, 0.05), ("base", 4, BOUND)) == ("tiny", 4)


def test_where_none_keeps_up_the_fastest_is_chosen() -> None:
    assert chosen(("tiny", 4, 0.5), ("tiny", 2, 0.4), ("base", 4, 0.9)) == ("tiny", 2)


def test_threads_that_bring_nothing_are_left_to_the_box() -> None:
    assert chosen(("base", 8, 0.100), ("base", 4, 0.105), ("base", 2, 0.190)) == ("base", 4)
    assert chosen(("base", 4, 0.10), ("base", 2, 0.12)) == ("base", 4)


def test_more_threads_than_help_are_not_taken() -> None:
    assert chosen(("base", 4, 0.25), ("base", 2, 0.11), ("base", 1, 0.2)) == ("base", 2)


def test_fewer_threads_never_break_the_bound() -> None:
    assert chosen(("small", 4, 0.29), ("small", 2, 0.305)) == ("small", 4)


def test_the_model_for_english_alone_wins_over_the_equal_for_all_languages() -> None:
    assert chosen(("base", 4, 0.1), ("base.en", 4, 0.1), ("tiny.en", 4, 0.05)) == ("base.en", 4)
    assert chosen(("base.en", 4, 0.1), ("small", 4, 0.2)) == ("small", 4)


def test_the_bound_is_an_argument() -> None:
    best = choose(seen(("tiny", 4, 0.05), ("base", 4, 0.2)), bound=0.1)
    assert best is not None
    assert best.model == "tiny"


def test_nothing_measured_nothing_chosen() -> None:
    assert choose([]) is None


@pytest.mark.parametrize(
    ("cores", "counts"),
    [(0, [1]), (1, [1]), (2, [2, 1]), (3, [3, 1]), (4, [4, 2, 1]), (8, [8, 4, 2]), (64, [16, 8, 4])],
)
def test_threads_worth_a_try(cores: int, counts: list[int]) -> None:
    assert thread_counts(cores) == counts
    assert max(counts) <= MOST_THREADS


@dataclass
class Box:
    """A box that decodes at given speeds, on a clock that only decoding moves."""

    factors: dict[str, list[float]]
    """Real-time factors by model, of one decode after the other; the last goes on."""
    broken: tuple[str, ...] = ()
    now: float = 0.0
    decodes: list[str] = field(default_factory=list)
    warmed: list[tuple[str, int]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def load(self, folder: Path, threads: int) -> Recognizer:
        if folder.name in self.broken:
            raise ModelNotFound(f"{folder.name} is damaged")
        return Scripted(self, folder.name, threads)

    def skip(self, model: Model, error: AudioError) -> None:
        self.skipped.append(f"{model.name}: {error}")

    def measured(self, *names: str, threads: tuple[int, ...] = (1,)) -> Iterator[Measurement]:
        models = [Model(name, Path(name), SIZES[name]) for name in names]
        return measure(models, threads, self.load, self.skip, lambda: self.now)


@dataclass
class Scripted:
    """A recognizer of that box."""

    box: Box
    name: str
    threads: int
    sends_to = ()

    def warm(self) -> None:
        self.box.warmed.append((self.name, self.threads))
        self.box.now += 100

    def transcribe(self, utterance: Utterance) -> Transcript:
        left = self.box.factors[self.name]
        self.box.now += utterance.seconds * (left.pop(0) if len(left) > 1 else left[0])
        self.box.decodes.append(self.name)
        return Transcript("", "en", self.name)


def test_models_are_measured_from_the_smallest_up_whatever_their_order() -> None:
    box = Box({"tiny": [0.05], "base": [0.1], "small": [0.2]})
    found = list(box.measured("small", "tiny", "base"))
    assert [(each.model, each.threads, round(each.factor, 6)) for each in found] == [
        ("tiny", 1, 0.05),
        ("base", 1, 0.1),
        ("small", 1, 0.2),
    ]


def test_the_fastest_of_a_few_decodes_counts_and_loading_does_not() -> None:
    box = Box({"base": [0.4, 0.2, 0.35]})
    assert [round(each.factor, 6) for each in box.measured("base")] == [0.2]
    assert box.decodes == ["base"] * TRIES
    assert box.warmed == [("base", 1)]


def test_nothing_larger_than_the_first_that_is_too_slow_is_loaded() -> None:
    box = Box({"tiny": [0.1], "base": [0.4], "small": [0.0]})
    assert [each.model for each in box.measured("tiny", "base", "small")] == ["tiny", "base"]
    assert [name for name, _ in box.warmed] == ["tiny", "base"]


def test_a_hopeless_model_is_decoded_once() -> None:
    box = Box({"small": [HOPELESS + 0.1]})
    assert len(list(box.measured("small", "medium", threads=(4, 2, 1)))) == 1
    assert box.decodes == ["small"]


def test_each_number_of_threads_is_measured() -> None:
    box = Box({"tiny": [0.4, 0.4, 0.4, 0.1], "base": [0.2]})
    found = list(box.measured("tiny", "base", threads=(4, 2)))
    assert [(each.model, each.threads) for each in found] == [("tiny", 4), ("tiny", 2), ("base", 4), ("base", 2)]


def test_a_model_that_cannot_be_used_is_left_out_and_told() -> None:
    box = Box({"tiny": [0.1], "small": [0.2]}, broken=("base",))
    assert [each.model for each in box.measured("tiny", "base", "small")] == ["tiny", "small"]
    assert box.skipped == ["base: base is damaged"]


def test_what_is_decoded_is_three_seconds_of_speech_the_same_always() -> None:
    one, other = sample_utterance(), sample_utterance()
    assert one.seconds == SAMPLE_SECONDS == 3.0
    assert one.samples.dtype == np.int16
    assert np.array_equal(one.samples, other.samples)


@pytest.mark.shows("V9")
def test_a_real_model_is_measured_on_words_that_it_understands() -> None:
    household = Model("household", HOUSEHOLD_WHISPER, 2_563_063)
    heard: list[Transcript] = []

    class Listening(FasterWhisperRecognizer):
        def transcribe(self, utterance: Utterance) -> Transcript:
            heard.append(super().transcribe(utterance))
            return heard[-1]

    def load(folder: Path, threads: int) -> Recognizer:
        return Listening(folder, "en", threads)

    found = list(measure([household], [2, 1], load, lambda model, error: pytest.fail(f"{model}: {error}")))
    assert [(each.model, each.size, each.threads) for each in found] == [
        ("household", 2_563_063, 2),
        ("household", 2_563_063, 1),
    ]
    assert all(0 < each.factor < 3 for each in found)
    assert heard[-1].text == "Remember that the spare key is under the mat."
