"""How tidy her graph is: names that are nearly alike or used once, and names that nobody asked for."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from memory.graph.cypher import tokens
from memory.graph.store import Json

MOST_NAMES: Final = 20_000
"""Names that `Asked` keeps; a graph with more of them is told of those only."""

_NOT_TELLING: Final = re.compile(r"[\W_]+")


def alike(names: Iterable[str]) -> list[list[str]]:
    """Return groups of names that differ only in case, in marks between their words, or in a plural's s."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[_key(name)].append(name)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def used_once(counts: Mapping[str, int]) -> list[str]:
    """Return the names that one node or relationship has."""
    return sorted(name for name, count in counts.items() if count == 1)


class Asked:
    """Names that queries named, or that were in what they returned, since this process began. Nothing in her graph.

    Kept in memory, by name and not by node, because a store's ids change; so small that it costs nothing, and so a
    first look after a restart says little: `since` is told with it.
    """

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.since = now()
        """Aware UTC."""
        self._names: set[str] = set()

    def saw(self, cypher: str, records: Iterable[Json]) -> None:
        """Take note of a query that was answered. Raises `GraphRefused` for a statement that is none."""
        self._add(
            token.text.strip("`").replace("``", "`") for token in tokens(cypher) if token.kind in ("word", "name")
        )
        for record in records:
            self._add(_names_in(record))

    def never(self, names: Iterable[str]) -> list[str]:
        """Return those of the names that no query named or returned."""
        return sorted(name for name in names if name not in self._names)

    def _add(self, names: Iterable[str]) -> None:
        if len(self._names) < MOST_NAMES:
            self._names.update(names)


def _names_in(value: Json) -> Iterable[str]:
    """Yield labels, type and property keys of every node and relationship in a record, and its columns."""
    match value:
        case {"elementId": _, "properties": dict() as properties, **rest}:
            yield from properties
            labels = rest.get("labels", [])
            yield from (str(label) for label in (labels if isinstance(labels, list) else []))
            if "type" in rest:
                yield str(rest["type"])
        case dict():
            for item in value.values():
                yield from _names_in(item)
        case list():
            for item in value:
                yield from _names_in(item)


def _key(name: str) -> str:
    plain = _NOT_TELLING.sub("", unicodedata.normalize("NFKC", name).casefold()) or name
    return plain.removesuffix("s") if len(plain) > 3 else plain
