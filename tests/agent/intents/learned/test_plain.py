"""The plain sentence of each wish is understood as that wish, with what stands in its slots."""

from importlib.resources import files
from string import Formatter
from typing import Any

import pytest
import yaml

from agent.intents.intent import Language
from agent.intents.learned.network import Reading, network
from agent.intents.learned.plain import Plain, plainly
from agent.intents.reading.understanding import load_understanding

UNDERSTAND = load_understanding()
WISHES: dict[str, dict[str, Any]] = yaml.safe_load(
    files("agent.intents.learned").joinpath("plain.yaml").read_text(encoding="utf-8")
)["wishes"]

SAID: dict[Language, dict[str, str]] = {
    "en": {
        "duration": "ten minutes",
        "label": "rice",
        "day": "on Friday",
        "time": "half past six",
        "which": "second",
        "old": "seven o'clock",
        "item": "milk",
        "list": "shopping",
        "fact": "the key is under the mat",
        "topic": "the key",
        "level": "thirty percent",
        "amount": "350 fahrenheit",
        "to": "celsius",
    },
    "zh": {
        "duration": "十分钟",
        "label": "米饭",
        "day": "周五",
        "time": "六点半",
        "which": "第二个",
        "old": "七点",
        "item": "牛奶",
        "list": "购物",
        "fact": "钥匙在垫子下面",
        "topic": "钥匙",
        "level": "百分之三十",
        "amount": "三斤",
        "to": "公斤",
    },
}
FRAMES = [
    (name, language, frame) for name, wish in WISHES.items() for language in ("en", "zh") for frame in wish[language]
]


@pytest.mark.parametrize(("name", "language", "frame"), FRAMES)
def test_each_plain_sentence_is_understood_as_its_wish(name: str, language: Language, frame: str) -> None:
    slots = tuple((slot, SAID[language][slot]) for _, slot, _, _ in Formatter().parse(frame) if slot)
    plain = plainly(Reading(name, 1.0, slots), language, UNDERSTAND)
    assert plain is not None
    assert plain.is_whole
    assert UNDERSTAND(plain.words).name in WISHES[name].get("means", [name])
    assert all(words in plain.words for _, words in slots)


@pytest.mark.parametrize(
    ("slots", "said"),
    [
        ((("duration", "25"), ("label", "the chicken")), "set a timer for 25 minutes for chicken"),
        ((("duration", "another ten minutes more"),), "set a timer for ten minutes"),
    ],
)
def test_what_is_said_around_a_slot_is_said_once(slots: tuple[tuple[str, str], ...], said: str) -> None:
    assert plainly(Reading("timer_start", 1.0, slots), "en", UNDERSTAND) == Plain(said, is_whole=True)


def test_several_things_go_on_a_list_together() -> None:
    reading = Reading("list_add", 1.0, (("item", "cumin"), ("list", "the shopping list"), ("item", "some foil")))
    said = "add cumin and some foil to the shopping list"
    assert plainly(reading, "en", UNDERSTAND) == Plain(said, is_whole=True)


@pytest.mark.parametrize(
    ("slots", "said"),
    [
        ((("duration", "twenty"), ("duration", "twenty five minutes")), "set a timer for twenty five minutes"),
        ((("duration", "forty"), ("label", "squash"), ("time", "six")), "set a timer for forty minutes for squash"),
    ],
)
def test_what_leaves_something_out_is_not_whole(slots: tuple[tuple[str, str], ...], said: str) -> None:
    """Who says two lengths means the last, or two timers: it is asked back."""
    assert plainly(Reading("timer_start", 1.0, slots), "en", UNDERSTAND) == Plain(said, is_whole=False)


def test_what_wants_nothing_has_no_plain_sentence() -> None:
    for name in ("tell", "recall", "chat", "other", "sum", "outside"):
        assert plainly(Reading(name, 1.0, ()), "en", UNDERSTAND) is None


def test_a_slot_that_is_no_time_makes_no_alarm() -> None:
    assert plainly(Reading("ring_longer", 1.0, (("duration", "a purple while"),)), "en", UNDERSTAND) is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_all_that_the_network_names_is_a_wish_or_known_to_want_nothing(language: Language) -> None:
    nothing = {"tell", "recall", "chat", "other", "sum", "outside"}
    assert set(network(language).names) <= WISHES.keys() | nothing
