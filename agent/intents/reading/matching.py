"""Which sentences words fit: hassil, spared what the words cannot hold."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache
from typing import Any, Final, TypeAlias

from hassil import recognize_all
from hassil.expression import (
    Alternative,
    Expression,
    ListReference,
    Permutation,
    RuleReference,
    Sentence,
    Sequence,
    TextChunk,
)
from hassil.intents import Intent, IntentData, Intents, RangeSlotList, SlotList, TextSlotList
from hassil.recognize import RecognizeResult
from hassil.util import CJK_WHITESPACE, PUNCTUATION_STR, normalize_for_matching, remove_skip_words_tracked

Needs: TypeAlias = frozenset[frozenset[str]]
"""Pieces of text, in small letters: of each set, at least one is there."""

MOST_PIECES: Final = 64
"""Of a set: to look for more takes longer than to try what needs them."""

NUMERALS: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset("0123456789")
    | {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
    | {"thirteen", "fifteen", "twenty", "thirty", "forty", "fifty"},
    "zh-CN": frozenset("0123456789〇零一二两三四五六七八九十壹贰叁肆伍陆柒捌玖拾"),
}
"""One of these is in each whole number from nought on, in digits and in words."""

_EVERYWHERE: Final = frozenset({"a", "an", "the", "on", "in", "at", "of", "to", "for", "and", "by", "me"})

_UNSURE: Final = frozenset(PUNCTUATION_STR)
"""What hassil may take out of the words."""


class Matcher:
    """The sentences of a language.

    Hassil leaves out a sentence of which a word is missing, but takes a list for anything: what needs a day is tried on
    words that name none, with its free text in all places, and in all the ways to name one. Here it is given only the
    sentences, and the ways of each rule, of which the words hold a value of each list. Three things to be reminded of
    in one breath take a sixth of the time so.
    """

    def __init__(self, described: Mapping[str, Any], code: str) -> None:
        """Parse what is described in hassil's own form; `code` is of the language whose numbers it reads in words."""
        self._code = code
        self._intents = intents = Intents.from_dict({**described, "intents": _one_by_one(described["intents"])})
        rules, lists = intents.expansion_rules, intents.slot_lists
        reader = _Reader(rules, lists, NUMERALS[code])
        self._ways = {
            name: [(way, reader.needs(way)) for way in _ways(rule.expression)] for name, rule in rules.items()
        }
        self._sentences: list[tuple[str, IntentData, Needs]] = []
        """Each with its intent's name."""
        for name, data in ((name, each) for name, intent in intents.intents.items() for each in intent.data):
            own = data.expansion_rules or data.slot_lists
            local = _Reader(rules | data.expansion_rules, lists | data.slot_lists, NUMERALS[code]) if own else reader
            (sentence,) = data.sentences
            # Hassil would find them out itself when it first tries the sentence, of rules from which ways were taken.
            sentence.required_clauses = local.needs(sentence.expression)
            self._sentences.append((name, data, sentence.required_clauses))
        needed = [needs for ways in self._ways.values() for _, needs in ways]
        needed += [needs for _, _, needs in self._sentences]
        self._pieces = frozenset(piece for needs in needed for pieces in needs for piece in pieces)

    def match(self, words: str) -> Iterator[RecognizeResult]:
        """Yield each way in which the words fit a sentence, in the order of the sentences."""
        tried = self._as_tried(words)
        held = {piece for piece in self._pieces if piece in tried}
        intents: dict[str, Intent] = {}
        for name, data, needs in self._sentences:
            if _may_fit(needs, held):
                intents.setdefault(name, Intent(name)).data.append(data)
        fitting, rules = replace(self._intents, intents=intents), self._rules_for(held)
        yield from recognize_all(words, fitting, expansion_rules=rules, language=self._code)

    def _rules_for(self, held: AbstractSet[str]) -> dict[str, Sentence]:
        """Return the rules of which the words cannot hold all ways, with those that they may hold."""
        rules = {}
        for name, ways in self._ways.items():
            fitting = [way for way, needs in ways if _may_fit(needs, held)]
            if len(fitting) < len(ways):
                rules[name] = Sentence(Alternative(fitting))
        return rules

    def _as_tried(self, words: str) -> str:
        """Return all that hassil looks at: the words, and without what may be skipped and the spaces of Chinese."""
        whole = normalize_for_matching(words)
        without = whole.copy()
        remove_skip_words_tracked(without, self._intents.skip_words, self._intents.settings.ignore_whitespace)
        both = f"{whole.text}\n{without.text}".casefold()
        return f"{both}\n{CJK_WHITESPACE.sub('', both)}"


def _one_by_one(intents: Mapping[str, Any]) -> dict[str, Any]:
    """Return the intents with a block for each sentence."""
    return {
        name: {
            **intent,
            "data": [{**data, "sentences": [each]} for data in intent["data"] for each in data["sentences"]],
        }
        for name, intent in intents.items()
    }


def _may_fit(needs: Needs, held: AbstractSet[str]) -> bool:
    return not any(map(held.isdisjoint, needs))


def _ways(rule: Expression) -> list[Expression]:
    """Return those of which a rule is one."""
    while isinstance(rule, Sequence) and len(rule.items) == 1:
        rule = rule.items[0]
    return rule.items if isinstance(rule, Alternative) else [rule]


class _Reader:
    """Reads of a language's sentences what words must hold that fit them."""

    def __init__(self, rules: Mapping[str, Sentence], lists: Mapping[str, SlotList], numerals: frozenset[str]) -> None:
        self._lists = lists
        self._numerals = frozenset({numerals})
        self._needs_of_rule = cache(lambda name: self.needs(rules[name].expression))
        self._needs_of_list = cache(self._read_list)

    def needs(self, part: Expression) -> Needs:
        """Return what words must hold that fit this part of a sentence."""
        match part:
            case TextChunk():
                pieces = part.text.casefold().split()
                return frozenset(frozenset({each}) for each in pieces if _UNSURE.isdisjoint(each))
            case RuleReference():
                return self._needs_of_rule(part.rule_name)
            case Sequence() | Permutation():
                return frozenset(needed for each in part.items for needed in self.needs(each))
            case Alternative() if not part.is_optional:
                return self._needs_of_one(part.items)
            case ListReference():
                return self._needs_of_list(part.list_name)
        return frozenset()

    def _read_list(self, name: str) -> Needs:
        match self._lists.get(name):
            case TextSlotList(values=values):
                return self._needs_of_one(value.text_in for value in values)
            case RangeSlotList():
                return self._numerals
        return frozenset()  # free text

    def _needs_of_one(self, parts: Iterable[Expression]) -> Needs:
        each = [self.needs(part) for part in parts]
        if not all(each):
            return frozenset()
        pieces = {piece for needs in each for piece in max(needs, key=_telling)}
        # Where "10th" is there, "1" is.
        shortest = frozenset(piece for piece in pieces if not any(other in piece for other in pieces - {piece}))
        return frozenset({shortest}) if 0 < len(shortest) <= MOST_PIECES else frozenset()


def _telling(pieces: frozenset[str]) -> tuple[bool, int]:
    """Return what is greater the fewer words hold one of these: "the" is in most, a day's name in few."""
    return pieces.isdisjoint(_EVERYWHERE), min(map(len, pieces))
