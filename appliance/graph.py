"""Her graph, opened: a server of the household's own, or the store that comes with the box."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent.model.messages import Json
from agent.tools.memory import memory_tools
from agent.tools.tool import Tool
from appliance.config import Config
from memory.embedding import Handles, NoEmbedder
from memory.graph.embedded import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer


@dataclass(frozen=True, slots=True)
class GraphSide:
    """What the rest of the box sees of her graph."""

    tools: list[Tool]
    """Empty when she is to have no graph."""
    run: Callable[[], Coroutine[None, None, None]]
    """Keeps the box's own store running until cancelled; returns at once where there is none."""
    describe: Callable[[], dict[str, Json]]


@asynccontextmanager
async def graph_side(config: Config) -> AsyncIterator[GraphSide]:
    """Make the graph's client; nothing is started or connected here, so that listening waits for none of it."""
    settings = config.memory
    if not settings.enabled:
        yield GraphSide([], _nothing, lambda: {"state": "off"})
        return
    store = _server(config) if settings.uri else EmbeddedStore(config.state_folder / "graph", settings.bolt_port)
    graph = Graph(store)
    tools = memory_tools(graph, Handles(NoEmbedder()))
    try:
        if isinstance(store, EmbeddedStore):
            yield GraphSide(tools, store.run, lambda: {"state": store.state.value, "reason": store.reason})
        else:
            yield GraphSide(tools, _nothing, lambda: {"state": "server", "uri": settings.uri})
    finally:
        await graph.close()


def _server(config: Config) -> Neo4jServer:
    password = config.graph_password
    return Neo4jServer(config.memory.uri, config.memory.user, password.reveal() if password else "")


async def _nothing() -> None:
    return
