"""The tool that runs code: for members, and what it prints or fails with is the answer."""

import json

import pytest

from agent.event import HOUSEHOLD, Event
from agent.tools.code import NOT_SHARED, code_tool, tools
from agent.tools.confined.sandbox import Sandbox
from agent.tools.tool import Call, Tool, run_tool
from tests.agent.tools.confined.test_sandbox import NOWHERE, sandbox
from tests.appliance.wiring.every_tool import over_nothing

__all__ = ["sandbox"]

pytestmark = pytest.mark.shows("G7")


async def answer(tool: Tool, program: str, owner_key: str = HOUSEHOLD) -> str:
    call = Call("c1", Event("user_text", owner_key=owner_key))
    return await run_tool(tool, json.dumps({"program": program}), call)


def over(sandbox: Sandbox) -> Tool:
    return code_tool(sandbox, lambda key: key == HOUSEHOLD)


async def test_what_it_prints_is_the_answer(sandbox: Sandbox) -> None:
    tool = over(sandbox)
    assert await answer(tool, "print(2 ** 64)") == "18446744073709551616"
    assert await answer(tool, "pass") == "(it printed nothing)"
    assert (await answer(tool, "print(1)\n1 / 0")).endswith("ZeroDivisionError: division by zero\n(exit status 1)")
    assert (await answer(tool, "while True: print('x' * 999)")).endswith("(it printed too much, and was ended)")
    assert (await answer(over(Sandbox(NOWHERE, 0.5)), "while True: pass")).startswith("error: it was ended")


async def test_it_is_for_members_only() -> None:
    assert await answer(over(Sandbox(NOWHERE, programs="/nonexistent")), "1", "a stranger") == f"error: {NOT_SHARED}"


async def test_without_a_sandbox_it_is_refused_with_one_sentence() -> None:
    told = await answer(over(Sandbox(NOWHERE, programs="/nonexistent")), "print(1)")
    assert told.startswith("error: code cannot be run here: it needs")
    assert "\n" not in told


def test_it_is_offered_only_where_the_household_wants_it() -> None:
    assert tools(over_nothing()) == []
