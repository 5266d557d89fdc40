"""A scope that somebody else may end: what waits in it is cancelled, what does not is left alone."""

import asyncio

import pytest

from agent.errors import Stopped
from agent.run.run import Stop
from tests.room.virtual_time import passed, run_virtually


async def waits_for_ever(stop: Stop, begun: asyncio.Event) -> str:
    try:
        async with stop.waits():
            begun.set()
            await asyncio.Event().wait()
    except Stopped as stopped:
        return str(stopped)
    return "went on"


async def test_all_that_waits_is_ended_and_nothing_new_begins() -> None:
    stop, begun = Stop(), [asyncio.Event(), asyncio.Event()]
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        tasks = [group.create_task(waits_for_ever(stop, event)) for event in begun]
        for event in begun:
            await event.wait()
        assert stop.give("interrupted")
    assert [task.result() for task in tasks] == ["interrupted", "interrupted"]
    assert not all(task.cancelled() for task in tasks), "only the waits were cancelled, not the tasks"
    with pytest.raises(Stopped):
        async with stop.waits():
            pytest.fail("nothing may begin")


async def test_the_first_reason_stays() -> None:
    stop = Stop()
    assert stop.give("preempted")
    assert not stop.give("interrupted")
    with pytest.raises(Stopped, match="preempted"):
        stop.check()


async def test_what_fails_by_itself_fails_by_itself() -> None:
    stop = Stop()
    with pytest.raises(ZeroDivisionError):
        async with stop.waits():
            raise ZeroDivisionError
    with pytest.raises(TimeoutError):
        async with stop.waits():
            raise TimeoutError("its own")
    stop.check()


async def test_a_failure_on_the_way_out_is_the_stop() -> None:
    stop = Stop()

    async def broken() -> None:
        async with stop.waits():
            stop.give("interrupted")
            raise ConnectionError("closed, because it was stopped")

    with pytest.raises(Stopped, match="interrupted"):
        await broken()


async def test_a_cancellation_from_elsewhere_is_no_stop() -> None:
    stop, begun = Stop(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(waits_for_ever(stop, begun))
        await begun.wait()
        task.cancel()
    assert task.cancelled()
    assert stop.reason is None


@pytest.mark.shows("B23")
@pytest.mark.parametrize(("told", "ends_after"), [(0.0, 10.0), (7.0, 17.0)])
def test_past_its_deadline_it_is_timed_out_and_the_mouths_time_does_not_count(told: float, ends_after: float) -> None:
    async def life() -> tuple[str, float]:
        clock = asyncio.get_running_loop().time
        began = clock()
        stop = Stop(began + 10.0)
        try:
            async with stop.waits():
                await passed(told)
                stop.allow(told)
                await passed(100.0)
        except Stopped as stopped:
            return str(stopped), clock() - began
        return "went on", clock() - began

    reason, seconds = run_virtually(life())
    assert reason == "timed_out"
    assert seconds == pytest.approx(ends_after)


def test_without_a_wait_the_deadline_is_noticed_at_the_next_look() -> None:
    async def life() -> None:
        stop = Stop(asyncio.get_running_loop().time() + 1.0)
        stop.check()
        await passed(2.0)
        stop.check()

    with pytest.raises(Stopped, match="timed_out"):
        run_virtually(life())
