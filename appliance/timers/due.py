"""Which timer rings next: each is given out once, when it is due, over restarts too, whatever the mind does with it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent.event import HOUSEHOLD, TIMER, Event, new_id, utc_now, utc_text
from agent.mailbox import Wait, waiting_by
from agent.mailbox.economy import UNASKED
from agent.record import step
from agent.time.clock_steps import COUNTS
from agent.time.series import SERIES, missed, series_id, successor, without_today
from agent.tools.timers import label_of, late_seconds
from appliance.wiring.memory.state import State
from memory.errors import DiskSilent, MemoryFailure, Superseded
from memory.json_value import Json

log = structlog.get_logger()

RANG: Final = "timer.rang"
"""Topic of the journal's entry that is committed before the first ring."""
STOPPED: Final = "timer.stopped"
"""Topic of the entry with the words that made it silent."""
ENDED: Final = "timer.ended"
"""Topic of the entry that it rang for so long that nobody seems to be there."""

DIED_WITHIN: Final = 600.0
"""Seconds before the start in which the process may have ended between what the mind did with a timer and its ring.

What began to ring so long ago, and was neither stopped nor rang to its end, is what a restart or a cut of the power
broke off: it rings again.
"""

RETRY_SECONDS: Final = 5.0
"""Between tries while the state database cannot be used."""

PATIENCE: Final = 2.0
"""Seconds that a ring waits, all in all, for a state database that does not answer; then it rings by what is known."""


class DueTimer(Struct, frozen=True):
    """A timer that is to ring now."""

    event: Event
    late_seconds: float
    """After its moment, because the machine was off; 0.0 when that is less than one."""
    missed: int = 0
    """Later ones of its series that were due meanwhile, and do not ring."""


class DueTimers:
    """Watches the timers in the mailbox, and takes none out of it: the mind gets each of them as well.

    That a timer rings is in the journal before `next` returns it: once, and after a restart again where that broke its
    ring off. A timer that the mind has already taken by then rings all the same, after a death in between too; a
    cancelled one does not. While the disk is gone, those known before still ring, and are journaled once it is back.
    """

    def __init__(
        self,
        state: State,
        now: Callable[[], datetime] = utc_now,
        wait: Wait | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self._state = state
        self._patience = patience
        self._until = 0.0
        """When what is due waits no longer for the state database, in seconds of the event loop's clock."""
        self._unnoted: list[Event] = []
        """What the journal did not take yet of rings that began."""
        self._now = now
        self._wait = wait or waiting_by(now)
        self._known: dict[str, Event] = {}
        """Timers that are set, by id; what the mind takes in hand at its moment is still here."""
        self._given: set[str] = set()
        """Ids of those that rang and are in the mailbox still; for a disk that keeps no entry."""
        self._has_begun = False
        """Whether was looked for what a death left without its ring."""
        self.nothing_due = asyncio.Event()
        """Set while `next` waits for a timer's moment."""
        self._changed = asyncio.Event()
        state.mailbox.observe_changes(self._changed.set, of=TIMER)

    async def next(self) -> list[DueTimer]:
        """Return the next timers when they are due, at once those that became due while the machine was off."""
        while True:
            self._changed.clear()
            again = None
            try:
                await self._state.mailbox.follow_clock()
                self._until = asyncio.get_running_loop().time() + self._patience
                async with self._promptly():
                    await self._learn()
                    await self._note()
            except MemoryFailure as error:
                log.warning("timers_unreadable", reason=str(error))
                again = self._now() + timedelta(seconds=RETRY_SECONDS)
            if due := await self._due():
                return due
            self.nothing_due.set()
            moments = [*map(_moment, self._known.values()), *([again] if again else [])]
            await self._wait(self._changed, min(moments, default=None))
            self.nothing_due.clear()

    @asynccontextmanager
    async def _promptly(self) -> AsyncIterator[None]:
        """Leave what waits for the state database until it is too late for a ring. Raises `DiskSilent`."""
        try:
            async with asyncio.timeout_at(self._until):
                yield
        except TimeoutError:
            raise DiskSilent(f"the state database did not answer within {self._patience:g} s") from None

    async def _note(self) -> None:
        """Journal the rings that it did not take at their time; one that it took after all is known by its id."""
        if self._unnoted:
            await self._state.bus.publish(*self._unnoted)
            self._unnoted = []

    async def note_stop(self, timers: list[Event], words: str) -> None:
        """Journal that these were silenced by somebody's words, which go no further."""
        try:
            await self._state.bus.publish(*(step(STOPPED, timer, "", _told(timer), words) for timer in timers))
        except MemoryFailure as error:
            log.warning("stop_not_journaled", reason=str(error))

    async def over(self, timer: Event) -> None:
        """Journal that a timer rings no more, though nobody stopped it."""
        ended = step(ENDED, timer, "", _told(timer))
        try:
            await self._state.bus.publish(ended, durable=False)
        except MemoryFailure as error:
            log.warning("end_of_ring_not_journaled", reason=str(error))
            self._state.bus.show(ended)

    async def snooze(self, timers: list[Event], minutes: float) -> None:
        """Set the timers anew, so many minutes from now; each is its old one's child."""
        due = self._now() + timedelta(minutes=minutes)
        for timer in timers:
            once = {key: value for key, value in timer.metadata.items() if key not in {SERIES, UNASKED}} | {
                COUNTS: True
            }
            again = replace(
                timer, id=new_id(), parent_id=timer.id, not_before=due, metadata=once, created_at=self._now()
            )
            try:
                await self._state.mailbox.enqueue(again)
            except MemoryFailure as error:
                log.warning("timer_not_snoozed", event_id=timer.id, reason=str(error))
            else:
                log.info("timer_snoozed", event_id=again.id, minutes=minutes)

    async def leave_out_today(self, timers: list[Event]) -> None:
        """Of the series these are of, leave out what is left of today; they go on tomorrow."""
        series = {id_ for timer in timers if (id_ := series_id(timer))}
        try:
            for event in await self._state.mailbox.waiting(TIMER, HOUSEHOLD):
                if event in timers or series_id(event) not in series:
                    continue
                if (again := without_today(event, self._now())) is not None:
                    await self._state.mailbox.enqueue(again)
                    await self._state.mailbox.withdraw(event.id, "left out for today")
        except MemoryFailure as error:
            log.warning("not_left_out_today", reason=str(error))

    async def _learn(self) -> None:
        found = await self._state.mailbox.waiting(TIMER, HOUSEHOLD)
        # A very short timer, or one at a crash, may be in hand before it is seen here.
        hand = await self._state.mailbox.in_hand()
        if hand is not None and (hand.event.type, hand.event.owner_key) == (TIMER, HOUSEHOLD):
            found.append(hand.event)
        if not self._has_begun:
            died = self._now() - timedelta(seconds=DIED_WITHIN)
            found += await self._state.mailbox.completed_since(TIMER, HOUSEHOLD, died)
            self._has_begun = True
        self._given &= {event.id for event in found}
        self._known |= {event.id: event for event in found if event.id not in self._given}

    async def _due(self) -> list[DueTimer]:
        now = self._now()
        due = [event for event in sorted(self._known.values(), key=_moment) if _moment(event) <= now]
        await self._go_on(due, now)
        rings = [
            DueTimer(event, late_seconds(event, now), missed(event, now))
            for event in due
            if await self._may_ring(event)
        ]
        for event in due:
            del self._known[event.id]
            self._given.add(event.id)
        if rings and not await self._commit(rings):
            return []
        return rings

    async def _go_on(self, due: list[Event], now: datetime) -> None:
        """File the next of each series that was not cancelled: the mind may be busy for longer than its pause."""
        for event in due:
            if (again := successor(event, now)) is None:
                continue
            try:
                async with self._promptly():
                    filed = await self._state.mailbox.find(event.id)
                    if filed is not None and filed.state != "withdrawn":
                        await self._state.mailbox.enqueue(again)
            except MemoryFailure as error:  # it rings all the same, and the mind's mailbox files the next one
                log.warning("next_timer_not_set", event_id=event.id, reason=str(error))

    async def _may_ring(self, event: Event) -> bool:
        """Whether it was neither cancelled nor rang to its end before a restart; where nobody can look, it was set."""
        try:
            async with self._promptly():
                filed = await self._state.mailbox.find(event.id)
                if filed is None or filed.state == "withdrawn":
                    return False
                told = await self._state.journal.entries(topic=(RANG, STOPPED, ENDED), event_id=event.id)
            if not told:
                return True
            is_over = any(each.topic != RANG for each in told)
            return not is_over and (self._now() - told[0].at).total_seconds() < DIED_WITHIN
        except MemoryFailure as error:
            log.warning("timer_not_looked_up", event_id=event.id, reason=str(error))
            return True

    async def _commit(self, rings: list[DueTimer]) -> bool:
        """Journal the rings; a full disk, or an engine that is away, silences no alarm, a machine that leads does."""
        late = [round(due.late_seconds, 1) for due in rings]
        entries = [
            replace(step(RANG, due.event, "", {"late_seconds": seconds, **_told(due.event)}), created_at=self._now())
            for due, seconds in zip(rings, late, strict=True)
        ]
        try:
            async with self._promptly():
                await self._state.bus.publish(*entries)
        except Superseded as error:
            log.info("timers_left_to_another", reason=str(error))
            return False
        except MemoryFailure as error:
            log.warning("ring_not_journaled", reason=str(error))
            self._unnoted += entries
        for due, seconds in zip(rings, late, strict=True):
            log.info("timer_rang", event_id=due.event.id, late_seconds=seconds)
        return True


def _told(event: Event) -> dict[str, Json]:
    return {"label": label_of(event), "due": utc_text(_moment(event))}


def _moment(event: Event) -> datetime:
    return event.not_before or event.created_at
