"""The bus: the journal first, then the observers in publish order, who harm nobody."""

import asyncio
import tracemalloc
from pathlib import Path

import pytest

from agent.bus import RECENT, Bus
from agent.event import Event
from agent.record import Recorder
from memory.errors import StateUnusable
from memory.state.database import Database
from memory.state.journal import SCHEMA, Journal
from tests.agent.buses import Keeper, Pair


def numbered(*numbers: int, topic: str = "node.message") -> list[Event]:
    return [Event(type=topic, content=str(number)) for number in numbers]


@pytest.mark.shows("E5", "E7", "E11")
async def test_an_observer_sees_each_envelope_it_asked_for_unchanged_and_in_order(pair: Pair) -> None:
    keeper, bus = pair.keeper, pair.here
    everything, nodes, exact = pair.observe("*"), pair.observe("node.*"), pair.observe("ui.events")
    published = [*numbered(1, 2), *numbered(3, topic="ui.events"), *numbered(4)]
    before = repr(published)
    await bus.publish(*published[:2])
    await bus.publish(*published[2:])
    assert keeper.kept == published
    assert repr(published) == before
    for observer, wanted in ((everything, published), (nodes, [*published[:2], published[3]]), (exact, [published[2]])):
        stream = aiter(observer)
        assert [await anext(stream) for _ in wanted] == wanted


async def test_whose_envelope_cannot_be_written_takes_nothing_along_of_what_others_held(tmp_path: Path) -> None:
    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA)
    journal = Journal(database)
    bus = Bus(Recorder(journal))
    held = Event("node.message", "of a run")
    bus.hold(held)
    with pytest.raises(TypeError, match="not JSON serializable"):
        await bus.publish(Event("plugin.news", metadata={"what": object()}))  # type: ignore[dict-item]
    assert [entry.id for entry in await journal.entries()] == [held.id]
    bus.hold(Event("node.message", metadata={"what": object()}))  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="not JSON serializable"):
        await bus.publish(*numbered(1))
    await bus.publish(*numbered(2))  # what cannot be written is held no longer
    assert len(await journal.entries()) == 2
    await database.close()


@pytest.mark.shows("E5", "E11")
async def test_what_the_journal_refuses_nobody_sees(pair: Pair) -> None:
    keeper, bus = pair.keeper, pair.here
    observer = pair.observe("*")
    keeper.refuses = OSError("the disk is full")
    with pytest.raises(OSError, match="disk is full"):
        await bus.publish(*numbered(1))
    keeper.refuses = None
    await bus.publish(*numbered(2))
    assert (await anext(aiter(observer))).content == "2"


@pytest.mark.shows("E5", "E11")
async def test_what_is_held_goes_with_the_next_envelopes_and_before_them(pair: Pair) -> None:
    keeper, bus = pair.keeper, pair.here
    stream = aiter(pair.observe("*"))
    first, second, third, fourth = numbered(1, 2, 3, 4)
    bus.hold(first)
    bus.hold(second)
    assert keeper.written == []
    await bus.publish(third)
    assert keeper.written == [(first, second, third)], "one transaction, in order"
    assert [await anext(stream) for _ in range(3)] == [first, second, third]
    bus.hold(fourth)
    await bus.publish()
    await bus.publish()
    assert keeper.written[1:] == [(fourth,)]
    with pytest.raises(TypeError, match="only an Event"):
        bus.hold("words")  # type: ignore[arg-type]


@pytest.mark.shows("A24", "H9")
async def test_a_transaction_lasts_when_anything_in_it_has_to() -> None:
    keeper = Keeper()
    bus = Bus(keeper)
    passing, durable = numbered(1, 2)
    await bus.publish(passing, durable=False)
    bus.hold(passing, durable=False)
    await bus.publish(durable)
    bus.hold(durable)
    bus.hold(passing, durable=False)
    keeper.refuses = StateUnusable("the disk is full")
    with pytest.raises(StateUnusable):
        await bus.publish(passing, durable=False)
    keeper.refuses = None
    await bus.publish(passing, durable=False)
    await bus.publish(passing, durable=False)
    assert keeper.lasted == [False, True, True, False], "what was held for the disk stays so until it is there"


@pytest.mark.shows("A24", "E11")
async def test_a_change_of_the_state_goes_along_with_its_envelopes_and_those_held(pair: Pair) -> None:
    keeper, bus = pair.keeper, pair.here
    held, told = numbered(1, 2)
    stream = aiter(pair.observe("*"))

    def change(connection: object) -> None: ...

    bus.hold(held, durable=False)
    write = bus.in_transaction(told, durable=False)
    assert keeper.written == [], "nothing is written before the change is there"
    await write(change)
    assert (keeper.written, keeper.changes, keeper.lasted) == ([(held, told)], [change], [False])
    assert [await anext(stream) for _ in range(2)] == [held, told]
    with pytest.raises(TypeError, match="only an Event"):
        await bus.in_transaction("words")(change)  # type: ignore[arg-type]


async def test_what_is_held_outlives_a_full_disk_but_not_a_bug() -> None:
    keeper = Keeper()
    bus = Bus(keeper)
    held, lost, next_one = numbered(1, 2, 3)
    bus.hold(held)
    keeper.refuses = StateUnusable("the disk is full")
    with pytest.raises(StateUnusable):
        await bus.publish(lost)
    keeper.refuses = None
    await bus.publish(next_one)
    assert keeper.kept == [held, next_one]
    bus.hold(held)
    keeper.refuses = TypeError("no JSON")
    with pytest.raises(TypeError):
        await bus.publish()
    keeper.refuses = None
    await bus.publish(lost)
    assert keeper.kept[2:] == [lost]


@pytest.mark.shows("E7", "E11")
async def test_a_slow_observer_loses_the_oldest_and_knows_how_many(pair: Pair) -> None:
    keeper, bus = pair.keeper, pair.here
    slow, quick = pair.observe("*", capacity=3), aiter(pair.observe("*"))
    await bus.publish(*numbered(*range(10)))
    assert [(await anext(quick)).content for _ in range(10)] == [str(number) for number in range(10)]
    stream = aiter(slow)
    assert [(await anext(stream)).content for _ in range(3)] == ["7", "8", "9"]
    assert slow.lost == 7
    assert len(keeper.kept) == 10, "the journal loses nothing"


@pytest.mark.shows("E11")
async def test_a_passing_piece_is_shown_but_not_kept(pair: Pair) -> None:
    keeper, bus = pair.keeper, pair.here
    observer = pair.observe("ui.*")
    bus.show(numbered(1, topic="ui.events")[0])
    assert (await anext(aiter(observer))).content == "1"
    assert keeper.kept == []


@pytest.mark.shows("E11")
async def test_who_forgets_sees_no_more(pair: Pair) -> None:
    observer, other = pair.observe("*"), pair.observe("*")
    pair.there.forget(observer)
    await pair.here.publish(*numbered(1))
    assert (await anext(aiter(other))).content == "1"
    assert (observer.lost, [*observer.waiting()]) == (0, [])


def test_an_event_is_frozen_and_has_a_type() -> None:
    event = Event(type="anything at all")
    with pytest.raises(AttributeError):
        event.content = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="needs a type"):
        Event(type=" ")


@pytest.mark.shows("E20", "E11")
async def test_an_observer_that_crashes_harms_neither_the_others_nor_itself(pair: Pair) -> None:
    seen: list[str] = []
    all_seen = asyncio.Event()

    async def crash(event: Event) -> None:
        seen.append(f"crashed at {event.content}")
        raise ZeroDivisionError("a bug")

    async def keep(event: Event) -> None:
        seen.append(event.content)
        if event.content == "3":
            all_seen.set()

    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        tasks = [group.create_task(pair.there.attend("*", observe, everywhere=True)) for observe in (crash, keep)]
        await asyncio.sleep(0)
        await pair.here.publish(*numbered(1, 2, 3))
        await all_seen.wait()
        for task in tasks:
            task.cancel()
    assert sorted(seen) == ["1", "2", "3", "crashed at 1", "crashed at 2", "crashed at 3"]


@pytest.mark.shows("E6")
async def test_the_bus_keeps_the_last_hundred_envelopes_and_nothing_else() -> None:
    async def nowhere(events: tuple[Event, ...]) -> None:
        return None

    bus = Bus(nowhere)
    lagging = bus.observe("*", capacity=10)
    tracemalloc.start()
    try:
        await bus.publish(*numbered(*range(2 * RECENT)))
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(100):
            await bus.publish(*numbered(*range(100)))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(bus.recent) == RECENT
    assert lagging.lost == 10_000 + 2 * RECENT - 10
    assert after - before < 64 * 1024, "ten thousand envelopes leave nothing behind"


@pytest.mark.shows("E18")
def test_every_envelope_says_whose_session_it_is() -> None:
    assert Event(type="x").session_id == "room"
    assert Event(type="x", session_id="desk").session_id == "desk"
