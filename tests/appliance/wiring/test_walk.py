"""The walk of a spoken question and of one `memory_write` through the real box: how many files and functions run.

`python -m tests.appliance.wiring.test_walk` prints them; the tests keep them from growing unseen.
"""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from agent.event import Event
from agent.tools.memory import memory_tools
from agent.tools.tool import Call, run_tool
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.vectors.embedding import Handles, NoEmbedder
from tests.appliance.wiring.test_box import STORY, Room, a_box, taken_up
from tests.architecture.source import ROOT
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("X1")

MOST_FOR_A_QUESTION = (148, 870)
"""Files and functions: 139 to 142 and 824 to 845 in five runs on a busy machine, where loops beside it do more."""

MOST_FOR_A_WRITE = (21, 105)
"""20 and 103."""

WINGS = ("agent", "appliance", "audio", "memory")


@contextmanager
def walked() -> Iterator[set[tuple[str, str]]]:
    """Give the files, by their paths in the tree, and functions of ours that run within the block, in any thread."""
    seen: set[tuple[str, str]] = set()
    here = f"{ROOT}/"

    def see(frame: FrameType, kind: str, _: object) -> None:
        code = frame.f_code
        if kind == "call" and code.co_filename.startswith(here):
            path = code.co_filename.removeprefix(here)
            if path.partition("/")[0] in WINGS:
                seen.add((path, code.co_qualname))

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        yield seen
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def figures(seen: set[tuple[str, str]]) -> tuple[int, int]:
    return len({path for path, _ in seen}), len(seen)


async def of_a_question(folder: Path) -> set[tuple[str, str]]:
    """Ask a box that has answered before: what only a first turn needs is not counted."""
    reply = ("reply", f'{{"text": "{STORY}"}}')
    model = ScriptedModel(calls(reply, prefix="first"), calls(reply, prefix="second"))
    room = Room(model=model)
    async with a_box(folder, room) as box:
        await room.says("tell me a story please")
        await taken_up(box, 1)
        room.now += 60.0
        with walked() as seen:
            await room.says("tell me another story please")
            await taken_up(box, 2)
    return seen


async def of_a_write(folder: Path) -> set[tuple[str, str]]:
    """Call the tool on a store that was written to before."""
    cypher = '{"cypher": "CREATE (:Cup {colour: $colour})", "params": {"colour": "blue"}}'
    event = Event("user_text", "the cup has a colour")
    async with EmbeddedStore(folder / "graph") as store:
        audit = AuditLog(folder / "audit")
        graph = Graph(store)
        writer = Writer(graph, audit, Snapshots(folder / "snapshots", audit))
        tools = {tool.name: tool for tool in memory_tools(writer, Handles(NoEmbedder()))}
        await run_tool(tools["memory_write"], cypher, Call("1", event))
        with walked() as seen:
            answer = await run_tool(tools["memory_write"], cypher, Call("2", event))
        assert "nodesCreated" in answer
        await graph.close()
        audit.close()
    return seen


async def test_a_spoken_question_takes_no_longer_a_walk_than_it_did(tmp_path: Path) -> None:
    found = figures(await of_a_question(tmp_path))
    assert found[0] <= MOST_FOR_A_QUESTION[0], found
    assert found[1] <= MOST_FOR_A_QUESTION[1], found


async def test_a_write_takes_no_longer_a_walk_than_it_did(tmp_path: Path) -> None:
    found = figures(await of_a_write(tmp_path))
    assert found[0] <= MOST_FOR_A_WRITE[0], found
    assert found[1] <= MOST_FOR_A_WRITE[1], found


if __name__ == "__main__":
    for name, walk in (("a spoken question", of_a_question), ("a memory_write", of_a_write)):
        with tempfile.TemporaryDirectory() as place:
            files, functions = figures(asyncio.run(walk(Path(place))))
            print(f"{name}: {files} files, {functions} functions")  # noqa: T201
