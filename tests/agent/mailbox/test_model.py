"""The mailbox against a model of a few lines: any sequence of steps, crashes and clock jumps included."""

import os
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Final, Literal, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.event import Event
from agent.mailbox import MAX_ATTEMPTS, PERSON, Lease, Wake
from tests.agent.mailboxes import KINDS, NothingDue, Rig
from tests.in_memory import IN_MEMORY

EXAMPLES: Final = 1000 if os.environ.get("HYPOTHESIS_PROFILE") == "search" else 20
"""Sequences of 40 steps on each kind: a seeded sample here, all of them with HYPOTHESIS_PROFILE=search."""

PAUSES: Final = {"time": 1.0, "event": 1.0, "idle": 60.0}
"""Seconds an event stays away at least, by kind of wake."""


@dataclass
class Expected:
    """An open event as the model sees it."""

    event: Event
    arrival: int
    due: datetime | None
    idle: bool
    waits_for: str = ""
    redelivered: bool = False
    attempt: int = 1
    note: str = ""
    tool_calls: int = 0
    is_suspended: bool = False

    def is_due(self, now: datetime) -> bool:
        return not self.waits_for if self.due is None else self.due <= now

    def rank(self) -> tuple[bool, int, bool, int]:
        return self.idle, -self.event.priority, not self.redelivered, self.arrival


class Comparison:
    """Takes the same steps with the mailbox and with the model, and compares what is delivered."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.open: list[Expected] = []
        self.hand: Expected | None = None
        self.closed = {"completed": 0, "dead": 0, "withdrawn": 0}
        self.dead: list[Expected] = []
        self.arrivals = 0

    async def enqueue(self, kind: str, priority: int, delay: float | None) -> None:
        self.arrivals += 1
        due = None if delay is None else self.rig.clock.after(delay)
        event = Event(kind, id=str(self.arrivals), priority=priority, not_before=due)
        assert await self.rig.mailbox.enqueue(event)
        assert not await self.rig.mailbox.enqueue(event)
        self.open.append(Expected(event, self.arrivals, due, idle=priority < 0))

    async def take(self) -> Expected | None:
        """Take what is due on both sides; return it."""
        due = [waiting for waiting in self.open if waiting.is_due(self.rig.clock())]
        if self.hand is None and due:
            self.hand = min(due, key=Expected.rank)
            self.open.remove(self.hand)
            if not self.hand.is_suspended:
                self._wake(self.hand.event.type)
                if self.hand.event.is_from_person:
                    self._wake(PERSON)
        try:
            self._is_in_hand(await self.rig.take_now())
        except NothingDue:
            assert self.hand is None
        return self.hand

    async def charge(self) -> None:
        if hand := await self.take():
            assert await self.rig.mailbox.charge(hand.event.id, tool_calls=1)
            hand.tool_calls += 1

    async def suspend(self, kind: Literal["time", "event", "idle"], delay: float | None, name: str) -> None:
        if (hand := await self.take()) is None:
            return
        now = self.rig.clock
        hand.note = f"note {self.arrivals}"
        wake = Wake(kind, None if delay is None else now.after(delay), name)
        assert await self.rig.mailbox.suspend(hand.event.id, hand.note, wake)
        hand.due = now.after(PAUSES[kind] if delay is None else max(delay, 1.0))
        if kind == "event" and delay is None:
            hand.due = None
        hand.waits_for, hand.redelivered, hand.is_suspended = name, False, True
        hand.idle = kind == "idle" or hand.event.priority < 0
        self.open.append(hand)
        self.hand = None

    async def close(self, state: str) -> None:
        if (hand := await self.take()) is None:
            return
        mailbox, event_id = self.rig.mailbox, hand.event.id
        ended = mailbox.complete(event_id, "done", {}) if state == "completed" else mailbox.fail(event_id, "no")
        assert await ended
        assert not await mailbox.complete(event_id, "again", {})
        self.closed[state] += 1
        if state == "dead":
            self.dead.append(hand)
        self.hand = None

    async def withdraw(self) -> None:
        if self.open:
            waiting = self.open.pop(len(self.open) // 2)
            assert await self.rig.mailbox.withdraw(waiting.event.id, "cancelled")
            self.closed["withdrawn"] += 1

    async def retry(self) -> None:
        """Take the first out of the dead letter; it keeps its place by arrival, and its note."""
        if not self.dead:
            return
        again = self.dead.pop(0)
        assert await self.rig.mailbox.retry(again.event.id)
        assert not await self.rig.mailbox.retry(again.event.id)
        again.attempt, again.tool_calls, again.due, again.waits_for, again.redelivered = 1, 0, None, "", False
        again.is_suspended = False
        self.closed["dead"] -= 1
        self.open.append(again)

    async def wake(self, name: str) -> None:
        assert await self.rig.mailbox.wake(name) == sum(waiting.waits_for == name for waiting in self.open)
        self._wake(name)

    async def move_the_clock(self, seconds: float) -> None:
        self.rig.clock.advance(seconds)

    async def crash(self) -> None:
        found = await self.rig.restart()
        assert [hand.event.id for hand in found] == ([self.hand.event.id] if self.hand else [])
        if self.hand is None:
            return
        self.hand.attempt += 1
        if self.hand.attempt > MAX_ATTEMPTS:
            self.closed["dead"] += 1
            self.dead.append(self.hand)
        else:
            self.hand.redelivered, self.hand.due, self.hand.waits_for = True, None, ""
            self.hand.is_suspended = False
            self.open.append(self.hand)
        self.hand = None

    async def crash_in_hand(self) -> None:
        await self.take()
        await self.crash()

    async def every_event_is_accounted_for(self) -> None:
        counts = await self.rig.mailbox.counts()
        assert counts["in_hand"] == (self.hand is not None)
        assert counts["pending"] + counts["suspended"] == len(self.open)
        assert {state: counts[state] for state in self.closed} == self.closed
        self._is_in_hand(await self.rig.mailbox.in_hand())

    def _wake(self, name: str) -> None:
        for waiting in self.open:
            if waiting.waits_for == name:
                waiting.waits_for, waiting.due = "", None

    def _is_in_hand(self, taken: Lease | None) -> None:
        if self.hand is None:
            assert taken is None
        else:
            expected = (self.hand.event, self.hand.attempt, self.hand.note, self.hand.tool_calls)
            assert taken is not None
            assert (taken.event, taken.attempt, taken.note, taken.tool_calls) == expected


Step: TypeAlias = Callable[[Comparison], Awaitable[object]]

ARRIVALS: Final[list[Step]] = [
    partial(Comparison.enqueue, kind=kind, priority=priority, delay=delay)
    for kind, priority, delay in product(("user_text", "door_opened"), (0, 0, 1, -1), (None, 30))
]
SUSPENSIONS: Final[list[Step]] = [
    *(partial(Comparison.suspend, kind="time", delay=delay, name="") for delay in (-10, 20)),
    *(partial(Comparison.suspend, kind="idle", delay=delay, name="") for delay in (None, 20)),
    *(
        partial(Comparison.suspend, kind="event", delay=delay, name=name)
        for delay, name in product((None, 20), (PERSON, "door_opened"))
    ),
]
STEPS: Final[list[Step]] = [
    *ARRIVALS,
    *SUSPENSIONS,
    *(partial(Comparison.close, state=state) for state in ("completed", "completed", "dead")),
    *(partial(Comparison.wake, name=name) for name in (PERSON, "door_opened")),
    *(partial(Comparison.move_the_clock, seconds=seconds) for seconds in (5, 30, 60, -60)),
    *(Comparison.take, Comparison.charge, Comparison.crash, Comparison.crash_in_hand, Comparison.withdraw),
    Comparison.retry,
]


@pytest.mark.shows("A4", "A12", "A14", "A18", "A24")
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=EXAMPLES)
@given(st.lists(st.sampled_from(STEPS), min_size=40, max_size=40))
async def test_any_sequence_of_steps_delivers_what_the_model_says(kind: str, steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        async with KINDS[kind](Path(folder)) as rig:
            comparison = Comparison(rig)
            for step in steps:
                await step(comparison)
                await comparison.every_event_is_accounted_for()
