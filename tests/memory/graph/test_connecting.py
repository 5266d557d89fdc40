"""A statement that is cancelled while the driver connects, at each step of it: nothing of it is left behind."""

import asyncio
import gc
import socket
import warnings

import pytest

from memory.errors import GraphUnavailable
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer

STEPS = 40
"""Turns of the event loop; the connection is there after about ten, and its server says nothing then."""


@pytest.mark.shows("C15")
async def test_a_statement_cancelled_while_it_connects_leaves_no_socket() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        graph = Graph(Neo4jServer(f"bolt://127.0.0.1:{silent.getsockname()[1]}"))
        await graph._connections.load()
        for steps in range(STEPS):
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(graph.read("RETURN 1"))
                for _ in range(steps):
                    await asyncio.sleep(0)
                asking.cancel()
            assert asking.cancelled()
            await graph.close()
        del asking, group
        gc.collect()
    assert [str(one.message) for one in warned] == []


async def refused(graph: Graph) -> None:
    """Ask of a store where nobody listens."""
    with pytest.raises(GraphUnavailable):
        await graph.read("RETURN 1")


@pytest.mark.shows("C15")
async def test_a_statement_cancelled_as_its_connection_is_refused_leaves_nothing_to_complain_of() -> None:
    """At each step. The driver's own `wait_for` (Python < 3.12) drops the refusal, and the event loop reports it."""
    complaints: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        graph = Graph(Neo4jServer(f"bolt://127.0.0.1:{nobody_listens.getsockname()[1]}"))
        await graph._connections.load()
        for steps in range(STEPS):
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(refused(graph))
                for _ in range(steps):
                    await asyncio.sleep(0)
                asking.cancel()
            await graph.close()
        del asking, group
        gc.collect()
    assert complaints == []
