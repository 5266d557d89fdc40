"""The household's calendars: their owner tasks, what stands in all of them, and reminders as events in the mailbox."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final, TypeAlias

import structlog
from msgspec import Struct

from agent.calendars.agenda import Occurrence
from agent.calendars.owner import About, Calendar, Pace
from agent.calendars.reading import write
from agent.calendars.reminders import Reminder
from agent.calendars.source import Collection
from agent.event import CALENDAR, OUTSIDE, Event
from agent.tools.timers import AFTER_PEOPLE
from agent.tools.tool import from_outside
from memory.egress import SendsTo
from memory.json_value import Json

FRESHENED_WITHIN: Final = 6.0
"""Seconds that a person waits for a server to say whether what is known is still right."""

REMINDER: Final = "A reminder of {source}: tell them in one sentence what begins, and when."

log = structlog.get_logger()


class Place(Struct, frozen=True):
    """Where entries can be added."""

    calendar: Calendar
    collection: Collection

    @property
    def name(self) -> str:
        """For people: that of the configuration, and the server's where it has several."""
        name = self.calendar.about.name
        return f"{name} ({self.collection.name})" if len(self.calendar.collections) > 1 else name


File: TypeAlias = Callable[[Event], Awaitable[bool]]
"""Files a reminder (`Mailbox.enqueue`); False where its id is known."""


class Found(Struct, frozen=True):
    """An occurrence, and the calendar that it stands in."""

    occurrence: Occurrence
    calendar: str


class Calendars:
    """All calendars of the configuration."""

    def __init__(self, abouts: Sequence[tuple[About, Pace]], folder: Path, file: File) -> None:
        """At least one."""
        self._file = file
        self._now = abouts[0][1].now
        self.all = {about.name: Calendar(about, folder / about.name, self._remind, pace) for about, pace in abouts}
        """By the name of the configuration."""

    @property
    def sends_to(self) -> Sequence[SendsTo]:
        """What all of them hand to other machines."""
        return [sent for each in self.all.values() for sent in each.about.source.sends_to]

    async def run(self) -> None:
        """Run the owner task of each calendar until cancelled."""
        async with asyncio.TaskGroup() as group:
            for name, calendar in self.all.items():
                group.create_task(calendar.run(), name=f"calendar: {name}")

    async def aclose(self) -> None:
        """Let their connections go."""
        for calendar in self.all.values():
            await calendar.about.source.aclose()

    async def find(self, begin: datetime, end: datetime, words: str = "") -> list[Found]:
        """Return what takes place in a stretch of time (aware) and has the words in it, by its beginning."""
        await self.freshened()
        wanted = words.casefold().split()
        found = [
            Found(each, name)
            for name, calendar in self.all.items()
            for each in (calendar.agenda.between(begin, end, calendar.zone) if calendar.agenda else ())
            if all(word in _text_of(each) for word in wanted)
        ]
        return sorted(found, key=lambda each: each.occurrence.order(self.zone))

    @property
    def zone(self) -> tzinfo:
        """Of the house."""
        return next(iter(self.all.values())).zone

    def today(self) -> date:
        """Return which day it is at home."""
        return self._now().astimezone(self.zone).date()

    def stale(self) -> Iterator[tuple[str, datetime | None, str]]:
        """Yield the calendars whose last look failed: name, when what is known was right (None: nothing is), reason."""
        for name, calendar in self.all.items():
            if calendar.reason or calendar.agenda is None:
                yield name, calendar.seen_at if calendar.agenda else None, calendar.reason or "it was not read yet"

    def partly_read(self) -> list[str]:
        """Return the names of the calendars that have more entries than there was time for."""
        return [name for name, calendar in self.all.items() if calendar.agenda and calendar.agenda.unread]

    def place(self) -> Place | None:
        """Return where an entry can be added: the first calendar that takes some; None where none does."""
        places = (Place(each, one) for each in self.all.values() for one in each.collections if one.is_writable)
        return next(places, None)

    async def add(self, place: Place, uid: str, entry: Mapping[str, object]) -> None:
        """Add an entry (title, begin, end, place, remind_minutes); once for one uid. Raises `CalendarLost`."""
        ics = await write({"uid": uid, "now": self._now().isoformat(), **entry})
        await place.calendar.add(place.collection, uid, ics)

    def describe(self) -> Mapping[str, Json]:
        """Return how each of them is."""
        return {name: calendar.describe() for name, calendar in self.all.items()}

    async def freshened(self) -> None:
        """See whether they changed, for as long as a person waits for it. Raises nothing."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FRESHENED_WITHIN), asyncio.TaskGroup() as group:
                for name, calendar in self.all.items():
                    group.create_task(calendar.freshened(), name=f"calendar: is {name} still as it was")

    async def _remind(self, calendar: Calendar, found: list[Reminder]) -> None:
        for each in found:
            if await self._file(reminder_event(each, calendar.zone, self._now())):
                log.info("calendar_reminder_filed", calendar=calendar.about.name, event_id=each.id)


def reminder_event(reminder: Reminder, zone: tzinfo, now: datetime) -> Event:
    """Return a reminder as an event; its title and place are marked as a stranger's words."""
    told = json.dumps(shown(reminder.occurrence, zone), ensure_ascii=False)
    source = f"the calendar {reminder.calendar}"
    return Event(
        type=CALENDAR,
        content=f"{REMINDER.format(source=source)}\n{from_outside(told, source)}",
        id=reminder.id,
        source=CALENDAR,
        priority=AFTER_PEOPLE,
        metadata={"label": reminder.occurrence.entry.title, "due": reminder.at.isoformat(), OUTSIDE: source},
        created_at=now,
    )


def shown(each: Occurrence, zone: tzinfo) -> dict[str, Json]:
    """Return an occurrence in the time of the house, with its weekday, for a model and for `agent.intents`."""
    begins, ends = each.begins(zone), each.ends(zone)
    if each.is_all_day:
        ends -= timedelta(days=1)
        begin, when, until = f"{begins:%Y-%m-%d}", f"{begins:%A %Y-%m-%d}", f" to {ends:%A %Y-%m-%d}"
        when = f"{when}{until if ends > begins else ''}, all day"
    else:
        begin, when = f"{begins:%Y-%m-%dT%H:%M}", f"{begins:%A %Y-%m-%d %H:%M}"
        until = f" to {ends:%H:%M}" if ends.date() == begins.date() else f" to {ends:%A %Y-%m-%d %H:%M}"
        when = f"{when}{until if ends > begins else ''}"
    told = {"place": each.entry.place, "description": each.entry.description}
    return {
        "title": each.entry.title,
        "when": when,
        "begin": begin,
        **{key: text for key, text in told.items() if text},
    }


def _text_of(each: Occurrence) -> str:
    return f"{each.entry.title}\n{each.entry.place}\n{each.entry.description}".casefold()
