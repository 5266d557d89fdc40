"""The mailbox's table: each step of an event as one function of a connection, run in one transaction."""

import json
import sqlite3
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, get_args

from msgspec.structs import replace

from agent.attachments.attachment import ATTACHMENTS
from agent.event import Event, from_json, predecessor, to_json, utc_text
from agent.mailbox import economy
from agent.mailbox.damage import event_of, readable
from agent.mailbox.mail import DUE, MAX_ATTEMPTS, OPEN, PERSON, Lease, MailboxRecord, State, Wake, back_at, speaker_in
from memory.json_value import Json
from memory.state import images
from memory.state.words import storable

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS mailbox (
    arrival     INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    envelope    TEXT NOT NULL,
    type        TEXT NOT NULL,
    owner_key   TEXT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'pending'
                CHECK (state IN ('pending', 'suspended', 'in_hand', 'completed', 'dead', 'withdrawn')),
    priority    INTEGER NOT NULL,
    idle        INTEGER NOT NULL,             -- delivered only when nothing else is due
    redelivered INTEGER NOT NULL DEFAULT 0,   -- was in hand when the process died: before its peers
    due_at      TEXT,                         -- UTC; not earlier
    waits_for   TEXT NOT NULL DEFAULT '',     -- a name, or an event type; not before that, unless due_at comes first
    attempt     INTEGER NOT NULL DEFAULT 1,
    tool_calls  INTEGER NOT NULL DEFAULT 0,
    model_calls INTEGER NOT NULL DEFAULT 0,
    grants      INTEGER NOT NULL DEFAULT 0,
    note        TEXT NOT NULL DEFAULT '',
    summary     TEXT NOT NULL DEFAULT '',
    figures     TEXT NOT NULL DEFAULT '{}',
    reason      TEXT NOT NULL DEFAULT '',
    closed_at   TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS mailbox_one_in_hand ON mailbox (state) WHERE state = 'in_hand';
CREATE INDEX IF NOT EXISTS mailbox_order ON mailbox (idle, priority DESC, redelivered DESC, arrival)
    WHERE state IN ('pending', 'suspended');
CREATE INDEX IF NOT EXISTS mailbox_due ON mailbox (due_at)
    WHERE state IN ('pending', 'suspended') AND due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS mailbox_states ON mailbox (state, waits_for);
"""
"""For `Database.open`. Two statements name their index: without statistics SQLite takes the one by state, and sorts."""


def put(connection: sqlite3.Connection, event: Event, now: datetime) -> bool:
    """File a new event and withdraw a pending one that it goes on with; False when its id is known."""
    added = connection.execute(
        "INSERT INTO mailbox (id, envelope, type, owner_key, priority, idle, due_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (
            event.id,
            to_json(event),
            storable(event.type),
            storable(event.owner_key),
            event.priority,
            event.priority < 0,
            None if event.not_before is None else utc_text(event.not_before),
        ),
    )
    if added.rowcount and (before := predecessor(event)):
        connection.execute(
            "UPDATE mailbox SET state = 'withdrawn', reason = ?, closed_at = ? "
            "WHERE id = ? AND owner_key = ? AND state = 'pending' AND NOT redelivered",
            (superseded(event.id), utc_text(now), storable(before), storable(event.owner_key)),
        )
    if added.rowcount and event.images:
        sizes = {image.digest: image.bytes for image in event.images}
        images.refer(connection, storable(event.owner_key), event.id, sizes, utc_text(now))
    return added.rowcount > 0


def superseded(by: str) -> str:
    """Return the reason of an event that was closed because another one goes on with its words."""
    return f"superseded by {by}: the person went on speaking"


def supersede(connection: sqlite3.Connection, event_id: str, by: str, now: datetime) -> bool:
    """Close the event in hand for one that goes on with its words; False when it is not in hand."""
    return _in_hand_changed(
        connection,
        "state = 'withdrawn', reason = :reason, closed_at = :now",
        {"id": event_id, "reason": superseded(by), "now": utc_text(now)},
    )


def held(connection: sqlite3.Connection) -> Lease | None:
    """Return the event in hand, without waiting."""
    row = connection.execute("SELECT * FROM mailbox WHERE state = 'in_hand'").fetchone()
    return None if row is None else _in_hand(row)


def claim(connection: sqlite3.Connection, now: datetime) -> Lease | None:
    """Take the event in hand, else the next one that is due; its first delivery wakes those waiting for its type."""
    if already := held(connection):
        return already
    row = connection.execute(
        f"SELECT * FROM mailbox INDEXED BY mailbox_order WHERE {OPEN} AND {DUE} "
        "ORDER BY idle, priority DESC, redelivered DESC, arrival LIMIT 1",
        {"now": utc_text(now)},
    ).fetchone()
    if row is None:
        return None
    connection.execute(
        "UPDATE mailbox SET state = 'in_hand', due_at = NULL, waits_for = '' WHERE arrival = ?", (row["arrival"],)
    )
    taken = _in_hand(row)
    if row["state"] == "pending":  # what comes back is no news to anybody
        release(connection, taken.event.type, taken.event.owner_key)
        if taken.event.is_from_person:
            release(connection, PERSON, taken.event.owner_key)
            release(connection, speaker_in(taken.event), taken.event.owner_key)
    return taken


def next_due(connection: sqlite3.Connection) -> datetime | None:
    """Return the earliest moment an open event waits for."""
    row = connection.execute(
        f"SELECT due_at FROM mailbox INDEXED BY mailbox_due WHERE {OPEN} AND due_at IS NOT NULL ORDER BY due_at LIMIT 1"
    ).fetchone()
    return None if row is None else _moment(row["due_at"])


def charge(connection: sqlite3.Connection, event_id: str, tool_calls: int, model_calls: int) -> bool:
    """Add to the counters of the event in hand; False when it is not in hand."""
    return _in_hand_changed(
        connection,
        "tool_calls = tool_calls + :tool_calls, model_calls = model_calls + :model_calls",
        {"id": event_id, "tool_calls": tool_calls, "model_calls": model_calls},
    )


def suspend(
    connection: sqlite3.Connection, event_id: str, note: str, wake: Wake, now: datetime, *, fresh_grant: bool
) -> bool:
    """Put the event in hand back until its wake; False when it is not in hand."""
    due_at = back_at(wake, now)
    return _in_hand_changed(
        connection,
        "state = 'suspended', note = :note, due_at = :due_at, waits_for = :waits_for, idle = priority < 0 OR :idle, "
        "redelivered = 0, grants = grants + :fresh, tool_calls = iif(:fresh, 0, tool_calls), "
        "model_calls = iif(:fresh, 0, model_calls), priority = iif(:fresh, min(priority, 0), priority)",
        {
            "id": event_id,
            "note": storable(note),
            "due_at": None if due_at is None else utc_text(due_at),
            "waits_for": storable(wake.name),
            "idle": wake.kind == "idle",
            "fresh": fresh_grant,
        },
    )


def explain(connection: sqlite3.Connection, event_id: str, reason: str) -> None:
    """Write down why an event waits, for people."""
    connection.execute("UPDATE mailbox SET reason = ? WHERE id = ?", (storable(reason), event_id))


def release(connection: sqlite3.Connection, name: str, owner_key: str | None = None, most: int | None = None) -> int:
    """Make the events, of one owner or of all, that wait for this name due; return how many.

    With `most` so many at most, by the moment at which they would be due anyway.
    """
    return connection.execute(
        "UPDATE mailbox SET due_at = NULL, waits_for = '' WHERE arrival IN (SELECT arrival FROM mailbox "
        "WHERE state = 'suspended' AND waits_for = :name AND (:owner IS NULL OR owner_key = :owner) "
        "ORDER BY due_at IS NULL, due_at, arrival LIMIT :most)",
        {"name": storable(name), "owner": owner_key, "most": -1 if most is None else most},
    ).rowcount


def waits_for(connection: sqlite3.Connection, name: str) -> bool:
    """Whether an event was suspended for this name, and is not due yet."""
    found = connection.execute(
        "SELECT 1 FROM mailbox WHERE state = 'suspended' AND waits_for = ? LIMIT 1", (storable(name),)
    )
    return found.fetchone() is not None


def complete(
    connection: sqlite3.Connection, event_id: str, summary: str, figures: Mapping[str, Json], now: datetime
) -> bool:
    """Archive the event in hand; False when it is not in hand."""
    return _in_hand_changed(
        connection,
        "state = 'completed', reason = '', summary = :summary, figures = :figures, closed_at = :now",
        {"id": event_id, "summary": storable(summary), "figures": json.dumps(dict(figures)), "now": utc_text(now)},
    )


def fail(connection: sqlite3.Connection, event_id: str, reason: str, now: datetime) -> bool:
    """Move the event in hand to the dead letter; False when it is not in hand."""
    return _in_hand_changed(
        connection,
        "state = 'dead', reason = :reason, closed_at = :now",
        {"id": event_id, "reason": storable(reason), "now": utc_text(now)},
    )


def withdraw(connection: sqlite3.Connection, event_id: str, reason: str, now: datetime) -> bool:
    """Close an open event unhandled; False when it is not open."""
    withdrawn = f"UPDATE mailbox SET state = 'withdrawn', reason = ?, closed_at = ? WHERE id = ? AND {OPEN}"
    return connection.execute(withdrawn, (storable(reason), utc_text(now), event_id)).rowcount > 0


def retry(connection: sqlite3.Connection, event_id: str) -> bool:
    """Make an event of the dead letter pending, its counters at their beginning; False when it is not there."""
    renewed = (
        "UPDATE mailbox SET state = 'pending', attempt = 1, tool_calls = 0, model_calls = 0, grants = 0, "
        "redelivered = 0, due_at = NULL, waits_for = '', reason = '', closed_at = NULL, "
        "priority = json_extract(envelope, '$.priority') WHERE id = ? AND state = 'dead'"
    )
    return connection.execute(renewed, (storable(event_id),)).rowcount > 0


def give_back(connection: sqlite3.Connection) -> bool:
    """Suspend what is in hand without a note or a wake: it is due, before its peers; False when nothing is."""
    statement = "UPDATE mailbox SET state = 'suspended', redelivered = 1 WHERE state = 'in_hand'"
    return bool(connection.execute(statement).rowcount)


def recover(connection: sqlite3.Connection, now: datetime) -> list[Lease]:
    """Put what was in hand back before its peers, one attempt more; after too many, into the dead letter."""
    connection.execute("UPDATE mailbox SET attempt = attempt + 1 WHERE state = 'in_hand'")
    found = held(connection)
    if found is None:
        return []
    if found.is_given_up:
        fail(connection, found.event.id, f"the process died {MAX_ATTEMPTS} times while this event was in hand", now)
    else:
        connection.execute("UPDATE mailbox SET state = 'pending', redelivered = 1 WHERE state = 'in_hand'")
    return [found]


def find(connection: sqlite3.Connection, event_id: str) -> MailboxRecord | None:
    """Return what is known of an event, open or closed."""
    row = connection.execute("SELECT * FROM mailbox WHERE id = ?", (event_id,)).fetchone()
    return None if row is None else filed(row)


def listed(
    connection: sqlite3.Connection, state: State, limit: int = 20, owner_key: str | None = None
) -> list[MailboxRecord]:
    """Return the newest events of a state (`dead` is the dead letter), of one owner or of all, the newest first."""
    rows = connection.execute(
        "SELECT * FROM mailbox WHERE state = :state AND (:owner IS NULL OR owner_key = :owner) "
        "ORDER BY arrival DESC LIMIT :limit",
        {"state": state, "owner": owner_key, "limit": limit},
    )
    return [filed(row) for row in rows]


def completed_since(connection: sqlite3.Connection, kind: str, owner_key: str, moment: datetime) -> list[Event]:
    """Return an owner's events of a type that were completed at a moment or later, the first to arrive first."""
    done = "state = 'completed' AND type = ? AND owner_key = ? AND closed_at >= ? ORDER BY arrival"
    rows = connection.execute(f"SELECT id, envelope FROM mailbox WHERE {done}", (kind, owner_key, utc_text(moment)))
    return readable(rows)


def waiting(connection: sqlite3.Connection, event_type: str, owner_key: str | None) -> list[Event]:
    """Return the events of a type that wait for their time or turn, of one owner or all (None), the next one first."""
    rows = connection.execute(
        f"SELECT id, envelope FROM mailbox WHERE {OPEN} AND type = ? AND owner_key = coalesce(?, owner_key) "
        "ORDER BY due_at, arrival",
        (event_type, owner_key),
    )
    return readable(rows)


def timers_of(connection: sqlite3.Connection, event_ids: Collection[str]) -> list[Event]:
    """Return the timers that were set for these events, also those that rang, in the order of their arrival.

    It goes through all events that there are: only who forgets something asks.
    """
    rows = connection.execute(
        "SELECT id, envelope FROM mailbox WHERE json_extract(envelope, '$.source') = 'timer' "
        "AND json_extract(envelope, '$.parent_id') IN (SELECT value FROM json_each(?)) ORDER BY arrival",
        (json.dumps(list(event_ids)),),
    )
    return readable(rows)


def with_attachments(connection: sqlite3.Connection, owner_key: str) -> list[Event]:
    """Return an owner's events that something is attached to, in the order of their arrival."""
    rows = connection.execute(
        "SELECT id, envelope FROM mailbox WHERE owner_key = ? "
        f"AND json_extract(envelope, '$.metadata.{ATTACHMENTS}') IS NOT NULL ORDER BY arrival",
        (owner_key,),
    )
    return readable(rows)


def remove_owner(connection: sqlite3.Connection, owner_key: str, *, in_hand: bool) -> int:
    """Take every event of an owner out, and what was counted of them; the one in hand only where it is asked for."""
    economy.remove_owner(connection, owner_key)
    images.release_owner(connection, owner_key)
    statement = "DELETE FROM mailbox WHERE owner_key = ? AND (state <> 'in_hand' OR ?)"
    return connection.execute(statement, (owner_key, in_hand)).rowcount


def counts(connection: sqlite3.Connection, owner_key: str | None = None) -> dict[str, int]:
    """Return how many events, of one owner or of all, are in each `State`; every state is there."""
    of_owner = "" if owner_key is None else "WHERE owner_key = ?"
    found = connection.execute(
        f"SELECT state, count(*) FROM mailbox {of_owner} GROUP BY state", () if owner_key is None else (owner_key,)
    )
    return dict.fromkeys(get_args(State), 0) | dict(found.fetchall())


def _in_hand_changed(connection: sqlite3.Connection, changes: str, values: Mapping[str, object]) -> bool:
    statement = f"UPDATE mailbox SET {changes} WHERE id = :id AND state = 'in_hand'"
    return bool(connection.execute(statement, dict(values)).rowcount)


def _in_hand(row: sqlite3.Row) -> Lease:
    counters = {name: row[name] for name in ("attempt", "note", "tool_calls", "model_calls", "grants")}
    return Lease(event_of(row), redelivered=bool(row["redelivered"]), **counters)


def filed(row: sqlite3.Row) -> MailboxRecord:
    """Return what a row of the table says of an event."""
    progress = _in_hand(row)
    return MailboxRecord(
        progress.event,
        row["state"],
        progress,
        row["waits_for"],
        _moment(row["due_at"]),
        row["summary"],
        json.loads(row["figures"]),
        row["reason"],
        _moment(row["closed_at"]),
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def erase(connection: sqlite3.Connection, event_id: str) -> bool:
    """Take the words out of an event, its metadata and what was noted of it; False when it is unknown."""
    row = connection.execute("SELECT envelope FROM mailbox WHERE id = ?", (event_id,)).fetchone()
    if row is None:
        return False
    images.release(connection, event_id)
    bare = replace(from_json(row["envelope"]), content="", result="", error="", metadata={})
    connection.execute(
        "UPDATE mailbox SET envelope = ?, note = '', summary = '' WHERE id = ?", (to_json(bare), event_id)
    )
    return True


def rename(connection: sqlite3.Connection, event_id: str, speaker: str) -> bool:
    """Have somebody else have said an event; False when it is unknown, or its words are erased."""
    renamed = connection.execute(
        "UPDATE mailbox SET envelope = json_set(envelope, '$.metadata.speaker', ?) "
        "WHERE id = ? AND envelope ->> '$.content' <> ''",
        (storable(speaker), event_id),
    )
    return bool(renamed.rowcount)
