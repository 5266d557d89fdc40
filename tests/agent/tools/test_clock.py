"""The time as a tool: in UTC and at home, read at each call."""

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfoNotFoundError

import pytest

from agent.event import Event
from agent.tools.clock import clock_tool
from agent.tools.tool import Call, run_tool
from tests.agent.clock import Clock


async def answer(zone: str, clock: Clock) -> dict[str, str]:
    found = json.loads(await run_tool(clock_tool(clock, zone), "{}", Call("c1", Event("user_text"))))
    assert isinstance(found, dict)
    return found


async def test_it_tells_the_time_in_utc_and_at_home() -> None:
    assert await answer("Europe/Berlin", Clock()) == {
        "utc": "2026-11-21 10:00:00 UTC",
        "local": "2026-11-21 11:00:00 CET",
        "zone": "Europe/Berlin",
        "weekday": "Saturday",
    }


async def test_the_day_is_the_day_at_home_and_the_clock_is_read_at_each_call() -> None:
    clock = Clock(datetime(2026, 7, 1, 20, 0, tzinfo=UTC))
    assert (await answer("Asia/Shanghai", clock))["local"] == "2026-07-02 04:00:00 CST"
    assert (await answer("Asia/Shanghai", clock))["weekday"] == "Thursday"
    clock.advance(90)
    assert (await answer("UTC", clock))["utc"] == "2026-07-01 20:01:30 UTC"


def test_the_model_sees_a_tool_without_arguments() -> None:
    spec = clock_tool(Clock()).spec
    assert spec.name == "current_time"
    assert spec.parameters["properties"] == {}
    with pytest.raises(ZoneInfoNotFoundError):
        clock_tool(Clock(), "Mars/Olympus")
