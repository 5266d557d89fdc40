"""A day of idle in virtual time, on the mailbox in a file and the whole loop: nothing is called or looked up."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls
from tests.room.virtual_time import VirtualTimeLoop, passed

T = TypeVar("T")

DAY = 86_400.0


class CountingLoop(VirtualTimeLoop):
    """Counts what could cost something: jobs for the database's thread, and timers."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs = 0
        self.timers = 0

    def run_in_executor(  # type: ignore[override]  # as in VirtualTimeLoop
        self, executor: Executor | None, function: Callable[..., T], *arguments: Any
    ) -> asyncio.Future[T]:
        self.jobs += 1
        return super().run_in_executor(executor, function, *arguments)

    def call_at(self, *arguments: Any, **options: Any) -> asyncio.TimerHandle:  # type: ignore[override]  # only counted
        self.timers += 1
        return super().call_at(*arguments, **options)


@dataclass
class Day:
    """What a day of idle came to."""

    jobs: int = 0
    timers: int = 0
    handled_in: float = 0.0
    """Seconds from the first event afterwards to its end."""
    state: str = ""
    model_calls: list[int] = field(default_factory=list)
    """After the day, and after the event."""


async def _idle_day(folder: Path, loop: CountingLoop) -> Day:
    day, model = Day(), ScriptedModel(calls(("reply", '{"text": "Good morning."}'), prefix="a"))
    async with a_mind(folder, [model]) as mind, asyncio.TaskGroup() as group:
        running = [group.create_task(mind.loop.run()), group.create_task(mind.loop.watch())]
        await mind.mailbox.until_idle()
        jobs, timers = loop.jobs, loop.timers
        await passed(DAY)
        day.jobs, day.timers = loop.jobs - jobs, loop.timers - timers - 1  # one is the test's own
        day.model_calls.append(len(model.requests))
        event, at = spoken("good morning"), loop.time()
        await mind.mailbox.enqueue(event)
        await mind.mailbox.until_idle()
        day.handled_in, day.state = loop.time() - at, await mind.state_of(event)
        day.model_calls.append(len(model.requests))
        for task in running:
            task.cancel()
    return day


@pytest.mark.shows("A22", "A15")
def test_a_day_of_idle_costs_nothing_and_the_first_event_afterwards_is_handled_at_once(tmp_path: Path) -> None:
    loop = CountingLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        day = runner.run(_idle_day(tmp_path, loop))
    assert (day.jobs, day.timers) == (0, 0)
    assert day.model_calls == [0, 1]
    assert day.state == "completed"
    assert day.handled_in < 0.1
