"""A household with one calendar on its own clock: real owner task, copy and mailbox, and a source that tests write."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent.calendars.household import Calendars
from agent.calendars.owner import About, Pace
from agent.calendars.reminders import Rules
from agent.calendars.source import Collection
from agent.errors import CalendarLost
from agent.event import CALENDAR, HOUSEHOLD, Event
from agent.mailbox import SCHEMA, Mailbox
from memory.egress import SendsTo
from memory.state.database import Database
from tests.agent.calendars.entries import BERLIN, calendar, entry
from tests.agent.clock import Clock

ZONE = ZoneInfo(BERLIN)


@dataclass
class WrittenSource:
    """A calendar that a test writes; or none, while it is away."""

    text: str = calendar()
    is_away: bool = False
    looks: int = 0
    bodies: int = 0
    added: dict[str, bytes] = field(default_factory=dict)
    sends_to: Sequence[SendsTo] = ()

    async def look(self, known: Mapping[str, Collection]) -> list[Collection]:
        del known
        self.looks += 1
        if self.is_away:
            raise CalendarLost("it cannot be reached")
        return [Collection("home", "Home", str(hash(self.text)), is_writable=True)]

    async def body(self, collection: Collection, begin: datetime, end: datetime) -> bytes:
        del collection, begin, end
        self.bodies += 1
        return self.text.encode()

    async def add(self, collection: Collection, uid: str, ics: bytes) -> None:
        del collection
        if self.is_away:
            raise CalendarLost("it cannot be reached")
        self.added.setdefault(uid, ics)

    async def aclose(self) -> None:
        """Nothing is open."""

    def write(self, *entries: str) -> None:
        """Let these be what stands in it."""
        self.text = calendar(*entries)


def at(moment: datetime, *lines: str, uid: str = "1", title: str = "Dentist") -> str:
    """An entry of an hour that begins at a moment."""
    return entry(f"DTSTART:{moment:%Y%m%dT%H%M%SZ}", "DURATION:PT1H", *lines, uid=uid, title=title)


@dataclass
class Home:
    """What a test holds."""

    folder: Path
    clock: Clock
    source: WrittenSource
    mailbox: Mailbox
    minutes: int = 0
    has_alarms: bool = True

    def calendars(self) -> Calendars:
        """The calendars of one run of the program."""
        about = About("family", "here", self.source, Rules("family", ZONE, self.minutes, self.has_alarms))
        pace = Pace(self.clock, self.clock.wait)
        return Calendars([(about, pace)], self.folder / "calendars", self.mailbox.enqueue)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Calendars]:
        """One run of the program, from when its calendar was looked at to its end."""
        calendars = self.calendars()
        self.clock.advance(0)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(calendars.run())
            await self.clock.someone_sleeps()
            yield calendars
            task.cancel()

    async def passes(self, seconds: float) -> None:
        """Let time pass, and the program do what is due."""
        self.clock.advance(seconds)
        await self.clock.someone_sleeps()

    async def reminders(self) -> list[Event]:
        """What waits in the mailbox."""
        return await self.mailbox.waiting(CALENDAR, HOUSEHOLD)

    async def titles(self) -> list[str]:
        """Of what waits in the mailbox."""
        return [str(each.metadata["label"]) for each in await self.reminders()]


@asynccontextmanager
async def a_home(folder: Path) -> AsyncIterator[Home]:
    """A household on a Saturday morning."""
    clock = Clock()
    database = Database(folder / "state.db")
    await database.open(SCHEMA)
    try:
        yield Home(folder, clock, WrittenSource(), Mailbox(database, clock, clock.wait))
    finally:
        await database.close()
