"""What waits in the mailbox, as an owner sees it: in the order in which it comes, and moved in it."""

import sqlite3
from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from agent.event import PERSON_TYPES, TIMER, Event, from_json, to_json, utc_text
from agent.mailbox.mail import DUE, OPEN, MailboxRecord
from agent.mailbox.table import filed, waiting
from memory.state.words import storable


def coming(connection: sqlite3.Connection, owner_key: str, now: datetime, limit: int) -> list[MailboxRecord]:
    """Return an owner's events that wait: those that are due in the order of delivery, then by their time."""
    rows = connection.execute(
        f"SELECT * FROM mailbox WHERE {OPEN} AND owner_key = :owner ORDER BY NOT {DUE}, iif({DUE}, '', "
        "ifnull(due_at, '9')), idle, priority DESC, redelivered DESC, arrival LIMIT :limit",
        {"owner": storable(owner_key), "now": utc_text(now), "limit": limit},
    )
    return [filed(row) for row in rows]


def move(
    connection: sqlite3.Connection, event_id: str, owner_key: str, priority: int | None, not_before: datetime | None
) -> bool:
    """Give a waiting event of an owner another priority, another time, or both; False when there is none such."""
    row = connection.execute(
        f"SELECT envelope, due_at FROM mailbox WHERE id = ? AND owner_key = ? AND {OPEN}",
        (event_id, storable(owner_key)),
    ).fetchone()
    if row is None:
        return False
    event = from_json(row["envelope"])
    if priority is not None:
        event = replace(event, priority=priority)
        connection.execute(
            "UPDATE mailbox SET priority = :priority, idle = :priority < 0 WHERE id = :id",
            {"priority": priority, "id": event_id},
        )
    if not_before is not None:
        event = replace(event, not_before=not_before)
    due_at = row["due_at"] if not_before is None else utc_text(not_before)
    connection.execute("UPDATE mailbox SET envelope = ?, due_at = ? WHERE id = ?", (to_json(event), due_at, event_id))
    return True


def move_timers(connection: sqlite3.Connection, place: Callable[[Event], Event]) -> int:
    """Give each timer that waits the time that it has where `place` puts it; return how many were moved."""
    rows = [
        (to_json(moved), utc_text(moved.not_before), timer.id)
        for timer in waiting(connection, TIMER, None)
        if (moved := place(timer)) != timer and moved.not_before is not None
    ]
    connection.executemany(f"UPDATE mailbox SET envelope = ?, due_at = ? WHERE id = ? AND {OPEN}", rows)
    return len(rows)


def is_person_waiting(connection: sqlite3.Connection) -> bool:
    """Whether anybody's words wait for their first hand-over."""
    marks = ", ".join("?" * len(PERSON_TYPES))
    found = f"SELECT 1 FROM mailbox WHERE state = 'pending' AND type IN ({marks}) AND due_at IS NULL LIMIT 1"
    return connection.execute(found, tuple(PERSON_TYPES)).fetchone() is not None
