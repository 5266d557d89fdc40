"""The index that recall looks in: utterances of both sides and notes, taken out of the journal by a cursor."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memory.clock import utc_text
from memory.json_value import Json
from memory.recall.question import AGENT, NOTE, SAID
from memory.recall.terms import index_terms
from memory.state.importance import judged
from memory.state.journal import WORDS, Journal, Stored
from memory.state.speakers import CORRECTED
from memory.state.tiers import INTERRUPTED, MARKED, TASK
from memory.state.words import storable

SENTENCE: Final = "speech.sentence_started"
WRITTEN: Final = "speech.written"
FINISHED: Final = "ui.events"
REQUESTED: Final = "tools.requests"
"""The journal's topics of a sentence begun to be spoken, of a written reply, of the end of a tool's call, and of the
call itself."""

WRITES: Final = "memory_write"
"""The tool whose parameters hold what the agent notes."""

UNHEARD: Final = (
    *("context.*", "llm.*", "tools.*", "system.command", "command.result", "timer.*", "ears.*", "models.*"),
    *("turns.*", "forgotten", "speech.sentence_ended", "speech.interrupted", "speech.sources"),
)
"""Topics of entries that are neither utterances nor lead to a note."""

PAGE: Final = 100
"""Entries taken over in one transaction."""

LEAST_NOTE: Final = 2
"""Letters of a text that is worth finding."""

_NO_TEXT: Final = re.compile(r"[\W\d_]*|vector_[0-9a-f]+|[0-9a-f]{32}|\d{4}-\d{2}-\d{2}[T ][\d:.,+Z -]*")
"""Values of parameters that are no words: numbers, handles, ids, moments."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS recall_item (
    id         INTEGER PRIMARY KEY,
    seq        INTEGER NOT NULL,
    event_id   TEXT NOT NULL,
    part       TEXT NOT NULL DEFAULT '',
    kind       TEXT NOT NULL,
    owner_key  TEXT NOT NULL,
    session_id TEXT NOT NULL,
    place      INTEGER,
    at         TEXT NOT NULL,
    speaker    TEXT NOT NULL,
    importance REAL,
    words      TEXT NOT NULL,
    stems      TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS recall_item_once ON recall_item (event_id, kind, part);
CREATE INDEX IF NOT EXISTS recall_item_by_seq ON recall_item (seq);
CREATE INDEX IF NOT EXISTS recall_item_by_time ON recall_item (owner_key, at);
CREATE INDEX IF NOT EXISTS recall_item_by_place ON recall_item (owner_key, session_id, place);
CREATE INDEX IF NOT EXISTS recall_item_by_speaker ON recall_item (owner_key, speaker);
CREATE TABLE IF NOT EXISTS recall_part (seq INTEGER PRIMARY KEY, item INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS recall_part_by_item ON recall_part (item);
CREATE TABLE IF NOT EXISTS recall_place (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS recall_vector (
    id     INTEGER PRIMARY KEY REFERENCES recall_item ON DELETE CASCADE,
    model  TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS recall_words USING fts5 (
    stems, content = 'recall_item', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 0',
    detail = none, columnsize = 0
);
CREATE TRIGGER IF NOT EXISTS recall_adds AFTER INSERT ON recall_item
BEGIN
    INSERT INTO recall_words (rowid, stems) VALUES (new.id, new.stems);
END;
CREATE TRIGGER IF NOT EXISTS recall_changes AFTER UPDATE OF stems ON recall_item
BEGIN
    INSERT INTO recall_words (recall_words, rowid, stems) VALUES ('delete', old.id, old.stems);
    INSERT INTO recall_words (rowid, stems) VALUES (new.id, new.stems);
    DELETE FROM recall_vector WHERE id = new.id;
END;
CREATE TRIGGER IF NOT EXISTS recall_lets_go AFTER DELETE ON recall_item
BEGIN
    INSERT INTO recall_words (recall_words, rowid, stems) VALUES ('delete', old.id, old.stems);
    DELETE FROM recall_part WHERE item = old.id;
END;
CREATE TRIGGER IF NOT EXISTS recall_forgets AFTER UPDATE OF body ON journal
WHEN CASE WHEN json_valid(new.body) THEN json_extract(new.body, '$.erased') END IS NOT NULL
BEGIN
    DELETE FROM recall_item WHERE seq = new.seq OR id IN (SELECT item FROM recall_part WHERE seq = new.seq);
    DELETE FROM recall_item WHERE event_id = new.event_id AND kind = 'note' AND new.topic = 'runs.new';
END;
CREATE TRIGGER IF NOT EXISTS recall_drops AFTER DELETE ON journal WHEN old.topic NOT GLOB 'tools.*'
BEGIN
    DELETE FROM recall_item WHERE seq = old.seq OR id IN (SELECT item FROM recall_part WHERE seq = old.seq);
    DELETE FROM recall_item WHERE event_id = old.event_id AND kind = 'note' AND old.topic = 'runs.new';
END;
CREATE TRIGGER IF NOT EXISTS recall_keeps_off BEFORE INSERT ON recall_item
WHEN NOT EXISTS (SELECT 1 FROM journal WHERE seq = new.seq AND json_extract(body, '$.erased') IS NULL)
BEGIN
    SELECT RAISE(IGNORE);
END;
DROP TABLE IF EXISTS tier_vector;
"""
"""For `Database.open`, after the journal's. What the journal erases, or drops for its age, is gone from here in the
same transaction, vectors too, and a page that was read before comes too late. A note outlives the details of its call,
which are dropped earlier than words, and goes with the words of its event."""


class _Item(Struct, frozen=True):
    """An entry of the journal as it will be in the index."""

    entry: Stored
    part: str
    kind: str
    speaker: str
    words: str
    stems: str = ""
    importance: float | None = None

    @property
    def event_id(self) -> str:
        return self.entry.event_id or self.entry.id


class Index:
    """Follows the journal by a cursor that is committed with what it took over.

    After kill -9 nothing is missing, or there twice.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._one = asyncio.Lock()

    async def fill(self, pages: int = -1) -> int:
        """Take over what the journal has got since the last time; return how many entries that was.

        At most so many pages, all of them with -1. Raises `StateUnusable`.
        """
        taken = 0
        async with self._one:
            while pages and (page := await self._fill_page()):
                taken += page
                pages -= 1
        return taken

    async def _fill_page(self) -> int:
        after = await self._journal.database.read(_cursor)
        page = await self._journal.entries(besides=UNHEARD, after=after, limit=PAGE)
        if page:
            notes = [note for entry in page if (note := await self._note_of(entry)) is not None]
            items = await asyncio.to_thread(_prepared, page, notes)
            await self._journal.database.write(partial(_take_over, page=page, items=items))
        return len(page)

    async def _note_of(self, entry: Stored) -> _Item | None:
        """Return what the agent noted by a call that ended well, None where an entry tells of no such call."""
        body = entry.body
        is_end = entry.topic == FINISHED and body.get("event") == "tool_call_finished"
        if not (is_end and body.get("tool_name") == WRITES and body.get("status") == "ok"):
            return None
        made = await self._journal.entries(topic=REQUESTED, event_id=entry.event_id)
        same = [each for each in made if all(each.body.get(key) == body.get(key) for key in ("call_id", "cycle"))]
        words = "; ".join(_texts(same[-1].body.get("args"))) if same else ""
        return _Item(same[-1], same[-1].id, NOTE, AGENT, words) if words else None


def _texts(arguments: Json) -> Iterator[str]:
    """Yield the texts in the parameters of a call, each once and in order."""
    with suppress(ValueError, RecursionError):
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
        params = given.get("params") if isinstance(given, dict) else None
        params = json.loads(params) if isinstance(params, str) else params
        yield from dict.fromkeys(_strings(params))


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str) and len(value.strip()) >= LEAST_NOTE and not _NO_TEXT.fullmatch(value.strip()):
        yield storable(value.strip())
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _prepared(page: Sequence[Stored], notes: Sequence[_Item]) -> list[_Item]:
    """Return the items of a page with the stems they are found by, in order, notes last."""
    items = (*filter(None, map(_item, page)), *notes)
    return [replace(item, stems=" ".join(index_terms(item.words))) for item in items]


def _item(entry: Stored) -> _Item | None:
    """Return an entry as an utterance, a summary as a note; None where it is neither."""
    words = entry.body.get("summary" if entry.topic == MARKED else WORDS)
    if not isinstance(words, str) or not words.strip() or entry.topic == FINISHED:
        return None
    words = storable(words.strip())
    if entry.topic == MARKED:
        return None if words.startswith(INTERRUPTED) else _Item(entry, MARKED, NOTE, AGENT, words)
    if entry.topic in (SENTENCE, WRITTEN):
        return _Item(entry, str(entry.body.get("call_id") or entry.id), SAID, AGENT, words)
    found = judged(words) if entry.topic == TASK else None
    speaker = storable(str(entry.body.get("speaker") or entry.body.get("who") or ""))
    part = "" if entry.topic == TASK else entry.id
    return _Item(entry, part, SAID, speaker, words, importance=found.value if found else None)


def _cursor(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT seq FROM recall_place").fetchone()
    return row["seq"] if row else 0


def _take_over(connection: sqlite3.Connection, page: Sequence[Stored], items: Sequence[_Item]) -> None:
    if page[0].seq <= _cursor(connection):  # another one has taken it over in the meantime
        return
    for item in items:
        _add(connection, item)
    for entry in page:
        if entry.topic == CORRECTED:
            _rename(connection, entry)
        importance = entry.body.get("importance")
        if entry.topic in (MARKED, TASK) and isinstance(importance, int | float):
            connection.execute(
                "UPDATE recall_item SET importance = ? WHERE event_id = ? AND owner_key = ? AND kind = 'said'",
                (min(1.0, max(0.0, float(importance))), entry.event_id, entry.owner_key),
            )
    connection.execute("INSERT OR REPLACE INTO recall_place (one, seq) VALUES (1, ?)", (page[-1].seq,))


def _rename(connection: sqlite3.Connection, correction: Stored) -> None:
    """Have what somebody said be another one's; what the agent answered stays its own."""
    connection.execute(
        "UPDATE recall_item SET speaker = ? WHERE event_id = ? AND owner_key = ? AND kind = 'said' AND speaker <> ?",
        (storable(str(correction.body.get("speaker") or "")), correction.event_id, correction.owner_key, AGENT),
    )


def _add(connection: sqlite3.Connection, item: _Item) -> None:
    """Add an item, or the next sentence to the reply that it goes on with; an event that came back is there once."""
    entry = item.entry
    known = connection.execute(
        "SELECT id, words FROM recall_item WHERE event_id = ? AND kind = ? AND part = ?",
        (item.event_id, item.kind, item.part),
    ).fetchone()
    if known is None:
        connection.execute(
            "INSERT INTO recall_item "
            "(seq, event_id, part, kind, owner_key, session_id, place, at, speaker, importance, words, stems) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(entry.seq, item.event_id, item.part, item.kind, entry.owner_key, entry.session_id),
                _next_place(connection, entry) if item.kind == SAID else None,
                *(utc_text(entry.at), item.speaker, item.importance, item.words, item.stems),
            ),
        )
    elif entry.topic == SENTENCE:
        words = f"{known['words']} {item.words}"
        stems = " ".join(index_terms(words))
        connection.execute("UPDATE recall_item SET words = ?, stems = ? WHERE id = ?", (words, stems, known["id"]))
        connection.execute("INSERT OR IGNORE INTO recall_part (seq, item) VALUES (?, ?)", (entry.seq, known["id"]))


def _next_place(connection: sqlite3.Connection, entry: Stored) -> int:
    row = connection.execute(
        "SELECT max(place) FROM recall_item WHERE owner_key = ? AND session_id = ?", (entry.owner_key, entry.session_id)
    ).fetchone()
    return (row[0] or 0) + 1
