"""Retention of the journal: step details are dropped with age; words only when somebody says so."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

import structlog
from msgspec import Struct

from memory.clock import utc_now, utc_text
from memory.errors import MemoryFailure
from memory.json_value import Json
from memory.state.database import Database
from memory.state.journal import THINNED, WORDS

log = structlog.get_logger()

FIRST: Final = 600.0
"""Seconds after the start until the first look: a start has other things to do."""

PERIOD: Final = 6 * 3600.0
"""Seconds between two looks."""

BUSY_PAUSE: Final = 30.0
"""Seconds to wait when somebody speaks, before it is tried again."""

BATCH: Final = 200
"""Rows, or pages, of one transaction: everybody else waits for it, some milliseconds."""

LASTING: Final = ("room",)
"""Sessions whose newest context is never thinned: it is taken up again after any absence."""

DETAILS: Final = (
    "tools.requests",
    "tools.results",
    "ui.events",
    "context.build.request",
    "context.build.response",
    "system.command",
    "command.result",
)
"""Topics of which nothing but the moment itself needs the entries. Requests and results of models stay: they are small,
and tell what it cost."""


class Keep(Struct, frozen=True):
    """How long what is kept; 0 is for ever."""

    details_days: int = 90
    words_days: int = 0

    @property
    def details(self) -> int:
        """Days of the details, which hold words too, so that they never outlive these."""
        return min(self.details_days or self.words_days, self.words_days or self.details_days)


class Retention:
    """Drops what is too old in small steps, off the event loop, while nobody speaks, and gives the pages back.

    A context is thinned whole, when its last message is too old: its entry stays and says so (`THINNED`), so that a
    rebuilt call is either exact or known to be gone.
    """

    def __init__(
        self,
        database: Database,
        keep: Keep,
        is_busy: Callable[[], bool],
        *,
        now: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`is_busy` says whether somebody speaks or something sounds."""
        self._database = database
        self.days = keep.details
        """How long a context is kept, and so what it shows; 0 is for ever."""
        self._keep = keep
        self._now = now
        self._is_busy = is_busy
        self._sleep = sleep
        self._dropped = 0

    async def run(self) -> None:
        """Look now and then, until cancelled."""
        await self._sleep(FIRST)
        while True:
            await self._wait_for_quiet()
            try:
                await self.once()
            except MemoryFailure as error:
                log.warning("nothing_thinned", reason=str(error))
            await self._sleep(PERIOD)

    async def once(self) -> int:
        """Drop all that is too old now, and return how many entries went. Raises `StateUnusable`."""
        before = self._dropped
        if self.days:
            horizon = self._before(self.days)
            every = bool(self._keep.words_days)
            await self._repeat(lambda connection: _thin_epoch(connection, horizon, every=every))
            await self._repeat(lambda connection: _drop_details(connection, horizon))
        if self._keep.words_days:
            oldest = self._before(self._keep.words_days)
            await self._repeat(lambda connection: _drop_words(connection, oldest))
        while await self._database.write(_give_back):
            await self._wait_for_quiet()
        if dropped := self._dropped - before:
            log.info("journal_thinned", entries=dropped)
        return self._dropped - before

    def describe(self) -> dict[str, Json]:
        """Return what is kept, how much went since the start, and how large the file is, in bytes."""
        files = (self._database.path, self._database.path.with_name(f"{self._database.path.name}-wal"))
        return {
            "bytes": sum(file.stat().st_size for file in files if file.exists()),
            "details_days": self.days or "for ever",
            "words_days": self._keep.words_days or "for ever",
            "dropped": self._dropped,
        }

    def _before(self, days: int) -> str:
        return utc_text(self._now() - timedelta(days=days))

    async def _repeat(self, step: Callable[[sqlite3.Connection], int]) -> None:
        while count := await self._database.write(step):
            self._dropped += count
            await self._wait_for_quiet()

    async def _wait_for_quiet(self) -> None:
        while self._is_busy():
            await self._sleep(BUSY_PAUSE)


_CLOSED: Final = f"""
SELECT seq, id, session_id, owner_key,
       (SELECT min(seq) FROM journal AS later WHERE later.session_id = epoch.session_id
        AND later.owner_key = epoch.owner_key AND later.topic = 'context.epoch' AND later.seq > epoch.seq) AS until
FROM journal AS epoch
WHERE topic = 'context.epoch' AND at < :horizon AND body ->> '{THINNED}' IS NULL
  AND (:all OR until IS NOT NULL OR session_id NOT IN ({", ".join(f"'{name}'" for name in LASTING)}))
  AND NOT EXISTS (SELECT 1 FROM journal AS grown WHERE grown.session_id = epoch.session_id
      AND grown.owner_key = epoch.owner_key AND grown.topic = 'context.message' AND grown.seq > epoch.seq
      AND (until IS NULL OR grown.seq < until) AND grown.at >= :horizon)
ORDER BY seq LIMIT 1
"""
"""The oldest context whose last message is older than the horizon."""


def _thin_epoch(connection: sqlite3.Connection, horizon: str, *, every: bool) -> int:
    """Thin one context: its messages go, its entry says so. Returns how many entries it was.

    With `every` also the newest one of a lasting session.
    """
    row = connection.execute(_CLOSED, {"horizon": horizon, "all": every}).fetchone()
    if row is None:
        return 0
    gone = connection.execute(
        "DELETE FROM journal WHERE session_id = :session_id AND owner_key = :owner_key AND topic = 'context.message' "
        "AND seq > :seq AND seq < :until",
        {**dict(row), "until": row["until"] or _ALL},
    ).rowcount
    body = json.dumps({"epoch": row["id"], THINNED: True})
    connection.execute("UPDATE journal SET body = ? WHERE seq = ?", (body, row["seq"]))
    return gone + 1


def _drop_details(connection: sqlite3.Connection, horizon: str) -> int:
    topics = ", ".join(f"'{topic}'" for topic in DETAILS)
    rows = connection.execute(
        f"SELECT seq FROM journal WHERE topic IN ({topics}) AND at < ? AND body ->> '{WORDS}' IS NULL LIMIT ?",
        (horizon, BATCH),
    ).fetchall()
    # By number: which ones come first is SQLite's to choose, and another machine's copy must lose the same.
    connection.executemany("DELETE FROM journal WHERE seq = ?", [(row["seq"],) for row in rows])
    return len(rows)


def _drop_words(connection: sqlite3.Connection, oldest: str) -> int:
    """Drop entries that may hold words, from the search too; figures of models and thinned contexts stay."""
    rows = connection.execute(
        f"SELECT seq FROM journal WHERE at < ? AND topic NOT IN ({_OTHERS}) LIMIT ?", (oldest, BATCH)
    ).fetchall()
    numbers = [(row["seq"],) for row in rows]
    connection.executemany("DELETE FROM journal_words WHERE rowid = ?", numbers)
    connection.executemany("DELETE FROM journal WHERE seq = ?", numbers)
    return len(numbers)


def _give_back(connection: sqlite3.Connection) -> int:
    """Give some free pages back to the disk; return how many are left to give."""
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    is_incremental = connection.execute("PRAGMA auto_vacuum").fetchone()[0] == _INCREMENTAL
    if not free or not is_incremental:  # a file of before keeps its free pages, and uses them again
        return 0
    connection.execute(f"PRAGMA incremental_vacuum({BATCH})").fetchall()
    return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


_OTHERS: Final = "'context.epoch', 'context.message', 'llm.requests', 'llm.results'"
"""Topics that `_thin_epoch` looks after, or that hold no words."""

_INCREMENTAL: Final = 2
"""SQLite's number for auto_vacuum = INCREMENTAL."""

_ALL: Final = 2**63 - 1
"""SQLite's largest rowid."""
