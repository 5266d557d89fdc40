"""A tool file that hangs, or takes long to load: the start does not wait for it, the others are there."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.bus import Bus
from agent.context.situation import SituationProvider
from agent.event import Event
from agent.tools.registry.discovery import Discovered, discover
from agent.tools.registry.own_files import OwnFiles
from agent.tools.registry.registry import ToolRegistry
from agent.tools.tool import Call, run_tool
from tests.agent.mind import a_mind
from tests.appliance.wiring.every_tool import over_nothing

pytestmark = pytest.mark.shows("F7")

PATIENCE = 0.3
QUICK = 'def quick() -> str:\n    """Answer at once."""\n    return "quick"\n'
WAITS = 'from pathlib import Path\n\nWHAT = Path(__file__).with_suffix(".pipe").read_text()\n'
SLOW = (
    f'{WAITS}TOPICS = ("tools.*",)\n\n\nSEEN = []\n\n\nasync def observe(envelope):\n    SEEN.append(envelope)\n\n\n'
    'def situation(lease):\n    return {"Slow": WHAT}\n\n\n'
    'def slow() -> str:\n    """Answer what was waited for."""\n    return WHAT\n'
)
"""Waits at its top until somebody writes into a pipe beside it."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "b_slow.pipe")
    for name, text in (("a_quick.py", QUICK), ("b_slow.py", SLOW), ("c_quick.py", QUICK.replace("quick", "other"))):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o644)
    return tmp_path


def found_in(folder: Path) -> Discovered:
    return discover(over_nothing(), folder, patience=PATIENCE)


def let_go(folder: Path, text: str = "at last") -> None:
    """Let the slow file load."""
    (folder / "b_slow.pipe").write_text(text)


def test_a_file_that_hangs_is_one_line_and_the_others_are_there(folder: Path) -> None:
    found = found_in(folder)
    assert found.own == ("quick", "other")
    assert found.broken == {
        "b_slow.py": "it was not loaded within 0.3 s; let it do what takes long inside its functions, not at its top"
    }
    let_go(folder)


def joining(found: Discovered, registry: ToolRegistry, situation: list[SituationProvider], bus: Bus) -> OwnFiles:
    return OwnFiles(found, registry, situation, bus, lambda _: True)


async def test_a_file_that_was_slow_joins_with_all_it_adds(folder: Path, tmp_path: Path) -> None:
    found, situation = found_in(folder), list[SituationProvider]()
    registry = ToolRegistry(found.tools)
    async with a_mind(tmp_path, []) as mind, asyncio.TaskGroup() as group:
        bus = mind.mind.bus
        own = joining(found, registry, situation, bus)
        [(name, wait_for_it)] = own.loops().items()
        assert name == "own: b_slow.py, once it is loaded"
        waiting = group.create_task(wait_for_it(), name=name)
        assert registry.find("slow") is None
        await asyncio.to_thread(let_go, folder)
        while "nakari_tools_b_slow" not in sys.modules or not vars(sys.modules["nakari_tools_b_slow"]).get("SEEN"):
            await bus.publish(Event("tools.results"))
        waiting.cancel()
    slow = registry.find("slow")
    assert slow is not None
    assert await run_tool(slow, "{}", Call("c1", Event("user_text"))) == "at last"
    assert len(situation) == 1
    assert own.discovered.describe() == {"own": ["quick", "other", "slow"], "broken": {}, "lacking": {}}


async def test_a_slow_file_that_is_broken_in_the_end_says_why(folder: Path, tmp_path: Path) -> None:
    (folder / "b_slow.py").write_text(f"{WAITS}raise ValueError('no, after all')\n")
    found = found_in(folder)
    async with a_mind(tmp_path, []) as mind:
        own = joining(found, ToolRegistry(found.tools), [], mind.mind.bus)
        await asyncio.to_thread(let_go, folder)
        for loop in own.loops().values():
            await loop()
    assert found.broken == {"b_slow.py": "line 4: ValueError: no, after all"}


async def test_a_slow_file_may_not_take_the_name_of_a_tool_that_came_meanwhile(folder: Path, tmp_path: Path) -> None:
    found = found_in(folder)
    registry = ToolRegistry(found.tools)
    registry.join("mcp", [replace(found.tools[-1], spec=replace(found.tools[-1].spec, name="slow"))])
    async with a_mind(tmp_path, []) as mind:
        await asyncio.to_thread(let_go, folder)
        for loop in joining(found, registry, [], mind.mind.bus).loops().values():
            await loop()
    assert found.broken == {"b_slow.py": "there is a tool named slow already: rename this one"}
