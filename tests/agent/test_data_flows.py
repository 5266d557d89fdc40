"""The three ways in which nodes work together, on a real journal: delegation, observation, message."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.bus import Bus, Handler
from agent.event import Event
from agent.record import Recorder
from memory.state.database import Database
from memory.state.journal import SCHEMA, Journal
from tests.agent.test_bus_requests import serving


@asynccontextmanager
async def a_journaled_bus(folder: Path) -> AsyncIterator[tuple[Bus, Journal]]:
    database = Database(folder / "nakari.db")
    await database.open(SCHEMA)
    journal = Journal(database)
    try:
        yield Bus(Recorder(journal)), journal
    finally:
        await database.close()


@pytest.mark.shows("E22", "E2")
async def test_delegation_one_node_has_another_do_something_and_gets_its_result(tmp_path: Path) -> None:
    async def calculator(event: Event) -> Event:
        left, right = event.content.split("+")
        return replace(event, status="completed", result=str(int(left) + int(right)))

    async with a_journaled_bus(tmp_path) as (bus, journal):
        watched = aiter(bus.observe("*"))
        async with serving(bus, ("action.execute", calculator)):
            asked = Event(type="action.execute", content="40+2", source="planner", target="calculator")
            answer = await bus.request(asked)
        assert (answer.status, answer.result) == ("completed", "42")
        assert [(await anext(watched)).id for _ in range(2)] == [asked.id, answer.id]
        assert [entry.id for entry in await journal.entries(topic="action.execute")] == [asked.id, answer.id]


@pytest.mark.shows("E22", "E3")
async def test_observation_a_thought_is_seen_by_all_who_look_and_needs_none(tmp_path: Path) -> None:
    async with a_journaled_bus(tmp_path) as (bus, journal):
        await bus.publish(Event(type="node.thinking", content="nobody looks"))
        console, memory = aiter(bus.observe("node.*")), aiter(bus.observe("*"))
        thought = Event(type="node.thinking", content="what if it rains")
        await bus.publish(thought)
        assert await anext(console) == await anext(memory) == thought
        assert len(await journal.entries(topic="node.thinking")) == 2


def listener(name: str, read: asyncio.Queue[str]) -> Handler:
    """Return a node that notes what is said to it, and answers."""

    async def listen(event: Event) -> Event:
        if event.target != name:
            return event
        await read.put(f"{name}: {event.content}")
        return replace(event, status="read", source=name, target=event.source)

    return listen


MESSAGE = Event(type="node.message", content="dinner is ready", source="kitchen", target="study")


@pytest.mark.shows("E22", "E4")
async def test_message_one_node_speaks_to_another_and_gets_an_answer(tmp_path: Path) -> None:
    read = asyncio.Queue[str](10)
    nodes = [("node.message", listener(name, read)) for name in ("garden", "study")]
    async with a_journaled_bus(tmp_path) as (bus, _), serving(bus, *nodes):
        answer = await bus.request(MESSAGE)
        assert (answer.status, answer.source, answer.target) == ("read", "study", "kitchen")
        assert await read.get() == "study: dinner is ready"


@pytest.mark.shows("E22", "E4")
async def test_message_one_node_speaks_to_another_and_goes_on(tmp_path: Path) -> None:
    read = asyncio.Queue[str](10)

    def attending(bus: Bus, name: str) -> Coroutine[None, None, None]:
        async def attend(event: Event) -> None:
            await listener(name, read)(event)

        return bus.attend("node.message", attend)

    async with a_journaled_bus(tmp_path) as (bus, _), asyncio.timeout(120), asyncio.TaskGroup() as group:
        nodes = [group.create_task(attending(bus, name)) for name in ("garden", "study")]
        await asyncio.sleep(0)
        await bus.publish(MESSAGE)
        assert await read.get() == "study: dinner is ready"
        for node in nodes:
            node.cancel()


@pytest.mark.shows("E17")
async def test_a_thousand_envelopes_merely_published_are_all_in_the_journal_once(tmp_path: Path) -> None:
    async with a_journaled_bus(tmp_path) as (bus, journal):
        published = [Event(type="plug.in", content=str(number)) for number in range(1000)]
        async with asyncio.TaskGroup() as group:
            for start in range(0, 1000, 50):
                group.create_task(bus.publish(*published[start : start + 50]))
        await bus.publish(*published[:10])
        kept = await journal.entries(topic="plug.in")
    assert sorted(entry.id for entry in kept) == sorted(event.id for event in published)
