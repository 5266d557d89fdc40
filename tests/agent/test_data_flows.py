"""The three ways in which nodes work together, on a real journal: delegation, observation, message."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent.bus import Bus
from agent.event import Event
from agent.handlers import Handler
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


@pytest.mark.shows("E22", "E4")
@pytest.mark.parametrize("wants_answer", [True, False])
async def test_message_one_node_speaks_to_another_with_or_without_an_answer(tmp_path: Path, wants_answer: bool) -> None:
    read = asyncio.Queue[str](10)

    def listener(name: str) -> Handler:
        async def listen(event: Event) -> Event:
            if event.target != name:
                return event
            await read.put(f"{name}: {event.content}")
            return replace(event, status="read", source=name, target=event.source)

        return listen

    message = Event(type="node.message", content="dinner is ready", source="kitchen", target="study")
    async with (
        a_journaled_bus(tmp_path) as (bus, _),
        serving(bus, *(("node.message", listener(name)) for name in ("garden", "study"))),
    ):
        if wants_answer:
            answer = await bus.request(message)
            assert (answer.status, answer.source, answer.target) == ("read", "study", "kitchen")
        else:
            assert await bus.send(message) == 2
        assert await read.get() == "study: dinner is ready"


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
