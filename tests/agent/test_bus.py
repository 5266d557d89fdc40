"""The bus: the journal first, then the observers in publish order, who harm nobody."""

import dataclasses

import pytest

from agent.bus import Bus
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
