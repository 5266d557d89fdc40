"""The command grammar: whatever it lets the ears hear, the offline model understands."""

import random
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from agent.intents.language.grammar import COMMAND, command_grammar
from agent.intents.reading.understanding import Understanding, load_understanding
from tests.sample import sample

TOKEN = re.compile(r"<[^>\s]+>|[()\[\]|]|[^\s()\[\]|<>]+")

MEANT = {
    "time": {"time"},
    "date": {"date"},
    "timer": {"timer_start"},
    "timer_cancel": {"timer_cancel", "timer_cancel_all"},
    "timer_status": {"timer_status"},
    "alarm": {"alarm"},
    "remind": {"alarm", "timer_start", "ask_when"},
    "volume": {"volume_up", "volume_down", "volume_set"},
    "remember": {"remember"},
    "recall": {"recall", "agenda_next"},
    "talk": {
        *("hello", "good_night", "goodbye", "how_are_you", "thanks", "who_are_you", "what_can_you_do", "status"),
        *("repeat", "never_mind", "stop", "yes", "no"),
    },
}
"""What each rule of orders asks for."""


MOST_UNDERSTOOD = 50
"""Sentences of a rule: each costs milliseconds."""


class Speaker:
    """Says sentences of a JSGF grammar, by chance."""

    def __init__(self, grammar: Mapping[str, list[str]], seed: int) -> None:
        self.grammar = grammar
        self.chance = random.Random(seed)

    def say(self, rule: str) -> str:
        return " ".join(self._one(TOKEN.findall(self.chance.choice(self.grammar[rule]))))

    def _one(self, tokens: list[str]) -> list[str]:
        """Take the tokens up to a closing bracket, or all, and return the words of one of their alternatives."""
        alternatives: list[list[str]] = [[]]
        while tokens and tokens[0] not in {")", "]"}:
            token = tokens.pop(0)
            if token == "|":
                alternatives.append([])
            elif token in {"(", "["}:
                inner = self._one(tokens)
                tokens.pop(0)
                alternatives[-1] += inner if token == "(" or self.chance.random() < 0.5 else []
            else:
                alternatives[-1].append(self.say(token[1:-1]) if token.startswith("<") else token)
        return self.chance.choice(alternatives)


@pytest.fixture(scope="module")
def understand() -> Understanding:
    return load_understanding()


def words_of(grammar: Mapping[str, list[str]]) -> Iterator[str]:
    for alternatives in grammar.values():
        for alternative in alternatives:
            yield from (token for token in TOKEN.findall(alternative) if token not in "()[]|" and token[0] != "<")


@pytest.mark.shows("V30")
@pytest.mark.parametrize("rule", MEANT)
def test_every_order_is_understood_as_what_it_is(understand: Understanding, rule: str, every_step: bool) -> None:
    most = MOST_UNDERSTOOD * (3 if every_step else 1)
    speaker = Speaker(command_grammar(), seed=30)
    said = sorted({speaker.say(rule) for _ in range(400)})
    meant = {words: understand(words).name for words in speaker.chance.sample(said, min(len(said), most))}
    assert {words: name for words, name in meant.items() if name not in MEANT[rule]} == {}
    assert set(meant.values()) == MEANT[rule]


@pytest.mark.shows("V30")
def test_whatever_is_commanded_needs_no_model(understand: Understanding) -> None:
    speaker = Speaker(command_grammar(), seed=7)
    said = {speaker.say(COMMAND) for _ in range(150)}
    assert len(said) > 100
    assert [words for words in said if understand(words).name == "unknown"] == []


def test_timers_from_one_to_sixty(understand: Understanding, every_step: bool) -> None:
    speaker = Speaker(command_grammar(), seed=1)
    numbers = {speaker.say("number") for _ in range(6_000)}
    for unit in sample(["seconds", "minutes", "hours"], 1, whole=every_step):
        understood = [understand(f"set a timer for {number} {unit}").number(unit) for number in numbers]
        assert sorted(understood) == list(range(1, 61)), unit


def test_the_lengths_that_are_no_numbers(understand: Understanding) -> None:
    minutes = {
        "half an hour": 30,
        "a quarter of an hour": 15,
        "three quarters of an hour": 45,
        "an hour": 60,
        "an hour and a half": 90,
        "one hour and twenty minutes": 80,
    }
    told = {said: understand(f"set a timer for {said}").seconds() for said in minutes}
    assert told == {said: 60 * length for said, length in minutes.items()}


def test_every_rule_is_there_and_reached() -> None:
    grammar = command_grammar()
    used = {token[1:-1] for said in grammar.values() for each in said for token in TOKEN.findall(each) if "<" in token}
    assert used | {COMMAND} == set(grammar)


def test_brackets_match() -> None:
    for alternatives in command_grammar().values():
        for alternative in alternatives:
            assert alternative.count("(") == alternative.count(")")
            assert alternative.count("[") == alternative.count("]")


def test_its_words_are_plain() -> None:
    assert [word for word in words_of(command_grammar()) if not re.fullmatch(r"[a-z]+('[a-z]+)?", word)] == []


@pytest.mark.shows("V30")
def test_its_words_are_in_the_dictionary_of_the_last_resort_recognizer() -> None:
    found = find_spec("pocketsphinx")
    if found is None or not found.submodule_search_locations:
        pytest.skip("pocketsphinx has no wheel for this Python and machine")
    dictionary = Path(found.submodule_search_locations[0]) / "model" / "en-us" / "cmudict-en-us.dict"
    known = {line.split()[0] for line in dictionary.read_text(encoding="utf-8").splitlines() if line.strip()}
    assert sorted(set(words_of(command_grammar())) - known) == []


def test_a_language_without_such_a_recognizer_has_no_rules() -> None:
    assert command_grammar("zh") == {}


def test_the_grammar_given_is_the_callers_own() -> None:
    command_grammar()["talk"].clear()
    assert command_grammar()["talk"]
