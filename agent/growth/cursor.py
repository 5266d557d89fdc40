"""The cursors of growth: up to where the journal was looked back on, moved by the transaction that completes a look."""

import sqlite3
from datetime import datetime
from typing import Final

from msgspec import Struct

from agent.event import NIGHT, REFLECTION, utc_text
from agent.mailbox.mail import DUE, OPEN
from memory.state.tiers import TASK
from memory.state.words import storable

SCHEMA: Final = f"""
CREATE TABLE IF NOT EXISTS growth (
    owner_key TEXT NOT NULL,      -- '' is everybody: nothing before this is looked back on any more
    kind      TEXT NOT NULL,      -- the type of the event
    seq       INTEGER NOT NULL,   -- in the journal: what is behind it is new
    PRIMARY KEY (owner_key, kind)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS growth_shown (
    event_id  TEXT PRIMARY KEY,   -- of a look that is not over
    owner_key TEXT NOT NULL,
    seq       INTEGER NOT NULL    -- of the last that it was shown
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS growth_moves AFTER UPDATE OF state ON mailbox
WHEN new.state = 'completed' AND new.type IN ('{REFLECTION}', '{NIGHT}')
    AND json_extract(new.envelope, '$.source') = 'self'
BEGIN
    INSERT INTO growth (owner_key, kind, seq) VALUES (new.owner_key, new.type,
        coalesce((SELECT seq FROM growth_shown WHERE event_id = new.id),
            json_extract(new.envelope, '$.metadata.through'), 0))
    ON CONFLICT (owner_key, kind) DO UPDATE SET seq = max(seq, excluded.seq);
    DELETE FROM growth_shown WHERE event_id = new.id;
END;
"""
"""For `Database.open`, after the mailbox's. The trigger moves a cursor exactly when the event is completed: to the last
that the event was shown, else to where the journal ended when it was made."""

_SINCE: Final = "SELECT seq FROM growth WHERE owner_key = ? AND kind = ?"

_NEWS: Final = f"""
SELECT owner_key, session_id, count(*) AS events, min(seq) AS first, max(seq) AS last
FROM journal INDEXED BY journal_by_topic
WHERE topic = '{TASK}' AND seq > :floor AND body ->> 'words' IS NOT NULL
  AND seq > coalesce((SELECT seq FROM growth WHERE growth.owner_key = journal.owner_key AND kind = '{REFLECTION}'), 0)
  AND NOT EXISTS (SELECT 1 FROM journal AS before WHERE before.event_id = journal.event_id
                  AND before.topic = journal.topic AND before.seq < journal.seq)
GROUP BY owner_key, session_id ORDER BY first
"""
"""Whose event comes back, after a crash or a suspension, says nothing new by that."""

_LAST: Final = f"""
SELECT coalesce((SELECT seq FROM journal INDEXED BY journal_by_topic
                 WHERE topic = '{TASK}' AND body ->> 'words' IS NOT NULL ORDER BY seq DESC LIMIT 1), 0)
"""

_LAST_NIGHT: Final = """
SELECT root, made_at FROM own_purse JOIN mailbox ON mailbox.id = root
WHERE mailbox.state = 'completed' ORDER BY made_at DESC LIMIT 1
"""

_ENDED: Final = """
SELECT journal.at, mailbox.closed_at FROM journal LEFT JOIN mailbox ON mailbox.id = journal.event_id
WHERE journal.seq = ?
"""

_UNDER_WAY: Final = f"""
SELECT 1 FROM mailbox WHERE owner_key = :owner AND json_extract(envelope, '$.session_id') = :session
  AND (state = 'in_hand' OR {OPEN} AND {DUE})
LIMIT 1
"""


class News(Struct, frozen=True):
    """What people said in a session, and nobody looked back on yet."""

    owner_key: str
    events: int
    """How many times somebody spoke or wrote."""
    first: int
    """The first one's entry in the journal."""
    last: int
    quiet_since: datetime
    """Aware UTC; when the last words were said, or their answer was over."""
    is_under_way: bool
    """Whether something of the session is in hand, or due."""


def begin(connection: sqlite3.Connection) -> None:
    """Where growth begins on a journal that is there already: what was said before is not looked back on."""
    for kind in (REFLECTION, NIGHT):
        begun = "INSERT OR IGNORE INTO growth SELECT '', ?, coalesce(max(seq), 0) FROM journal"
        connection.execute(begun, (kind,))


def since(connection: sqlite3.Connection, owner_key: str, kind: str) -> int:
    """Return the place in the journal behind which everything is new to an owner's looks of this type."""
    own = connection.execute(_SINCE, (storable(owner_key), kind)).fetchone()
    return max(own["seq"] if own else 0, _floor(connection, kind))


def last_words(connection: sqlite3.Connection) -> int:
    """Return the place of the newest event that was taken up for a person, whoever it was."""
    return int(connection.execute(_LAST).fetchone()[0])


def news(connection: sqlite3.Connection, now: datetime) -> tuple[list[News], int]:
    """Return what is new, by owner and session, the oldest first; and the place of the journal's newest entry."""
    rows = connection.execute(_NEWS, {"floor": _floor(connection)}).fetchall()
    newest = connection.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0]
    return [_news(connection, row, now) for row in rows], newest


def raise_floor(connection: sqlite3.Connection, to: int) -> None:
    """Take note that all up to a place is looked back on, or will not be: nobody reads it again to see that."""
    connection.execute("UPDATE growth SET seq = max(seq, ?) WHERE owner_key = '' AND kind = ?", (to, REFLECTION))


def show(connection: sqlite3.Connection, event_id: str, owner_key: str, seq: int) -> None:
    """Take note of the last that a look was shown."""
    connection.execute(
        "INSERT INTO growth_shown VALUES (?, ?, ?) ON CONFLICT (event_id) DO UPDATE SET seq = max(seq, excluded.seq)",
        (event_id, storable(owner_key), seq),
    )


def shown(connection: sqlite3.Connection, event_id: str) -> int:
    """Return the place of the last that a look was shown, 0 for nothing."""
    row = connection.execute("SELECT seq FROM growth_shown WHERE event_id = ?", (event_id,)).fetchone()
    return row["seq"] if row else 0


def last_night(connection: sqlite3.Connection) -> tuple[datetime, frozenset[str]] | None:
    """Return when the last completed night began (aware UTC), and the ids of its event and of all that came of it."""
    row = connection.execute(_LAST_NIGHT).fetchone()
    if row is None:
        return None
    ids = connection.execute("SELECT id FROM own_work WHERE root = ?", (row["root"],))
    return datetime.fromisoformat(row["made_at"]), frozenset(each["id"] for each in ids)


def forget(connection: sqlite3.Connection, owner_key: str) -> None:
    """Let go of an owner's cursors."""
    for table in ("growth", "growth_shown"):
        connection.execute(f"DELETE FROM {table} WHERE owner_key = ?", (storable(owner_key),))


def _floor(connection: sqlite3.Connection, kind: str = REFLECTION) -> int:
    row = connection.execute(_SINCE, ("", kind)).fetchone()
    return row["seq"] if row else 0


def _news(connection: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> News:
    ended = connection.execute(_ENDED, (row["last"],)).fetchone()
    key = {"owner": row["owner_key"], "session": row["session_id"], "now": utc_text(now)}
    return News(
        row["owner_key"],
        row["events"],
        row["first"],
        row["last"],
        max(datetime.fromisoformat(text) for text in ended if text),
        connection.execute(_UNDER_WAY, key).fetchone() is not None,
    )
