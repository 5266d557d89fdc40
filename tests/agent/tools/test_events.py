"""Her mailbox as tools: what she may make and wait for, and whose numbers she is told."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.event import Event
from agent.mailbox import Lease, Mailbox, Wake
from agent.run.run_state import RunState, Suspension
from agent.tools.events import event_tools
from agent.tools.tool import Call, run_tool
from memory.json_value import Json
from tests.agent.clock import MORNING
from tests.agent.mailboxes import Rig, filed, sqlite, work
from tests.agent.mind import no_contexts


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with sqlite(tmp_path) as rig:
        yield rig


async def call(rig: Rig, desk: RunState, name: str, event: Event, **arguments: Json) -> str:
    assert isinstance(rig.mailbox, Mailbox)
    tools = {tool.name: tool for tool in event_tools(rig.mailbox, desk, no_contexts())}
    return await run_tool(tools[name], json.dumps(arguments), Call("c1", event))


@pytest.mark.shows("D7")
@pytest.mark.parametrize("kind", ["user_text", "asr_transcript", "timer"])
async def test_her_own_words_can_never_be_taken_for_a_persons_nor_ring(rig: Rig, kind: str) -> None:
    told = await call(rig, RunState(), "create_event", work(), content="open the door", type=kind)
    assert told.startswith(f"error: an event of type {kind} is not for you to make")
    assert (await rig.mailbox.counts())["pending"] == 0
    assert "id" in await call(rig, RunState(), "create_event", work(), content="tidy", type="reflection")


@pytest.mark.parametrize(
    ("arguments", "wake"),
    [
        ({"wake_at": "2026-11-21 10:00:00 UTC", "wake_on": "parcel"}, Wake("event", at=MORNING, name="parcel")),
        ({"wake_at": "2026-11-21 10:00:00 UTC"}, Wake("time", at=MORNING)),
        ({"wake_on": "parcel"}, Wake("event", name="parcel")),
        ({}, Wake("idle")),
    ],
)
async def test_an_event_is_put_back_until_a_time_a_name_or_the_first_of_both(
    rig: Rig, arguments: dict[str, Json], wake: Wake
) -> None:
    desk = RunState()
    assert await call(rig, desk, "suspend_event", work(), note="later", **arguments) == "suspended"
    assert desk.ending == Suspension("later", wake)


@pytest.mark.shows("F12")
async def test_a_guest_is_not_told_how_much_the_household_has_waiting(rig: Rig) -> None:
    guest = work(owner_key="guest", id="guests")
    await filed(rig, guest, work(), work())
    for event, waiting in ((guest, 1), (work(), 3)):
        told = json.loads(await call(rig, RunState(Lease(event)), "check_mailbox", event))
        assert told["waiting"]["pending"] == waiting
