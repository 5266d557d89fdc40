"""The stores as tests get them: the real embedded one, one child for the whole run, and a real Neo4j if there is one.

A module that uses them names this file in `pytest_plugins` and runs its tests in the session's loop (`SESSION`).
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from memory.graph.embedded import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.results import Limits
from memory.graph.store import Neo4jServer, Store
from tests.memory.graph_looks import empty


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def embedded_store(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedStore]:
    """The store of the box, started once and stopped at the end; statements have 2 s in it."""
    async with EmbeddedStore(tmp_path_factory.mktemp("graph"), statement_seconds=2.0) as store:
        yield store


@pytest_asyncio.fixture(loop_scope="session")
async def embedded(embedded_store: EmbeddedStore) -> AsyncIterator[Graph]:
    """An empty graph in the store of the box."""
    async with emptied(embedded_store, Limits(seconds=2.0)) as graph:
        yield graph


@pytest_asyncio.fixture(params=["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)], loop_scope="session")
async def graph(request: pytest.FixtureRequest, embedded_store: EmbeddedStore) -> AsyncIterator[Graph]:
    """An empty graph in either store."""
    store = neo4j_server() if request.param == "neo4j" else embedded_store
    async with emptied(store, Limits(seconds=2.0)) as graph:
        yield graph


@pytest_asyncio.fixture(loop_scope="session")
async def neo4j() -> AsyncIterator[Graph]:
    """An empty graph in a real Neo4j; the test that uses it is marked so."""
    async with emptied(neo4j_server(), Limits()) as graph:
        yield graph


def neo4j_server() -> Store:
    """Return the server that whoever runs the tests names."""
    return Neo4jServer(os.environ["NAKARI_TEST_NEO4J_URI"])


@asynccontextmanager
async def emptied(store: Store, limits: Limits) -> AsyncIterator[Graph]:
    """Empty a store, with as much time as a server that has just started needs, and open a graph on it."""
    patient, graph = Graph(store), Graph(store, limits)
    try:
        await empty(patient)
        yield graph
    finally:
        await patient.close()
        await graph.close()
