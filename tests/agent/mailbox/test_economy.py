"""What the agent's own work may take: how deep, how often, and how much in a day of the household."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from agent.errors import TooManyEvents
from agent.event import TIMER, Event
from agent.mailbox import SCHEMA, Allowance, Lease, Mailbox
from agent.mailbox.economy import PUT_OFF, UNASKED
from agent.time.series import SERIES, described
from memory.state.database import Database
from tests.agent.clock import MORNING, Clock
from tests.agent.mailboxes import NothingDue
from tests.agent.mind import spoken

SMALL = Allowance(depth=2, per_minute=4, calls_per_task=6, calls_per_day=10, usd_per_day=0.5)


class Economy:
    """A mailbox in a file, on a clock of its own, with what its owner's own work may take."""

    def __init__(self, path: Path, allowance: Allowance = SMALL) -> None:
        self.clock = Clock()
        self.allowance = allowance
        self._database = Database(path)

    async def start(self) -> None:
        await self._database.open(SCHEMA)
        self.mailbox = Mailbox(self._database, self.clock, self.clock.wait, self.allowance)

    async def stop(self) -> None:
        await self._database.close()

    async def restart(self) -> None:
        await self.stop()
        await self.start()
        await self.mailbox.recover()

    async def take_now(self) -> Lease:
        async def refuse(*_: object) -> None:
            raise NothingDue

        return await Mailbox(self._database, self.clock, refuse, self.allowance).take()

    async def made(self, parent: Event | None, content: str = "part", **fields: object) -> Event:
        """File an event that the agent makes for another one."""
        event = Event("self_created", content, source="self", parent_id=parent.id if parent else "", **fields)  # type: ignore[arg-type]
        assert await self.mailbox.enqueue(event)
        return event

    async def thought(self, event: Event, calls: int, usd: float = 0.0) -> None:
        """Take an event, think about it so often, and complete it."""
        hand = await self.take_now()
        assert hand.event.content == event.content
        await self.mailbox.charge(event.id, model_calls=calls)
        await self.mailbox.charge(event.id, usd=usd)
        await self.mailbox.complete(event.id, "", {})

    async def told(self, owner_key: str = "household") -> tuple[object, object, object]:
        told = await self.mailbox.economy(owner_key)
        return told["model_calls_today"], told["usd_today"], told["waits_until"]


@pytest.fixture
async def economy(tmp_path: Path) -> AsyncIterator[Economy]:
    economy = Economy(tmp_path / "nakari.db")
    await economy.start()
    yield economy
    await economy.stop()


@pytest.mark.shows("A16", "X7")
async def test_children_of_children_go_so_deep_and_no_deeper(economy: Economy) -> None:
    await economy.mailbox.enqueue(asked := spoken("plan the holidays"))
    child = await economy.made(asked)
    grandchild = await economy.made(child)
    with pytest.raises(TooManyEvents, match="3 steps away from what it all came of, and 2 are allowed"):
        await economy.made(grandchild)
    unasked = replace(timer(grandchild), metadata={UNASKED: True})
    with pytest.raises(TooManyEvents, match="3 steps"):
        await economy.mailbox.enqueue(unasked)
    assert await economy.mailbox.enqueue(replace(timer(asked), id="asked for")), "a person's own timer"
    await economy.restart()
    with pytest.raises(TooManyEvents, match="3 steps"):
        await economy.made(grandchild)


@pytest.mark.shows("A16", "X7")
async def test_so_many_of_an_owners_own_are_made_in_any_minute_and_no_more(economy: Economy) -> None:
    await economy.made(None, "early")
    economy.clock.advance(30)
    for _ in range(3):
        await economy.made(None)
    with pytest.raises(TooManyEvents, match="4 events of your own were made within a minute"):
        await economy.made(None)
    assert await economy.mailbox.enqueue(spoken("a person is never refused"))
    assert await economy.mailbox.enqueue(Event("system", "the door bell"))
    await economy.made(None, owner_key="guest")
    economy.clock.advance(30)
    await economy.made(None, "the early one was a minute ago")
    with pytest.raises(TooManyEvents, match="within a minute"):
        await economy.made(None)


@pytest.mark.shows("A16", "B7", "X7")
async def test_nothing_more_comes_of_a_task_that_took_its_calls_however_they_are_spread(economy: Economy) -> None:
    await economy.mailbox.enqueue(asked := spoken("plan"))
    await economy.take_now()
    await economy.mailbox.charge(asked.id, model_calls=9)
    await economy.mailbox.complete(asked.id, "", {})
    child = await economy.made(asked)
    await economy.thought(child, 5)
    grandchild = await economy.made(child)
    hand = await economy.take_now()
    assert (hand.event, hand.calls_left, hand.task_calls_left) == (grandchild, 5, 1)
    await economy.thought(grandchild, 1)
    for parent in (asked, child):
        with pytest.raises(TooManyEvents, match="what came of this task has taken 6 model calls"):
            await economy.made(parent)
    await economy.made(None, "another task")


@pytest.mark.shows("A16", "B7", "X7")
@pytest.mark.parametrize("spent", [{"calls": 10}, {"calls": 1, "usd": 0.5}])
async def test_when_a_day_is_used_up_its_own_work_waits_for_the_next_and_is_told_and_people_do_not(
    economy: Economy, spent: dict[str, int]
) -> None:
    await economy.thought(await economy.made(None, "first"), **spent)
    waits = await economy.made(None, "second")
    await economy.made(None, "noted")
    with pytest.raises(NothingDue):
        await economy.take_now()
    assert (await economy.told())[2] == "2026-11-22 00:00:00 UTC"
    await economy.mailbox.enqueue(asked := spoken("what time is it"))
    hand = await economy.take_now()
    assert (hand.event, hand.calls_left) == (asked, None)
    await economy.mailbox.charge(asked.id, model_calls=50)
    await economy.mailbox.complete(asked.id, "", {})
    await economy.restart()
    with pytest.raises(NothingDue):
        await economy.take_now()
    economy.clock.advance(14 * 3600 - 1)
    with pytest.raises(NothingDue):
        await economy.take_now()
    economy.clock.advance(1)
    hand = await economy.take_now()
    assert (hand.event, hand.note, hand.calls_left) == (waits, PUT_OFF, 10)
    assert await economy.told() == (0, 0.0, "")


@pytest.mark.shows("B7", "X7")
async def test_what_is_left_of_the_day_is_handed_over_with_the_event_and_counted_over_a_restart(
    economy: Economy,
) -> None:
    event = await economy.made(None)
    assert (await economy.take_now()).calls_left == 10
    await economy.mailbox.charge(event.id, model_calls=3, usd=0.25)
    await economy.restart()
    assert (await economy.take_now()).calls_left == 7
    await economy.mailbox.charge(event.id, model_calls=-1)
    assert await economy.told() == (2, 0.25, "")
    assert await economy.told("guest") == (0, 0.0, ""), "each owner's own"


@pytest.mark.shows("B7", "X7")
@pytest.mark.parametrize(
    ("zone", "hours", "ends"),
    [
        ("Asia/Shanghai", 6.0, "2026-11-21 16:00"),
        ("Europe/Berlin", 13.0, "2026-11-21 23:00"),
        ("UTC", 14.0, "2026-11-22 00:00"),
    ],
)
async def test_the_day_is_the_households(tmp_path: Path, zone: str, hours: float, ends: str) -> None:
    economy = Economy(tmp_path / "nakari.db", replace(SMALL, zone=ZoneInfo(zone)))
    await economy.start()
    await economy.thought(await economy.made(None), 10)
    await economy.made(None)
    assert str((await economy.told())[2]).startswith(ends)
    economy.clock.advance(hours * 3600 - 1)
    with pytest.raises(NothingDue):
        await economy.take_now()
    economy.clock.advance(1)
    assert (await economy.take_now()).calls_left == 10
    await economy.stop()


def test_a_day_on_which_the_clocks_change_ends_at_midnight() -> None:
    berlin = Allowance(zone=ZoneInfo("Europe/Berlin"))
    before = datetime(2026, 10, 24, 22, 30, tzinfo=UTC)
    assert (berlin.day(before), berlin.next_day(before)) == ("2026-10-25", before + timedelta(hours=24, minutes=30))


@pytest.mark.shows("A16", "A9", "X7")
async def test_a_series_that_a_person_asked_for_is_counted_and_still_comes_when_the_day_is_used_up(
    economy: Economy,
) -> None:
    await economy.mailbox.enqueue(asked := spoken("every minute"))
    await economy.mailbox.complete((await economy.take_now()).event.id, "", {})
    series = described("FREQ=SECONDLY;INTERVAL=60", MORNING.replace(tzinfo=None), "UTC", "s")
    await economy.mailbox.enqueue(replace(timer(asked), id="s", metadata={SERIES: series}))
    left: list[int | None] = []
    for _ in range(3):
        economy.clock.advance(60)
        hand = await economy.take_now()
        left.append(hand.calls_left)
        await economy.mailbox.charge(hand.event.id, model_calls=5)
        await economy.mailbox.complete(hand.event.id, "", {})
    assert left == [10, 5, 0]
    child = await economy.made(hand.event)
    with pytest.raises(NothingDue):
        await economy.take_now()
    assert [each.event.id for each in await economy.mailbox.coming("household")] == ["s.4", child.id]


async def test_nothing_of_an_owner_stays_when_they_are_removed(economy: Economy) -> None:
    await economy.thought(await economy.made(None, owner_key="guest"), 4, 0.1)
    assert await economy.told("guest") == (4, 0.1, "")
    await economy.mailbox.remove_owner("guest")
    assert await economy.told("guest") == (0, 0.0, "")


@pytest.mark.shows("A16", "B8", "X7")
def test_the_usual_numbers() -> None:
    usual = Allowance()
    assert (usual.depth, usual.per_minute, usual.calls_per_task) == (3, 30, 100)
    assert (usual.calls_per_day, usual.usd_per_day) == (300, 1.0)


def timer(parent: Event) -> Event:
    return Event(TIMER, "Timer is due.", source="timer", parent_id=parent.id, priority=20, not_before=MORNING)
