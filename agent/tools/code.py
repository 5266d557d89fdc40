"""Python in a sandbox without network and files, where the household wants it."""

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from agent.errors import ToolFailed
from agent.tools.confined.sandbox import SECONDS, Ran, Sandbox
from agent.tools.registry.context import ToolContext
from agent.tools.registry.sharing import for_members
from agent.tools.tool import Tool, tool
from memory.json_value import Json

NOT_SHARED: Final = "running code is for members of the household, and whoever speaks is none: do without it"

MOST_CODE: Final = 50_000


def tools(context: ToolContext) -> list[Tool]:
    """Return run_python where the household wants it."""
    return [code_tool(context.sandbox, context.shares)] if context.sandbox else []


def code_tool(sandbox: Sandbox, shares: Callable[[str], bool]) -> Tool:
    """Return run_python, for members."""

    async def run_python(
        program: Annotated[
            str, Field(max_length=MOST_CODE, description="A whole program; print what you want to know.")
        ],
    ) -> Json:
        """Run Python in a sandbox: for sums, dates, texts. It has no network and none of the household's files."""
        return _told(await sandbox.run(program))

    made = tool(run_python, effect="pure", timeout=2 * SECONDS)
    return for_members(made, shares, NOT_SHARED)


def _told(ran: Ran) -> str:
    output = ran.output.rstrip() or "(it printed nothing)"
    if ran.is_cut:
        return f"{output}\n(it printed too much, and was ended)"
    if ran.status is None:
        raise ToolFailed(
            f"it was ended: it may take {SECONDS:g} s and 512 MB, and print some pages. It had printed: {output}"
        )
    return output if ran.status == 0 else f"{output}\n(exit status {ran.status})"
