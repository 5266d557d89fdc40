"""Events whose envelope the disk has changed: nobody can read them, and they hold nobody up."""

import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final, TypeVar

import structlog

from agent.event import Event, from_json, to_json
from agent.mailbox import children as offspring
from agent.mailbox.mail import UNFINISHED
from memory.clock import utc_text

T = TypeVar("T")

log = structlog.get_logger()

UNREADABLE: Final = (ValueError, TypeError)
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
        f"SELECT id, envelope, type, owner_key, priority FROM mailbox WHERE {UNFINISHED}"
    ).fetchall()
    damaged = [row for row in rows if _read(row) is None]
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
    closed = connection.execute("SELECT id FROM mailbox WHERE NOT json_valid(envelope)").fetchall()
    # By id: a copy on another machine has it undamaged, and is to hold the same.
    connection.executemany(
        "UPDATE mailbox SET envelope = ? WHERE id = ?",
        [(to_json(Event("unknown", id=row["id"])), row["id"]) for row in closed],
    )
    connection.execute(offspring.SCHEMA)
    return len(damaged)


def readable(rows: Iterable[sqlite3.Row]) -> list[Event]:
    """Return the events of rows; one that cannot be read goes to the dead letter when its turn comes."""
    return [event for row in rows if (event := _read(row)) is not None]


def event_of(row: sqlite3.Row) -> Event:
    """Return the event of a row. Raises one of `UNREADABLE`, also where it says that it is another one."""
    event = from_json(row["envelope"])
    if event.id != row["id"]:  # what is done about it would be done to none, again and again
        raise ValueError("an event under the id of another one")
    return event


def _read(row: sqlite3.Row) -> Event | None:
    try:
        return event_of(row)
    except UNREADABLE:
        return None
