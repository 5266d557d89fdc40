"""The household's calendars as tools: what stands in them, and one more appointment."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from hashlib import blake2b
from typing import Annotated, Final

from msgspec import Struct
from pydantic import Field

from agent.calendars.agenda import at_home
from agent.calendars.household import Calendars, Found, shown
from agent.errors import CalendarLost, ToolFailed
from agent.event import Event
from agent.tools.registry.context import ToolContext
from agent.tools.registry.sharing import for_members
from agent.tools.tool import Tool, from_outside, tool
from memory.json_value import Json

SOURCE: Final = "calendar"
NOT_SHARED: Final = "the calendars are the household's, and whoever speaks is no member of it: do without them"

WEEK: Final = timedelta(days=7)
HOUR: Final = timedelta(hours=1)
LONGEST: Final = timedelta(days=366)
"""Of one appointment, and of what is asked for at once."""

DESCRIBED: Final = 200
"""Characters of each description, where several are told."""

ROOM: Final = 12_000
"""Characters of all appointments in one answer."""

READ_SECONDS: Final = 30.0
ADD_SECONDS: Final = 60.0
"""For a server that is found first, as at a start, and then is slow."""

_NONE: Final = "nothing can be added to any calendar that was reached; `nakari doctor` tells how each of them is"

_MOMENT: Final = "Local time: 2026-11-24T15:00, or 2026-11-24 for the whole day."


def tools(context: ToolContext) -> list[Tool]:
    """Return calendar_events, and calendar_add; none where no calendar is configured."""
    return calendar_tools(context.calendars, context.shares) if context.calendars else []


def calendar_tools(calendars: Calendars, shares: Callable[[str], bool]) -> list[Tool]:
    """Return the tools over these calendars, for members."""
    hands = CalendarTools(calendars)
    made = [
        tool(
            hands.calendar_events,
            effect="pure",
            timeout=READ_SECONDS,
            outside=SOURCE,
            brief="Tell what stands in the calendar from a day to a day, both as 2026-11-24; empty is the next week.",
        ),
        tool(
            hands.calendar_add,
            timeout=ADD_SECONDS,
            is_undoable=True,
            brief="Add an appointment: title, start as 2026-11-24T15:00.",
        ),
    ]
    return [for_members(each, shares, NOT_SHARED) for each in made]


class CalendarTools(Struct, frozen=True):
    """The tools' functions over the household's calendars."""

    calendars: Calendars

    async def calendar_events(
        self,
        start: Annotated[str, Field(description=f"From when. {_MOMENT} Empty is today.")] = "",
        end: Annotated[str, Field(description="Until when, that day included. Empty is a week after the start.")] = "",
        words: Annotated[str, Field(max_length=200, description="Words in its title, place or description.")] = "",
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
    ) -> Json:
        """List what stands in the household's calendars, in local time; birthdays and trips too, if they are there.

        To find when something is, give words and a far end.
        """
        begins, ends = self._stretch(start, end)
        found = await self.calendars.find(begins, ends, words)
        stale: list[Json] = [self._stale(*each) for each in self.calendars.stale()]
        shown_ones = self._bounded(found[:limit])
        told: dict[str, Json] = {"from": f"{begins:%A %Y-%m-%d}", "events": shown_ones}
        if more := len(found) - len(shown_ones):
            told["more"] = more
        if stale:
            told["not_up_to_date"] = stale
        if partly := self.calendars.partly_read():
            told["not_read_whole"] = [*partly]
        return from_outside(json.dumps(told, ensure_ascii=False), SOURCE)

    async def calendar_add(
        self,
        event: Event,
        title: Annotated[str, Field(min_length=1, max_length=300)],
        start: Annotated[str, Field(description=_MOMENT)],
        end: Annotated[str, Field(description="Of the same form, the last day included; empty is an hour later.")] = "",
        place: Annotated[str, Field(max_length=300)] = "",
        remind_minutes: Annotated[
            int | None, Field(ge=0, le=40_320, description="How long before it everybody is to be reminded.")
        ] = None,
    ) -> Json:
        """Add an appointment to the household's calendar, where everybody sees it on their devices too."""
        begins, ends = self._span(start, end)
        where = self.calendars.place()
        if where is None:
            await self.calendars.freshened()
            where = self.calendars.place()
        if where is None:
            raise ToolFailed(_NONE)
        told = "\n".join((event.id, title, str(begins), str(ends)))  # the same, should it be asked for again
        uid = f"{blake2b(told.encode(errors='replace'), digest_size=16).hexdigest()}@nakari"
        entry: dict[str, Json] = {"title": title, "begin": begins.isoformat(), "end": ends.isoformat(), "place": place}
        try:
            await self.calendars.add(where, uid, {**entry, "remind_minutes": remind_minutes})
        except CalendarLost as lost:
            raise ToolFailed(f"nothing was added: the calendar {where.name}: {lost}") from lost
        zone, is_day = self.calendars.zone, not isinstance(begins, datetime)
        local = at_home(begins, zone)
        when = f"{local:%A %Y-%m-%d}" if is_day else f"{local:%A %Y-%m-%d %H:%M}"
        return {"added": title, "when": when, "calendar": where.name}

    def _stretch(self, start: str, end: str) -> tuple[datetime, datetime]:
        zone = self.calendars.zone
        first: date = _moment(start, zone) if start.strip() else self.calendars.today()
        begins = at_home(first, zone)
        last = _moment(end, zone) if end.strip() else None
        ends = begins + WEEK if last is None else at_home(_after(last), zone)
        if not timedelta() < ends - begins:
            raise ToolFailed(f"{end!r} is not after {start!r}; correct them and call it again")
        return begins, ends

    def _span(self, start: str, end: str) -> tuple[date, date]:
        """Return when an appointment begins and ends: two moments (UTC), or a day and the day after its last."""
        zone = self.calendars.zone
        begins = _moment(start, zone)
        ends = _moment(end, zone) if end.strip() else None
        if not isinstance(begins, datetime):
            last = ends.astimezone(zone).date() if isinstance(ends, datetime) else ends or begins
            span: tuple[date, date] = (begins, last + timedelta(days=1))
        elif ends is None:
            span = (begins, begins + HOUR)
        else:
            span = (begins, at_home(_after(ends), zone).astimezone(UTC))
        if not timedelta() < at_home(span[1], zone) - at_home(span[0], zone) <= LONGEST:
            raise ToolFailed(f"{end!r} is not after {start!r}, or more than a year; correct it and call it again")
        return span

    def _bounded(self, found: Sequence[Found]) -> list[Json]:
        """Return the first ones, as many as there is room for."""
        told: list[Json] = []
        room = ROOM
        for each in found:
            one = {**shown(each.occurrence, self.calendars.zone), "calendar": each.calendar}
            if len(found) > 1 and "description" in one:
                one["description"] = str(one["description"])[:DESCRIBED]
            room -= len(json.dumps(one, ensure_ascii=False))
            if room < 0 and told:
                break
            told.append(one)
        return told

    def _stale(self, name: str, seen_at: datetime | None, reason: str) -> Json:
        as_of = f"{seen_at.astimezone(self.calendars.zone):%Y-%m-%dT%H:%M}" if seen_at else ""
        return {"calendar": name, "as_of": as_of, "reason": reason}


def _moment(text: str, zone: tzinfo) -> date:
    """Return a moment (UTC), or a day. Raises `ToolFailed`."""
    text = text.strip()
    try:
        if len(text) <= len("2026-11-24"):
            return _ordinary(date.fromisoformat(text))
        at = datetime.fromisoformat(text)
        return _ordinary((at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC))
    except (ValueError, OverflowError) as error:
        raise ToolFailed(f"{text!r} is no time; write it as 2026-11-24T15:00 or 2026-11-24") from error


def _ordinary(day: date) -> date:
    if not 1900 < day.year < 3000:
        raise ValueError("a year of which no zone knows")
    return day


def _after(last: date) -> date:
    """Return where a stretch ends: a day is in it as a whole."""
    return last if isinstance(last, datetime) else last + timedelta(days=1)
