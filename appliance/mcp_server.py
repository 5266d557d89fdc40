"""The tools of her memory as an MCP server on standard input and output: the one place that imports `mcp`'s server."""

import json
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from agent.model.messages import Json
from appliance.config import Config
from appliance.door.memory_requests import UseTool
from appliance.errors import Problem
from appliance.exits import Exit
from appliance.keeping.alone import AtTheDoor, InThisProcess, open_keeper
from appliance.version import version
from memory.errors import MemoryFailure

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

READING: Final = frozenset({"memory_query", "memory_schema", "embedding"})
"""The tools that change nothing."""

OFF: Final = "her memory is closed to other programs; set [memory] mcp = true to let them in"


async def serve(config: Config) -> None:
    """Answer one program until it closes our input.

    Raises `Problem` when it is switched off, and what `open_keeper` raises.
    """
    if not config.memory.mcp:
        raise Problem(OFF, Exit.CONFIG)
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    async with open_keeper(config) as keeper, stdio_server() as (reading, writing):
        desk = _Desk(keeper)
        server: Server[Any] = Server("nakari", version=version(), on_list_tools=desk.listed, on_call_tool=desk.called)
        await server.run(reading, writing, server.create_initialization_options())


class _Desk:
    """What the program may ask, answered by whoever keeps her memory."""

    def __init__(self, keeper: AtTheDoor | InThisProcess) -> None:
        self._keeper = keeper

    async def listed(self, _: "ServerRequestContext[Any]", __: "PaginatedRequestParams | None") -> "ListToolsResult":
        """Return the tools with the descriptions that she has too."""
        from mcp.types import ListToolsResult, Tool, ToolAnnotations

        tools = [
            Tool(
                name=str(one["name"]),
                description=str(one["description"]),
                input_schema=one["schema"],
                annotations=ToolAnnotations(read_only_hint=one["name"] in READING, open_world_hint=False),
            )
            for one in await self._keeper.described()
            if isinstance(one, dict) and isinstance(one["schema"], dict)
        ]
        return ListToolsResult(tools=tools)

    async def called(self, _: "ServerRequestContext[Any]", given: "CallToolRequestParams") -> "CallToolResult":
        """Run a tool; a refusal is an answer marked as one."""
        from mcp.types import CallToolResult, TextContent

        try:
            request = UseTool(do="tool", name=given.name, arguments=given.arguments or {}, source="mcp")
            found: Json = await self._keeper.use(request)
        except (Problem, MemoryFailure, ValidationError) as error:
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)
        text = json.dumps(found, ensure_ascii=False)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=found)
