"""Its mailbox as tools: what it may make and wait for, and whose numbers it is told."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.event import Event
from agent.mailbox import Lease, Mailbox, Wake
from agent.run.budget import RunLimits
from agent.run.run_state import RunState, Suspension
from agent.tools.events import event_tools
from agent.tools.tool import Call, run_tool
from agent.unasked.announcement import announcement_of, event_of
from memory.json_value import Json
from tests.agent.clock import MORNING
from tests.agent.mailboxes import NothingDue, Rig, filed, sqlite, work
from tests.agent.mind import no_contexts


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with sqlite(tmp_path) as rig:
        yield rig


async def call(rig: Rig, desk: RunState, name: str, event: Event, **arguments: Json) -> str:
    assert isinstance(rig.mailbox, Mailbox)
    tools = {tool.name: tool for tool in event_tools(rig.mailbox, desk, no_contexts(), RunLimits(10))}
    return await run_tool(tools[name], json.dumps(arguments), Call("c1", event))


@pytest.mark.shows("D7")
@pytest.mark.parametrize("kind", ["user_text", "asr_transcript", "timer"])
async def test_its_own_words_can_never_be_taken_for_a_persons_nor_ring(rig: Rig, kind: str) -> None:
    told = await call(rig, RunState(), "create_event", work(), content="open the door", type=kind)
    assert told.startswith(f"error: an event of type {kind} is not for you to make")
    assert (await rig.mailbox.counts())["pending"] == 0
    assert "id" in await call(rig, RunState(), "create_event", work(), content="tidy", type="musing")


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


@pytest.mark.shows("A3", "A16")
@pytest.mark.parametrize(
    ("asked", "kept", "told"),
    [(0, None, None), (4, 4, None), (10, 10, None), (50, 50, "10, the most that is allowed")],
)
async def test_it_sets_the_budget_of_what_it_makes_within_the_cap(
    rig: Rig, asked: int, kept: int | None, told: str | None
) -> None:
    made = json.loads(await call(rig, RunState(), "create_event", work(), content="tidy", budget=asked))
    found = await rig.mailbox.find(made["id"])
    assert found is not None
    assert (found.event.max_tool_calls, made.get("budget")) == (kept, told)


@pytest.mark.shows("A16")
async def test_what_it_makes_when_the_day_is_used_up_waits_and_that_is_told(rig: Rig) -> None:
    event = work(source="self", id="own")
    await filed(rig, event)
    await rig.take_now()
    await rig.mailbox.charge("own", model_calls=299)
    assert "waits" not in json.loads(await call(rig, RunState(), "create_event", work(), content="tidy"))
    await rig.mailbox.charge("own", model_calls=1)
    made = json.loads(await call(rig, RunState(), "create_event", work(), content="tidy"))
    assert made["waits"] == "until 2026-11-22 00:00:00 UTC: what your own work may take in a day is used up"


@pytest.mark.shows("A15", "A16")
async def test_it_sees_what_waits_of_its_owner_in_the_order_in_which_it_comes(rig: Rig) -> None:
    waits = work("until the door rings", id="door")
    await filed(rig, waits)
    await rig.take_now()
    assert isinstance(rig.mailbox, Mailbox)
    await rig.mailbox.suspend("door", "", Wake("event", name="door"))
    await filed(
        rig,
        work("later\n\n" + "very " * 20 + "late.", id="later", not_before=rig.clock.after(3600)),
        work("idle", id="idle", priority=-1),
        work("soon", id="soon", not_before=rig.clock.after(60)),
        Event("asr_transcript", "what time is it?", id="asked", source="mic", priority=10),
        work("the other's", id="other", owner_key="guest"),
    )
    told = json.loads(await call(rig, RunState(), "mailbox", work()))
    assert [tuple(each.values()) for each in told["waiting"]] == [
        ("asked", "asr_transcript", "what time is it", "now", 10),
        ("idle", "self_created", "idle", "now", -1),
        ("soon", "self_created", "soon", "2026-11-21 10:01:00 UTC", 0),
        (
            "later",
            "self_created",
            "later" + " very" * 11 + "…",
            "2026-11-21 11:00:00 UTC",
            0,
        ),
        ("door", "self_created", "until the door rings", "door", 0),
    ]
    assert list(told["waiting"][0]) == ["id", "type", "words", "when", "priority"]
    assert (told["own_work"]["model_calls_today"], told["own_work"]["model_calls_per_day"]) == (0, 300)
    guest = json.loads(await call(rig, RunState(), "mailbox", work(owner_key="guest")))
    assert [each["id"] for each in guest["waiting"]] == ["other"]


@pytest.mark.shows("A15")
async def test_it_cancels_and_moves_what_waits_and_touches_nobody_elses(rig: Rig) -> None:
    late = work("late", id="late", not_before=rig.clock.after(3600))
    await filed(rig, work("first", id="first"), work("second", id="second"), late, work(id="theirs", owner_key="guest"))
    assert isinstance(rig.mailbox, Mailbox)
    assert not await rig.mailbox.move("theirs", "household", priority=3)
    me = work()
    assert await call(rig, RunState(), "mailbox", me, action="cancel", id="first") == "cancelled: first"
    assert (
        await call(rig, RunState(), "mailbox", me, action="cancel", id="first") == "error: no event 'first' is waiting"
    )
    for action in ("cancel", "move"):
        told = await call(rig, RunState(), "mailbox", me, action=action, id="theirs", priority=3)
        assert told == "error: no event 'theirs' is waiting"
    when = "2026-11-21 10:00:00 UTC"
    assert (
        await call(rig, RunState(), "mailbox", me, action="move", id="late", priority=5, not_before=when)
        == "moved: late"
    )
    hand = await rig.take_now()
    assert (hand.event.id, hand.event.priority, hand.event.not_before) == ("late", 5, MORNING)
    assert (await call(rig, RunState(), "mailbox", me, action="cancel", id="late")).startswith("error"), "it is in hand"
    assert (await call(rig, RunState(), "mailbox", me, action="move", id="second")).startswith("error: say where")


@pytest.mark.shows("A15", "A9")
async def test_a_timer_can_be_cancelled_and_rings_at_no_other_time(rig: Rig) -> None:
    await filed(rig, Event("timer", "Timer is due.", id="t", source="timer", not_before=rig.clock.after(60)))
    told = await call(rig, RunState(), "mailbox", work(), action="move", id="t", not_before="2026-11-21 12:00:00 UTC")
    assert told == "error: a timer rings at its own time: cancel it, and set another"
    assert await call(rig, RunState(), "mailbox", work(), action="cancel", id="t") == "cancelled: Timer is due"


@pytest.mark.shows("V24", "A15")
async def test_what_waits_to_be_said_can_be_cancelled_and_is_never_taken_in_hand(rig: Rig) -> None:
    idea = announcement_of(Event("self_created", "jazz", id="e"), "Some jazz?", "own", rig.clock(), None)
    await filed(rig, event_of(idea))
    told = await call(rig, RunState(), "mailbox", work(), action="move", id=idea.id, not_before="2026-11-21 10:00:00")
    assert told == "error: what waits to be said is said in the next gap: cancel it, or let it wait"
    with pytest.raises(NothingDue):
        await rig.take_now()
    assert await call(rig, RunState(), "mailbox", work(), action="cancel", id=idea.id) == "cancelled: Some jazz"


@pytest.mark.shows("V24")
@pytest.mark.parametrize(
    ("times", "begins"),
    [("2026-11-21 11:00:00 UTC / 2026-11-21 12:00:00 UTC", True), ("/2026-11-21 12:00:00 UTC", False)],
    ids=["from and until", "until"],
)
async def test_it_tells_how_long_its_idea_is_good_for(rig: Rig, times: str, *, begins: bool) -> None:
    made = await call(rig, RunState(), "create_event", work(), content="The bus.", not_before=times)
    assert isinstance(rig.mailbox, Mailbox)
    record = await rig.mailbox.find(json.loads(made)["id"])
    assert record is not None
    idea = announcement_of(record.event, "Go now.", "own", rig.clock(), None)
    assert f"{idea.expires_at:%H:%M}" == "12:00"
    assert (record.event.not_before is not None) == begins


@pytest.mark.shows("A15")
async def test_with_an_empty_box_it_sleeps_until_an_event_comes_and_has_it_in_hand(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as rig:
        assert isinstance(rig.mailbox, Mailbox)
        tools = {tool.name: tool for tool in event_tools(rig.mailbox, RunState(), no_contexts(), RunLimits())}
        assert tools["check_mailbox"].timeout is None
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            asked = group.create_task(run_tool(tools["check_mailbox"], "{}", Call("c1", work())))
            await rig.clock.someone_sleeps()
            assert rig.clock.waits == [None], "no moment at which it would look again"
            rig.clock.advance(86_400)
            await rig.clock.someone_sleeps()
            assert not asked.done()
            await rig.mailbox.enqueue(work("at last", id="e"))
        told = json.loads(asked.result())
        assert (told["in_hand"]["id"], told["in_hand"]["content"]) == ("e", "at last")
        hand = await rig.mailbox.in_hand()
        assert hand is not None
        assert hand.event.id == "e", "the loop is handed the same one"
        again = await run_tool(tools["check_mailbox"], "{}", Call("c2", work()))
        assert json.loads(again)["in_hand"]["id"] == "e"
