"""The economy of the agent's own work: how deep, how often and at what cost a day events make further events."""

import sqlite3
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.errors import TooManyEvents
from agent.event import Event, utc_text
from agent.mailbox.mail import DUE, OPEN, PURSE, Lease, Purse
from agent.time.series import is_recurring
from memory.json_value import Json
from memory.state.words import storable

SELF: Final = "self"
"""The source of what it made itself."""

UNASKED: Final = "unasked"
"""Key of a timer's metadata: the agent set it while it handled something else than a person's words."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS own_work (
    id          TEXT PRIMARY KEY,   -- of an event that the agent made of its own accord
    root        TEXT NOT NULL,      -- the event that its task began with
    depth       INTEGER NOT NULL,   -- steps away from that one
    owner_key   TEXT NOT NULL,
    made_at     TEXT NOT NULL,      -- UTC; '' for what a series goes on with
    model_calls INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS own_work_root ON own_work (root);
CREATE INDEX IF NOT EXISTS own_work_made ON own_work (owner_key, made_at);
CREATE TABLE IF NOT EXISTS own_spending (
    owner_key   TEXT NOT NULL,
    day         TEXT NOT NULL,    -- of the household
    model_calls INTEGER NOT NULL,
    usd         REAL NOT NULL,
    PRIMARY KEY (owner_key, day)
);
CREATE TABLE IF NOT EXISTS own_purse (
    root      TEXT PRIMARY KEY,   -- the event that a task began with, which brought the purse
    owner_key TEXT NOT NULL,
    made_at   TEXT NOT NULL,      -- UTC
    tokens    INTEGER NOT NULL,   -- that all of the task may take
    usd       REAL NOT NULL,
    taken     INTEGER NOT NULL DEFAULT 0,
    taken_usd REAL NOT NULL DEFAULT 0
);
"""

_OF_TASK: Final = "SELECT coalesce(sum(model_calls), 0) FROM own_work WHERE root = ?"

_LAST_PURSE: Final = (
    "SELECT made_at AS at, taken AS tokens, tokens AS most_tokens, round(taken_usd, 6) AS usd, usd AS most_usd "
    "FROM own_purse WHERE owner_key = ? ORDER BY made_at DESC LIMIT 1"
)

MINUTE: Final = timedelta(minutes=1)

PUT_OFF: Final = "Put off until the next day: what your own work may take in a day was used up."
"""The note of its own events that had to wait for the next day, where they have no other."""


class Allowance(Struct, frozen=True):
    """What the agent's own work may take for each owner. A person's event is never held to it."""

    depth: int = 3
    """Steps that an event may be away from the one that it came of: children, their children, and so on."""
    per_minute: int = 30
    """Events that it may make in any minute."""
    calls_per_task: int = 100
    """Model calls of all that came of one event; then no more may come of it, and what is left of it is given up."""
    calls_per_day: int = 300
    """Model calls of its own work in a day; then that waits for the next."""
    usd_per_day: float = 1.0
    """US dollars of its own work in a day, as far as the models' prices are known; then that waits for the next. What
    an answer costs is known after it, so that the event in hand may exceed it."""
    zone: tzinfo = UTC
    """Whose days they are."""

    def day(self, now: datetime) -> str:
        """Return the day of the household, as an ISO date."""
        return now.astimezone(self.zone).date().isoformat()

    def next_day(self, now: datetime) -> datetime:
        """Return when the household's next day begins (UTC)."""
        tomorrow = now.astimezone(self.zone).date() + timedelta(days=1)
        return datetime.combine(tomorrow, time(), self.zone).astimezone(UTC)


class Lineage(Struct, frozen=True):
    """Where its own work comes from."""

    root: str
    depth: int


def lineage_of(connection: sqlite3.Connection, event: Event) -> Lineage | None:
    """Return where an event comes from that the agent makes of its own accord; None for anybody else's.

    A timer that a person asked for is theirs; but one that comes again and again is counted too, at depth 0, and each
    time that it comes is a task of its own.
    """
    is_unasked, comes_again = event.source == SELF or bool(event.metadata.get(UNASKED)), is_recurring(event)
    if not (is_unasked or comes_again):
        return None
    parent = connection.execute("SELECT root, depth FROM own_work WHERE id = ?", (event.parent_id,)).fetchone()
    root = parent["root"] if parent else event.parent_id or event.id
    return Lineage(event.id if comes_again else root, parent["depth"] + 1 if parent else int(is_unasked))


def check(connection: sqlite3.Connection, event: Event, lineage: Lineage, allowance: Allowance, now: datetime) -> None:
    """Raise `TooManyEvents` for an event of its own that is too deep, too soon, or of a task that took too much."""
    if lineage.depth > allowance.depth:
        raise TooManyEvents(
            f"this would be {lineage.depth} steps away from what it all came of, and {allowance.depth} are allowed: "
            "do it in the event in hand"
        )
    made = "SELECT count(*) FROM own_work WHERE owner_key = ? AND made_at > ?"
    if number(connection, made, storable(event.owner_key), utc_text(now - MINUTE)) >= allowance.per_minute:
        raise TooManyEvents(
            f"{allowance.per_minute} events of your own were made within a minute, and no more may be: "
            "do it in the event in hand, or later"
        )
    if number(connection, _OF_TASK, lineage.root) >= allowance.calls_per_task:
        raise TooManyEvents(
            f"what came of this task has taken {allowance.calls_per_task} model calls, and no more may come of it: "
            "finish it with what you have"
        )


def register(connection: sqlite3.Connection, event: Event, lineage: Lineage, made_at: str) -> None:
    """Remember that an event is the agent's own work; `made_at` is "" for one that nobody made just now."""
    connection.execute(
        "INSERT INTO own_work (id, root, depth, owner_key, made_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (event.id, lineage.root, lineage.depth, storable(event.owner_key), made_at),
    )
    purse = event.metadata.get(PURSE)
    if event.source == SELF and isinstance(purse, dict):
        connection.execute(
            "INSERT INTO own_purse (root, owner_key, made_at, tokens, usd) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (root) DO NOTHING",
            (lineage.root, storable(event.owner_key), made_at, purse["tokens"], purse["usd"]),
        )


def inherit(connection: sqlite3.Connection, event_id: str, successor: Event) -> None:
    """Let what a series goes on with be the agent's own work where its predecessor was."""
    row = connection.execute("SELECT depth FROM own_work WHERE id = ?", (event_id,)).fetchone()
    if row is not None:
        register(connection, successor, Lineage(successor.id, row["depth"]), "")


def spend(
    connection: sqlite3.Connection, event_id: str, day: str, model_calls: int, usd: float, tokens: int = 0
) -> None:
    """Count what an event took, if it is the agent's own work."""
    if tokens or usd:
        connection.execute(
            "UPDATE own_purse SET taken = taken + ?, taken_usd = taken_usd + ? "
            "WHERE root = (SELECT root FROM own_work WHERE id = ?)",
            (tokens, usd, event_id),
        )
    connection.execute("UPDATE own_work SET model_calls = model_calls + ? WHERE id = ?", (model_calls, event_id))
    connection.execute(
        "INSERT INTO own_spending SELECT owner_key, ?, ?, ? FROM own_work WHERE id = ? ON CONFLICT (owner_key, day) "
        "DO UPDATE SET model_calls = model_calls + excluded.model_calls, usd = usd + excluded.usd",
        (day, model_calls, usd, event_id),
    )


def put_off(connection: sqlite3.Connection, allowance: Allowance, now: datetime) -> None:
    """Let the own work that is due wait for the next day, of each owner whose day is used up.

    Timers do not wait: they ring, and the run does no more about them.
    """
    spent = connection.execute(
        "SELECT owner_key FROM own_spending WHERE day = ? AND (model_calls >= ? OR usd >= ?)",
        (allowance.day(now), allowance.calls_per_day, allowance.usd_per_day),
    ).fetchall()
    for row in spent:
        connection.execute(
            "UPDATE mailbox SET due_at = :tomorrow, note = CASE note WHEN '' THEN :note ELSE note END "
            f"WHERE {OPEN} AND {DUE} "
            "AND type <> 'timer' AND id IN (SELECT id FROM own_work WHERE owner_key = :owner)",
            {
                "tomorrow": utc_text(allowance.next_day(now)),
                "note": PUT_OFF,
                "now": utc_text(now),
                "owner": row["owner_key"],
            },
        )


def handed_over(connection: sqlite3.Connection, lease: Lease, allowance: Allowance, now: datetime) -> Lease:
    """Return a lease with what its event may still take, if it is the agent's own work."""
    row = connection.execute("SELECT root FROM own_work WHERE id = ?", (lease.event.id,)).fetchone()
    if row is None:
        return lease
    today, _ = spent_on(connection, lease.event.owner_key, allowance.day(now))
    of_task = allowance.calls_per_task - number(connection, _OF_TASK, row["root"])
    kept = connection.execute("SELECT * FROM own_purse WHERE root = ?", (row["root"],)).fetchone()
    purse = Purse(kept["tokens"], kept["usd"]).less(kept["taken"], kept["taken_usd"]) if kept else None
    return replace(
        lease, calls_left=max(0, allowance.calls_per_day - today), task_calls_left=max(0, of_task), purse=purse
    )


def spent_on(connection: sqlite3.Connection, owner_key: str, day: str) -> tuple[int, float]:
    """Return the model calls and the US dollars of an owner's own work on a day."""
    row = connection.execute(
        "SELECT model_calls, usd FROM own_spending WHERE owner_key = ? AND day = ?", (storable(owner_key), day)
    ).fetchone()
    return (row["model_calls"], row["usd"]) if row is not None else (0, 0.0)


def described(connection: sqlite3.Connection, owner_key: str, allowance: Allowance, now: datetime) -> dict[str, Json]:
    """Return what an owner's own work has taken, beside what it may."""
    calls, usd = spent_on(connection, owner_key, allowance.day(now))
    made = "SELECT count(*) FROM own_work WHERE owner_key = ? AND made_at > ?"
    is_spent = calls >= allowance.calls_per_day or usd >= allowance.usd_per_day
    last = connection.execute(_LAST_PURSE, (storable(owner_key),)).fetchone()
    return {
        **({"night": dict(last)} if last else {}),
        "model_calls_today": calls,
        "model_calls_per_day": allowance.calls_per_day,
        "usd_today": round(usd, 6),
        "usd_per_day": allowance.usd_per_day,
        "made_last_minute": number(connection, made, storable(owner_key), utc_text(now - MINUTE)),
        "made_per_minute": allowance.per_minute,
        "depth": allowance.depth,
        "waits_until": f"{allowance.next_day(now):%Y-%m-%d %H:%M:%S} UTC" if is_spent else "",
    }


def remove_owner(connection: sqlite3.Connection, owner_key: str) -> None:
    """Forget what was counted for an owner."""
    for table in ("own_work", "own_spending", "own_purse"):
        connection.execute(f"DELETE FROM {table} WHERE owner_key = ?", (storable(owner_key),))


def number(connection: sqlite3.Connection, statement: str, *values: str) -> int:
    """Return the one number that a statement finds."""
    return int(connection.execute(statement, values).fetchone()[0])
