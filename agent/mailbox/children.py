"""Events that the agent made for an event: their quota, their outcome, and waking the parent that waits for them."""

import sqlite3
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from agent.errors import TooManyEvents
from agent.event import Event, from_json, utc_text
from agent.mailbox.economy import SELF, number
from agent.mailbox.mail import CHILDREN, LEAST_PAUSE, OPEN, UNFINISHED
from memory.state.words import storable

MOST_CHILDREN: Final = 20
"""Events it may make for one event, over its whole life."""

MOST_OPEN: Final = 200
"""Events of its own making that may be open at a time for one owner: children have children too."""

SCHEMA: Final = """
CREATE INDEX IF NOT EXISTS mailbox_children ON mailbox (json_extract(envelope, '$.parent_id'))
    WHERE json_extract(envelope, '$.source') = 'self';
"""

_OF: Final = "json_extract(envelope, '$.source') = 'self' AND json_extract(envelope, '$.parent_id') = ?"
_OWN_WAITING: Final = (
    "SELECT count(*) FROM mailbox INDEXED BY mailbox_order "
    f"WHERE {OPEN} AND owner_key = ? AND json_extract(envelope, '$.source') = 'self'"
)
"""Its index holds what waits; without the name SQLite would go through all that it ever made."""


@dataclass(frozen=True, slots=True)
class Child:
    """An event made for another one, and its outcome."""

    content: str
    state: str
    outcome: str
    """Its summary, or why it was given up or withdrawn."""
    id: str = field(default="", compare=False)
    """Of the event."""


def check_quota(connection: sqlite3.Connection, event: Event) -> None:
    """Raise `TooManyEvents` when its own event is one too many for its parent, or altogether."""
    if event.source != SELF or not event.parent_id:
        return
    if number(connection, f"SELECT count(*) FROM mailbox WHERE {_OF}", event.parent_id) >= MOST_CHILDREN:
        raise TooManyEvents(f"{MOST_CHILDREN} events were made for this event, and no more may be")
    if number(connection, _OWN_WAITING, storable(event.owner_key)) >= MOST_OPEN:
        raise TooManyEvents(f"{MOST_OPEN} events of your own are open: finish some before you make more")


def wake_parent(connection: sqlite3.Connection, event_id: str) -> None:
    """Make the parent of a closed event due, if it waits for its children and this was the last open one."""
    row = connection.execute(
        "SELECT json_extract(envelope, '$.parent_id') AS parent FROM mailbox WHERE id = ?", (event_id,)
    ).fetchone()
    if row is None or not row["parent"] or _open(connection, row["parent"]):
        return
    connection.execute(
        "UPDATE mailbox SET due_at = NULL, waits_for = '' WHERE id = ? AND state = 'suspended' AND waits_for = ?",
        (row["parent"], CHILDREN),
    )


def wake_childless(connection: sqlite3.Connection, event_id: str, now: datetime) -> None:
    """Let an event that was suspended for its children come back when none of them is open."""
    if not _open(connection, event_id):
        connection.execute(
            "UPDATE mailbox SET due_at = ?, waits_for = '' WHERE id = ? AND state = 'suspended' AND waits_for = ?",
            (utc_text(now + LEAST_PAUSE), event_id, CHILDREN),
        )


def children(connection: sqlite3.Connection, event_id: str) -> list[Child]:
    """Return what became of the events it made for an event, in the order of their arrival."""
    rows = connection.execute(
        f"SELECT id, envelope, state, summary, reason FROM mailbox WHERE {_OF} ORDER BY arrival", (event_id,)
    )
    return [
        Child(from_json(row["envelope"]).content, row["state"], row["summary"] or row["reason"], row["id"])
        for row in rows
    ]


def _open(connection: sqlite3.Connection, parent: str) -> bool:
    return bool(number(connection, f"SELECT count(*) FROM mailbox WHERE {_OF} AND {UNFINISHED}", parent))
