"""The bus: the journal first, then the observers in publish order, who harm nobody."""

import asyncio
import dataclasses
import tracemalloc

import pytest

from agent.bus import RECENT, Bus
from agent.event import Event


class Keeper:
    """A journal that keeps what it gets, or refuses."""

    def __init__(self) -> None:
        self.kept: list[Event] = []
        self.refuses = False

    async def __call__(self, events: tuple[Event, ...]) -> None:
        if self.refuses:
            raise OSError("the disk is full")
        self.kept += events


def numbered(*numbers: int, topic: str = "node.message") -> list[Event]:
    return [Event(type=topic, content=str(number)) for number in numbers]


@pytest.mark.shows("E5", "E7")
async def test_an_observer_sees_each_envelope_it_asked_for_unchanged_and_in_order() -> None:
    keeper = Keeper()
    bus = Bus(keeper)
    everything, nodes, exact = bus.observe("*"), bus.observe("node.*"), bus.observe("ui.events")
    published = [*numbered(1, 2), *numbered(3, topic="ui.events"), *numbered(4)]
    before = [hash(dataclasses.astuple(e)[:2]) for e in published]
    await bus.publish(*published[:2])
    await bus.publish(*published[2:])
    assert keeper.kept == published
    assert [hash(dataclasses.astuple(e)[:2]) for e in published] == before
    for observer, wanted in ((everything, published), (nodes, [*published[:2], published[3]]), (exact, [published[2]])):
        stream = aiter(observer)
        assert [await anext(stream) for _ in wanted] == wanted


async def test_what_the_journal_refuses_nobody_sees() -> None:
    keeper = Keeper()
    bus = Bus(keeper)
    observer = bus.observe("*")
    keeper.refuses = True
    with pytest.raises(OSError, match="disk is full"):
        await bus.publish(*numbered(1))
    keeper.refuses = False
    await bus.publish(*numbered(2))
    assert (await anext(aiter(observer))).content == "2"


@pytest.mark.shows("E7")
async def test_a_slow_observer_loses_the_oldest_and_knows_how_many() -> None:
    keeper = Keeper()
    bus = Bus(keeper)
    slow = bus.observe("*", capacity=3)
    await bus.publish(*numbered(*range(10)))
    stream = aiter(slow)
    assert [(await anext(stream)).content for _ in range(3)] == ["7", "8", "9"]
    assert slow.lost == 7
    assert len(keeper.kept) == 10, "the journal loses nothing"


async def test_a_passing_piece_is_shown_but_not_kept() -> None:
    keeper = Keeper()
    bus = Bus(keeper)
    observer = bus.observe("ui.*")
    bus.show(numbered(1, topic="ui.events")[0])
    assert (await anext(aiter(observer))).content == "1"
    assert keeper.kept == []


async def test_who_forgets_sees_no_more() -> None:
    bus = Bus(Keeper())
    observer, other = bus.observe("*"), bus.observe("*")
    bus.forget(observer)
    await bus.publish(*numbered(1))
    assert (await anext(aiter(other))).content == "1"
    assert observer.lost == 0


def test_an_event_is_frozen_and_has_a_type() -> None:
    event = Event(type="anything at all")
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.content = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="needs a type"):
        Event(type=" ")


@pytest.mark.shows("E20")
async def test_an_observer_that_crashes_harms_neither_the_others_nor_itself() -> None:
    seen: list[str] = []
    all_seen = asyncio.Event()

    async def crash(event: Event) -> None:
        seen.append(f"crashed at {event.content}")
        raise ZeroDivisionError("a bug")

    async def keep(event: Event) -> None:
        seen.append(event.content)
        if event.content == "3":
            all_seen.set()

    bus = Bus(Keeper())
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        tasks = [group.create_task(bus.attend("*", observe)) for observe in (crash, keep)]
        await asyncio.sleep(0)
        await bus.publish(*numbered(1, 2, 3))
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
    assert "session_id" in {field.name for field in dataclasses.fields(Event)}
