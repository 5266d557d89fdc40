"""What it costs to understand a sentence, counted in the calls that Python makes: no clock is read."""

import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from types import FrameType

import pytest

from agent.intents.decide import decide
from agent.intents.dialog_state import read_dialog
from agent.intents.intent import Language
from agent.intents.language.wording import sentence_file
from agent.intents.reading.understanding import load_understanding
from tests.agent.intents.household import households
from tests.agent.intents.reading.test_understanding import CHINESE, ENGLISH
from tests.agent.offline_talk import OFFLINE, SPECS, Talk

MOST_CALLS = 1_000_000
"""For one sentence, with the tables of numbers that it is the first to need; a range of a million takes far more."""

MOST_CALLS_OF_A_BREATH = 170_000
"""Python's, for all the readings of its parts."""

MOST_CALLS_OF_A_SUM = 10_000
"""Once the units are there; to make them takes a hundred times as many."""

MOST_NUMBERS = 400
"""In a range that is read in words: hassil spells out each of them."""

NUMBERED = [
    "pick a number between one and ten",
    "a random number from twenty to one thousand",
    "choose a number between 1 and 5000",
    "随机选一个一到十之间的数字",
    "抽一个十到一千之间的数",
    "选个1到5000的数",
]


class TooManyCallsError(Exception):
    """What costs more than it may."""


def calls_of(act: Callable[[], object], most: int) -> int:
    """Return how many calls it takes to do something. Raises TooManyCallsError beyond the most."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"
        if count > most:
            sys.setprofile(None)
            raise TooManyCallsError

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def corpus() -> list[str]:
    told = [words for name in ("build.txt", "held-out.txt") for house in households(name) for words, _ in house.said]
    return [*NUMBERED, *(words for words, _ in (*ENGLISH, *CHINESE)), *told]


CORPUS = corpus()
PART = 25


@pytest.mark.parametrize("first", range(0, len(CORPUS), PART))
def test_no_sentence_costs_more_than_its_steps(first: int) -> None:
    understand = load_understanding()
    for words in CORPUS[first : first + PART]:
        calls_of(partial(understand, words), MOST_CALLS)


@pytest.mark.parametrize(
    "words",
    [
        "remind me at five to feed the cat, at six to water the plants and at nine to lock the door",
        "set a timer for two hours and twenty minutes for the roast and the potatoes",
        "Set three timers: five minutes for eggs, eight minutes for toast, and an hour for the roast",
        "set an alarm for seven every weekday except Wednesday",
    ],
)
def test_a_breath_that_may_hold_several_wishes_costs_no_more(words: str) -> None:
    talk = Talk(OFFLINE)
    talk.hear(words)
    state, understand = read_dialog(talk.messages, SPECS, "en"), load_understanding()
    decide(state, cache(understand))  # the first to need a table of numbers makes it
    calls_of(lambda: decide(state, cache(understand)), MOST_CALLS_OF_A_BREATH)


def test_the_first_measure_converted_after_a_start_costs_no_more_than_the_next() -> None:
    code = """
import asyncio
from agent.intents.model import OfflineModel
from tests.agent.intents.reading.test_cost import calls_of

model = OfflineModel()
asyncio.run(model.warm())
from agent.intents.subjects.sums.answer import answer_sum
print(calls_of(lambda: answer_sum("how many grams is three ounces"), 1_000_000))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert int(ran.stdout) < MOST_CALLS_OF_A_SUM


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_range_that_is_read_in_words_is_large(language: Language) -> None:
    ranges = {name: each["range"] for name, each in sentence_file(language)["lists"].items() if "range" in each}
    sizes = {name: each["to"] - each["from"] for name, each in ranges.items() if each.get("words", True)}
    assert {name: size for name, size in sizes.items() if size > MOST_NUMBERS} == {}


@pytest.mark.parametrize(
    ("words", "low", "high"),
    [
        ("pick a number between one and ten", 1, 10),
        ("give me a random number between one and a hundred", 1, 100),
        ("choose a number between 1 and 5000", 1, 5000),
        ("draw a number from twenty to one thousand", 20, 1000),
        ("随机选一个一到十之间的数字", 1, 10),
        ("选个1到5000的数", 1, 5000),
        ("抽一个十到一千之间的数", 10, 1000),
    ],
)
def test_a_number_between_two_others_is_drawn(words: str, low: int, high: int) -> None:
    intent = load_understanding()(words)
    assert (intent.name, intent.number("low"), intent.number("high")) == ("draw", low, high)
