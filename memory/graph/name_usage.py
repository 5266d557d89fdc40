"""Which names of a graph statements named, returned or compared: what nobody asked for, and what is looked up."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import date, datetime
from hashlib import blake2b
from typing import Final, TypeAlias

import structlog

from memory.clock import utc_now
from memory.errors import StateUnusable
from memory.graph.cypher import Statement, Token, unquoted
from memory.json_value import Json
from memory.state.database import Database

MOST_NAMES: Final = 20_000
"""Names that are kept of a graph; past them the newest stay."""

MOST_LOOKUPS: Final = 500
"""Pairs of label and key that are counted; past them counting begins anew."""

PAUSE: Final = 60.0
"""Seconds that what was seen waits, so that a turn's queries cost no commit."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS graph_asked (
    graph     TEXT NOT NULL,
    owner_key TEXT NOT NULL,
    digest    TEXT NOT NULL,
    day       TEXT NOT NULL,
    PRIMARY KEY (graph, owner_key, digest)
) WITHOUT ROWID;
"""
"""For `Database.open`. The row without owner and digest has the moment when counting began in place of a day."""

Lookup: TypeAlias = tuple[str, str]
"""A label, and the key of a property that a statement compares by equality on nodes with that label."""

_CLAUSES: Final = frozenset(
    {
        *("MATCH", "MERGE", "CREATE", "SET", "REMOVE", "DELETE", "DETACH"),
        *("WITH", "WHERE", "RETURN", "UNWIND", "CALL", "FOREACH", "ON", "ORDER"),
    }
)
_LOOKS: Final = frozenset({"MATCH", "MERGE", "WHERE", "WITH"})
"""Clauses in which an equality is a comparison."""

log = structlog.get_logger()


class NameUsage:
    """The names that were asked for in one graph, with the day of the last time; nothing of it is in the graph.

    By name and not by node, because a store's ids change; as digests, so that no word is kept of what is erased.
    Written down some time later, and a name once a day: a kill may lose the last minute. Without a database it is
    forgotten with the process.
    """

    def __init__(
        self, database: Database | None = None, graph: str = "", now: Callable[[], datetime] = utc_now
    ) -> None:
        """`graph` is whose it is, "" the household's; `now` gives aware UTC."""
        self._database = database
        self._graph = graph
        self._now = now
        self._began = now().isoformat(timespec="seconds")
        self._days: dict[tuple[str, str], str] = {}
        """ISO date by owner and digest, of what this process saw."""
        self._unsaved = set[tuple[str, str]]()
        self._seen = asyncio.Event()
        self.lookups = Counter[Lookup]()
        """How often each was looked up since the process began, or since it was counted off."""

    def looked_up(self, owner_key: str, statement: Statement) -> None:
        """Take note of what a statement compares, be it a query or a write."""
        found = lookups_of(statement)
        if len(self.lookups) > MOST_LOOKUPS:
            self.lookups.clear()
        self.lookups.update(found)
        self.note(owner_key, map(lookup_name, found))

    def saw(self, owner_key: str, statement: Statement, records: Iterable[Json]) -> None:
        """Take note of a query that was answered."""
        self.looked_up(owner_key, statement)
        self.note(owner_key, statement.names.union(*(_names_in(record) for record in records)))

    def note(self, owner_key: str, names: Iterable[str]) -> None:
        """Take note that these were asked for today."""
        day = self._now().date().isoformat()
        for name in names:
            key = (owner_key, _digest(name))
            if self._days.get(key) != day:
                if len(self._days) >= MOST_NAMES:
                    self._days = {key: self._days[key] for key in self._unsaved} if self._database else {}
                self._days[key] = day
                self._unsaved.add(key)
                self._seen.set()

    async def never(self, names: Iterable[str]) -> tuple[list[str], str]:
        """Return those of the names that no query named or returned, and since when that was counted (ISO 8601)."""
        days = await self._all_days()
        since = min(self._began, days.pop("", self._began))
        return sorted(name for name in names if _digest(name) not in days), since

    async def last_looked_up(self, lookups: Iterable[Lookup]) -> dict[Lookup, date]:
        """Return the day on which each was looked up last; those of which none is known are left out."""
        days = await self._all_days()
        known = {each: days.get(_digest(lookup_name(each))) for each in lookups}
        return {each: date.fromisoformat(day) for each, day in known.items() if day}

    async def _all_days(self) -> dict[str, str]:
        """Return the last day of each digest, of "" the moment when counting began."""
        days = dict[str, str]()
        if self._database is not None:
            try:
                days = dict(await self._database.read(self._read))
            except StateUnusable as error:
                log.warning("name_usage_not_read", reason=str(error))
        for (_, digest), day in self._days.items():
            days[digest] = max(day, days.get(digest, ""))
        return days

    async def run(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Write down what is new, some time after it was seen, until cancelled."""
        while True:
            await self._seen.wait()
            await pause(PAUSE)
            await self.save()

    async def save(self) -> None:
        """Write down what is new; told in the log when the disk takes nothing, and tried again with the next names."""
        self._seen.clear()
        if self._database is None or not self._unsaved:
            return
        written = {key: self._days[key] for key in self._unsaved}
        try:
            await self._database.write(lambda connection: self._put(connection, written), durable=False)
        except StateUnusable as error:
            log.warning("name_usage_not_written", reason=str(error))
            return
        self._unsaved -= {key for key, day in written.items() if self._days.get(key) == day}

    async def forget(self, owner_key: str) -> None:
        """Forget what an owner asked for, here and in a graph of their own. Raises `StateUnusable`."""
        self._days = {key: day for key, day in self._days.items() if key[0] != owner_key}
        self._unsaved &= self._days.keys()
        if self._database is not None:
            statement = "DELETE FROM graph_asked WHERE owner_key = ? OR graph = ?"
            await self._database.write(lambda connection: connection.execute(statement, (owner_key, owner_key)))

    def _read(self, connection: sqlite3.Connection) -> list[tuple[str, str]]:
        rows = connection.execute(
            "SELECT digest, max(day) AS day FROM graph_asked WHERE graph = ? GROUP BY digest", (self._graph,)
        )
        return [(row["digest"], row["day"]) for row in rows]

    def _put(self, connection: sqlite3.Connection, days: dict[tuple[str, str], str]) -> None:
        connection.execute("INSERT OR IGNORE INTO graph_asked VALUES (?, '', '', ?)", (self._graph, self._began))
        rows = [(self._graph, *key, day) for key, day in days.items()]
        connection.executemany("INSERT OR REPLACE INTO graph_asked VALUES (?, ?, ?, ?)", rows)
        connection.execute(
            "DELETE FROM graph_asked WHERE graph = :graph AND digest <> '' AND (owner_key, digest) NOT IN "
            "(SELECT owner_key, digest FROM graph_asked WHERE graph = :graph AND digest <> '' "
            "ORDER BY day DESC LIMIT :most)",
            {"graph": self._graph, "most": MOST_NAMES},
        )


def _digest(name: str) -> str:
    return blake2b(name.encode(errors="replace"), digest_size=8).hexdigest()


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


def lookup_name(lookup: Lookup) -> str:
    """Return the name under which a lookup is noted; no label, type or key is called so."""
    return "\0".join(lookup)


def lookups_of(statement: Statement) -> set[Lookup]:
    """Return what a statement compares by equality on nodes with a label: in a pattern, or by = or IN.

    Read off the tokens: a comparison of what WITH has given another name is not seen.
    """
    tokens = statement.code
    labels, found, clause = dict[str, list[str]](), set[Lookup](), ""
    for at, token in enumerate(tokens):
        if token.kind == "word" and token.text.upper() in _CLAUSES and _text(tokens, at - 1) not in (".", ":"):
            clause = token.text.upper()
        elif token.text == "(" and clause in (_LOOKS | {"CREATE"}):
            variable, named, keys = _node(tokens, at + 1)
            labels.setdefault(variable, []).extend(named)
            if clause in _LOOKS:
                found |= {(label, key) for label in named for key in keys}
        elif _text(tokens, at + 1) == "." and clause in _LOOKS and _is_compared(tokens, at):
            found |= {(label, unquoted(tokens[at + 2].text)) for label in labels.get(unquoted(token.text), ())}
    return found


def _node(tokens: Sequence[Token], at: int) -> tuple[str, list[str], list[str]]:
    """Return the variable, the labels and the keys in braces of a node pattern, from behind its parenthesis."""
    variable, labels, keys = "", list[str](), list[str]()
    if _is_name(tokens, at):
        variable, at = unquoted(tokens[at].text), at + 1
    while _text(tokens, at) in (":", "&") and _is_name(tokens, at + 1):
        labels.append(unquoted(tokens[at + 1].text))
        at += 2
    depth = 0
    if labels and _text(tokens, at) == "{":
        for here in range(at, len(tokens)):
            depth += (_text(tokens, here) in "{[(") - (_text(tokens, here) in "}])")
            if not depth:
                break
            if depth == 1 and _text(tokens, here + 1) == ":" and _text(tokens, here - 1) in ("{", ","):
                keys.append(unquoted(tokens[here].text))
    return variable, labels, keys


def _is_compared(tokens: Sequence[Token], at: int) -> bool:
    """Say whether `variable.key` here stands beside = or IN."""
    after, behind = _text(tokens, at + 3), _text(tokens, at + 4)
    is_right = _text(tokens, at - 1) == "=" and _text(tokens, at - 2) not in ("<", ">", "+")
    return _is_name(tokens, at + 2) and ((after == "=" and behind != "~") or after.upper() == "IN" or is_right)


def _text(tokens: Sequence[Token], at: int) -> str:
    """Return a token's text, a mark that nothing equals where there is none."""
    return tokens[at].text if 0 <= at < len(tokens) else "\0"


def _is_name(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].kind in ("word", "name")
