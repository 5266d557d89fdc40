"""The stores as tests get them: the real embedded one, one child for the whole run, and a real Neo4j if there is one.

A module that uses them names this file in `pytest_plugins` and runs its tests in the session's loop (`SESSION`).
"""

import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import pytest_asyncio

from memory.errors import TooLarge
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.results import Limits
from memory.graph.store import Neo4jServer, Store
from tests.in_memory import folder_in_memory
from tests.memory.graph_looks import empty, free_port
from tests.needs import NEO4J_SCRIPT, named_server

EITHER = ("embedded", pytest.param("neo4j", marks=pytest.mark.neo4j))
HURRIED = Limits(seconds=2.0)
GIVES_BACK_SECONDS = 60.0
"""How long a busy server may take to give back what a statement that was cut off held."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def embedded_store() -> AsyncIterator[EmbeddedStore]:
    """The store of the box, started once and stopped at the end; statements have as long in it as they have there."""
    with folder_in_memory() as folder:
        async with EmbeddedStore(folder / "graph") as store:
            yield store


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hurried_store() -> AsyncIterator[EmbeddedStore]:
    """A module's own, for statements that are to overrun their 2 s, or leave names behind that nobody chose.

    A busy disk holds others up as long; and a name that was a relationship's type can be no label in the same store.
    """
    with folder_in_memory() as folder:
        async with EmbeddedStore(folder / "hurried", statement_seconds=HURRIED.seconds) as store:
            yield store


@pytest_asyncio.fixture(loop_scope="session")
async def embedded(embedded_store: EmbeddedStore) -> AsyncIterator[Graph]:
    """An empty graph in the store of the box."""
    async with emptied(embedded_store, Limits()) as graph:
        yield graph


@pytest.fixture(scope="session")
def neo4j_uri() -> Iterator[str]:
    """Where a real Neo4j is: the one somebody names, else one from Maven that runs as long as the tests."""
    if named := named_server():
        yield named
        return
    with folder_in_memory() as home:
        yield from _served(home, free_port())


def _served(home: Path, port: int) -> Iterator[str]:
    command = [str(NEO4J_SCRIPT), "run", str(home), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        told = []
        try:
            for line in server.stdout:
                told.append(line)
                if "Started." in line:
                    break
            else:
                pytest.fail(f"Neo4j did not start: {''.join(told[-5:])}")
            yield f"bolt://127.0.0.1:{port}"
        finally:
            server.terminate()


@pytest_asyncio.fixture(params=EITHER, loop_scope="session")
async def graph(request: pytest.FixtureRequest, embedded_store: EmbeddedStore) -> AsyncIterator[Graph]:
    """An empty graph in either store."""
    async with emptied(either(request, embedded_store), Limits()) as graph:
        yield graph


@pytest_asyncio.fixture(params=EITHER, loop_scope="session")
async def hurried(request: pytest.FixtureRequest, hurried_store: EmbeddedStore) -> AsyncIterator[Graph]:
    """An empty graph in either store, of which statements have 2 s."""
    async with emptied(either(request, hurried_store), HURRIED) as graph:
        yield graph


@pytest_asyncio.fixture(loop_scope="session")
async def neo4j(neo4j_uri: str) -> AsyncIterator[Graph]:
    """An empty graph in a real Neo4j; tests/marks.py marks whoever uses it."""
    async with emptied(Neo4jServer(neo4j_uri), Limits()) as graph:
        yield graph


@pytest_asyncio.fixture(loop_scope="session")
async def another(tmp_path: Path) -> AsyncIterator[Graph]:
    """A graph in a store of its own, which nothing was ever in."""
    async with EmbeddedStore(tmp_path / "another") as store, emptied(store, Limits()) as graph:
        yield graph


def either(request: pytest.FixtureRequest, own: EmbeddedStore) -> Store:
    """Return the store that a fixture with the parameters `EITHER` is to use."""
    return Neo4jServer(request.getfixturevalue("neo4j_uri")) if request.param == "neo4j" else own


async def emptied_in_time(graph: Graph) -> None:
    """Empty a store, asking again while what was cut off before still holds the memory of a server with 384 MB."""
    last = time.monotonic() + GIVES_BACK_SECONDS
    while time.monotonic() < last:
        with suppress(TooLarge):
            await empty(graph)
            return
    await empty(graph)


@asynccontextmanager
async def emptied(store: Store, limits: Limits) -> AsyncIterator[Graph]:
    """Empty a store, with as much time as a server that has just started needs, and open a graph on it."""
    patient, graph = Graph(store), Graph(store, limits)
    try:
        await emptied_in_time(patient)
        yield graph
    finally:
        await patient.close()
        await graph.close()
