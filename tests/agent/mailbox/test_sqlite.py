"""What only the mailbox in a file can show: its constraint, its indexes, its clock."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest

from agent.mailbox.mailbox import SCHEMA, Mailbox
from agent.time.clock_steps import seconds_to_sleep, waiting_by
from memory.errors import StateUnusable
from memory.json_value import Json
from memory.state import journal as journal_module
from memory.state.database import Change, Database, Writer
from memory.state.journal import Entry, Journal
from tests.agent.clock import MORNING, Clock
from tests.agent.mailboxes import work
from tests.agent.mind import spoken
from tests.memory.state.door import Door, SlowDisk, until_reached
from tests.room.virtual_time import run_virtually


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA, journal_module.SCHEMA)
    yield database
    await database.close()


@pytest.mark.shows("A14")
async def test_the_database_itself_refuses_a_second_event_in_hand(database: Database) -> None:
    mailbox = Mailbox(database)
    await asyncio.gather(mailbox.enqueue(work()), mailbox.enqueue(work()))
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        await database.write(lambda connection: connection.execute("UPDATE mailbox SET state = 'in_hand'"))
    assert await mailbox.in_hand() is None


@pytest.mark.shows("A14", "A24")
async def test_a_step_is_written_with_what_belongs_to_it_or_not_at_all(database: Database) -> None:
    mailbox, journal = Mailbox(database, Clock()), Journal(database)
    event = work()

    def with_an_entry(topic: str) -> Writer:
        return lambda change: journal.append(Entry(topic), in_transaction=change)

    def figures(within: sqlite3.Connection) -> dict[str, Json]:
        return {"steps": len(journal.entries_within(within))}

    async def refuse(change: Change) -> None:
        raise StateUnusable("the disk is full")

    await mailbox.enqueue(event)
    await mailbox.take()
    assert await mailbox.charge(event.id, model_calls=1, in_transaction=with_an_entry("llm.requests"))
    assert not await mailbox.charge("another", model_calls=1, in_transaction=with_an_entry("llm.requests"))
    with pytest.raises(StateUnusable):
        await mailbox.complete(event.id, "done", {}, in_transaction=refuse)
    assert await mailbox.in_hand() is not None
    assert await mailbox.complete(event.id, "done", figures, in_transaction=with_an_entry("ui.events"))
    filed = await mailbox.find(event.id)
    assert filed is not None
    assert (filed.state, filed.progress.model_calls, filed.figures) == ("completed", 1, {"steps": 3})


@pytest.mark.shows("A24", "H9")
async def test_what_was_heard_is_taken_in_hand_while_the_disk_writes_it(tmp_path: Path) -> None:
    """And accepted once the disk has it."""
    door, event = Door(), spoken("what time is it")
    database = SlowDisk(tmp_path / "nakari.db", door)
    await database.open(SCHEMA)
    mailbox = Mailbox(database)
    async with asyncio.TaskGroup() as group:
        taken = group.create_task(mailbox.take())
        accepted = group.create_task(mailbox.enqueue(event))
        assert (await taken).event == event
        await until_reached(door)
        assert not accepted.done()
        await door.open()
    assert accepted.result()
    await database.close()


async def test_what_a_take_costs_does_not_grow_with_the_archive_or_the_queue(database: Database) -> None:
    mailbox = Mailbox(database, Clock())

    async def steps() -> int:
        ticks: list[int] = []
        await mailbox.enqueue(work(id=f"probe {len(costs)}", priority=50))
        await database.read(lambda connection: connection.set_progress_handler(lambda: ticks.append(1), 1))
        hand = await mailbox.take()
        await mailbox.complete(hand.event.id, "", {})
        await database.read(lambda connection: connection.set_progress_handler(None, 0))
        return len(ticks)

    costs: list[int] = []
    costs.append(await steps())
    later = MORNING + timedelta(days=1)
    await asyncio.gather(
        *(mailbox.enqueue(work(not_before=(None, later)[n % 2], priority=-(n % 3))) for n in range(4000))
    )
    await database.write(lambda c: c.execute("UPDATE mailbox SET state = 'completed' WHERE arrival % 4 = 0").rowcount)
    costs.append(await steps())
    assert costs[1] <= 1.2 * costs[0]


@pytest.mark.shows("F12", "V29")
async def test_an_owner_s_events_go_whatever_their_state_and_nobody_else_s(database: Database) -> None:
    mailbox = Mailbox(database, Clock())
    for owner in ("ben", "ada"):
        for state in ("withdrawn", "pending"):
            await mailbox.enqueue(work(id=f"{owner}, {state}", owner_key=owner))
        assert await mailbox.withdraw(f"{owner}, withdrawn", "not wanted")
    await mailbox.enqueue(work(owner_key="ben", priority=9))
    assert (await mailbox.take()).event.owner_key == "ben"
    assert await mailbox.remove_owner("ada") == 2
    assert await mailbox.remove_owner("ben") == 2
    assert (await mailbox.counts())["in_hand"] == sum((await mailbox.counts()).values()) == 1
    assert await mailbox.remove_owner("ada", in_hand=True) == 0
    assert await mailbox.remove_owner("ben", in_hand=True) == 1


@pytest.mark.shows("A15", "A22")
async def test_who_sleeps_is_woken_by_the_enqueue_itself(database: Database) -> None:
    """Within how long is told by `scripts/bench mailbox`; here no clock moves, so that nothing else can wake it."""
    clock = Clock()
    mailbox = Mailbox(database, clock, clock.wait)
    async with asyncio.TaskGroup() as together:
        taken = together.create_task(mailbox.take())
        await clock.someone_sleeps()
        await mailbox.enqueue(work("news"))
        assert (await taken).event.content == "news"
    assert clock.waits == [None]


async def test_an_enqueue_that_is_cancelled_wakes_the_sleeper_too_for_it_may_have_happened(database: Database) -> None:
    clock = Clock()
    mailbox = Mailbox(database, clock, clock.wait)
    door = threading.Event()
    async with asyncio.TaskGroup() as together:
        sleeper = together.create_task(mailbox.take())
        await clock.someone_sleeps()
        together.create_task(database.read(lambda _: door.wait(timeout=30)))
        given_up = together.create_task(mailbox.enqueue(work("given up")))
        together.create_task(_cancel(given_up))
        with pytest.raises(asyncio.CancelledError):
            await given_up
        door.set()
        await mailbox.enqueue(work("meant"))
        assert (await sleeper).event.content == "meant"
    assert len(clock.waits) == 2


async def test_it_is_not_idle_while_something_is_being_filed_nor_before_that_was_looked_at(database: Database) -> None:
    mailbox = Mailbox(database)
    door = threading.Event()

    async def file() -> None:
        await mailbox.enqueue(work())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await mailbox.until_idle()

    async with asyncio.TaskGroup() as together:
        together.create_task(database.read(lambda _: door.wait(timeout=30)))
        consumer = together.create_task(mailbox.take())  # its look finds nothing yet
        together.create_task(file())
        together.create_task(_open(door))
    await mailbox.complete(consumer.result().event.id, "", {})
    async with asyncio.TaskGroup() as together:
        consumer = together.create_task(mailbox.take())
        await mailbox.until_idle()
        await mailbox.enqueue(work())


async def _open(door: threading.Event) -> None:
    door.set()


async def _cancel(task: asyncio.Task[bool]) -> None:
    task.cancel()


async def test_a_state_that_cannot_be_used_is_told_and_nobody_sleeps_over_it(tmp_path: Path) -> None:
    mailbox = Mailbox(Database(tmp_path / "nakari.db"))
    with pytest.raises(StateUnusable):
        await mailbox.enqueue(work())
    with pytest.raises(StateUnusable):
        await mailbox.take()


@pytest.mark.parametrize(
    ("ahead", "seconds"), [(None, None), (0.5, 0.5), (-3, 0.0), (0.9, 0.9), (31.0, 1.0), (86_400.0, 1.0)]
)
def test_the_clock_is_looked_at_again_within_a_second(ahead: float | None, seconds: float | None) -> None:
    until = None if ahead is None else MORNING + timedelta(seconds=ahead)
    assert seconds_to_sleep(MORNING, until) == seconds


@pytest.mark.shows("A17", "G13")
@pytest.mark.parametrize(("step", "seconds"), [(3600.0, 50.0), (-600.0, 50.0), (0.0, 100.0)])
def test_a_clock_that_is_set_meanwhile_is_noticed_within_a_second(step: float, seconds: float) -> None:
    """Wait towards a moment 100 s away, on a clock that is set after 50: set back, minutes are minutes all the same."""

    async def waited() -> float:
        loop = asyncio.get_running_loop()
        begun = loop.time()

        def now() -> datetime:
            passed = loop.time() - begun
            return MORNING + timedelta(seconds=passed + (step if passed >= 50.0 else 0.0))

        await waiting_by(now)(asyncio.Event(), MORNING + timedelta(seconds=100))
        return loop.time() - begun

    assert seconds <= run_virtually(waited()) + 1e-6 <= seconds + 1.0


def test_whoever_waits_is_not_woken_for_each_look_at_the_clock() -> None:
    class Changes(asyncio.Event):
        waits = 0

        async def wait(self) -> Literal[True]:
            self.waits += 1
            return await super().wait()

    async def waited() -> tuple[float, int]:
        loop, changed = asyncio.get_running_loop(), Changes()
        begun = loop.time()
        await waiting_by(lambda: MORNING + timedelta(seconds=loop.time() - begun))(
            changed, MORNING + timedelta(hours=1)
        )
        return loop.time() - begun, changed.waits

    seconds, waits = run_virtually(waited())
    assert seconds == pytest.approx(3600.0)
    assert waits == 1


@pytest.mark.shows("A17")
async def test_the_ordinary_wait_ends_at_its_moment_or_at_a_change() -> None:
    changed = asyncio.Event()
    clock = Clock()
    wait = waiting_by(clock)
    await wait(changed, clock.after(0.01))
    assert not changed.is_set()
    changed.set()
    await wait(changed, clock.after(3600))
    await wait(changed, None)
