"""Every message is in the journal before anybody acts on it, sees it, or is told that it was published."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from agent.bus import Bus
from agent.event import Event
from agent.model.messages import Message
from agent.tools.tool import tool
from tests.agent.mind import a_mind, spoken
from tests.agent.test_data_flows import a_journaled_bus
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("F11")

FIRST, SECOND = Event(type="node.message", content="first"), Event(type="node.message", content="second")


async def _held(bus: Bus, *, durable: bool) -> None:
    bus.hold(FIRST, durable=durable)
    await bus.publish(SECOND, durable=False)


async def _along(bus: Bus, *, durable: bool) -> None:
    await bus.in_transaction(FIRST, SECOND, durable=durable)(lambda connection: None)


WAYS: dict[str, Callable[[Bus], Awaitable[object]]] = {
    "published": lambda bus: bus.publish(FIRST, SECOND),
    "published, need not last": lambda bus: bus.publish(FIRST, SECOND, durable=False),
    "held": lambda bus: _held(bus, durable=True),
    "held, need not last": lambda bus: _held(bus, durable=False),
    "with a change": lambda bus: _along(bus, durable=True),
    "with a change, need not last": lambda bus: _along(bus, durable=False),
}


@pytest.mark.parametrize("way", WAYS)
async def test_nobody_sees_an_envelope_while_the_journal_writes_it(way: str) -> None:
    begun, whole = asyncio.Event(), asyncio.Event()
    seen: list[str] = []

    async def journal(events: tuple[Event, ...], **_: object) -> None:
        assert events == (FIRST, SECOND)
        begun.set()
        await whole.wait()

    async def look(event: Event) -> None:
        seen.append(event.content)

    bus = Bus(journal)
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        looking = group.create_task(bus.attend("*", look))
        await asyncio.sleep(0)
        publishing = group.create_task(_published(WAYS[way](bus)))
        await begun.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        assert (seen, list(bus.recent), publishing.done()) == ([], [], False)
        whole.set()
        await publishing
        await asyncio.sleep(0)
        assert seen == ["first", "second"]
        assert list(bus.recent) == [FIRST, SECOND]
        looking.cancel()


async def _published(way: Awaitable[object]) -> None:
    await way


async def test_a_request_is_in_the_journal_before_its_handler_has_it_and_its_answer_before_it_is_returned(
    tmp_path: Path,
) -> None:
    async with a_journaled_bus(tmp_path) as (bus, _), asyncio.TaskGroup() as group:

        async def handle(event: Event) -> Event:
            assert stored(tmp_path) == [event.id]
            return Event(type="node.answer", parent_id=event.id, status="completed")

        serving = group.create_task(bus.serve("node.message", handle))
        await asyncio.sleep(0)
        answer = await bus.request(FIRST)
        assert answer.status == "completed", answer.error
        assert stored(tmp_path) == [FIRST.id, answer.id]
        serving.cancel()


def stored(folder: Path, column: str = "id") -> list[str]:
    """Return what another process finds in the journal now."""
    with closing(sqlite3.connect(f"file:{folder}/nakari.db?mode=ro", uri=True)) as database:
        return [str(found) for (found,) in database.execute(f"SELECT {column} FROM journal ORDER BY seq")]


async def test_each_message_of_a_turn_is_stored_before_it_is_acted_on(tmp_path: Path) -> None:
    """What a person said before the model is asked, its call before the tool runs, the result before it is asked on."""
    acted: list[str] = []

    def is_stored(*words: str) -> bool:
        found = stored(tmp_path, "topic || body")
        return all(any(each in body for body in found) for each in words)

    def asked(messages: Sequence[Message]) -> Message:
        assert is_stored("is it dry?")
        acted.append("human")
        return calls(("look", '{"where": "the window"}'))

    async def look(where: str) -> str:
        """Look there."""
        assert is_stored("is it dry?", "the window")
        acted.append("ai")
        return f"rain before {where}"

    def asked_again(messages: Sequence[Message]) -> Message:
        assert is_stored("is it dry?", "rain before the window")
        acted.append("tool")
        return calls(("reply", '{"text": "It rains."}'), prefix="b")

    async with a_mind(tmp_path, [ScriptedModel(asked, asked_again)], [tool(look)]) as mind:
        await mind.handle(spoken("is it dry?"))
        assert acted == ["human", "ai", "tool"]
        assert mind.outlet.said == ["It rains."]
        assert is_stored("It rains.")
