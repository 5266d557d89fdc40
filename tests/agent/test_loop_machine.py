"""Mailbox and loop as a state machine: hypothesis draws events, deaths, full disks and clocks."""

import asyncio
import random
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Literal, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from agent.event import Event
from agent.mailbox import Lease
from memory.errors import StateUnusable
from tests.agent.chaos import ENDED, Chaos, chaos
from tests.in_memory import IN_MEMORY
from tests.loops import together

EXAMPLES: Final = 12

STEPS: Final = 20
"""Of each example: a sample."""

T = TypeVar("T")

How = Literal["undisturbed", "interrupted", "dies"]


class MindMachine(RuleBasedStateMachine):
    """One event is handled at a time, between any steps of the others."""

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._folder = tempfile.TemporaryDirectory(prefix="nakari-machine-", dir=IN_MEMORY)
        opened = self._stack.enter_async_context(chaos(Path(self._folder.name), 0))
        self.all: Chaos = self._runner.run(opened)
        self.all.faulty = False
        self.sent: list[Event] = []

    @rule(seed=st.integers(0, 999))
    def an_event_arrives(self, seed: int) -> None:
        """Anybody sends anything."""
        self.all.chance.seed(seed)
        self.sent.append(self.all.an_event(self.sent[-1] if self.sent else None))
        self._runner.run(self._file(self.sent[-1]))

    @rule(hours=st.sampled_from((-24, -1, 1, 24)))
    def the_clock_is_set(self, hours: int) -> None:
        """Somebody sets the clock."""
        self.all.set_clock(hours)

    @rule(writes=st.integers(1, 15))
    def the_disk_will_be_full(self, writes: int) -> None:
        """A write to come is refused."""
        self.all.refuses_in = writes

    @precondition(lambda self: self.sent)
    @rule(
        seed=st.integers(0, 999),
        how=st.sampled_from(("undisturbed", "undisturbed", "interrupted", "dies")),
        after=st.integers(0, 60),
    )
    def the_next_is_handled(self, seed: int, how: How, after: int) -> None:
        """It takes what is due; perhaps somebody interrupts, or the process dies."""
        self.all.chance.seed(seed)
        self._runner.run(self._handle(how, after))

    @invariant()
    def nothing_is_lost(self) -> None:
        """Whatever was accepted is known, and at most one event is in hand."""
        counts = self._runner.run(self.all.mailbox.counts())
        assert counts["in_hand"] <= 1
        assert sum(counts.values()) >= len(self.sent)
        assert self.all.loop.run_in_hand is None

    def teardown(self) -> None:
        """Everything ends, and with a reason."""
        self.all.refuses_in = 0
        self.all.chance = random.Random(1)
        while self._runner.run(self._handle("undisturbed", 0)):
            pass
        states = self._runner.run(self.all.mailbox.counts())
        wrong = self._runner.run(self.all.complaints())
        self._runner.run(self._stack.aclose())
        self._runner.close()
        self._folder.cleanup()
        assert wrong == []
        assert {state for state, count in states.items() if count} <= ENDED

    async def _file(self, event: Event) -> None:
        await _again(lambda: self.all.mailbox.enqueue(event))  # who was not told that it is accepted sends it again

    async def _handle(self, how: How, after: int) -> bool:
        """Handle what is due; False when nothing ever will be by itself."""
        hand = await self._take()
        if hand is None:
            return False
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            beside = [group.create_task(loop) for loop in (together(self.all.mouth.loops()), self.all.loop.watch())]
            life = group.create_task(self._live(hand))
            for _ in range(after if how != "undisturbed" else 0):
                await asyncio.sleep(0)
            if how == "interrupted":
                self.all.outlet.stop_speaking()
                self.all.loop.interrupt()
            if how == "dies":
                life.cancel()
            await asyncio.wait([life])
            if how == "dies":
                self.all.outlet.stop_speaking()
            await self.all.mouth.quiet()  # one mouth has all lives here: a sentence left by its loops would never end
            for task in beside:
                task.cancel()
        if how == "dies":
            await _again(self.all.mailbox.recover)
        return True

    async def _live(self, hand: Lease) -> None:
        try:
            await self.all.loop.handle(hand)
        except StateUnusable:  # it stays in hand, and is taken next
            await self.all.mouth.quiet()  # it may be telling of the disk, which in a house nobody cuts short

    async def _take(self) -> Lease | None:
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            taking = group.create_task(_again(self.all.mailbox.take))
            while not taking.done() and not self.all.clock.at_rest:  # noqa: ASYNC110  either ends it
                await asyncio.sleep(0)
            taking.cancel()
        return None if taking.cancelled() else taking.result()


async def _again(step: Callable[[], Awaitable[T]]) -> T:
    """Take a step, a second time if the disk refuses the first."""
    try:
        return await step()
    except StateUnusable:
        return await step()


@pytest.mark.shows("B1", "A14", "A24", "B10")
def test_whatever_happens_each_event_ends_with_a_reason() -> None:
    drawn = settings(max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, derandomize=True, database=None)
    run_state_machine_as_test(MindMachine, settings=drawn)
