"""Tiers L1 to L4: views of the journal by age and importance."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog
from msgspec import Struct

from memory.clock import utc_text
from memory.state.database import Database
from memory.state.importance import IMPORTANT, SUMMARY, UNSET, Importance, judged, summary_of
from memory.state.journal import WORDS, Journal, Stored
from memory.state.words import storable

log = structlog.get_logger()

TASK: Final = "runs.new"
"""The journal's topic of an event that was taken up; its first entry for an event is a member of the tiers."""

STEPS: Final = (
    *("context.*", "llm.*", "tools.*", "ui.*", "system.command", "command.result", "speech.*"),
    *("timer.*", "ears.*", "models.*", "turns.*", "speakers.*", "forgotten"),
)
"""Topics that are no members: steps of what is one already, and what the machine says of itself. All else is one, also
what a plug-in merely published."""

MARKED: Final = "memory.importance"
"""The journal's topic of its own judgement of an event: `importance` (0 to 1), `reason`, perhaps a `summary`."""

INTERRUPTED: Final = "interrupted: "
"""How the account of an event begins that somebody interrupted: a mark of the runtime, no summary of what was said."""

RULE: Final = "rule"
SENDER: Final = "sender"
AGENT: Final = "agent"
STATED: Final = "stated by its sender"
"""Who set an importance: the rule, by a person's words; before it whoever made the envelope; before both the agent."""

PAGE: Final = 200
"""Entries taken over in one transaction."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS tier_item (
    seq        INTEGER PRIMARY KEY,
    event_id   TEXT NOT NULL UNIQUE,
    owner_key  TEXT NOT NULL,
    session_id TEXT NOT NULL,
    at         TEXT NOT NULL,
    who        TEXT NOT NULL,
    importance REAL,
    reason     TEXT NOT NULL DEFAULT '',
    marked_by  TEXT NOT NULL DEFAULT '',
    summary    TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS tier_item_by_time ON tier_item (owner_key, at);
CREATE INDEX IF NOT EXISTS tier_item_important ON tier_item (owner_key, at) WHERE importance > 0.6;
CREATE TABLE IF NOT EXISTS tier_place (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL);
CREATE TRIGGER IF NOT EXISTS tier_forgets AFTER UPDATE OF body ON journal
WHEN json_extract(new.body, '$.erased') IS NOT NULL
BEGIN
    DELETE FROM tier_item WHERE seq = new.seq;
END;
CREATE TRIGGER IF NOT EXISTS tier_drops AFTER DELETE ON journal
BEGIN
    DELETE FROM tier_item WHERE seq = old.seq;
END;
CREATE TRIGGER IF NOT EXISTS tier_keeps_off BEFORE INSERT ON tier_item
WHEN (SELECT json_extract(body, '$.erased') FROM journal WHERE seq = new.seq) IS NOT NULL
BEGIN
    SELECT RAISE(IGNORE);
END;
"""
"""For `Database.open`, after the journal's. What the journal erases, or drops for its age, is gone from the tiers in
the same transaction, and a page that was read before comes too late."""

RECENT_FOR: Final = timedelta(hours=1)
IMPORTANT_FOR: Final = timedelta(hours=24)
SUMMARIES_FOR: Final = timedelta(days=7)
"""How long L1, L2 and L3 hold something."""


class TierSizes(Struct, frozen=True):
    """How much each tier holds."""

    recent: int = 50
    important: int = 50
    summaries: int = 500


SIZES: Final = TierSizes()


class Remembered(Struct, frozen=True):
    """A member of a tier."""

    seq: int
    """Its entry in the journal, and the order of what happened."""
    event_id: str
    """Id of the event, or of the envelope that was merely published."""
    at: datetime
    """Aware UTC."""
    who: str
    """Where it came from: mic, cli, self, timer …"""
    words: str
    """What was said: whole in L1 and L2, its summary in L3 and L4."""
    importance: float = UNSET
    reason: str = ""
    marked_by: str = ""
    """`RULE`, `SENDER`, `AGENT`, or "" where nobody set it."""
    session_id: str = ""
    topic: str = TASK
    """`TASK` for an event that was taken up, else the topic under which it was published."""


class Views(Struct, frozen=True):
    """What the first three tiers of one owner hold at one moment, each the oldest first."""

    recent: list[Remembered]
    """L1: whole, the newest of the last hour."""
    important: list[Remembered]
    """L2: whole, the newest important ones of the last day."""
    summaries: list[Remembered]
    """L3: the summaries of important things that L2 holds no longer, of the last week."""

    @property
    def everything(self) -> list[Remembered]:
        """What is in any of them, each once and the oldest first: whole where it is in one of the first two."""
        found = {each.seq: each for each in (*self.summaries, *self.important, *self.recent)}  # the whole ones stand
        return [found[seq] for seq in sorted(found)]


class Tiers:
    """Views over one table that follows the journal by a cursor; nothing is ever moved from tier to tier.

    L1 `recent`, L2 `important`, L3 `summaries`: an important thing is in L3 from the moment it is no longer in L2,
    because newer ones pushed it out or it grew old. L4 is `recall` over the same rows. The cursor and what it
    took over share a transaction, so that after kill -9 nothing is missing or there twice. Every view is one owner's.
    """

    def __init__(
        self, database: Database, journal: Journal, now: Callable[[], datetime], sizes: TierSizes = SIZES
    ) -> None:
        self._database = database
        self._journal = journal
        self._now = now
        self._sizes = sizes
        self.changed = asyncio.Event()
        """To be set when the journal has grown; `run` looks then. Missing one costs nothing but time."""

    async def fill(self) -> int:
        """Take over what the journal has got since the last time, and return how many entries that was."""
        taken = 0
        while page := await self.fill_page():
            taken += page
        return taken

    async def fill_page(self, most: int = PAGE) -> int:
        """Take over at most so many entries, all or none of them, and return how many; 0 when nothing is left."""
        after = await self._database.read(_place)
        page = await self._journal.entries(besides=STEPS, after=after, limit=most)
        if page:
            await self._database.write(partial(_take_over, page=page))
        return len(page)

    async def views(self, owner_key: str) -> Views:
        """Return the first three tiers of an owner, as they are now."""
        return await self._database.read(partial(_views, owner_key=owner_key, now=self._now(), sizes=self._sizes))


def _views(connection: sqlite3.Connection, owner_key: str, now: datetime, sizes: TierSizes) -> Views:
    def view(select: str, span: timedelta, most: int) -> list[Remembered]:
        values = {"owner": owner_key, "since": utc_text(now - span), "most": most}
        rows = connection.execute(f"{select} ORDER BY tier_item.seq DESC LIMIT :most", values)
        return [remembered(row) for row in rows][::-1]

    recent = view(_WHOLE + _OF_OWNER, RECENT_FOR, sizes.recent)
    important = view(_WHOLE + _OF_OWNER + _IMPORTANT, IMPORTANT_FOR, sizes.important)
    held = {each.seq for each in important}
    older = view(SHORT + _OF_OWNER + _IMPORTANT, SUMMARIES_FOR, sizes.summaries + len(held))
    return Views(recent, important, [each for each in older if each.seq not in held][-sizes.summaries :])


_COLUMNS: Final = (
    "tier_item.seq, tier_item.event_id, tier_item.at, who, importance, reason, marked_by, tier_item.session_id, topic"
)
_WHOLE: Final = (
    # As bytes: half a pair of surrogates, escaped in the body, comes out as what is no UTF-8.
    f"SELECT {_COLUMNS}, CAST(coalesce(body ->> '{WORDS}', body ->> 'content', body) AS BLOB) AS said "
    "FROM tier_item JOIN journal ON journal.seq = tier_item.seq "
)
SHORT: Final = f"SELECT {_COLUMNS}, summary AS said FROM tier_item JOIN journal ON journal.seq = tier_item.seq "
"""Selects members of the tiers with their summaries, as `remembered` reads them."""
_OF_OWNER: Final = "WHERE tier_item.owner_key = :owner AND tier_item.at > :since"
_IMPORTANT: Final = f" AND importance > {IMPORTANT}"


def remembered(row: sqlite3.Row) -> Remembered:
    """Return a member of a tier from its row; its words are the column `said`, a text or its bytes in UTF-8."""
    importance = UNSET if row["importance"] is None else row["importance"]
    at = datetime.fromisoformat(row["at"])
    said = row["said"].decode(errors="replace") if isinstance(row["said"], bytes) else row["said"]
    return Remembered(
        *(row["seq"], row["event_id"], at, row["who"], said, importance, row["reason"], row["marked_by"]),
        session_id=row["session_id"],
        topic=row["topic"],
    )


def _place(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT seq FROM tier_place").fetchone()
    return row["seq"] if row else 0


def _take_over(connection: sqlite3.Connection, page: Sequence[Stored]) -> None:
    if page[0].seq <= _place(connection):  # another one has taken it over in the meantime
        return
    for entry in page:
        if entry.topic == MARKED:
            _mark(connection, entry)
        else:
            _add(connection, entry)
    connection.execute("INSERT OR REPLACE INTO tier_place (one, seq) VALUES (1, ?)", (page[-1].seq,))


def _add(connection: sqlite3.Connection, entry: Stored) -> None:
    """Add what was published, and an event unless it was taken up before: after a crash, or a suspension."""
    said = _said(entry)
    if entry.topic == TASK and not said.strip():
        return
    importance, by = _given(entry)
    added = connection.execute(
        "INSERT INTO tier_item (seq, event_id, owner_key, session_id, at, who, importance, reason, marked_by, summary) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (event_id) DO NOTHING",
        (
            *(entry.seq, entry.event_id if entry.topic == TASK else entry.id),
            *(entry.owner_key, entry.session_id, utc_text(entry.at)),
            storable(str(entry.body.get("source") or "system")),
            *((importance.value, importance.reason, by) if importance else (None, "", "")),
            summary_of(said),
        ),
    )
    if added.rowcount and importance:
        _tell(entry, importance, by)


def _said(entry: Stored) -> str:
    """Return the words of an entry, or what it has instead: its whole body."""
    words = next((said for name in (WORDS, "content") if (said := entry.body.get(name)) is not None), None)
    if words is None:
        words = json.dumps(dict(entry.body), ensure_ascii=False)
    return storable(words if isinstance(words, str) else str(words))


def _given(entry: Stored) -> tuple[Importance | None, str]:
    """Return what its sender says of its importance, else what the rule makes of a person's words; and which it is."""
    stated = entry.body.get("importance")
    if isinstance(stated, int | float) and not isinstance(stated, bool):
        return Importance(_within(stated), STATED), SENDER
    words = entry.body.get(WORDS)
    is_human = entry.topic == TASK and isinstance(words, str)
    return (judged(storable(str(words))), RULE) if is_human else (None, "")


def _within(importance: float) -> float:
    return min(1.0, max(0.0, float(importance)))


def _mark(connection: sqlite3.Connection, entry: Stored) -> None:
    """Let its own judgement of an event stand before the rule's; its summary, if it wrote one, before the cut-out."""
    given = entry.body.get("importance")
    if not isinstance(given, int | float):
        return
    importance = Importance(_within(given), storable(str(entry.body.get("reason") or "")))
    summary = summary_of(storable(str(entry.body.get("summary") or "")), SUMMARY)
    written = None if summary.startswith(INTERRUPTED) else summary or None
    connection.execute(
        f"UPDATE tier_item SET importance = ?, reason = ?, marked_by = '{AGENT}', summary = coalesce(?, summary) "
        "WHERE event_id = ? AND owner_key = ?",
        (importance.value, importance.reason, written, entry.event_id, entry.owner_key),
    )
    _tell(entry, importance, AGENT)


def _tell(entry: Stored, importance: Importance, by: str) -> None:
    """Log who set an importance and why; its own reason may hold people's words, and is in the journal."""
    why = {} if by == AGENT else {"reason": importance.reason}
    log.info("importance_set", event_id=entry.event_id, importance=importance.value, marked_by=by, **why)
