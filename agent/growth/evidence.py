"""What a night is given: evidence of graph and journal by kind, with patterns in what was said and what failed."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final, TypeAlias

from msgspec import Struct, field

from agent.event import HOUSEHOLD, NIGHT
from agent.growth import cursor
from memory.chinese import has_chinese
from memory.graph import evidence
from memory.graph.graph import Graph
from memory.graph.name_usage import NameUsage
from memory.json_value import Json
from memory.state.journal import WORDS, Journal
from memory.state.tiers import TASK
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

REMEMBERED: Final = timedelta(days=14)
"""How far back a request counts as one that comes again."""

MOST_HEARD: Final = 3_000
"""Events that are compared, the newest."""

MOST_STEPS: Final = 20_000
"""Steps of tools that are looked through for failures, the newest."""

FAILED: Final = "error"
"""Status of a call that failed, in the journal's step of its end."""

Found: TypeAlias = Mapping[str, list[dict[str, Json]]]
"""Evidence by its kind: unlinked, alike, contradicting, unasked, repeated, failed."""


class Heard(Struct, frozen=True):
    """What somebody said, for an event."""

    event_id: str
    at: datetime
    words: str


class _Kind(Struct):
    """Utterances that are alike, the first of which stands for all."""

    terms: frozenset[str]
    members: list[Heard] = []


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


class Evidence(Struct):
    """Gathers it, and keeps what the last night was given: pages of it stay pages of the same."""

    graph: Graph
    names: NameUsage
    journal: Journal
    zone: tzinfo
    now: Callable[[], datetime]
    _given: tuple[str, Found] = field(default_factory=lambda: ("", {}))

    async def counts(self, since: int) -> Mapping[str, int]:
        """Return how much there is of each kind. Raises `MemoryFailure`."""
        return {kind: len(found) for kind, found in (await self._gathered(since)).items()}

    async def of(self, event_id: str, kind: str) -> list[dict[str, Json]]:
        """Return all of a kind. Raises KeyError for another, `MemoryFailure`."""
        if self._given[0] != event_id:
            since = await self.journal.database.read(lambda c: cursor.since(c, HOUSEHOLD, NIGHT))
            self._given = event_id, await self._gathered(since)
        return self._given[1][kind]

    async def _gathered(self, since: int) -> Found:
        shape = await evidence.look(self.graph)
        labels = {label for node in shape.nodes for label in node.labels}
        unasked, counted_since = await self.names.never(labels | {link.type for link in shape.links})
        return {
            "unlinked": evidence.unlinked(shape),
            "alike": evidence.alike(shape),
            "contradicting": evidence.contradicting(shape),
            "unasked": [{"name": name, "since": counted_since} for name in unasked],
            "repeated": repeated(await self._heard(), self.zone),
            "failed": failed(await self._failures(since)),
        }

    async def _heard(self) -> list[Heard]:
        oldest = self.now() - REMEMBERED
        entries = await self.journal.entries(topic=TASK, owner_key=HOUSEHOLD, newest=True, limit=MOST_HEARD)
        found = {
            each.event_id: Heard(each.event_id, each.at, str(each.body[WORDS]))
            for each in entries
            if each.body.get(WORDS) and each.at >= oldest
        }
        return [*found.values()]

    async def _failures(self, since: int) -> list[tuple[str, str, str]]:
        steps = await self.journal.entries(
            topic="ui.events", owner_key=HOUSEHOLD, after=since, newest=True, limit=MOST_STEPS
        )
        return [
            (each.event_id, str(each.body.get("tool_name")), str(each.body.get("result", "")))
            for each in steps
            if each.body.get("event") == "tool_call_finished" and each.body.get("status") == FAILED
        ]
