"""A house whose graph is open, and visitors with keys: tools called as the loop calls them, time as the test says."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct

from agent.event import HOUSEHOLD, USER_TEXT, Event
from agent.tools.registry.sharing import shared
from agent.tools.tool import Call, Tool, run_tool
from appliance.config.load import Config
from appliance.owners.visitors import Visitors
from appliance.wiring.memory.graph import GraphSide, graph_side
from appliance.wiring.memory.managed_graph import ManagedGraph
from audio.loops import running
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.store import Dialect
from memory.vectors.embedding import Embedder, NoEmbedder

ADA, BEN, CLEO = ("a1" * 32, "be" * 32, "c0" * 32)
"""Keys of visitors."""

_SPYING = (
    "MATCH (n) RETURN n",
    "MATCH ()-[r]->() RETURN r",
    "CALL db.labels() YIELD label RETURN label",
    "SHOW INDEXES",
    "SHOW DATABASES",
    "USE graph MATCH (n) RETURN n",
    "LOAD CSV FROM 'file://{folder}/audit/00000000000000000001.jsonl' AS line RETURN line",
    "LOAD CSV FROM 'file://{folder}/owners/{other}/audit/00000000000000000001.jsonl' AS line RETURN line",
    "CALL apoc.load.json('file://{folder}/audit/00000000000000000001.jsonl') YIELD value RETURN value",
)


def spying_in(folder: Path, other: str) -> list[str]:
    """Return ways to look at all that a store can see, and beyond it; refused or not, none may tell."""
    return [each.replace("{folder}", str(folder)).replace("{other}", other) for each in _SPYING]


@dataclass
class Time:
    """The seconds by which a graph counts as unused; it is looked at when the test says so."""

    now: float = 0.0
    _looks: asyncio.Queue[None] = field(default_factory=asyncio.Queue)

    def clock(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        await self._looks.get()

    def passes(self, seconds: float) -> None:
        """Let time pass, and the next look be taken."""
        self.now += seconds
        self._looks.put_nowait(None)


class RunState(Struct, frozen=True):
    """Calls tools with JSON text, in an event of an owner."""

    tools: dict[str, Tool]

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> "RunState":
        return cls({tool.name: tool for tool in tools})

    async def text(self, owner: str, name: str, event: str = "event", **arguments: Any) -> str:
        """Return the observation."""
        call = Call("1", Event(USER_TEXT, "", id=event, owner_key=owner))
        return await run_tool(self.tools[name], json.dumps(arguments), call)

    async def write(self, owner: str, cypher: str, event: str = "event", **params: Any) -> Any:
        """Return what a statement did that is not refused."""
        return json.loads(await self.text(owner, "memory_write", event, cypher=cypher, params=params))

    async def names(self, owner: str) -> list[str]:
        """Return every label that this owner's memory holds, read and told by its schema alike."""
        found = json.loads(
            await self.text(
                owner, "memory_query", cypher="MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l ORDER BY l"
            )
        )
        schema = json.loads(await self.text(owner, "memory_schema"))
        labels = [row["l"] for row in found["records"]]
        assert sorted(schema["labels"]) == labels
        return labels


class House(Struct, frozen=True):
    """A household's graph and its visitors', as the box opens them."""

    graph: GraphSide
    desk: RunState

    @property
    def visitors(self) -> Visitors:
        assert self.graph.visitors is not None
        return self.graph.visitors


def is_household(owner: str) -> bool:
    return owner == HOUSEHOLD


@asynccontextmanager
async def at_home(config: Config, shares: Callable[[str], bool] = is_household) -> AsyncIterator[House]:
    """Open the graphs of a box and keep them running."""
    async with graph_side(config) as graph, running(graph.loops()):
        if graph.store is not None:
            await graph.store.until(State.READY)
        yield House(graph, RunState.of(graph.lent(shares, None).tools))


@dataclass
class Guests:
    """Visitors alone, in a house without a household; `time` stands still."""

    folder: Path
    most: int = 16
    embedder: Embedder = field(default_factory=NoEmbedder)
    described: Dialect | None = None
    time: Time = field(default_factory=Time)

    @asynccontextmanager
    async def received(self) -> AsyncIterator[tuple[Visitors, RunState]]:
        """Keep their graphs running; all tools are theirs."""

        def make(store: EmbeddedStore) -> ManagedGraph:
            return ManagedGraph(store.folder.parent, store, self.embedder, self.described)

        visitors = Visitors(self.folder / "owners", make, self.most, self.time.clock, self.time.pause)
        listed = ManagedGraph(self.folder, EmbeddedStore(self.folder / "graph"), self.embedder)
        async with running({"visitors": visitors.run}):
            try:
                yield visitors, RunState.of(shared(listed.tools, is_household, visitors.lend))
            finally:
                await listed.close()


async def until(condition: Callable[[], bool]) -> None:
    """Return when it holds; somebody else brings it about."""
    async with asyncio.timeout(120):
        while not condition():  # noqa: ASYNC110  no event tells it
            await asyncio.sleep(0)
