"""Stories of where a turn begins and ends: one character a chunk of 32 ms, `#` speech, `+` hardly, `.` silence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple
from pytest import approx  # noqa: PT013  reads better in sums

from audio.pcm import CHUNK_SECONDS
from audio.turns.endpointer import Committed, Dropped, Endpointer, Resumed, Signal, SoftEnd, Started
from tests.audio.ears_fakes import PROBABILITIES

SOFT_END_CHUNKS = 7
COMMIT_CHUNKS = 22


def tell(pattern: str, endpointer: Endpointer | None = None) -> list[tuple[int, Signal]]:
    """Return each signal with the number of the chunk at which it came."""
    endpointer = endpointer or Endpointer()
    return [
        (number, signal)
        for number, letter in enumerate(pattern)
        for signal in endpointer.process(PROBABILITIES[letter], number * CHUNK_SECONDS)
    ]


def names(told: list[tuple[int, Signal]]) -> list[str]:
    return [type(signal).__name__ for _, signal in told]


def in_chunks(signal: Signal) -> list[float]:
    """Return a signal's times and lengths in chunks, in the order of its fields."""
    return [seconds / CHUNK_SECONDS for seconds in astuple(signal)]


def after(speech: str, silence: int) -> str:
    return speech + "." * silence


@pytest.mark.shows("V7")
def test_a_turn_starts_pauses_and_is_committed() -> None:
    told = tell(after("...##########", 25))
    assert [number for number, _ in told] == [4, 12 + SOFT_END_CHUNKS, 12 + COMMIT_CHUNKS]
    started, soft_end, committed = (signal for _, signal in told)
    assert isinstance(started, Started)
    assert in_chunks(started) == approx([3])
    assert isinstance(soft_end, SoftEnd)
    assert in_chunks(soft_end) == approx([13])
    assert isinstance(committed, Committed)
    assert in_chunks(committed)[:4] == approx([3, 13, 10, 13 + COMMIT_CHUNKS])
    assert committed.probability == approx(0.9)


@pytest.mark.shows("V12")
def test_how_sure_the_detector_was_is_told_of_the_speech_alone() -> None:
    (committed,) = (signal for _, signal in tell(after("...####++++...####", 25)) if isinstance(signal, Committed))
    assert committed.probability == approx((8 * 0.9 + 4 * 0.4) / 12)


def test_a_single_chunk_is_no_onset() -> None:
    assert tell("...#...#.#....#" + "." * 40) == []


def test_hardly_speech_begins_nothing_but_keeps_a_turn_open() -> None:
    assert tell("++++++++++") == []
    assert names(tell(after("##++++++++++++++++++++++++++++++", 25))) == ["Started", "SoftEnd", "Committed"]


@pytest.mark.shows("V7")
def test_speech_before_the_commit_goes_on_with_the_same_turn() -> None:
    told = tell(after(after("######", 15) + "######", 30))
    assert names(told) == ["Started", "SoftEnd", "Resumed", "SoftEnd", "Committed"]
    number, resumed = told[2]
    assert isinstance(resumed, Resumed)
    assert [number, *in_chunks(resumed)] == approx([21, 21])
    committed = told[-1][1]
    assert isinstance(committed, Committed)
    assert committed.speech_seconds == approx(12 * CHUNK_SECONDS)
    assert committed.ended_at == approx(27 * CHUNK_SECONDS)


def test_a_short_pause_within_a_sentence_is_not_even_a_soft_end() -> None:
    assert names(tell(after("######" + "." * 5 + "######", 0))) == ["Started"]


def test_after_a_soft_end_hardly_speech_is_silence() -> None:
    assert names(tell(after("######", 8) + "+" * 20)) == ["Started", "SoftEnd", "Committed"]


@pytest.mark.shows("V7")
def test_speech_after_the_commit_is_another_turn() -> None:
    told = tell(after(after("######", 25) + "########", 25))
    assert names(told) == ["Started", "SoftEnd", "Committed"] * 2
    number, started = told[3]
    assert [number, *in_chunks(started)] == approx([32, 31])


def test_a_cough_is_dropped() -> None:
    told = tell(after("..###", 30))
    assert names(told) == ["Started", "SoftEnd", "Dropped"]
    assert in_chunks(told[-1][1]) == approx([3, 5])


def test_coughs_do_not_add_up() -> None:
    assert names(tell(after("###", 30) * 4)).count("Dropped") == 4


@pytest.mark.shows("V7")
def test_a_turn_without_end_is_cut_and_goes_on() -> None:
    told = tell(after("#" * 50, 25), Endpointer(longest_seconds=1.0))
    assert names(told) == ["Started", "Committed", "Started", "SoftEnd", "Committed"]
    first, second = (signal for _, signal in told if isinstance(signal, Committed))
    assert first.at - first.started_at == approx(1.0, abs=CHUNK_SECONDS)
    assert second.started_at == approx(first.at)
    assert first.speech_seconds + second.speech_seconds == approx(50 * CHUNK_SECONDS)


def test_the_silence_to_commit_is_a_setting() -> None:
    assert names(tell(after("######", 12), Endpointer(0.35)))[-1] == "Committed"
    assert names(tell(after("######", 12), Endpointer(1.2)))[-1] == "SoftEnd"


def told_after(silences: dict[int, float], pattern: str) -> list[tuple[int, str]]:
    """Like `tell`, but at some chunks the endpointer is told another silence to commit after."""
    endpointer = Endpointer()
    told = []
    for number, letter in enumerate(pattern):
        told += [(number, type(s).__name__) for s in endpointer.process(PROBABILITIES[letter], number * CHUNK_SECONDS)]
        if number in silences:
            endpointer.commit_after(silences[number])
    return told


@pytest.mark.shows("V7")
def test_finished_words_end_the_turn_sooner_and_unfinished_ones_later() -> None:
    pattern = after("#" * 10, 45)
    assert told_after({}, pattern)[-1] == (9 + COMMIT_CHUNKS, "Committed")
    assert told_after({18: 0.35}, pattern)[-1] == (9 + 11, "Committed")
    assert told_after({18: 1.2}, pattern)[-1] == (9 + 38, "Committed")


@pytest.mark.shows("V7")
def test_words_that_come_late_end_the_turn_at_once() -> None:
    assert told_after({26: 0.35}, after("#" * 10, 45))[-1] == (27, "Committed")


@pytest.mark.shows("V7")
def test_speech_that_goes_on_and_the_next_turn_are_judged_anew() -> None:
    told = told_after({18: 1.2, 60: 0.1}, after(after("#" * 10, 10) + "#" * 10, 25) + after("#" * 10, 25))
    assert told[3:5] == [(29 + SOFT_END_CHUNKS, "SoftEnd"), (29 + COMMIT_CHUNKS, "Committed")]
    assert told[-1] == (64 + COMMIT_CHUNKS, "Committed")


def test_while_speech_is_under_way_no_silence_is_told() -> None:
    assert told_after({5: 0.1}, after("#" * 10, 45))[-1] == (9 + COMMIT_CHUNKS, "Committed")


def test_a_flush_ends_the_turn_that_is_open() -> None:
    endpointer = Endpointer()
    for number in range(10):
        endpointer.process(0.9, number * CHUNK_SECONDS)
    (committed,) = endpointer.flush(10 * CHUNK_SECONDS)
    assert isinstance(committed, Committed)
    assert in_chunks(committed)[:4] == approx([0, 10, 10, 10])
    assert not endpointer.is_in_turn
    assert endpointer.flush(11 * CHUNK_SECONDS) == ()


def test_a_flush_forgets_an_onset_that_was_none_yet() -> None:
    endpointer = Endpointer()
    endpointer.process(0.9, 1.0)
    assert endpointer.flush(2.0) == ()
    assert endpointer.process(0.9, 60.0) == ()
    assert endpointer.process(0.9, 60.032) == (Started(60.0),)


def test_a_gap_in_the_chunks_counts_as_silence() -> None:
    endpointer = Endpointer()
    for number in range(10):
        endpointer.process(0.9, number * CHUNK_SECONDS)
    (committed,) = endpointer.process(0.05, 5.0)
    assert isinstance(committed, Committed)
    assert committed.ended_at == approx(10 * CHUNK_SECONDS)


@given(st.text(alphabet="#+.", max_size=300))
def test_whatever_is_said_turns_are_whole_in_order_and_have_an_end(pattern: str) -> None:
    told = [signal for _, signal in tell(pattern + "." * COMMIT_CHUNKS + "..")]
    opened = 0
    last = 0.0
    for signal in told:
        opened += isinstance(signal, Started) - isinstance(signal, Committed | Dropped)
        assert opened in {0, 1}
        if isinstance(signal, Committed):
            assert last <= signal.started_at < signal.ended_at <= signal.at
            assert signal.speech_seconds <= signal.ended_at - signal.started_at + 1e-6
            last = signal.ended_at
    assert opened == 0
