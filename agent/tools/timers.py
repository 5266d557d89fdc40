"""Timers and alarms as tools: each is a durable event that comes at its time, also after the machine was off."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from pydantic import Field

from agent.context.block import format_time
from agent.errors import ToolFailed
from agent.event import TIMER, Event
from agent.mailbox import Mailbox
from agent.model.messages import Json
from agent.tools.tool import Tool, tool

PRIORITY: Final = 20
"""Before what a person says (10): a ring that comes a conversation later is no timer."""

LONGEST_TIMER: Final = 366 * 86_400.0
"""Seconds; beyond a year it is an alarm."""

LATE_FROM: Final = 1.0
"""Seconds after its moment from which an event counts as late; a running machine is always faster."""

_UNITS: Final = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))

Label = Annotated[str, Field(max_length=200, description="What it is for, in a word or two, or empty.")]


def timer_tools(mailbox: Mailbox, now: Callable[[], datetime], zone: str = "UTC") -> list[Tool]:
    """Return set_timer, set_alarm, list_timers and cancel_timer for a home in this zone (a name as Europe/Berlin).

    Raises `zoneinfo.ZoneInfoNotFoundError` for a name that is none.
    """
    timers = Timers(mailbox, now, ZoneInfo(zone))
    changing = (timers.set_timer, timers.set_alarm, timers.cancel_timer)
    return [tool(timers.list_timers, effect="pure"), *(tool(function) for function in changing)]


@dataclass(frozen=True, slots=True)
class Timers:
    """The tools' functions over one mailbox; an owner sees and cancels only their own."""

    mailbox: Mailbox
    now: Callable[[], datetime]
    zone: ZoneInfo

    async def set_timer(
        self,
        event: Event,
        seconds: Annotated[float, Field(gt=0, le=LONGEST_TIMER, description="From now.")],
        label: Label = "",
    ) -> Json:
        """Set a timer that comes back to you as an event after so many seconds."""
        set_at = self.now()
        content = f"Timer{_quoted(label)} ({duration(seconds)}) is due."
        return await self._set(event, content, label, set_at + timedelta(seconds=seconds))

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
    ) -> Json:
        """Set an alarm or a reminder that comes back to you as an event at a time of the clock."""
        due = moment(at, self.now(), self.zone)
        if due is None:
            raise ToolFailed(f"{at!r} is no time; write it as 07:30, 2026-11-22T07:30, or {format_time(self.now())}")
        if due <= self.now():
            raise ToolFailed(f"{format_time(due)} is past: it is {format_time(self.now())}")
        return await self._set(event, f"Alarm{_quoted(label)} ({self._local(due)}) is due.", label, due)

    async def list_timers(self, event: Event) -> Json:
        """List the timers and alarms that are set, the next one first."""
        timers = await self.mailbox.waiting(TIMER, event.owner_key)
        return [self._shown(timer) for timer in timers] or "no timer is set"

    async def cancel_timer(
        self,
        event: Event,
        which: Annotated[str, Field(description="Its id or its label; empty for the next one.")] = "",
    ) -> Json:
        """Cancel a timer or an alarm before it rings."""
        timers = await self.mailbox.waiting(TIMER, event.owner_key)
        timer = chosen(timers, which)
        if timer is None:
            labels = ", ".join(label_of(other) or "(no label)" for other in timers)
            raise ToolFailed(f"there is no timer {which!r}; set are: {labels}" if timers else "no timer is set")
        if not await self.mailbox.withdraw(timer.id, "cancelled by a tool"):
            raise ToolFailed("it rings already")
        return {"cancelled": self._shown(timer), "still_set": len(timers) - 1}

    async def _set(self, event: Event, content: str, label: str, due: datetime) -> Json:
        timer = Event(
            type=TIMER,
            content=content,
            owner_key=event.owner_key,
            session_id=event.session_id,
            parent_id=event.id,
            source="timer",
            priority=PRIORITY,
            not_before=due,
            metadata={"label": label, "set_at": format_time(self.now()), "due": format_time(due)},
            created_at=self.now(),
        )
        await self.mailbox.enqueue(timer)
        return self._shown(timer)

    def _shown(self, timer: Event) -> Json:
        due = timer.not_before or self.now()
        left = max(0.0, (due - self.now()).total_seconds())
        return {"id": timer.id, "label": label_of(timer), "due": self._local(due), "left": duration(left)}

    def _local(self, at: datetime) -> str:
        return f"{at.astimezone(self.zone):%Y-%m-%d %H:%M:%S %Z}"


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
        return _dated(text, zone)
    of_day = of_day if of_day.tzinfo else of_day.replace(tzinfo=zone)
    today = now.astimezone(of_day.tzinfo).date()
    days = (datetime.combine(today + timedelta(days=ahead), of_day).astimezone(UTC) for ahead in (0, 1))
    return next((day for day in days if day > now), None)


def _dated(text: str, zone: ZoneInfo) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)


def duration(seconds: float) -> str:
    """Return a length of time as a person says it: `1 hour 30 minutes`; whole seconds."""
    left, words = round(seconds), []
    for unit, length in _UNITS:
        count, left = divmod(left, length)
        if count:
            words.append(f"{count} {unit}" if count == 1 else f"{count} {unit}s")
    return " ".join(words) or "0 seconds"


def chosen(timers: Sequence[Event], which: str) -> Event | None:
    """Return the timer meant: by id, else by label, else by a part of it; the first of several, or of all for ""."""
    wanted = which.strip().casefold()
    tests: tuple[Callable[[Event], bool], ...] = (
        lambda timer: timer.id == wanted,
        lambda timer: label_of(timer).casefold() == wanted,
        lambda timer: wanted in label_of(timer).casefold(),
    )
    if not wanted:
        return timers[0] if timers else None
    return next((timer for test in tests for timer in timers if test(timer)), None)


def label_of(timer: Event) -> str:
    """Return what a timer was set for, "" when nothing was said."""
    return str(timer.metadata.get("label", ""))


def _quoted(label: str) -> str:
    return f" '{label}'" if label else ""
