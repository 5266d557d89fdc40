"""Her graph, opened: a server of the household's own, or the store that comes with the box; and who makes vectors."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from agent.model.messages import Json
from agent.tools.memory import memory_tools
from agent.tools.tool import Tool
from appliance.config import Config
from appliance.errors import ConfigError
from appliance.sentence_model import usual_embedder
from memory import erasure
from memory.audit import AuditLog
from memory.embedding import Embedder, Handles, NoEmbedder, OpenAiEmbedder
from memory.embedding_local import LocalEmbedder
from memory.errors import MemoryFailure
from memory.graph.embedded import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer
from memory.rebuild import heal, is_missing, rebuild
from memory.schedule import keep_snapshots
from memory.snapshot import Snapshots
from memory.writer import Writer

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class GraphSide:
    """What the rest of the box sees of her graph."""

    tools: list[Tool]
    """Empty when she is to have no graph."""
    run: Callable[[], Coroutine[None, None, None]]
    """Keeps the box's own store running, and the graph saved, until cancelled; returns at once without a graph."""
    describe: Callable[[], dict[str, Json]]
    embedder: Embedder
    """Who makes vectors, for the tiers too."""
    writer: Writer | None = None
    """None without a graph."""
    store: EmbeddedStore | None = None
    """The box's own; None at a server."""


@asynccontextmanager
async def graph_side(config: Config) -> AsyncIterator[GraphSide]:
    """Make the graph's client; nothing is started or connected here, so that listening waits for none of it.

    Raises `ConfigError` for an embedding model that lacks its name or address.
    """
    settings = config.memory
    if not settings.enabled:
        yield GraphSide([], _nothing, lambda: {"state": "off"}, NoEmbedder())
        return
    store = _server(config) if settings.uri else EmbeddedStore(config.state_folder / "graph", settings.bolt_port)
    graph, embedder = Graph(store), choose_embedder(config)
    audit = AuditLog(config.state_folder / "audit")
    writer = Writer(graph, audit, Snapshots(config.state_folder / "snapshots", audit))
    tools = memory_tools(writer, Handles(embedder))
    made_by: dict[str, Json] = {"embeddings": embedder.name}
    try:
        if isinstance(store, EmbeddedStore):
            own = store
            yield GraphSide(
                tools,
                lambda: _run_own(own, writer),
                lambda: {"state": own.state.value, "reason": own.reason} | made_by,
                embedder,
                writer,
                own,
            )
        else:
            yield GraphSide(
                tools,
                lambda: keep_snapshots(writer),
                lambda: {"state": "server", "uri": settings.uri} | made_by,
                embedder,
                writer,
            )
    finally:
        await embedder.close()
        await graph.close()
        audit.close()


def choose_embedder(config: Config) -> Embedder:
    """Return who makes vectors; nothing is loaded or asked yet. Raises `ConfigError` when a setting of it is missing.

    A local folder that holds no model is told by each use: memory works without vectors.
    """
    settings = config.memory
    if settings.embeddings == "off":
        return NoEmbedder()
    if settings.embeddings == "auto" and not settings.embedding_model:
        return usual_embedder(config)
    if not settings.embedding_model:
        what = "a model's folder" if settings.embeddings == "local" else "a model's name"
        raise ConfigError(f'[memory] embeddings = "{settings.embeddings}" needs embedding_model, {what}; add it')
    if settings.embeddings in ("auto", "local"):
        return LocalEmbedder(embedding_folder(config))
    if not settings.embedding_url:
        raise ConfigError('[memory] embeddings = "api" needs embedding_url, the server\'s address; add it')
    key = config.embedding_key
    return OpenAiEmbedder(settings.embedding_url, settings.embedding_model, key.reveal() if key else "")


def embedding_folder(config: Config) -> Path:
    """Return the folder of the local embedding model: as it is set, or by its name among the models of the box."""
    return config.state_folder / "models" / Path(config.memory.embedding_model).expanduser()


def _server(config: Config) -> Neo4jServer:
    password = config.graph_password
    return Neo4jServer(config.memory.uri, config.memory.user, password.reveal() if password else "")


async def _run_own(store: EmbeddedStore, writer: Writer) -> None:
    """Keep the store of the box running, whole and saved, until cancelled."""
    if await is_missing(store, writer.audit):
        log.error("graph_missing", folder=str(store.folder))
        await rebuild(store, writer.audit, writer.snapshots)
    async with asyncio.TaskGroup() as group:
        group.create_task(store.run(), name="graph: the store's child process")
        group.create_task(heal(store, writer.audit, writer.snapshots), name="graph: rebuilds a damaged store")
        group.create_task(keep_snapshots(writer), name="graph: snapshots on schedule")
        group.create_task(_finish_forgetting(store, writer), name="graph: a forgetting that broke off")


async def _finish_forgetting(store: EmbeddedStore, writer: Writer) -> None:
    """Go on, once the store is up, with a forgetting that a crash or an outage broke off."""
    await store.until(State.READY)
    try:
        await erasure.finish(writer, store)
    except MemoryFailure as error:
        log.warning("forgetting_not_finished", reason=str(error))


async def _nothing() -> None:
    return
