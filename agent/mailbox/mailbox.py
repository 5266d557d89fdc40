"""The mailbox: a durable queue of events, by priority then arrival, with one event in hand at a time."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Concatenate, Final, ParamSpec, TypeAlias, TypeVar

import structlog

from agent.event import ASR_TRANSCRIPT, Event, require_event, utc_now, utc_text
from agent.mailbox import children as offspring
from agent.mailbox import economy, queue, table
from agent.mailbox.damage import give_up_unreadable, in_spite_of_damage
from agent.mailbox.economy import Allowance
from agent.mailbox.mail import Lease, MailboxRecord, Wake
from agent.time.clock_steps import ClockSteps, Wait, after_step, waiting_by
from agent.time.series import is_successor, successor
from memory.json_value import Json
from memory.state import images
from memory.state.database import Database, Writer

T = TypeVar("T")
P = ParamSpec("P")

log = structlog.get_logger()

SCHEMA: Final = table.SCHEMA + offspring.SCHEMA + economy.SCHEMA + images.SCHEMA
"""For `Database.open`."""

Figures: TypeAlias = Mapping[str, Json] | Callable[[sqlite3.Connection], Mapping[str, Json]]
"""What an event took, or what finds it in the transaction that archives it."""

ArrivalObserver: TypeAlias = Callable[[Event], None]
"""Called on the event loop with a new event that is filed; has to return at once."""

ChangeObserver: TypeAlias = Callable[[], None]
"""Called on the event loop after a change; has to return at once."""

MOST_LISTED: Final = 20
"""Waiting events that are listed at a time, where nothing else is asked."""


def _looks_up(
    look: Callable[Concatenate[sqlite3.Connection, P], T],
) -> Callable[Concatenate["Mailbox", P], Coroutine[None, None, T]]:
    """Return the method of a mailbox that does what a function of its file does, and changes nothing."""

    async def looked_up(mailbox: "Mailbox", /, *args: P.args, **named: P.kwargs) -> T:
        return await mailbox.read(lambda connection: look(connection, *args, **named))

    return looked_up


class Mailbox:
    """A durable queue of events, from any producer on the event loop to one consumer.

    Order: priority, highest first; then what was in hand when the process died; then arrival. Events of negative
    priority and those suspended for quiet come only when nothing else is due.

    Loss: none; what a method did outlives a kill and a cut of the power when it returns. `take`, `charge` and
    `complete` outlive a cut of the power only from the next commit on that waits for the disk: until then nothing has
    acted on what they did. One event in hand is a constraint of the database. Blocking: only `take` waits for mail.

    With `in_transaction`, a step is committed together with what that writer writes: the journal's entries of it.

    Every method raises `StateUnusable` when the disk is full or the file damaged.
    """

    in_hand = _looks_up(table.held)
    find = _looks_up(table.find)
    listed = _looks_up(table.listed)
    waiting = _looks_up(table.waiting)
    waits_for = _looks_up(table.waits_for)
    completed_since = _looks_up(table.completed_since)
    timers_of = _looks_up(table.timers_of)
    with_attachments = _looks_up(table.with_attachments)
    counts = _looks_up(table.counts)
    children = _looks_up(offspring.children)
    is_person_waiting = _looks_up(queue.is_person_waiting)

    def __init__(
        self,
        database: Database,
        now: Callable[[], datetime] = utc_now,
        wait: Wait | None = None,
        allowance: Allowance | None = None,
        clock_steps: ClockSteps | None = None,
    ) -> None:
        """Open the mailbox of a database; `allowance` is what the agent's own work may take, None is the usual one.

        `clock_steps` notices that the clock was set; None is a clock that nobody sets.
        """
        self._allowance = allowance or Allowance()
        self._database = database
        self.now = now
        """Returns the time by the mailbox's clock, aware."""
        self._wait = wait or waiting_by(now)
        self._arrival_observers: list[ArrivalObserver] = []
        self._change_observers: list[tuple[ChangeObserver, str]] = []
        self._changed = asyncio.Event()
        self._idle = asyncio.Event()
        self._changes = 0
        self._clock_steps = clock_steps
        self._following = asyncio.Lock()

    def observe_arrivals(self, observer: ArrivalObserver) -> None:
        """Call an observer with each new event from now on, once it is filed."""
        self._arrival_observers.append(observer)

    def observe_changes(self, observer: ChangeObserver, *, of: str = "") -> None:
        """Call an observer after each change from now on that may concern events `of` a type; not after a delivery."""
        self._change_observers.append((observer, of))

    async def enqueue(self, event: Event) -> bool:
        """File an event; False when its id is known already, whatever became of that one.

        What it goes on with (`metadata["continues"]`) is withdrawn as superseded if nobody has taken it in hand yet.
        Raises ValueError for a naive time, TypeError for what is no Event or has metadata JSON cannot hold,
        `TooManyEvents` for one event of its own making too many.

        What was heard may be taken in hand, and answered, while the disk writes it yet, or fails to and this raises.
        """
        require_event(event)
        is_heard = event.type == ASR_TRANSCRIPT  # whoever spoke is told nothing before the answer
        with self.filing(event.type):
            added = await self._database.write(lambda c: self._put(c, event), durable=not is_heard)
        if added:
            for arrived in self._arrival_observers:
                arrived(event)
        if is_heard:
            await self._database.flush()
        return added

    async def take(self) -> Lease:
        """Return the event in hand; without one, wait until an event is due and take it in hand.

        Its delivery wakes its owner's events suspended for its type, and a person's also those suspended for `PERSON`.
        With an event of a series its successor is filed (agent/time/series.py), in the same transaction.
        """
        while True:
            self._changed.clear()
            await self.follow_clock()
            taken, due = await self._database.write(lambda c: (self._claim(c), table.next_due(c)), durable=False)
            if taken is not None:
                return taken
            if not self._changed.is_set() and not self._changes:
                self._idle.set()
            await self._wait(self._changed, due)
            self._idle.clear()

    async def follow_clock(self) -> None:
        """Move timers where the clock was set since the last look; before anybody looks which of them are due."""
        async with self._following:
            if self._clock_steps is None or (step := self._clock_steps.noticed()) is None:
                return
            now = self.now()
            with self.filing():
                await self._database.write(lambda c: queue.move_timers(c, lambda timer: after_step(timer, step, now)))
            self._clock_steps.followed(step, now)
        log.warning("clock_set", seconds=round((now - step.until).total_seconds()))

    async def until_idle(self) -> None:
        """Return when the consumer waits in `take`, nothing is due, and nothing is just being filed."""
        await self._idle.wait()

    async def charge(
        self,
        event_id: str,
        *,
        tool_calls: int = 0,
        model_calls: int = 0,
        usd: float = 0.0,
        tokens: int = 0,
        in_transaction: Writer | None = None,
    ) -> bool:
        """Add to the counters of the event in hand, and to the day's of the agent's own work; False: not in hand."""

        def count(connection: sqlite3.Connection) -> bool:
            if model_calls or usd or tokens:
                economy.spend(connection, event_id, self._allowance.day(self.now()), model_calls, usd, tokens)
            return table.charge(connection, event_id, tool_calls, model_calls)

        return await self._write(count, in_transaction, durable=False)

    async def complete(
        self, event_id: str, summary: str, figures: Figures, *, in_transaction: Writer | None = None
    ) -> bool:
        """Archive the event in hand with its summary and figures (seconds, tokens, calls …).

        False, and nothing changes, when it is not in hand, such as the second time.
        """

        def archive(connection: sqlite3.Connection, now: datetime) -> bool:
            found = figures(connection) if callable(figures) else figures
            return table.complete(connection, event_id, summary, found, now)

        return await self._close(event_id, archive, in_transaction, durable=False)

    async def suspend(
        self,
        event_id: str,
        note: str,
        wake: Wake,
        *,
        fresh_grant: bool = False,
        reason: str = "",
        in_transaction: Writer | None = None,
    ) -> bool:
        """Put the event in hand back with a note until its wake; False when it is not in hand.

        It stays away a second at least, for quiet a minute (mail.py), so that it never spins. `fresh_grant` sets its
        counted tool calls and model calls to 0, adds one to `Lease.grants`, and lets it come after who speaks.
        `reason` says why, for people.
        """

        def put_back(connection: sqlite3.Connection, now: datetime) -> bool:
            if suspended := table.suspend(connection, event_id, note, wake, now, fresh_grant=fresh_grant):
                table.explain(connection, event_id, reason)
            offspring.wake_childless(connection, event_id, now)
            return suspended

        return await self._step(put_back, in_transaction)

    async def fail(self, event_id: str, reason: str, *, in_transaction: Writer | None = None) -> bool:
        """Move the event in hand to the dead letter, with the reason in words; False when it is not in hand."""
        return await self._close(event_id, lambda c, now: table.fail(c, event_id, reason, now), in_transaction)

    async def withdraw(self, event_id: str, reason: str) -> bool:
        """Close an event that nobody has in hand without handling it (a cancelled timer); False when it is not open."""
        return await self._close(event_id, lambda c, now: table.withdraw(c, event_id, reason, now))

    async def retry(self, event_id: str) -> bool:
        """Take an event out of the dead letter, as if it were new; False when it is not there."""
        return await self._step(lambda c, now: table.retry(c, event_id))

    async def supersede(self, event_id: str, other: str, *, in_transaction: Writer | None = None) -> bool:
        """Close the event in hand because the other one goes on with its words; False when it is not in hand."""
        return await self._step(lambda c, now: table.supersede(c, event_id, other, now), in_transaction)

    async def erase(self, event_id: str) -> bool:
        """Take the words out of an event for good; that it was, and what became of it, stays. False when unknown."""
        return await self._step(lambda c, now: table.erase(c, event_id))

    async def remove_owner(self, owner_key: str, *, in_hand: bool = False) -> int:
        """Take every event of an owner out of the file, whatever its state; return how many.

        The one in hand stays, if it is theirs, without `in_hand`: whoever handles it has to let go of it first.
        """
        return await self._step(lambda c, now: table.remove_owner(c, owner_key, in_hand=in_hand))

    async def wake(self, name: str, *, most: int | None = None) -> int:
        """Make the events due that were suspended for this name; return how many.

        With `most` only so many: those that would come back by time first.
        """
        with self.filing():
            return await self._database.write(lambda c: table.release(c, name, most=most))

    async def recover(self) -> list[Lease]:
        """At start, before the first `take`: give back what was in hand when the process died.

        It goes before its peers with one attempt more, or, if the process died with it `MAX_ATTEMPTS` times, into the
        dead letter (`is_given_up`: its person is still to be told). Returns what was found in hand: one event or none.
        What the disk has made unreadable goes to the dead letter too.
        """

        def give_back(connection: sqlite3.Connection, now: datetime) -> list[Lease]:
            give_up_unreadable(connection, now)
            found = table.recover(connection, now)
            for lease in found:
                offspring.wake_parent(connection, lease.event.id)
            return found

        return await self._step(give_back)

    async def give_back(self) -> bool:
        """At an orderly stop, after the last `take`: suspend what is in hand; False when nothing is.

        It goes before its peers at the next start, where it broke off, and with no attempt more: nothing died of it.
        """
        return await self._step(lambda c, now: table.give_back(c))

    async def coming(self, owner_key: str, limit: int = MOST_LISTED) -> list[MailboxRecord]:
        """Return an owner's events that wait: those that are due in the order of delivery, then by their time."""
        return await self._database.read(lambda c: queue.coming(c, owner_key, self.now(), limit))

    async def move(
        self, event_id: str, owner_key: str, *, priority: int | None = None, not_before: datetime | None = None
    ) -> bool:
        """Give a waiting event of an owner another place, by priority, time or both; False when there is none such."""
        return await self._step(lambda c, now: queue.move(c, event_id, owner_key, priority, not_before))

    async def economy(self, owner_key: str) -> dict[str, Json]:
        """Return what an owner's share of the agent's own work has taken, beside what it may."""
        return await self._database.read(lambda c: economy.described(c, owner_key, self._allowance, self.now()))

    def _put(self, connection: sqlite3.Connection, event: Event) -> bool:
        now = self.now()
        offspring.check_quota(connection, event)
        lineage, is_new = economy.lineage_of(connection, event), not is_successor(event)
        if lineage is not None and lineage.depth and is_new:
            economy.check(connection, event, lineage, self._allowance, now)
        added = table.put(connection, event, now)
        if added and lineage is not None:
            economy.register(connection, event, lineage, utc_text(now) if is_new else "")
        return added

    def _claim(self, connection: sqlite3.Connection) -> Lease | None:
        now = self.now()
        economy.put_off(connection, self._allowance, now)
        before, taken = in_spite_of_damage(
            connection, now, lambda: (table.held(connection), table.claim(connection, now))
        )
        if taken is None:
            return None
        if before is None and (again := successor(taken.event, now)):
            table.put(connection, again, now)
            economy.inherit(connection, taken.event.id, again)
        return economy.handed_over(connection, taken, self._allowance, now)

    async def _close(
        self,
        event_id: str,
        close: Callable[[sqlite3.Connection, datetime], bool],
        in_transaction: Writer | None = None,
        *,
        durable: bool = True,
    ) -> bool:
        """Close an event, and wake its parent if that waits for this."""

        def change(connection: sqlite3.Connection, now: datetime) -> bool:
            closed = close(connection, now)
            offspring.wake_parent(connection, event_id)
            return closed

        return await self._step(change, in_transaction, durable=durable)

    async def _step(
        self,
        change: Callable[[sqlite3.Connection, datetime], T],
        in_transaction: Writer | None = None,
        *,
        durable: bool = True,
    ) -> T:
        with self.filing():
            return await self._write(lambda c: change(c, self.now()), in_transaction, durable=durable)

    async def read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a function finds in the file of the mailbox."""
        return await self._database.read(look)

    async def _write(
        self, change: Callable[[sqlite3.Connection], T], in_transaction: Writer | None, *, durable: bool = True
    ) -> T:
        if in_transaction is None:
            return await self._database.write(change, durable=durable)
        returned: list[T] = []
        await in_transaction(lambda connection: returned.append(change(connection)))
        return returned[0]

    @contextmanager
    def filing(self, event_type: str = "") -> Iterator[None]:
        """Keep `until_idle` waiting while something is filed, or somebody finds out whether there is anything to file.

        Then `take` looks again, for a change that may be of any type; if cancelled too: its commit may have happened.
        """
        self._changes += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._changes -= 1
            self._changed.set()
            for changed, of in self._change_observers:
                if not of or event_type in {"", of}:
                    changed()
