"""The state cannot be written while it works: whoever waits for an answer is told so once, and answered later."""

import asyncio
from pathlib import Path

import pytest

from agent.event import SELF_CREATED, Event
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies, of_outage, phrase
from memory.errors import DiskFull, StateUnusable
from tests.agent.mind import AT_ONCE, Start, TestMind, a_mind, spoken, typed
from tests.fakes import RecordingOutlet, ScriptedModel, calls
from tests.memory.state.test_tiers_full import room_for

pytestmark = pytest.mark.shows("A24", "B1", "C15")

DONE = ("reply", '{"text": "It is noon."}'), ("complete_event", "{}")
FULL = ["I heard you, but I cannot write it down: my disk is full.", "I will answer when there is room."]
TRIES = 4


async def through_an_outage(mind: TestMind, event: Event) -> None:
    """Let the disk refuse what is to be journaled of an event for some tries, and then have room."""
    await mind.mailbox.enqueue(event)
    mind.disk.refusals = TRIES
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        loop = group.create_task(mind.loop.run())
        await mind.mailbox.until_idle()
        loop.cancel()


@pytest.mark.parametrize("event", [spoken("What time is it?"), typed("What time is it?")], ids=["spoken", "typed"])
async def test_a_person_hears_of_a_full_disk_once_and_the_answer_when_there_is_room(
    tmp_path: Path, event: Event
) -> None:
    async with a_mind(tmp_path, [ScriptedModel(calls(*DONE))], start=Start(limits=AT_ONCE)) as mind:
        await through_an_outage(mind, event)
        assert mind.outlet.said == [*FULL, "It is noon."]
        assert await mind.state_of(event) == "completed"


async def test_what_could_not_be_written_does_not_pile_up_while_it_is_tried_again(tmp_path: Path) -> None:
    event = spoken("What time is it?")
    async with a_mind(tmp_path, [ScriptedModel(calls(*DONE))], start=Start(limits=AT_ONCE)) as mind:
        await through_an_outage(mind, event)
        assert (await mind.topics(event)).count("runs.new") == 2, "the first try's, and that of the one that went well"


async def test_its_own_work_tells_nobody_of_a_disk(tmp_path: Path) -> None:
    event = Event(SELF_CREATED, "tidy up", source="self")
    async with a_mind(tmp_path, [ScriptedModel(calls(DONE[1]))], start=Start(limits=AT_ONCE)) as mind:
        await through_an_outage(mind, event)
        assert mind.outlet.said == []
        assert await mind.state_of(event) == "completed"


async def test_who_spoke_while_the_mailbox_cannot_be_emptied_is_told_too(tmp_path: Path) -> None:
    event = spoken("现在几点")
    async with a_mind(tmp_path, [ScriptedModel(calls(*DONE))], start=Start(limits=AT_ONCE)) as mind:
        database = mind.journal.database
        await database.write(lambda c: c.execute("CREATE TABLE filler (bytes)"))
        await database.write(
            lambda c: c.execute(
                "CREATE TRIGGER greedy BEFORE UPDATE ON mailbox BEGIN INSERT INTO filler VALUES (zeroblob(100000)); END"
            )
        )
        await mind.mailbox.enqueue(event)
        await room_for(database, 0)
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            loop = group.create_task(mind.loop.run())
            while not mind.outlet.said:
                await database.read(lambda connection: None)
            await room_for(database, 10_000)
            await mind.mailbox.until_idle()
            loop.cancel()
        assert "".join(mind.outlet.said) == phrase("disk_full", "现在几点") + "It is noon."
        assert await mind.state_of(event) == "completed"


async def test_each_person_is_told_once_an_outage_and_of_the_next_one_anew() -> None:
    outlet = RecordingOutlet()
    outage = SystemReplies(outlet, RunState())
    one, other = spoken("one"), spoken("other")
    for event in (one, other, one, other):
        await outage.tell_of_outage(event, DiskFull("full"))
    assert outlet.said == [*FULL, *FULL]
    outage.outage_ended()
    await outage.tell_of_outage(one, StateUnusable("disk I/O error"))
    assert " ".join(outlet.said[4:]) == phrase("disk_unusable", "")


def test_only_a_full_disk_is_called_full() -> None:
    assert [of_outage(failure("…")) for failure in (DiskFull, StateUnusable)] == ["disk_full", "disk_unusable"]
    for name in ("disk_full", "disk_unusable", "disk_still", "disk_too_long"):
        assert phrase(name, "你好") != phrase(name, "hello")
