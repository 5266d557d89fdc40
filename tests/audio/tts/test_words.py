import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.pcm import Samples
from audio.speech import SpeechAudio, WordTiming
from audio.tts.words import TAIL_SECONDS, WordAligner, estimated_seconds, heard_part, position_after

TEXT = "Tea is ready, at 5 o'clock."
WORDS = tuple(
    WordTiming(text, start, start + 0.5) for start, text in enumerate(["Tea", "is", "ready", "at", "five", "o'clock"])
)
RATE = 1000


@pytest.mark.shows("V22")
@pytest.mark.parametrize(
    ("words", "before"),
    [(0, ""), (1, "Tea"), (3, "Tea is ready"), (4, "Tea is ready, at"), (5, "Tea is ready, at"), (6, TEXT[:-1])],
)
def test_the_words_said_are_found_in_the_text_whatever_stands_between(words: int, before: str) -> None:
    assert TEXT[: position_after(TEXT, WORDS[:words])] == before


def test_the_same_word_is_found_as_often_as_it_was_said() -> None:
    words = [WordTiming("the", 0, 1), WordTiming("the", 1, 2)]

    assert position_after("the cat, the dog, the cow", words) == len("the cat, the")
    assert position_after("the cat" + " " * 80 + "the dog", words) == len("the")


@pytest.mark.shows("V22")
@pytest.mark.parametrize(
    ("heard", "part"),
    [
        (0.0, ""),
        (0.49, ""),
        (0.5, "Tea"),
        (2.4, "Tea is"),
        (2.5, "Tea is ready"),
        (5.4, "Tea is ready, at"),
        (5.5, "Tea is ready, at 5 o'clock"),
        (6.0, TEXT),
        (9.0, TEXT),
    ],
)
def test_with_timings_whole_words_were_heard(heard: float, part: str) -> None:
    assert heard_part(TEXT, WORDS, heard, 6.0) == part


@pytest.mark.shows("V22")
def test_without_timings_the_time_decides_in_proportion_and_no_word_is_cut() -> None:
    assert heard_part("One two three four", (), 0.0, 4.0) == ""
    assert heard_part("One two three four", (), 2.0, 4.0) == "One two"
    assert heard_part("One two three four", (), 2.6, 4.0) == "One two"
    assert heard_part("One two three four", (), 4.0, 4.0) == "One two three four"
    assert heard_part("一二三四五六", (), 1.0, 2.0) == "一二三"


@pytest.mark.shows("V22")
def test_where_the_timings_end_the_rest_is_estimated_only_when_its_length_is_known() -> None:
    words = WORDS[:2]

    assert heard_part("Tea is ready now and hot", words, 2.5, 3.5) == "Tea is ready"
    assert heard_part("Tea is ready now and hot", words, 2.5, None) == "Tea is"


def test_an_unknown_length_is_estimated_from_the_text() -> None:
    assert heard_part("One two three four", (), estimated_seconds("One two three four") / 2, None) == "One two"
    assert estimated_seconds("一二三四五六七八九") == pytest.approx(2.0)


@given(
    st.text(max_size=60), st.lists(st.text(min_size=1, max_size=5), max_size=6), st.floats(0, 20), st.floats(0.1, 20)
)
def test_what_was_heard_is_always_a_beginning_of_the_text(
    text: str, said: list[str], heard: float, total: float
) -> None:
    words = [WordTiming(word, float(number), number + 0.9) for number, word in enumerate(said)]

    for known in (total, None):
        assert text.startswith(heard_part(text, words, heard, known))


def loud(count: int) -> Samples:
    return np.full(count, 1000, np.int16)


def word(text: str, start: float, end: float) -> WordTiming:
    return WordTiming(text, start, end)


def shape(piece: SpeechAudio | None) -> tuple[int, list[str]] | None:
    return None if piece is None else (len(piece.samples), [word.text for word in piece.words])


def test_sound_is_given_up_to_the_last_whole_word() -> None:
    aligner = WordAligner(RATE)
    aligner.add_word(word("Tea", 0.0, 0.3))
    aligner.add_word(word("is", 0.3, 0.5))

    assert shape(aligner.add_samples(loud(200))) is None
    assert shape(aligner.add_samples(loud(150))) == (300, ["Tea"])
    assert shape(aligner.add_samples(loud(100))) is None
    aligner.add_word(word("hot", 0.5, 0.7))
    assert shape(aligner.add_samples(loud(300))) == (400, ["is", "hot"])
    assert shape(aligner.flush()) == (50, [])
    assert shape(aligner.flush()) is None
    assert (aligner.seconds, aligner.last_end) == (0.75, 0.7)


def test_a_voice_that_times_no_words_is_not_held_back_for_long() -> None:
    aligner = WordAligner(RATE)

    assert shape(aligner.add_samples(loud(900))) is None
    assert shape(aligner.add_samples(loud(200))) == (1100, [])
    assert shape(aligner.add_samples(loud(100))) == (100, [])


def test_long_silence_at_the_end_is_shortened_and_sound_never_is() -> None:
    aligner = WordAligner(RATE)
    aligner.add_word(word("Tea", 0.0, 0.3))
    aligner.add_samples(loud(300))
    aligner.add_samples(loud(20))
    aligner.add_samples(np.zeros(800, np.int16))
    kept = 20 + round(TAIL_SECONDS * RATE)

    assert shape(aligner.flush()) == (kept, [])


@given(
    ends=st.lists(st.integers(1, 200), max_size=8, unique=True).map(sorted),
    sizes=st.lists(st.integers(1, 80), min_size=1, max_size=12),
    early=st.booleans(),
)
def test_nothing_is_lost_doubled_or_out_of_order(ends: list[int], sizes: list[int], early: bool) -> None:
    samples = np.arange(200, 200 + sum(sizes), dtype=np.int16)
    words = [word(str(end), max(0, end - 1) / RATE, end / RATE) for end in ends]
    aligner = WordAligner(RATE)
    pieces: list[SpeechAudio | None] = []

    for timing in words if early else []:
        aligner.add_word(timing)
    start = 0
    for size in sizes:
        pieces.append(aligner.add_samples(samples[start : start + size]))
        start += size
    for timing in [] if early else words:
        aligner.add_word(timing)
    pieces.append(aligner.flush())

    given = [piece for piece in pieces if piece]
    assert np.array_equal(np.concatenate([piece.samples for piece in given]), samples)
    said = [timing.text for piece in given for timing in piece.words]
    assert said == [str(end) for end in ends if end <= sum(sizes)]
