"""The answer to a commit never comes: nobody says it was not kept, and what is true is found out before the next."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from memory.errors import CommitUncertain
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.store import Endpoint
from tests.memory.graph_looks import SESSION
from tests.memory.history.test_writer import ME, count, same, told, writer_in

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = SESSION

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""Bolt: a message of two bytes, a structure without fields, the signature of COMMIT, the end of the message."""


class Torn(EmbeddedStore):
    """The real store at the end of a line that breaks once it has answered its first commit.

    `breaks` is called at that moment, with the store's process.
    """

    has_broken = False

    def __init__(self, folder: Path, breaks: Callable[[int], None] = lambda pid: None) -> None:
        super().__init__(folder)
        self._breaks = breaks

    async def endpoint(self) -> Endpoint:
        there = await super().endpoint()
        self._port = urlsplit(there.uri).port
        return replace(there, uri=f"bolt://127.0.0.1:{self._line.sockets[0].getsockname()[1]}")

    @asynccontextmanager
    async def with_a_line(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:

            def connected(asked: asyncio.StreamReader, answered: asyncio.StreamWriter) -> None:
                group.create_task(self._pass_on(asked, answered))

            async with await asyncio.start_server(connected, "127.0.0.1", 0) as self._line:
                yield

    @asynccontextmanager
    async def behind_a_line(self) -> AsyncIterator[Graph]:
        async with self, self.with_a_line():
            graph = Graph(self)
            yield graph
            await graph.close()

    async def _pass_on(self, asked: asyncio.StreamReader, answered: asyncio.StreamWriter) -> None:
        try:
            heard, told = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:  # the store was killed, and its next start is not there yet
            answered.close()
            return
        is_committing = asyncio.Event()

        async def ask() -> None:
            while words := await asked.read(65536):
                if COMMIT in words:
                    is_committing.set()
                told.write(words)
            told.close()

        async with asyncio.TaskGroup() as group:
            asking = group.create_task(ask())
            while words := await _read(heard):
                if is_committing.is_set() and not self.has_broken:
                    self.has_broken = True
                    assert self.pid is not None
                    self._breaks(self.pid)
                    break
                answered.write(words)
            asking.cancel()
        for end in (told, answered):
            end.close()


async def _read(heard: asyncio.StreamReader) -> bytes:
    """Return what the store says next, b"" when it is gone."""
    try:
        return await heard.read(65536)
    except ConnectionError:
        return b""


@pytest.mark.shows("C11", "C15")
async def test_a_commit_whose_answer_never_came_is_found_out_before_the_next_write(
    another: Graph, tmp_path: Path
) -> None:
    async with Torn(tmp_path / "graph").behind_a_line() as graph:
        writer = writer_in(tmp_path, graph)
        with pytest.raises(CommitUncertain):
            await writer.write("CREATE (:A)", {}, ME)
        assert told(writer) == [("attempt", None)]
        await writer.write("CREATE (:B)", {}, ME)
        assert told(writer)[1:] == [("snapshot", None), ("outcome", None), ("attempt", None), ("outcome", True)]
        assert await count(graph) == 2, "it had been kept"
        assert (await same(writer, another, tmp_path)).writes == 1
        writer.audit.close()
