"""The network as it is shipped: it reads what its writers said, the same each time, and nothing where nothing is."""

import json
import subprocess
import sys

import pytest

from agent.intents.intent import Language
from agent.intents.learned.network import LONGEST, network


@pytest.mark.parametrize(
    ("language", "words", "name", "slots"),
    [
        ("en", "sprinklers just gone on, forty minutes please", "timer_start", {"duration": "forty minutes"}),
        ("en", "get me up at quarter past six tomorrow", "wake", {"time": "quarter past six", "day": "tomorrow"}),
        ("en", "we're out of cumin so pop that on the shopping", "list_add", {"item": "cumin", "list": "shopping"}),
        ("zh", "明天早上七点叫我起床", "wake", {"day": "明天", "time": "早上七点"}),
        ("zh", "酱油没了，记到购物清单上", "list_add", {"item": "酱油", "list": "购物清单"}),
    ],
)
def test_it_names_the_wish_and_marks_what_it_is_of(
    language: Language, words: str, name: str, slots: dict[str, str]
) -> None:
    reading = network(language).read(words)
    assert reading is not None
    assert (reading.name, dict(reading.slots)) == (name, slots)
    assert 0 < reading.certainty <= 1


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "the bus was ten minutes late again this morning"),
        ("en", "I set my alarm wrong yesterday and missed it"),
        ("zh", "今天公交车又晚了十分钟"),
    ],
)
def test_what_only_tells_of_a_time_wants_nothing(language: Language, words: str) -> None:
    reading = network(language).read(words)
    assert reading is not None
    assert reading.name in {"tell", "other", "recall", "chat"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_and_too_much_are_not_read(language: Language) -> None:
    assert network(language).read("") is None
    assert network(language).read("   ") is None
    assert network(language).read("ten " * (LONGEST + 1)) is None
    assert network(language).read("�" * LONGEST) is not None


def test_another_process_reads_the_same() -> None:
    """Sets and hashes of strings differ from process to process; what is read must not."""
    words = "could you count me a quarter of an hour for the sprouts"
    code = (
        "import json; from agent.intents.learned.network import network\n"
        f"each = network('en').read({words!r}); print(json.dumps([each.name, round(each.certainty, 6), each.slots]))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    mine = network("en").read(words)
    assert mine is not None
    assert json.loads(other.stdout) == [mine.name, round(mine.certainty, 6), [list(slot) for slot in mine.slots]]
