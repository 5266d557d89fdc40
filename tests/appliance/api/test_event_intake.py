"""What visitors may put into the mailbox, and when they are told to come again; the house is not limited."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD, TIMER, USER_TEXT, Event, speaker_of
from agent.mailbox import SCHEMA, Mailbox
from appliance.api.event_intake import MOST_OF_ALL, MOST_OF_ONE, MOST_WAITING, PERIOD_SECONDS, EventIntake
from appliance.errors import Exit, Problem
from memory.state.database import Database

pytestmark = pytest.mark.shows("F12")

MEMBER = "m" * 64


@dataclass
class Slot:
    """A letterbox over a real mailbox, with a clock of its own."""

    mailbox: Mailbox
    now: float = 0.0
    letters: EventIntake = field(init=False)

    def __post_init__(self) -> None:
        names = {MEMBER: "Ada"}
        self.letters = EventIntake(
            self.mailbox, lambda key: key in {HOUSEHOLD, MEMBER}, lambda key: names.get(key, ""), lambda: self.now
        )

    async def put(self, owner_key: str) -> str:
        """Put an event in; return how that was refused, "" where it was not."""
        try:
            await self.letters.put(Event(USER_TEXT, "hello", owner_key=owner_key))
        except Problem as problem:
            return problem.sentence if problem.code is Exit.UNAVAILABLE else "another code"
        return ""

    async def answered(self) -> None:
        """Let it be done with all that waits."""
        while (await self.mailbox.counts())["pending"]:
            hand = await self.mailbox.take()
            await self.mailbox.complete(hand.event.id, "done", {})

    async def put_and_answered(self, owner_key: str) -> str:
        refused = await self.put(owner_key)
        await self.answered()
        return refused


@pytest.fixture
async def slot(tmp_path: Path) -> AsyncIterator[Slot]:
    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA)
    yield Slot(Mailbox(database))
    await database.close()


@pytest.mark.parametrize("owner_key", [HOUSEHOLD, MEMBER])
async def test_the_house_is_not_limited(slot: Slot, owner_key: str) -> None:
    for _ in range(MOST_OF_ALL + 1):
        assert await slot.put(owner_key) == ""
    assert (await slot.mailbox.counts())["pending"] == MOST_OF_ALL + 1


async def test_a_visitor_waits_for_answers_before_asking_more(slot: Slot) -> None:
    async with asyncio.TaskGroup() as group:  # also where they come side by side
        tasks = [group.create_task(slot.put("visitor")) for _ in range(MOST_WAITING + 2)]
    refused = [task.result() for task in tasks if task.result()]
    told = f"{MOST_WAITING} things that you asked wait for an answer already: try again when one has come"
    assert refused == [told] * 2
    assert await slot.put("another") == ""
    await slot.answered()
    assert await slot.put("visitor") == ""


async def test_a_visitors_timers_are_nothing_that_waits_for_it(slot: Slot) -> None:
    for minutes in range(1, MOST_WAITING + 2):
        due = datetime.now(UTC) + timedelta(hours=minutes)
        await slot.mailbox.enqueue(Event(TIMER, "tea", owner_key="visitor", not_before=due))
    assert await slot.put("visitor") == ""


async def test_who_asks_too_often_is_told_when_to_try_again(slot: Slot) -> None:
    for _ in range(MOST_OF_ONE):
        assert await slot.put_and_answered("visitor") == ""
        slot.now += 1.0
    assert await slot.put("visitor") == "that is more than a visitor may ask at a time: try again in 10 minutes"
    slot.now = PERIOD_SECONDS - 1.0
    assert await slot.put("visitor") == "that is more than a visitor may ask at a time: try again in 1 minute"
    assert await slot.put("another") == ""
    slot.now = PERIOD_SECONDS
    assert await slot.put("visitor") == ""


async def test_a_new_key_for_each_event_gets_no_further_and_is_soon_forgotten(slot: Slot) -> None:
    for number in range(MOST_OF_ALL):
        assert await slot.put_and_answered(f"visitor {number}") == ""
    for number in range(3):
        assert await slot.put(f"stranger {number}") == "too many visitors ask at the moment: try again in 10 minutes"
    assert len(slot.letters._put) == MOST_OF_ALL
    slot.now = PERIOD_SECONDS
    assert await slot.put("stranger 0") == ""
    assert len(slot.letters._put) == 1


@pytest.mark.shows("G3")
async def test_who_of_the_members_says_it_is_told_unless_the_sender_tells_another(slot: Slot) -> None:
    sent = [
        Event(USER_TEXT, "mine", owner_key=MEMBER),
        Event(USER_TEXT, "a guest's", owner_key=MEMBER, metadata={"speaker": "Eve"}),
        Event(USER_TEXT, "the house's"),
    ]
    for event in sent:
        await slot.letters.put(event)
    filed = [await slot.mailbox.find(event.id) for event in sent]
    assert [speaker_of(each.event) for each in filed if each is not None] == ["Ada", "Eve", ""]
