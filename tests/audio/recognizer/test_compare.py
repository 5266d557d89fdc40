"""Two windows compared: what counts as another word, and when the short one is good enough."""

import pytest

from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.models.compare import LEAST_WORDS, Comparison, compare, differing_words, words_of
from audio.recognizer.models.speed import sample_utterance
from audio.speech import Transcript, Utterance
from tests.audio.spoken import HOUSEHOLD_WHISPER, silence

UTTERANCE = Utterance(silence(1.0), 0.0, 1.0, 1.0, 1.0)


class TwoVoiced:
    """Hears one thing in the whole window and another in the short one; each takes its seconds of an own clock."""

    def __init__(self, whole: str, short: str) -> None:
        self.texts = {False: whole, True: short}
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def transcribe_in(self, utterance: Utterance, *, is_short: bool) -> Transcript:
        self.now += 0.5 if is_short else 4.0
        return Transcript(self.texts[is_short], "en", "scripted")


def test_words_are_compared_without_case_and_points() -> None:
    assert words_of("Where's my Key, now?") == ["where's", "my", "key", "now"]
    assert words_of("打开 light!") == ["打", "开", "light"]


@pytest.mark.parametrize(
    ("one", "other", "differing"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "a x c", 1),
        ("a b c", "a c", 1),
        ("a b", "a b b b b", 3),
        ("a b c", "", 3),
        ("", "x", 1),
    ],
)
def test_a_word_differs_when_it_is_changed_missing_or_too_much(one: str, other: str, differing: int) -> None:
    assert differing_words(one.split(), other.split()) == differing


@pytest.mark.shows("V10")
def test_each_utterance_is_compared_and_timed() -> None:
    recognizer = TwoVoiced("Turn on the light.", "Turn off the light.")
    found = list(compare(recognizer, [UTTERANCE, UTTERANCE], recognizer.clock))
    assert found == [Comparison(4, 1, 4.0, 0.5)] * 2
    assert found[0] + found[1] == Comparison(8, 2, 8.0, 1.0)


@pytest.mark.shows("V10")
@pytest.mark.parametrize(
    ("found", "is_for_short"),
    [
        (Comparison(LEAST_WORDS, 0, 4.0, 0.5), True),
        (Comparison(100, 3, 4.0, 0.5), True),
        (Comparison(100, 4, 4.0, 0.5), False),
        (Comparison(LEAST_WORDS - 1, 0, 4.0, 0.5), False),
        (Comparison(100, 0, 4.0, 4.5), False),
        (Comparison(), False),
    ],
)
def test_the_short_window_has_to_hear_the_same_in_enough_words_and_faster(
    found: Comparison, is_for_short: bool
) -> None:
    assert found.is_for_short == is_for_short


@pytest.mark.shows("V10")
def test_a_real_whisper_hears_the_same_in_both() -> None:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 2)
    recognizer.warm()
    (found,) = compare(recognizer, [sample_utterance()])
    assert found.words >= 5
    assert found.differing == 0
    assert found.short_seconds < found.whole_seconds
