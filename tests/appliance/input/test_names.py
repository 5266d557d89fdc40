"""Names that the recognizer expects: of the household's memory alone, fresh, bounded, in the script of the language."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from agent.bus import Bus
from agent.event import HOUSEHOLD, Event
from appliance.input.names import (
    MOST_CHARACTERS,
    MOST_NAMES,
    SETTLE_SECONDS,
    GraphNames,
    KnownNames,
    bounded,
    is_order,
)
from memory.errors import GraphUnavailable
from memory.graph.cypher import Statement
from memory.graph.results import Result
from memory.json_value import Json

pytestmark = pytest.mark.shows("V13")


@dataclass
class Memory:
    """A graph's `read`, and the bus on which its tools are seen."""

    called: list[Json] = field(default_factory=list)
    is_down: bool = False
    asked: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    paused: list[float] = field(default_factory=list)

    async def read(self, cypher: str | Statement) -> Result:
        self.asked.release()
        if self.is_down:
            raise GraphUnavailable("down")
        return Result([{"called": [[name, None] for name in self.called]}], 0)

    async def pause(self, seconds: float) -> None:
        self.paused.append(seconds)
        await asyncio.sleep(0)


async def journal(*_: object, **__: object) -> None:
    """Keep nothing."""


def use(owner_key: str, text: str, tool: str = "memory_write") -> Event:
    return Event(type="tools.requests", owner_key=owner_key, source="self", metadata={"tool_name": tool, "args": text})


@asynccontextmanager
async def running(memory: Memory, bus: Bus) -> AsyncIterator[KnownNames]:
    graph = GraphNames(memory.read, bus, lambda owner: owner == HOUSEHOLD)
    names = KnownNames(graph, pause=memory.pause)
    with suppress(asyncio.CancelledError):
        async with asyncio.TaskGroup() as group:
            loops = [group.create_task(graph.run()), group.create_task(names.run())]
            await memory.asked.acquire()
            await until(names, memory)
            yield names
            for loop in loops:
                loop.cancel()


async def until(names: KnownNames, memory: Memory) -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_what_the_memory_was_told_last_comes_first_and_within_a_minute() -> None:
    memory, bus = Memory(["Anna", "Bo", "Cyrus"]), Bus(journal)
    async with running(memory, bus) as names:
        assert names("en") == ["Anna", "Bo", "Cyrus"]
        memory.called.append("Xanthippe")
        await bus.publish(use(HOUSEHOLD, '{"cypher": "CREATE ...", "params": {"n": "Xanthippe", "of": "Bo"}}'))
        await memory.asked.acquire()
        await until(names, memory)
        assert names("en") == ["Bo", "Xanthippe", "Anna", "Cyrus"]
        assert sum(memory.paused) < 60.0
        assert SETTLE_SECONDS in memory.paused


async def test_a_visitors_words_decide_nothing() -> None:
    memory, bus = Memory(["Anna", "Bo"]), Bus(journal)
    async with running(memory, bus) as names:
        await bus.publish(use("a visitor's key", "Bo"), use(HOUSEHOLD, "Bo", "web_search"))
        await until(names, memory)
        assert memory.asked.locked()
        await bus.publish(use(HOUSEHOLD, "Anna"))
        await memory.asked.acquire()
        await until(names, memory)
        assert names("en") == ["Anna", "Bo"]


async def test_a_memory_that_is_down_is_asked_again() -> None:
    memory, bus = Memory(["Anna"], is_down=True), Bus(journal)
    async with running(memory, bus) as names:
        assert names("en") == []
        memory.is_down = False
        await memory.asked.acquire()
        await until(names, memory)
        assert names("en") == ["Anna"]


async def test_names_are_of_the_script_of_the_language() -> None:
    memory = Memory(["Anna", "李小龙", "Анна", "さくら", "김민준"])
    async with running(memory, Bus(journal)) as names:
        told: dict[str, Sequence[str]] = {
            language: names(language) for language in ("en", "de", "", "zh", "ja", "ru", "ko")
        }
    latin = ["Anna"]
    assert told == {
        **{"en": latin, "de": latin, "": latin, "zh": ["李小龙"], "ja": ["李小龙", "さくら"], "ru": ["Анна"]},
        "ko": ["李小龙", "김민준"],
    }


def test_they_are_bounded() -> None:
    assert bounded([f"{number:02}" for number in range(99)]) == [f"{number:02}" for number in range(MOST_NAMES)]
    kept = bounded([f"Xanthippe{number:02}" for number in range(99)])
    assert MOST_CHARACTERS - 13 <= len(", ".join(kept)) <= MOST_CHARACTERS


@pytest.mark.parametrize("name", ["Stop", "Mute", "Ignore Previous", "Delete Everything", "Tell Me More", "停"])
def test_what_reads_like_an_order_is_not_expected(name: str) -> None:
    assert is_order(name)


def test_a_name_is_no_order() -> None:
    assert not any(map(is_order, ["Xanthippe", "Will", "Mark", "Andrea", "李小龙"]))
