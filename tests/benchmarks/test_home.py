"""The sentences to a real house, and how they are judged."""

from typing import Any

from benchmarks.home.house import Snapshot, wrong
from benchmarks.home.sentences import BED, BLINDS, FRONT, SENTENCES, SHOPPING, Sentence
from benchmarks.home.voices import PINYIN
from tests.home.onboarding import EXPOSED, WITHOUT_ID


def house(milk: bool = False, **states: str) -> Snapshot:
    known: dict[str, dict[str, Any]] = {
        BED: {"state": "off", "attributes": {"brightness": None}},
        FRONT: {"state": "locked", "attributes": {}},
        SHOPPING: {"state": "0", "attributes": {}},
        BLINDS: {"state": "open", "attributes": {"current_position": 100}},
    }
    for entity, state in states.items():
        known[{"bed": BED, "front": FRONT, "blinds": BLINDS}[entity]]["state"] = state
    return Snapshot(known, {SHOPPING: frozenset({"milk"} if milk else ())})


def test_every_sentence_is_about_what_is_there_and_can_be_said() -> None:
    there = {*EXPOSED, *WITHOUT_ID}
    assert [entity for each in SENTENCES for entity in (*each.before, *each.after) if entity not in there] == []
    sounds = dict(line.split("\t", 1) for line in PINYIN.read_text(encoding="utf-8").splitlines())
    assert [each.words for each in SENTENCES if each.language == "zh"] == list(sounds)
    assert len({each.words for each in SENTENCES}) == 100


def test_the_state_decides_not_the_answer() -> None:
    sentence = Sentence("Turn on the bed light", "name", {BED: "off"}, {BED: "on"})
    assert wrong(sentence, house(), house(bed="on"), "") == ""
    assert wrong(sentence, house(), house(), "Turned on the light") == f"{BED} is not on"


def test_what_changes_besides_is_wrong() -> None:
    sentence = Sentence("Turn on the bed light", "name", {BED: "off"}, {BED: "on"})
    assert wrong(sentence, house(), house(bed="on", front="unlocked"), "") == f"changed {FRONT}"
    assert wrong(Sentence("Tell me a joke", "none"), house(), house(bed="on"), "") == f"changed {BED}"


def test_blinds_are_on_their_way_and_lists_are_read() -> None:
    assert wrong(Sentence("Close", "cover", after={BLINDS: "closed"}), house(), house(blinds="closing"), "") == ""
    sentence = Sentence("Add milk", "list", after={SHOPPING: "with milk"})
    assert wrong(sentence, house(), house(milk=True), "") == ""
    assert wrong(sentence, house(), house(), "") == f"{SHOPPING} is not with milk"


def test_an_answer_has_to_say_what_is_so() -> None:
    sentence = Sentence("Is the front door locked?", "question", answer="yes|locked")
    assert wrong(sentence, house(), house(), "Yes") == ""
    assert wrong(sentence, house(), house(), "No") == "another answer"
