"""Opens the graph: a configured Neo4j server or the embedded store; and chooses who makes vectors."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agent.context.remembered import Remembered
from agent.tools.memory import remember_tool
from agent.tools.registry.sharing import shared
from agent.tools.tool import Tool
from appliance.api.parts import Look
from appliance.config.load import GRAPH_PASSWORD, Config
from appliance.errors import ConfigError
from appliance.model.sentence import sentence_settings, usual_embedder
from appliance.owners.visitors import Visitors
from appliance.wiring.memory.managed_graph import ManagedGraph
from audio.loops import Loop
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.name_usage import NameUsage
from memory.graph.store import Dialect, Neo4jServer
from memory.history.lookups import LookupIndexes
from memory.history.writer import Writer
from memory.json_value import Json
from memory.state.database import Database
from memory.vectors.embedding import Embedder, NoEmbedder, OpenAiEmbedder
from memory.vectors.embedding_local import LocalEmbedder

WAKING_SECONDS: Final = 15.0
"""How long a first statement waits for the store to start, of the twenty seconds that its tool has."""


async def _nothing() -> None:
    return


class OnDemand:
    """Starts a graph when it is first used."""

    def __init__(self, graph: ManagedGraph) -> None:
        self.wanted = asyncio.Event()
        self._graph = graph

    async def wake(self) -> None:
        """Have it started and wait for it; one that does not come up is told by the statement."""
        self.wanted.set()
        if self._graph.store is not None:
            await self._graph.store.until(State.READY, WAKING_SECONDS)

    async def when_wanted(self, loop: Loop) -> None:
        """Run a loop from when the graph is wanted."""
        await self.wanted.wait()
        await loop()

    def waking(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return the tools, each of which wakes the graph first."""
        return [replace(tool, function=self._waking(tool.function)) for tool in tools]

    def _waking(self, function: Callable[..., Awaitable[Json]]) -> Callable[..., Awaitable[Json]]:
        async def use(**values: object) -> Json:
            await self.wake()
            return await function(**values)

        return use


class GraphSide(Struct, frozen=True):
    """What the rest of the box sees of the graph."""

    wake: Callable[[], Awaitable[None]]
    """Starts a graph that is opened on demand, and waits for it; returns at once for any other."""
    tools: list[Tool]
    """Over the household's; empty when it is to have no graph."""
    loops: Callable[[], Mapping[str, Loop]]
    """They keep the box's own stores running, and the graphs saved; none without a graph."""
    describe: Look
    embedder: Embedder
    """Who makes vectors, for the tiers too."""
    writer: Writer | None = None
    """None without a graph."""
    store: EmbeddedStore | None = None
    """The box's own; None at a server."""
    visitors: Visitors | None = None
    """None without a graph."""
    name_usage: NameUsage = field(default_factory=NameUsage)
    """Which names of the household's graph were asked for."""

    def with_lookups(self, is_busy: Callable[[], bool]) -> "GraphSide":
        """Return it with what makes indexes for lookups by itself while not `is_busy`; the same without a graph."""
        if self.writer is None:
            return self
        indexes = LookupIndexes(self.writer, self.store, self.name_usage, is_busy)
        return replace(self, loops=lambda: {**self.loops(), "graph: indexes for what is looked up": indexes.run})

    def lent(self, shares: Callable[[str], bool], remembered: Remembered | None) -> "LentGraph":
        """Return what the mind has of it; `shares` says who shares the household's."""
        visitors = self.visitors
        tools = shared(self.tools, shares, visitors.lend) if visitors else []
        return LentGraph(
            [*tools, *([remember_tool(remembered)] if remembered else [])],
            remembered,
            lambda owner: visitors is not None and (shares(owner) or visitors.may_have(owner)),
            self.writer,
            self.name_usage,
        )


class LentGraph(Struct, frozen=True):
    """What the mind has of the graph."""

    tools: Sequence[Tool]
    """As all events have them: over the household's graph, or over a visitor's own; empty without a graph."""
    remembered: Remembered | None
    """What the agent's own query tells at the opening of an epoch; None without a graph."""
    is_for: Callable[[str], bool]
    """Whether an owner's events have a graph to write into: the household's, or one of their own."""
    writer: Writer | None
    """Of the household's graph; None without one."""
    name_usage: NameUsage
    """Which names of it were asked for."""


@asynccontextmanager
async def graph_side(
    config: Config, database: Database | None = None, *, on_demand: bool = False
) -> AsyncIterator[GraphSide]:
    """Make the graph's client; nothing is started or connected here, so that listening waits for none of it.

    `on_demand` has its loops wait for the first call of one of its tools, so that a question that needs no memory
    starts no child process.
    The state database, open for longer, keeps the audit logs' anchors and which names were asked for.
    Raises `ConfigError` for an embedding model that lacks its name or address.
    """
    settings = config.memory
    if not settings.enabled:
        yield GraphSide(
            _nothing, [], dict, Look(lambda: {"state": "off"}), NoEmbedder(), name_usage=NameUsage(database)
        )
        return
    store = store_of(config)
    embedder = choose_embedder(config)
    household = ManagedGraph(config.state_folder, store, embedder, database=database)
    visitors = _visitors(config, embedder, store.dialect, database)
    start = OnDemand(household) if on_demand else None

    def loops() -> Mapping[str, Loop]:
        loops = {**household.loops(), "graph: visitors' own, while they are used": visitors.run}
        return loops if start is None else {name: partial(start.when_wanted, loop) for name, loop in loops.items()}

    def describe() -> dict[str, Json]:
        own = household.store
        lacking = household.server.lacking if household.server else ""
        state: dict[str, Json] = {"state": "server", "uri": settings.uri, **({"reason": lacking} if lacking else {})}
        state = state if own is None else {"state": own.state.value, "reason": own.reason}
        return state | {"embeddings": embedder.name, "visitors": visitors.describe()}

    try:
        tools, wake = (household.tools, _nothing) if start is None else (start.waking(household.tools), start.wake)
        own, usage = household.store, household.name_usage
        yield GraphSide(wake, tools, loops, Look(describe), embedder, household.writer, own, visitors, usage)
    finally:
        await embedder.close()
        await household.close()


def choose_embedder(config: Config) -> Embedder:
    """Return who makes vectors; nothing is loaded or asked yet. Raises `ConfigError` when a setting of it is missing.

    A local folder that holds no model is told by each use: memory works without vectors.
    """
    settings = config.memory
    if settings.embeddings == "off":
        return NoEmbedder()
    if settings.embeddings == "auto" and not settings.embedding_model:
        return usual_embedder(sentence_settings(config))
    if not settings.embedding_model:
        what = "a model's folder" if settings.embeddings == "local" else "a model's name"
        raise ConfigError(f'[memory] embeddings = "{settings.embeddings}" needs embedding_model, {what}; add it')
    if settings.embeddings in ("auto", "local"):
        return LocalEmbedder(embedding_folder(config.state_folder, settings.embedding_model))
    if not settings.embedding_url:
        raise ConfigError('[memory] embeddings = "api" needs embedding_url, the server\'s address; add it')
    key = config.revealed(settings.embedding_key_env)
    return OpenAiEmbedder(url=settings.embedding_url, model=settings.embedding_model, key=key)


def embedding_folder(state_folder: Path, model: str) -> Path:
    """Return the folder of the local embedding model: as it is set, or by its name among the models of the box."""
    return state_folder / "models" / Path(model).expanduser()


def store_of(config: Config) -> Neo4jServer | EmbeddedStore:
    """Return where the household's graph lives; nothing is started or asked yet."""
    if config.memory.uri:
        return server_of(config)
    return EmbeddedStore(config.state_folder / "graph", config.memory.bolt_port)


def server_of(config: Config) -> Neo4jServer:
    """Return the household's own server, as the configuration names it."""
    password = config.revealed(GRAPH_PASSWORD)
    return Neo4jServer(uri=config.memory.uri, user=config.memory.user, password=password)


def _visitors(config: Config, embedder: Embedder, described: Dialect, database: Database | None) -> Visitors:
    """Return who keeps the graphs of visitors, in stores of the box, whatever the household's own is in."""

    def make(store: EmbeddedStore) -> ManagedGraph:
        folder = store.folder.parent
        return ManagedGraph(folder, store, embedder, described, database, folder.name)

    can_run = find_spec("arcadedb") is not None
    return Visitors(config.state_folder / "owners", make, config.memory.visitors if can_run else 0)
