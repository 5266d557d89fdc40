"""What hassil is spared: nothing that would have fitted."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hassil import recognize_all
from hassil.intents import Intents
from hassil.numbers import get_rbnf_engine
from hassil.recognize import RecognizeResult

from agent.intents.reading.matching import NUMERALS, Matcher

LARGEST = 5000
"""Of the numbers of our lists."""

DESCRIBED: Mapping[str, Any] = {
    "language": "en",
    "intents": {
        "wake": {"data": [{"sentences": ["wake me [<day>] at {hour}", "{before} <day>"]}]},
        "light": {
            "data": [
                {
                    "sentences": ["light the <room>", "(dim|light) {lamp}[s]"],
                    "expansion_rules": {"room": "(hall|stairs)"},
                    "lists": {"lamp": {"values": ["lamp", "candle"]}},
                }
            ]
        },
    },
    "expansion_rules": {"day": "([on] {weekday}|the {date}|today|tomorrow)"},
    "lists": {
        "weekday": {"values": ["monday", "friday"]},
        "date": {"values": ["(first|1st|1)", "(tenth|10th|10)"]},
        "hour": {"range": {"from": 0, "to": 24}},
        "before": {"wildcard": True},
    },
    "skip_words": ["please"],
}


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher(DESCRIBED, "en")


@pytest.mark.parametrize(
    "words",
    [
        "wake me at seven",
        "wake me on Friday at 7",
        "Wake me, please, the 10th at twenty three!",
        "tell me about it on mon-day monday",
        "light the stairs",
        "dim candles",
        "dim please candle",
        "light the lamp",
        "wake me",
        "what is on the table",
        "",
    ],
)
def test_what_fits_is_found_as_by_hassil_alone(matcher: Matcher, words: str) -> None:
    assert told(matcher.match(words)) == told(recognize_all(words, Intents.from_dict(dict(DESCRIBED)), language="en"))


def test_what_was_said_before_changes_nothing() -> None:
    matcher = Matcher(DESCRIBED, "en")
    for words in ("call me today", "call me tomorrow"):
        assert told(matcher.match(words)) == told(recognize_all(words, Intents.from_dict(dict(DESCRIBED)))) != []


def told(results: Iterable[RecognizeResult]) -> list[tuple[str, dict[str, object]]]:
    """Return what was found, in order."""
    return [(each.intent.name, {name: found.value for name, found in each.entities.items()}) for each in results]


@pytest.mark.parametrize("code", NUMERALS)
def test_every_number_holds_a_numeral(code: str) -> None:
    engine = get_rbnf_engine(code)
    for number in range(LARGEST + 1):
        for spoken in (str(number), *engine.format_number(number).text_by_ruleset.values()):
            if any(character.isalnum() for character in spoken):
                assert any(each in spoken.casefold() for each in NUMERALS[code]), spoken
