"""Events whose text the disk has changed: they go to the dead letter, and cost no other event its turn."""

import sqlite3
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

import structlog

from agent.envelope import from_json, to_json, utc_text
from agent.event import Event
from agent.mailbox import children as offspring

T = TypeVar("T")

log = structlog.get_logger()

UNREADABLE = (ValueError, TypeError, KeyError, AttributeError)
"""What reading a changed envelope raises."""


def in_spite_of_damage(connection: sqlite3.Connection, now: datetime, step: Callable[[], T]) -> T:
    """Return what a step of the mailbox does; where it meets an event that cannot be read, once more without those."""
    try:
        return step()
    except UNREADABLE:
        if not give_up_unreadable(connection, now):
            raise
        return step()


def give_up_unreadable(connection: sqlite3.Connection, now: datetime) -> int:
    """Move every open event that cannot be read to the dead letter, as far as its columns tell it; return how many."""
    rows = connection.execute(
        "SELECT id, envelope, type, owner_key, priority FROM mailbox WHERE state IN ('pending', 'suspended', 'in_hand')"
    ).fetchall()
    damaged = [row for row in rows if not _is_readable(row["envelope"])]
    if not damaged:
        return 0
    connection.execute("DROP INDEX IF EXISTS mailbox_children")  # SQLite reads the envelope to keep it
    for row in damaged:
        left = Event(row["type"] or "unknown", id=row["id"], owner_key=row["owner_key"], priority=row["priority"])
        connection.execute(
            "UPDATE mailbox SET state = 'dead', envelope = ?, closed_at = ?, "
            "reason = 'its text was changed by the disk: what it said is lost' WHERE id = ?",
            (to_json(left), utc_text(now), row["id"]),
        )
        log.error("event_damaged", event_id=row["id"], type=row["type"])
    bare = to_json(Event("unknown"))
    connection.execute("UPDATE mailbox SET envelope = ? WHERE NOT json_valid(envelope)", (bare,))  # closed ones
    connection.execute(offspring.SCHEMA)
    return len(damaged)


def _is_readable(envelope: str) -> bool:
    try:
        from_json(envelope)
    except UNREADABLE:
        return False
    return True
