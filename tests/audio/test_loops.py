"""Loops apart from the others: what breaks one off is logged, and it is begun anew."""

import asyncio

import pytest
from structlog.testing import capture_logs

from audio.loops import kept_up
from tests.room.virtual_time import EPOCH, run_virtually


def test_a_loop_that_breaks_off_is_begun_anew_after_a_pause() -> None:
    begun = list[float]()

    async def loop() -> None:
        begun.append(asyncio.get_running_loop().time() - EPOCH)
        if len(begun) < 3:
            raise ExceptionGroup("of a group", [RecursionError("too deep")])

    with capture_logs() as logged:
        run_virtually(kept_up("home: a house", loop, again=10.0))
    assert begun == pytest.approx([0.0, 10.0, 20.0], abs=0.01)
    assert [(entry["event"], entry["loop"]) for entry in logged] == [("loop_broke_off", "home: a house")] * 2


async def test_a_loop_is_ended_by_cancelling() -> None:
    async with asyncio.TaskGroup() as group:
        kept = group.create_task(kept_up("for ever", asyncio.Event().wait))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        kept.cancel()
    assert kept.cancelled()
