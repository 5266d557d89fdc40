"""Hours of quiet: over midnight and over changes of the clocks, and who may ring in them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.event import TIMER, Event
from agent.time.quiet import quiet_hours
from agent.tools.timers import timer_tools
from agent.tools.tool import Call, run_tool
from tests.agent.mailboxes import sqlite

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.shows("G13")
@pytest.mark.parametrize(
    ("text", "moment", "end"),
    [
        ("22:00-07:00", "2026-11-21 20:59", None),
        ("22:00-07:00", "2026-11-21 21:00", "2026-11-22 06:00"),
        ("22:00-07:00", "2026-11-22 05:59", "2026-11-22 06:00"),
        ("22:00-07:00", "2026-11-22 06:00", None),
        ("22:00-07:00", "2027-03-27 23:00", "2027-03-28 05:00"),  # the night in which the clocks change
        ("13:00 - 15:00", "2026-11-21 12:30", "2026-11-21 14:00"),
        ("13:00-15:00", "2026-11-21 21:00", None),
    ],
)
def test_quiet_is_from_one_time_of_day_to_another(text: str, moment: str, end: str | None) -> None:
    hours = quiet_hours(text, BERLIN)
    assert hours is not None
    assert hours.until(at(moment)) == (end and at(end))


@pytest.mark.parametrize("text", ["22-", "22:00", "22:00-22:00", "at night", "25:00-07:00", "22:00Z-07:00"])
def test_what_are_no_hours_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="22:00-07:00"):
        quiet_hours(text, BERLIN)
    assert quiet_hours("", BERLIN) is None


@pytest.mark.shows("G13")
async def test_what_a_person_asked_for_rings_in_the_quiet_and_what_it_set_itself_waits(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as rig:
        tools = timer_tools(rig.mailbox, rig.clock, "Europe/Berlin", quiet_hours("22:00-07:00", BERLIN))
        alarm = next(tool for tool in tools if tool.name == "set_alarm")
        due = []
        for kind in ("asr_transcript", "self_created"):
            told = await run_tool(alarm, '{"at": "23:30"}', Call("c", Event(kind)))
            due.append(json.loads(told)["due"])
    assert due == ["2026-11-21 23:30:00 CET", "2026-11-22 07:00:00 CET"]


async def test_what_it_set_itself_to_come_every_day_comes_every_day_after_the_quiet(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as rig:
        tools = timer_tools(rig.mailbox, rig.clock, "Europe/Berlin", quiet_hours("22:00-07:00", BERLIN))
        alarm = next(tool for tool in tools if tool.name == "set_alarm")
        wanted = json.dumps({"at": "03:00", "repeat": "FREQ=DAILY"})
        told = json.loads(await run_tool(alarm, wanted, Call("c1", Event("self_created", "tidy"))))
        assert told["due"].endswith("07:00:00 CET")
        rig.clock.advance(86_400)
        await rig.take_now()
        [again] = await rig.mailbox.waiting(TIMER, "household")
        assert again.not_before is not None
        assert f"{again.not_before.astimezone(BERLIN):%H:%M}" == "07:00"
