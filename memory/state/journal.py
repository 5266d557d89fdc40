"""The journal: everything that happened, in order, on the disk before it takes effect, searchable by words."""

import hashlib
import json
import sqlite3
import uuid
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final, TypeAlias, TypedDict, Unpack

import structlog
from msgspec import Struct, field

from memory.clock import utc_now, utc_text
from memory.errors import MemoryFailure
from memory.json_value import Json
from memory.progress import Progress
from memory.state.database import Change, Database
from memory.state.reader import Reader
from memory.state.words import all_words, any_words, segmented

log = structlog.get_logger()

WORDS: Final = "words"
"""The key of a body under which words heard or said are found by `search`; put each utterance in one entry only."""

ERASED: Final = "erased"
"""The key of a body that was taken out: the digest of what it was."""

THINNED: Final = "thinned"
"""The key of a body whose step details were dropped for their age (`memory.state.retention`)."""

DAMAGED: Final = "damaged"
"""The key of a body that the disk has changed, so that it is none: the digest of what is there."""

_UNMARKED: Final = "as it was read"
"""Stands in the place of the digest where the file has no mark yet."""

ERASED_AT_ONCE: Final = 200
"""Entries erased in one transaction: everybody else waits for it, some milliseconds."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS journal (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    topic      TEXT NOT NULL,
    event_id   TEXT NOT NULL,
    run_id     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    owner_key  TEXT NOT NULL,
    at         TEXT NOT NULL,
    body       TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS journal_by_context ON journal (session_id, owner_key, topic);
CREATE INDEX IF NOT EXISTS journal_by_topic ON journal (topic);
CREATE INDEX IF NOT EXISTS journal_by_event ON journal (event_id);
CREATE INDEX IF NOT EXISTS journal_by_run ON journal (run_id);
CREATE VIRTUAL TABLE IF NOT EXISTS journal_words USING fts5 (words, tokenize = 'unicode61 remove_diacritics 2');
"""
"""For `Database.open`. SQLite ends every index with `seq`, so each one also gives the order."""


class Entry(Struct, frozen=True):
    """Something that happened."""

    topic: str
    """What kind: runs.new, context.message, llm.results, tools.requests, speech.sentence_started, events.accepted …"""
    body: Mapping[str, Json] = {}
    """Kept with its key order; `words` in it is searchable."""
    event_id: str = ""
    run_id: str = ""
    session_id: str = ""
    owner_key: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Idempotency key: a second entry of the same id is left out."""
    at: datetime = field(default_factory=utc_now)
    """Aware UTC; when it happened by the writer's clock. The order is `Stored.seq`, never this."""

    def __post_init__(self) -> None:
        if not self.topic:
            raise ValueError("a journal entry needs a topic")
        if self.at.tzinfo is None:
            raise ValueError("a journal entry's time must be aware")


class Stored(Entry, frozen=True):
    """An entry with its place in the journal."""

    seq: int = 0
    """Grows with every commit, never given twice."""

    @property
    def is_whole(self) -> bool:
        """Whether its body is what was written: not erased, not thinned, not damaged."""
        return not any(mark in self.body for mark in (ERASED, THINNED, DAMAGED))


Written: TypeAlias = Callable[[Mapping[str, int]], None]
"""Called on the event loop with the places (`Stored.seq`) of entries just written, by their ids; returns at once."""


class Selection(TypedDict, total=False):
    """Which entries: those that meet all that is given."""

    topic: str | tuple[str, ...]
    """One, or any of several."""
    event_id: str
    run_id: str
    session_id: str
    owner_key: str
    besides: tuple[str, ...]
    """None of these topics; one that ends in `*` is all that begin so."""
    holding: tuple[str, ...]
    """Those in whose body, as JSON, any of these texts stands."""
    after: int
    """Only those with a greater `seq`."""
    before: int
    """Only those with a lesser one."""
    limit: int
    """At most so many."""
    newest: bool
    """The last `limit` instead of the first."""


class Journal:
    """Appends and finds entries. Its order is the order of commits; a returned `append` is on the disk."""

    def __init__(self, database: Database) -> None:
        self.database = database
        """The file it is in, for what is kept beside it in the same transactions."""
        self._reader = Reader(database.path)
        self._observers: list[Written] = []

    def observe(self, observer: Written) -> None:
        """Tell an observer the places of entries from now on, before `append` returns; known ids are left out."""
        self._observers.append(observer)

    async def append(self, *entries: Entry, in_transaction: Change | None = None, durable: bool = True) -> None:
        """Write the entries in one transaction, all or none, durable on return; known ids are left out.

        `in_transaction` is a change of the state that belongs to them: it comes after them in theirs. `durable` is
        `Database.write`'s. Raises `StateUnusable` when the disk is full or the file damaged, TypeError for a body JSON
        cannot hold, and what `in_transaction` raises.
        """
        rows = [_row(entry) for entry in entries]

        def change(connection: sqlite3.Connection) -> dict[str, int]:
            places = _append(connection, rows)
            if in_transaction is not None:
                in_transaction(connection)
            return places

        places = await self.database.write(change, durable=durable)
        for observer in self._observers:
            observer(places)

    async def entries(self, **which: Unpack[Selection]) -> list[Stored]:
        """Return the entries selected, oldest first, also when `newest` picks them from the end.

        Its cost depends on what it returns, not on the length of the journal, when topic, session_id and owner_key
        are given together, or event_id, or run_id, or topic alone.
        """
        return await self._look(lambda connection: self.entries_within(connection, **which))

    @staticmethod
    def entries_within(connection: sqlite3.Connection, **which: Unpack[Selection]) -> list[Stored]:
        """Return what `entries` does, inside a transaction that is under way: what was just written in it too."""
        found = _stored(connection, *_statement(which))
        return found[::-1] if which.get("newest") else found

    async def entry(self, name: str) -> Stored | None:
        """Return the entry of this id, None when there is none."""
        statement = f"SELECT {_COLUMNS} FROM journal WHERE id = :id"
        found = await self._look(lambda connection: _stored(connection, statement, {"id": name}))
        return found[0] if found else None

    async def search(self, words: str, owner_key: str, limit: int = 20) -> list[Stored]:
        """Return entries of this owner whose `words` hold the words asked for, in any language, at most `limit`.

        First those with all of them, newest first; then those with some, the best match first. English words match by
        their beginning, writing without spaces (Chinese, Japanese) by any run of characters. It holds up no write.
        """
        found = await self._reader.look(lambda connection: _search(connection, words, owner_key, limit))
        await self._mark(found)
        return found

    async def erase(self, *ids: str) -> int:
        """Take the bodies out of these entries, for good; return how many had one.

        What stays is that something happened, when, and the SHA-256 of the body's JSON under `ERASED`, so that whoever
        has kept the words can still prove them, and nobody else can read them: they are overwritten in the file, and
        gone from the search. Raises `StateUnusable`, also while another program reads the file, whose log then holds
        them yet: to be called again.
        """
        erased = await self.database.write(lambda connection: _erase(connection, ids))
        await self.database.rewrite(log_only=True)
        return erased

    async def _look(self, look: Callable[[sqlite3.Connection], list[Stored]]) -> list[Stored]:
        """Return what a look finds."""
        found = await self.database.read(look)
        await self._mark(found)
        return found

    async def _mark(self, found: Collection[Stored]) -> None:
        """Mark entries that the disk has changed in the file, where it can be."""
        if any(entry.body.get(DAMAGED) == _UNMARKED for entry in found):
            with suppress(MemoryFailure):  # as where another program's file is read
                await self.database.write(_mark_damaged)


_COLUMNS: Final = "seq, id, topic, event_id, run_id, session_id, owner_key, at, body"
_FILTERS: Final = ("event_id", "run_id", "session_id", "owner_key")


def _row(entry: Entry) -> tuple[dict[str, str], str]:
    """Return an entry as its columns and its searchable words; made at once, so that a later change harms nothing."""
    columns = {name: getattr(entry, name) for name in ("id", "topic", *_FILTERS)}
    columns["at"] = utc_text(entry.at)
    columns["body"] = _json(entry.body)
    words = entry.body.get(WORDS)
    return columns, segmented(words) if isinstance(words, str) else ""


def _json(body: Mapping[str, Json]) -> str:
    text = json.dumps(dict(body), ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # a model's stream broke inside a pair of surrogates, and SQLite takes UTF-8 only
        return json.dumps(dict(body), separators=(",", ":"))
    return text


def _append(connection: sqlite3.Connection, rows: list[tuple[dict[str, str], str]]) -> dict[str, int]:
    """Insert the rows; return the places of those that are new, by their ids."""
    places: dict[str, int] = {}
    for columns, words in rows:
        added = connection.execute(
            "INSERT INTO journal (id, topic, event_id, run_id, session_id, owner_key, at, body) VALUES "
            "(:id, :topic, :event_id, :run_id, :session_id, :owner_key, :at, :body) ON CONFLICT (id) DO NOTHING",
            columns,
        )
        if added.rowcount and added.lastrowid is not None:
            places[columns["id"]] = added.lastrowid
            if words:
                connection.execute("INSERT INTO journal_words (rowid, words) VALUES (?, ?)", (added.lastrowid, words))
    return places


def _erase(connection: sqlite3.Connection, ids: Collection[str]) -> int:
    erased = 0
    for name in ids:
        row = connection.execute("SELECT * FROM journal WHERE id = ?", (name,)).fetchone()
        if row is None or ERASED in _entry(row).body:
            continue
        erase_body(connection, row)
        erased += 1
    merge_index(connection)
    return erased


def erase_body(connection: sqlite3.Connection, row: sqlite3.Row) -> None:
    """Put the digest of its body in the place of it, and take its words out of the search; `row` is seq and body."""
    digest = hashlib.sha256(row["body"].encode()).hexdigest()
    connection.execute("UPDATE journal SET body = ? WHERE seq = ?", (_json({ERASED: digest}), row["seq"]))
    connection.execute("DELETE FROM journal_words WHERE rowid = ?", (row["seq"],))


def merge_index(connection: sqlite3.Connection) -> None:
    """Write every index of words anew: a deleted row of it is only marked as such until its segments are merged."""
    indexes = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE % fts5 (%'")
    for (name,) in indexes.fetchall():
        connection.execute(f"INSERT INTO {name} ({name}) VALUES ('optimize')")


async def known_events(database: Database, names: Collection[str]) -> set[str]:
    """Return those of the names that are ids of events in the journal. Raises `StateUnusable`."""
    wanted = sorted(names)

    def look(connection: sqlite3.Connection) -> set[str]:
        found = "SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM journal WHERE event_id = value)"
        return {row[0] for row in connection.execute(found, (json.dumps(wanted),))}

    return await database.read(look)


async def erase_entries(database: Database, owner_key: str, progress: Progress) -> int:
    """Erase every entry of an owner as `Journal.erase` does, and the names of their sessions; return how many.

    The tiers let go of them in the same transactions. Broken off, it is gone on with by calling it again;
    `Database.rewrite` then leaves nothing of them in the file. Raises `StateUnusable`, and what `progress` raises.
    """
    await database.write(_mark_damaged)  # SQLite reads every body, to see whether it is erased
    last = await database.read(lambda c: c.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0])
    erased = after = 0
    while True:
        found, after = await database.write(partial(_erase_page, owner_key=owner_key, after=after))
        if not found:
            break
        erased += found
        progress(after, last)
    if erased:
        await database.write(merge_index)
    return erased


def _erase_page(connection: sqlite3.Connection, owner_key: str, after: int) -> tuple[int, int]:
    """Erase some entries behind a place; return how many, and the place of the last."""
    rows = connection.execute(
        f"SELECT seq, body FROM journal WHERE owner_key = ? AND seq > ? AND body ->> '{ERASED}' IS NULL "
        "ORDER BY seq LIMIT ?",
        (owner_key, after, ERASED_AT_ONCE),
    ).fetchall()
    for row in rows:
        erase_body(connection, row)
        connection.execute("UPDATE journal SET session_id = '' WHERE seq = ?", (row["seq"],))
    return len(rows), rows[-1]["seq"] if rows else after


def _mark_damaged(connection: sqlite3.Connection) -> int:
    """Put a mark in the place of every body that is no JSON object, and of a time that is none; return how many."""
    rows = connection.execute(
        "SELECT seq, id, topic, CAST(body AS BLOB) AS body, julianday(at) IS NULL AS is_timeless FROM journal WHERE "
        "CASE WHEN json_valid(body) THEN json_type(body) <> 'object' ELSE TRUE END OR julianday(at) IS NULL"
    ).fetchall()
    for row in rows:
        at = datetime.min.replace(tzinfo=UTC).isoformat() if row["is_timeless"] else None
        body = _json({DAMAGED: hashlib.sha256(row["body"]).hexdigest()})
        connection.execute("UPDATE journal SET body = ?, at = coalesce(?, at) WHERE seq = ?", (body, at, row["seq"]))
        connection.execute("DELETE FROM journal_words WHERE rowid = ?", (row["seq"],))
        log.error("entry_damaged", entry=row["id"], topic=row["topic"])
    return len(rows)


def _statement(which: Selection) -> tuple[str, dict[str, str | int]]:
    """Return the SELECT of a selection and its values.

    Several topics become a UNION ALL of one SELECT each: SQLite merges those in the order of `seq` without sorting,
    where `topic IN (…)` would sort all there is.
    """
    given = {name: value for name, value in which.items() if name in _FILTERS}
    values: dict[str, str | int] = {**given, "after": which.get("after", 0), "limit": which.get("limit", -1)}  # type: ignore[dict-item]
    bounds = ["seq > :after"]
    if "before" in which:
        bounds.append("seq < :before")
        values["before"] = which["before"]
    besides = {f"besides{place}": pattern for place, pattern in enumerate(which.get("besides", ()))}
    values |= besides
    unlike = (f"topic NOT GLOB :{name}" for name in besides)
    texts = {f"holding{place}": text for place, text in enumerate(which.get("holding", ()))}
    values |= texts
    holds = [" OR ".join(f"instr(body, :{name})" for name in texts) or "FALSE"] if "holding" in which else []
    common = " AND ".join(
        [*bounds, *(f"{name} = :{name}" for name in given), *unlike, *(f"({each})" for each in holds)]
    )
    wheres = [common]
    if "topic" in which:
        topics = (which["topic"],) if isinstance(which["topic"], str) else tuple(dict.fromkeys(which["topic"]))
        values.update({f"topic{place}": topic for place, topic in enumerate(topics)})
        wheres = [f"{common} AND topic = :topic{place}" for place in range(len(topics))] or ["FALSE"]
    selects = " UNION ALL ".join(f"SELECT {_COLUMNS} FROM journal WHERE {where}" for where in wheres)
    return f"{selects} ORDER BY seq {'DESC' if which.get('newest') else 'ASC'} LIMIT :limit", values


def _stored(connection: sqlite3.Connection, statement: str, values: Mapping[str, str | int]) -> list[Stored]:
    return [_entry(row) for row in connection.execute(statement, dict(values))]


def _entry(row: sqlite3.Row) -> Stored:
    """Return an entry; of one that the disk has changed, what can still be read."""
    fields = {name: row[name] for name in ("topic", *_FILTERS, "id", "seq")}
    try:
        body, at = json.loads(row["body"]), datetime.fromisoformat(row["at"])
    except (ValueError, TypeError):
        body, at = None, datetime.min.replace(tzinfo=UTC)
    return Stored(**fields, body=body if isinstance(body, dict) else {DAMAGED: _UNMARKED}, at=at)


def _search(connection: sqlite3.Connection, words: str, owner_key: str, limit: int) -> list[Stored]:
    found: dict[int, Stored] = {}
    for query, order in ((all_words(words), "journal_words.rowid DESC"), (any_words(words), "rank")):
        if query and len(found) < limit:
            statement = (
                "SELECT journal.* FROM journal_words JOIN journal ON seq = journal_words.rowid "
                f"WHERE journal_words MATCH :query AND owner_key = :owner_key ORDER BY {order} LIMIT :limit"
            )
            for stored in _stored(connection, statement, {"query": query, "owner_key": owner_key, "limit": limit}):
                found.setdefault(stored.seq, stored)
    return list(found.values())[:limit]
