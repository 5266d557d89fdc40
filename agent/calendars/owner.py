"""The owner task of one calendar: looks whether it changed, keeps the last known copy, and reminds of its entries."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final, TypeAlias

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent.calendars.agenda import Agenda
from agent.calendars.reading import read
from agent.calendars.reminders import Reminder, Rules, due, next_moment, reminders
from agent.calendars.source import Collection, Source
from agent.calendars.store import Copy, Held, Store
from agent.errors import CalendarLost
from agent.event import utc_now
from agent.mailbox import Wait, waiting_by
from memory.backoff import Backoff
from memory.errors import MemoryFailure
from memory.json_value import Json

BEHIND: Final = timedelta(days=31)
AHEAD: Final = timedelta(days=400)
"""How far around the present it is read; a birthday that was yesterday is in it again."""

ANEW: Final = timedelta(days=1)
"""After which it is read anew though nothing changed: the present has moved on."""

LONGEST_NAP: Final = 60.0
"""Seconds; a clock that was set, or a machine that was asleep, is noticed by then."""

FRESH: Final = timedelta(minutes=1)
"""A copy that was seen to be right so long ago is taken for right when somebody asks."""

Remind: TypeAlias = Callable[["Calendar", list[Reminder]], Awaitable[None]]
"""Files reminders, each once by its id. Raises `MemoryFailure`."""

log = structlog.get_logger()


class Pace(Struct, frozen=True):
    """The time that it goes by, and how often it looks."""

    now: Callable[[], datetime] = utc_now
    wait: Wait = waiting_by(utc_now, LONGEST_NAP)
    poll: float = 300.0
    """Seconds between two looks."""
    longest: float = 3600.0
    """Seconds of the longest rest after looks that failed."""


class About(Struct, frozen=True):
    """What one calendar is."""

    name: str
    """Its name in the configuration."""
    place: str
    """What tells it from another source of that name, without a secret."""
    source: Source
    rules: Rules


class Calendar:
    """One calendar of the household, as far as it is known. `run` is its one task."""

    def __init__(self, about: About, folder: Path, remind: Remind, pace: Pace) -> None:
        self.about = about
        self._store = Store(folder)
        self._remind = remind
        self._pace = pace
        self._backoff = Backoff(60.0, pace.longest, clock=lambda: pace.now().timestamp())
        self._copy = Copy(source=about.place)
        self._lock = asyncio.Lock()
        self._changed = asyncio.Event()
        self._poll_at = pace.now()
        self._longest = timedelta(seconds=max(pace.poll, pace.longest))
        self._is_restored = False
        self._reminders: list[Reminder] = []
        self._given: set[str] = set()
        """Ids of those that are in the mailbox, which keeps them from coming twice; known here, so as not to ask it."""
        self.agenda: Agenda | None = None
        """What is known; None while nothing is."""
        self.reason = ""
        """Why the last look failed, to follow on its name; "" where it did not."""

    @property
    def zone(self) -> tzinfo:
        """Of the house."""
        return self.about.rules.zone

    @property
    def seen_at(self) -> datetime | None:
        """When what is known was seen last to be right; None while nothing is known."""
        return self._copy.seen_at

    @property
    def collections(self) -> list[Collection]:
        """What it holds."""
        return list(self._copy.known.values())

    async def run(self) -> None:
        """Look, remind and wait, until cancelled."""
        await self.restore()
        while True:
            self._changed.clear()
            if not timedelta() < self._poll_at - self._pace.now() <= self._longest:  # or the clock was set back
                await self._look()
            await self.remind()
            coming = next_moment(self._reminders, self._pace.now())
            await self._pace.wait(self._changed, min(self._poll_at, coming or self._poll_at))

    async def restore(self) -> None:
        """Take up the copy of the last run."""
        async with self._lock:
            if self._is_restored:
                return
            copy = await asyncio.to_thread(self._store.load, self.about.place)
            try:
                if copy.held:
                    await self._read(copy.held)
                self._copy = copy
            except CalendarLost as lost:
                log.warning("calendar_copy_unreadable", calendar=self.about.name, reason=str(lost))
            self._is_restored = True

    async def freshened(self) -> None:
        """See whether it changed, if nobody did just now and its server is not resting; for who asks what stands in it.

        Raises nothing; what failed is its `reason`.
        """
        await self.restore()
        seen, now = self.seen_at, self._pace.now()
        is_fresh = seen is not None and self._copy.fetched_at is not None and seen > now - FRESH
        if not is_fresh and not self._backoff.rest:
            await self._look()

    async def add(self, collection: Collection, uid: str, ics: bytes) -> None:
        """Put an entry into a collection; it is read again at once, or when somebody asks. Raises `CalendarLost`."""
        await self.about.source.add(collection, uid, ics)
        self._copy = replace(self._copy, fetched_at=None)
        self._poll_at = self._pace.now()
        self._changed.set()

    async def remind(self) -> None:
        """Give the reminders that are due."""
        if self.agenda is None:
            return
        now = self._pace.now()
        coming = due(self._reminders, self._copy.reminded_until or now, now, self.zone)
        if found := [each for each in coming if each.id not in self._given]:
            try:
                await self._remind(self, found)
            except MemoryFailure as error:  # they are due at the next look too
                log.warning("calendar_reminder_not_filed", calendar=self.about.name, reason=str(error))
                return
        self._given |= {each.id for each in found}
        self._copy = replace(self._copy, reminded_until=now)
        if found:
            try:
                await self._commit()
            except OSError as error:  # what was given is in the mailbox, and its id keeps it from coming twice
                log.warning("calendar_not_kept", calendar=self.about.name, reason=str(error))

    def describe(self) -> dict[str, Json]:
        """Return whether it can be reached, what is known of it, and what is wrong."""
        told: dict[str, Json] = {
            "state": "lost" if self.reason else "connected" if self.seen_at else "connecting",
            "calendars": [each.name for each in self.collections],
            "writable": sum(each.is_writable for each in self.collections),
            "entries": len(self.agenda.occurrences) if self.agenda else 0,
            "left_out": self.agenda.left_out if self.agenda else 0,
            "unread": self.agenda.unread if self.agenda else 0,
            "seen_at": self.seen_at.isoformat() if self.seen_at else "",
        }
        return {**told, "reason": self.reason} if self.reason else told

    async def _look(self) -> None:
        """Fetch what changed, and read it."""
        async with self._lock:
            try:
                await self._fetch()
            except CalendarLost as lost:
                tell = log.debug if self.reason == str(lost) else log.warning  # once, not for ever
                rest = self._backoff.failed(lost.retry_after)
                tell("calendar_lost", calendar=self.about.name, reason=str(lost), again_in_seconds=rest)
                self.reason = str(lost)
            except OSError as error:
                rest = self._backoff.failed()
                self.reason = f"its copy cannot be written ({error.strerror})"
                log.warning("calendar_not_kept", calendar=self.about.name, reason=str(error))
            else:
                rest = self._pace.poll
                self._backoff.worked()
                self.reason = ""
            self._poll_at = self._pace.now() + timedelta(seconds=rest)

    async def _fetch(self) -> None:
        now = self._pace.now()
        fetched = self._copy.fetched_at
        known = {} if fetched is None or now - fetched >= ANEW else self._copy.known
        found = await self.about.source.look(known)
        is_same = bool(known) and {each.key: each for each in found} == known and all(each.tag for each in found)
        if is_same and self.agenda is not None:
            self._copy = replace(self._copy, seen_at=now)
            return
        held = [await self._hold(each, now) for each in found]
        await self._take_over(tuple(held), now)

    async def _hold(self, collection: Collection, now: datetime) -> Held:
        body = await self.about.source.body(collection, now - BEHIND, now + AHEAD)
        return Held(collection, await asyncio.to_thread(self._store.put, body))

    async def _take_over(self, held: tuple[Held, ...], now: datetime) -> None:
        try:
            agenda = await self._read(held)
        except CalendarLost:
            await asyncio.to_thread(self._store.sweep, self._copy)
            raise
        self._copy = replace(
            self._copy, held=held, seen_at=now, fetched_at=now, reminded_until=self._copy.reminded_until or now
        )
        await self._commit()
        counts = {"entries": len(agenda.occurrences), "left_out": agenda.left_out, "unread": agenda.unread}
        log.info("calendar_read", calendar=self.about.name, **counts)

    async def _read(self, held: Iterable[Held]) -> Agenda:
        now = self._pace.now()
        agenda = await read(self._store.files(held), now - BEHIND, now + AHEAD, str(self.zone))
        self._reminders = await asyncio.to_thread(reminders, agenda, self.about.rules)
        self.agenda = agenda
        return agenda

    async def _commit(self) -> None:
        await asyncio.to_thread(self._store.commit, self._copy)
