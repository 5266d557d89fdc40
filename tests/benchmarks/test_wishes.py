"""The lines that the network is trained on: they parse, mark what they say they mark, and are exchanged whole."""

import random

import pytest

from agent.intents.learned.network import network
from agent.intents.learned.tokens import tokens
from benchmarks.wishes.lines import FOLDER, marks_of, mixed, read_line, read_lines, words_by_slot

WRITERS = sorted(file.stem for file in FOLDER.glob("*.tsv"))


def test_a_line_has_a_name_words_and_slots() -> None:
    line = read_line("wake\tget me up at {time:half six} {day:on Friday}, love")
    assert (line.name, line.words) == ("wake", "get me up at half six on Friday, love")
    assert line.slots() == [("time", "half six"), ("day", "on Friday")]
    assert marks_of(line, tokens(line.words)) == (["O", "O", "O", "O", "B-time", "I-time", "B-day", "I-day", "O", "O"])


def test_a_line_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        read_line("get me up at {time:six}")


@pytest.mark.parametrize("writer", WRITERS)
def test_each_writer_s_lines_are_what_the_network_knows(writer: str) -> None:
    lines = read_lines([writer])
    assert len(lines) >= 300
    assert {line.name for line in lines} <= set(network("zh" if writer.startswith("zh") else "en").names)
    assert not [line.words for line in lines if "{" in line.words or "}" in line.words]


def test_words_that_are_exchanged_keep_their_marks() -> None:
    lines = read_lines(["en1"])
    others, chance = words_by_slot(lines), random.Random(1)
    for line in lines:
        each = mixed(line, others, chance)
        assert [slot for slot, _ in each.slots()] == [slot for slot, _ in line.slots()]
        assert all(words in others[slot] for slot, words in each.slots())
        pieces = tokens(each.words)
        begun = [mark for mark in marks_of(each, pieces) if mark.startswith("B-")]
        ends = {piece.end for piece in pieces}  # "the hoovering's done" has no piece that is the hoovering alone
        assert len(begun) == sum(span.end in ends for span in each.spans) or "'s" in each.words
