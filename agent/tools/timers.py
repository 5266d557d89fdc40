"""Timers, alarms and what comes again as tools: durable events that come at their time, also after an outage."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from msgspec import Struct
from pydantic import Field

from agent.context.block import format_time, parse_time
from agent.errors import ToolFailed
from agent.event import BOX, ROOM, TIMER, Event, in_room_of, new_id, room_of
from agent.mailbox import EventBox
from agent.mailbox.economy import UNASKED
from agent.time.clock_steps import COUNTS
from agent.time.quiet import QuietHours
from agent.time.series import SERIES, ZONE, BadRule, days_left_out, described, first, is_recurring, without_days
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, tool
from memory.json_value import Json

PRIORITY: Final = 20
"""Before what a person says (10): a ring that comes a conversation later is no timer."""

AFTER_PEOPLE: Final = 9
"""Of what comes again and again, or was set unasked: it rings at its moment, and is thought about after who speaks."""

REMINDS: Final = "reminds"
"""Key of an event's metadata: what counts down reminds of something to do."""

LONGEST_TIMER: Final = 366 * 86_400.0
"""Seconds; beyond a year it is an alarm."""

MOST_DAYS: Final = 92
"""Days on end that are left out at one word."""

LATE_FROM: Final = 1.0
"""Seconds after its moment from which an event counts as late; a running machine is always faster."""

_NEAR_DAYS: Final = {"today": 0, "tomorrow": 1}
"""Days ahead, by what a model may call them."""

_NAMES_ZONE: Final = re.compile(r"(?:Z|UTC|[+-]\d\d:?\d\d)$")
"""How a time ends that is not by the clock at home."""

_UNITS: Final = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))

_ALARM: Final = (
    "Set an alarm or a reminder at a time here: 07:30 (the next one) or 2026-11-22T07:30. `repeat` is empty for once, "
    "else an RRULE such as FREQ=DAILY or FREQ=WEEKLY;BYDAY=MO,WE."
)
"""What a model with little room is told."""

_CANCEL: Final = "Cancel a timer or an alarm, by its id or label; empty is the next one."

Label = Annotated[str, Field(max_length=200, description="What it is for, in a word or two, or empty.")]


def tools(context: ToolContext) -> list[Tool]:
    """Return the tools of timers and alarms."""
    return timer_tools(context.mailbox, context.now, context.zone, context.quiet)


def timer_tools(
    mailbox: EventBox, now: Callable[[], datetime], zone: str = "UTC", quiet: QuietHours | None = None
) -> list[Tool]:
    """Return set_timer, set_alarm, list_timers and cancel_timer for a home in this zone (a name as Europe/Berlin).

    What the agent sets without a person's asking for it does not ring in the `quiet` hours, but at their end; what
    repeats by the hour, or at hours that its rule names, only the first time.

    Raises `zoneinfo.ZoneInfoNotFoundError` for a name that is none.
    """
    timers = Timers(mailbox, now, ZoneInfo(zone), quiet)
    return [
        tool(timers.list_timers, effect="pure"),
        tool(timers.set_timer, is_undoable=True, brief="Set a timer that rings after so many seconds."),
        tool(timers.set_alarm, is_undoable=True, brief=_ALARM),
        tool(timers.cancel_timer, is_undoable=True, brief=_CANCEL),
    ]


class Timers(Struct, frozen=True):
    """The tools' functions over one mailbox; an owner sees and cancels only their own."""

    mailbox: EventBox
    now: Callable[[], datetime]
    zone: ZoneInfo
    quiet: QuietHours | None = None

    async def set_timer(
        self,
        event: Event,
        seconds: Annotated[float, Field(gt=0, le=LONGEST_TIMER, description="From now.")],
        label: Label = "",
        repeat: Annotated[bool, Field(description="Whether it comes every so many seconds, until cancelled.")] = False,
        reminder: Annotated[bool, Field(description="Whether it reminds of something to do.")] = False,
    ) -> Json:
        """Set a timer that comes back to you as an event after so many seconds."""
        due = self.now() + timedelta(seconds=seconds)
        content = f"Timer{_quoted(label)} ({duration(seconds)}) is due."
        rule = f"FREQ=SECONDLY;INTERVAL={seconds:.0f}" * repeat
        told: dict[str, Json] = {"label": label, COUNTS: True, **({REMINDS: True} if reminder else {})}
        return await self._set(event, content, due, rule, told)

    async def set_alarm(
        self,
        event: Event,
        at: Annotated[
            str,
            Field(
                description="07:30 (the next one), 2026-11-22T07:30 (both local time), or with its zone: "
                "2026-11-22T06:30Z, 2026-11-22 06:30:00 UTC."
            ),
        ],
        label: Label = "",
        repeat: Annotated[
            str,
            Field(description="Empty for once, else an RRULE: FREQ=DAILY, FREQ=WEEKLY;BYDAY=MO,WE or any other."),
        ] = "",
    ) -> Json:
        """Set an alarm or a reminder that comes back to you as an event at a time of the clock, once or again."""
        due = moment(at, self.now(), self.zone)
        if due is None:
            raise ToolFailed(f"{at!r} is no time; write it as 07:30, 2026-11-22T07:30, or {format_time(self.now())}")
        if due <= self.now():
            raise ToolFailed(f"{format_time(due)} is past: it is {format_time(self.now())}")
        told = f"{due.astimezone(self.zone):%H:%M}" if repeat else self._local(due)
        by_clock_here: dict[str, Json] = {} if _NAMES_ZONE.search(at.strip()) else {ZONE: self.zone.key}
        content = f"Alarm{_quoted(label)} ({told}) is due."
        return await self._set(event, content, due, repeat, {"label": label, **by_clock_here})

    async def list_timers(self, event: Event) -> Json:
        """List the timers and alarms that are set, the next one first."""
        timers = await self.mailbox.waiting(TIMER, event.owner_key)
        return [self._shown(timer) | _elsewhere(timer, event) for timer in timers] or "no timer is set"

    async def cancel_timer(
        self,
        event: Event,
        which: Annotated[str, Field(description="Its id or its label; empty for the next one.")] = "",
        day: Annotated[
            str,
            Field(
                description="Of what repeats, the one day to leave out: today, tomorrow or 2026-11-27, or days on end: "
                "2026-11-23/2026-11-27."
            ),
        ] = "",
    ) -> Json:
        """Cancel a timer or an alarm before it rings; one that repeats for good, or for some days."""
        timers = await self.mailbox.waiting(TIMER, event.owner_key)
        timer = chosen(timers, which)
        if timer is None:
            labels = ", ".join(label_of(other) or "(no label)" for other in timers)
            raise ToolFailed(f"there is no timer {which!r}; set are: {labels}" if timers else "no timer is set")
        if day and is_recurring(timer):
            return await self._leave_out(timer, self._days(day))
        if not await self.mailbox.withdraw(timer.id, "cancelled by a tool"):
            raise ToolFailed("it rings already")
        return {"cancelled": self._shown(timer), "still_set": len(timers) - 1}

    def _days(self, told: str) -> tuple[date, date]:
        """Return the first and the last of the days that are named, which may be one."""
        begins, _, ends = told.partition("/")
        first, last = self._day(begins), self._day(ends or begins)
        if not 0 <= (last - first).days < MOST_DAYS:
            raise ToolFailed(f"{told!r} are no days on end, at most {MOST_DAYS}; write them as 2026-11-23/2026-11-27")
        return first, last

    def _day(self, told: str) -> date:
        """Return the day of a date, or the one that is called so."""
        today = self.now().astimezone(self.zone).date()
        if told in _NEAR_DAYS:
            return today + timedelta(days=_NEAR_DAYS[told])
        try:
            return date.fromisoformat(told)
        except ValueError:
            raise ToolFailed(f"{told!r} is no day; write it as 2026-11-27") from None

    async def _leave_out(self, timer: Event, days: tuple[date, date]) -> Json:
        """File what comes in place of a timer that leaves out days, and then withdraw it: a crash loses nothing."""
        try:
            coming = without_days(timer, days, self.now(), new_id())
        except LookupError as error:
            due = timer.not_before
            raise ToolFailed(f"{error}; the next time is {self._local(due) if due else 'not known'}") from error
        if coming is not None:
            await self.mailbox.enqueue(coming)
        if not await self.mailbox.withdraw(timer.id, "left out for some days"):
            raise ToolFailed("it rings already")
        return {"left_out": self._shown(timer), "next": self._shown(coming) if coming else "none"}

    async def _set(self, event: Event, content: str, due: datetime, rule: str, told: dict[str, Json]) -> Json:
        """File what rings, once where the `rule` is ""; `told` is what its metadata says besides."""
        series_id = new_id()
        if self.quiet is not None and not event.is_from_person:
            due = self.quiet.until(due) or due
        metadata = in_room_of(event) | ({} if event.is_from_person else {UNASKED: True}) | told
        if rule:
            due, series = self._begun(rule, due, series_id)
            metadata |= series
        timer = Event(
            type=TIMER,
            content=content,
            id=series_id,
            owner_key=event.owner_key,
            session_id=event.session_id,
            parent_id=event.id,
            source="timer",
            priority=PRIORITY if event.is_from_person and not rule else AFTER_PEOPLE,
            not_before=due,
            metadata={"set_at": format_time(self.now()), "due": format_time(due)} | metadata,
            created_at=self.now(),
        )
        await self.mailbox.enqueue(timer)
        return self._shown(timer)

    def _begun(self, rule: str, wanted: datetime, series_id: str) -> tuple[datetime, dict[str, Json]]:
        """Return the first occurrence, which is not before the moment wanted, and what describes the series."""
        wanted = whole_second(wanted)
        start = wanted.astimezone(self.zone).replace(tzinfo=None)
        try:
            due = first(rule, start, self.zone, wanted - timedelta(microseconds=1))
        except BadRule as error:
            raise ToolFailed(str(error)) from error
        if due is None:
            raise ToolFailed(f"{rule!r} has no occurrence after {self._local(wanted)}")
        return due, {SERIES: described(rule, start, self.zone.key, series_id)}

    def _shown(self, timer: Event) -> dict[str, Json]:
        due = timer.not_before or self.now()
        left = max(0.0, (due - self.now()).total_seconds())
        shown: dict[str, Json] = {"id": timer.id, "label": label_of(timer), "due": self._local(due)}
        counts = "reminder" if timer.metadata.get(REMINDS) else "timer"
        shown["kind"] = counts if timer.content.startswith("Timer") else "alarm"
        series = timer.metadata.get(SERIES)
        repeats: dict[str, Json] = {"repeats": series["rule"]} if isinstance(series, dict) else {}
        days: dict[str, Json] = {"left_out": left_out} if (left_out := days_left_out(timer)) else {}
        return shown | {"left": duration(left)} | repeats | days

    def _local(self, at: datetime) -> str:
        return f"{at.astimezone(self.zone):%Y-%m-%d %H:%M:%S %Z}"


def _elsewhere(timer: Event, event: Event) -> dict[str, Json]:
    """Return the room that a timer rings in, where that is another one than this event's."""
    return {ROOM: room_of(timer) or BOX} if room_of(timer) != room_of(event) else {}


def late_seconds(event: Event, now: datetime) -> float:
    """Return how long after its `not_before` an event is delivered, in seconds; 0.0 when that is less than one."""
    if event.not_before is None:
        return 0.0
    late = (now - event.not_before).total_seconds()
    return late if late >= LATE_FROM else 0.0


def moment(text: str, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the moment (aware, UTC) that an ISO time names, None when it is none.

    A time of day is its next coming; what names no zone is meant in `zone`. A time that a change of the clocks skips
    is the one as long after the change as it would have been; of one that comes twice the first is meant.
    """
    text = text.strip().removesuffix(" UTC") + ("+00:00" if text.strip().endswith(" UTC") else "")
    try:
        of_day = time.fromisoformat(text)
    except ValueError:
        return parse_time(text, zone)
    of_day = of_day if of_day.tzinfo else of_day.replace(tzinfo=zone)
    today = now.astimezone(of_day.tzinfo).date()
    days = (datetime.combine(today + timedelta(days=ahead), of_day).astimezone(UTC) for ahead in (0, 1))
    return next((day for day in days if day > now), None)


def whole_second(moment: datetime) -> datetime:
    """Return a moment, or the next full second after it: a rule knows no parts of one."""
    return moment + timedelta(microseconds=-moment.microsecond % 1_000_000)


def duration(seconds: float) -> str:
    """Return a length of time as a person says it: `1 hour 30 minutes`; whole seconds."""
    left, words = round(seconds), []
    for unit, length in _UNITS:
        count, left = divmod(left, length)
        if count:
            words.append(f"{count} {unit}" if count == 1 else f"{count} {unit}s")
    return " ".join(words) or "0 seconds"


def chosen(timers: Sequence[Event], which: str) -> Event | None:
    """Return the timer meant: by id, else by label, else by a part of it; the first of several, or of all for "".

    A part begins where a word or a number does: neither tea of steak, nor 5 minutes of 15 minutes.
    """
    wanted = which.strip().casefold()
    part = re.compile(rf"(?<![a-z0-9]){re.escape(wanted)}")
    tests: tuple[Callable[[Event], bool], ...] = (
        lambda timer: timer.id == wanted,
        lambda timer: label_of(timer).casefold() == wanted,
        lambda timer: part.search(label_of(timer).casefold()) is not None,
    )
    if not wanted:
        return timers[0] if timers else None
    return next((timer for test in tests for timer in timers if test(timer)), None)


def label_of(timer: Event) -> str:
    """Return what a timer was set for, "" when nothing was said."""
    return str(timer.metadata.get("label", ""))


def _quoted(label: str) -> str:
    return f" '{label}'" if label else ""
