"""Patterns in the journal, found without a model: what people ask for again and again, and tools that fail."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Final

from memory.chinese import has_chinese
from memory.json_value import Json
from memory.state.words import pairs

SIMILAR: Final = 0.6
"""Of all words of two utterances, the share that they have in common."""

DAYS: Final = 3
"""On which something was asked for until it is told."""

FEWEST: Final = 2
"""Words of an utterance that is compared at all."""

MOST_IDS: Final = 8
"""Events that are named of one pattern, the newest."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Heard:
    """What somebody said, for an event."""

    event_id: str
    at: datetime
    words: str


@dataclass(slots=True)
class _Kind:
    """Utterances that are alike, the first of which stands for all."""

    terms: frozenset[str]
    members: list[Heard] = field(default_factory=list)


def repeated(heard: Sequence[Heard], zone: tzinfo) -> list[dict[str, Json]]:
    """Return what was said alike on `DAYS` days or more, with events and days; the most frequent first."""
    kinds, by_term = list[_Kind](), defaultdict[str, list[_Kind]](list)
    for each in heard:
        terms = _terms(each.words)
        if len(terms) < FEWEST:
            continue
        kind = _nearest(terms, by_term)
        if kind is None:
            kind = _Kind(terms)
            kinds.append(kind)
            for term in terms:
                by_term[term].append(kind)
        kind.members.append(each)
    found = list[dict[str, Json]]()
    for kind in sorted(kinds, key=lambda kind: -len(kind.members)):
        days = sorted({each.at.astimezone(zone).date().isoformat() for each in kind.members})
        if len(days) >= DAYS:
            at = [f"{each.at.astimezone(zone):%a %H:%M}" for each in kind.members[-MOST_IDS:]]
            ids: list[Json] = [each.event_id for each in kind.members[-MOST_IDS:]]
            told: dict[str, Json] = {"words": kind.members[-1].words[:200], "times": len(kind.members)}
            found.append(told | {"days": [*days[-MOST_IDS:]], "at": [*at], "ids": ids})
    return found


def failed(calls: Sequence[tuple[str, str, str]]) -> list[dict[str, Json]]:
    """Return the tools that failed, with how often, why last, and events; `calls` are event id, tool and result."""
    by_tool: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for event_id, name, result in calls:
        by_tool[name].append((event_id, result))
    found = list[dict[str, Json]]()
    for name, those in sorted(by_tool.items(), key=lambda item: -len(item[1])):
        ids: list[Json] = [*list(dict.fromkeys(event_id for event_id, _ in those))[-MOST_IDS:]]
        found.append({"tool": name, "times": len(those), "last": those[-1][1][:200], "ids": ids})
    return found


def _nearest(terms: frozenset[str], by_term: dict[str, list[_Kind]]) -> _Kind | None:
    """Return the kind with which an utterance has most in common, None where that is too little."""
    common = Counter[int]()
    known = dict[int, _Kind]()
    for term in terms:
        for kind in by_term.get(term, ()):
            common[id(kind)] += 1
            known[id(kind)] = kind
    shares = [(count / len(terms | known[name].terms), name) for name, count in common.items()]
    share, name = max(shares, default=(0.0, 0))
    return known[name] if share >= SIMILAR else None


def _terms(words: str) -> frozenset[str]:
    """Return the words of a text, of Chinese every two characters that follow each other; numbers are all alike."""
    found = set[str]()
    for word in _WORD.findall(words.casefold()):
        if has_chinese(word):
            found.update(pairs(word))
        else:
            found.add("#" if word.isdecimal() else word)
    return frozenset(found)
