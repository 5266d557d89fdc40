"""What every mailbox promises of events that are put back: their note, their budget, and what brings them back."""

import asyncio
from datetime import datetime

import pytest

from agent.event import ASR_TRANSCRIPT, USER_TEXT, Event
from agent.mailbox import PERSON, Wake
from tests.agent.mailboxes import NothingDue, Rig, filed, handled, work


@pytest.mark.shows("A3")
async def test_the_budget_outlives_suspension_and_crash_until_a_fresh_grant(rig: Rig) -> None:
    await filed(rig, work(id="w"))
    await rig.mailbox.take()
    assert await rig.mailbox.charge("w", tool_calls=2, model_calls=1)
    assert await rig.mailbox.charge("w", model_calls=1)
    assert await rig.mailbox.suspend("w", "", Wake("time", rig.clock.after(10)))
    rig.clock.advance(10)
    hand = await rig.take_now()
    assert (hand.tool_calls, hand.model_calls, hand.grants) == (2, 2, 0)
    await rig.mailbox.charge("w", tool_calls=8)
    await rig.restart()
    hand = await rig.take_now()
    assert (hand.tool_calls, hand.model_calls, hand.grants) == (10, 2, 0)
    await rig.mailbox.suspend("w", "", Wake("time", rig.clock.after(10)), fresh_grant=True)
    rig.clock.advance(10)
    hand = await rig.take_now()
    assert (hand.tool_calls, hand.model_calls, hand.grants) == (0, 0, 1)
    assert not await rig.mailbox.charge("another", tool_calls=1)


@pytest.mark.shows("A6", "A12", "A19")
async def test_a_suspended_event_frees_the_hand_and_comes_back_with_its_note(rig: Rig) -> None:
    note = "asked the graph; 还剩两步 \0 </Note>"
    await filed(rig, work("long", id="long"), work("next"))
    await rig.take_now()
    assert await rig.mailbox.suspend("long", note, Wake("time", rig.clock.after(60)))
    assert not await rig.mailbox.suspend("long", "twice", Wake("idle"))
    assert await handled(rig) == ["next"]
    await rig.restart()
    assert (await rig.mailbox.counts())["suspended"] == 1
    rig.clock.advance(60)
    hand = await rig.take_now()
    assert (hand.event.content, hand.note, hand.attempt) == ("long", note, 1)


@pytest.mark.shows("A12")
async def test_a_suspended_event_is_woken_by_the_delivery_of_what_it_waits_for(rig: Rig) -> None:
    await filed(rig, work("waits", id="w", priority=9))
    await rig.take_now()
    await rig.mailbox.suspend("w", "", Wake("event", name="door_opened"))
    await filed(rig, Event("door_closed", "closed"))
    rig.clock.advance(1e6)
    assert await handled(rig) == ["closed"]
    await filed(rig, Event("door_opened", "opened", not_before=rig.clock.after(60)))
    assert await handled(rig) == []
    rig.clock.advance(60)
    assert await handled(rig) == ["opened", "waits"]


@pytest.mark.shows("A12", "A3")
@pytest.mark.parametrize("kind", [USER_TEXT, ASR_TRANSCRIPT])
async def test_any_person_wakes_what_waits_for_a_person_and_so_does_its_latest_time(rig: Rig, kind: str) -> None:
    for content in ("first", "second"):
        await filed(rig, work(content, id=content))
        await rig.take_now()
        await rig.mailbox.suspend(content, "", Wake("event", rig.clock.after(3600), PERSON))
    await rig.mailbox.wake("somebody else")
    assert await handled(rig) == []
    await filed(rig, Event(kind, "hello", priority=10))
    assert await handled(rig) == ["hello", "first", "second"]

    await filed(rig, work("third", id="third"))
    await rig.take_now()
    await rig.mailbox.suspend("third", "", Wake("event", rig.clock.after(3600), PERSON))
    rig.clock.advance(3600)
    assert await handled(rig) == ["third"]


@pytest.mark.shows("A12")
async def test_a_name_called_wakes_the_sleeper_at_once(rig: Rig) -> None:
    await filed(rig, work("needs a model", id="w"))
    await rig.take_now()
    await rig.mailbox.suspend("w", "", Wake("event", name="model_available"))
    async with asyncio.TaskGroup() as together:
        taken = together.create_task(rig.mailbox.take())
        await rig.clock.someone_sleeps()
        assert await rig.mailbox.wake("model_available") == 1
    assert taken.result().event.content == "needs a model"
    assert await rig.mailbox.wake("model_available") == 0


@pytest.mark.shows("A12", "A18")
async def test_an_event_suspended_for_quiet_waits_its_turn_and_never_spins(rig: Rig) -> None:
    await filed(rig, work("quiet", id="q", priority=50))
    await rig.take_now()
    await rig.mailbox.suspend("q", "", Wake("idle"))
    with pytest.raises(NothingDue):  # an empty mailbox is quiet, yet handing it back at once would never end
        await rig.take_now()
    rig.clock.advance(60)
    await filed(rig, work("loud"), work("tidy", priority=-1))
    assert await handled(rig) == ["loud", "quiet", "tidy"]


@pytest.mark.shows("A12")
@pytest.mark.parametrize("seconds", [-86_400, 0])
async def test_a_wake_that_has_passed_comes_soon_but_does_not_spin(rig: Rig, seconds: float) -> None:
    await filed(rig, work("w", id="w"))
    await rig.take_now()
    await rig.mailbox.suspend("w", "", Wake("time", rig.clock.after(seconds)))
    assert await handled(rig) == []
    rig.clock.advance(1)
    assert await handled(rig) == ["w"]


def test_a_wake_that_could_never_come_is_refused() -> None:
    with pytest.raises(ValueError, match="moment"):
        Wake("time")
    with pytest.raises(ValueError, match="name"):
        Wake("event")
    with pytest.raises(ValueError, match="name"):
        Wake("idle", name="door")
    with pytest.raises(ValueError, match="aware"):
        Wake("time", datetime(2026, 11, 21))  # noqa: DTZ001  naive is the point
