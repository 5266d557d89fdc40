"""Answers, judged by their words."""

from datetime import UTC, datetime

import pytest

from appliance.bench.generator import Kind, Probe
from appliance.bench.rehearsal import judged

NOW = datetime(2026, 3, 30, tzinfo=UTC)


def probe(kind: Kind, *expected: str, forbidden: tuple[str, ...] = ()) -> Probe:
    return Probe(NOW, "Anna", "?", kind, expected, forbidden)


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("Boris lives in Graz now.", True),
        ("graz", True),
        ("In Grazing Hill.", False),
        ("I don't know whether it is Graz.", False),
        ("", False),
    ],
)
def test_what_is_known_has_to_be_said(answer: str, is_right: bool) -> None:
    assert judged(probe("now", "Graz"), answer).is_right is is_right


def test_numbers_count_whole() -> None:
    since = probe("since", "2026-03-04", "March 4", "3月4")
    assert judged(since, "Since March 4.").is_right
    assert judged(since, "从3月4日开始。").is_right
    assert not judged(since, "Since March 14.").is_right
    assert not judged(since, "12月3月41").is_right


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know.",
        "I do not know that.",
        "Sorry, nobody has told me.",
        "That was never mentioned here.",
        "I have no record of it.",
        "I can’t find anything about it.",
        "我不知道。",
        "没有人告诉我。",
        "没听说过。",
    ],
)
def test_not_to_know_is_said_in_many_ways(answer: str) -> None:
    assert judged(probe("absent"), answer).is_right


@pytest.mark.parametrize("answer", ["It is 42.", "Graz.", "是四十二。", ""])
def test_whoever_answers_what_nobody_said_is_wrong(answer: str) -> None:
    assert not judged(probe("absent"), answer).is_right


def test_what_was_to_be_forgotten_may_not_be_told_beside_not_knowing_it() -> None:
    gone = probe("forgotten", forbidden=("1034-812",))
    assert judged(gone, "I do not know it.").is_right
    assert not judged(gone, "I do not know whether it is 1034-812.").is_right


def test_an_answer_cites_the_event_that_it_names() -> None:
    assert judged(probe("now", "Graz"), f"Graz [{'0a' * 16}]").cites
    assert not judged(probe("now", "Graz"), "Graz [a]").cites
