"""The tools of the memory as an MCP server on standard input and output: the one place that imports `mcp`'s server."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic import ValidationError

from appliance.admin.graph_admin import GraphAdmin, NoGraph
from appliance.admin.local import RemoteAdmin, open_admin
from appliance.api.requests.memory import UseTool
from appliance.config.load import Config
from appliance.errors import Exit, Problem
from appliance.version import version
from memory.errors import MemoryFailure
from memory.json_value import Json

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

READING: Final = frozenset({"memory_query", "memory_schema", "embedding"})
"""The tools that change nothing."""

Admin: TypeAlias = RemoteAdmin | GraphAdmin | NoGraph

OFF: Final = "the memory is closed to other programs; set [memory] mcp = true to let them in"


async def serve(config: Config) -> None:
    """Answer one program until it closes our input.

    Without a running service the memory is opened for each request alone, so that a service may start meanwhile.

    Raises `Problem` when it is switched off, and what `open_admin` raises.
    """
    if not config.memory.mcp:
        raise Problem(OFF, Exit.CONFIG)
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    async with open_admin(config) as admin:
        desk = _Desk(partial(open_admin, config, patience=0.0), await admin.described())
    async with stdio_server() as (reading, writing):
        server: Server[Any] = Server("nakari", version=version(), on_list_tools=desk.listed, on_call_tool=desk.called)
        await server.run(reading, writing, server.create_initialization_options())


class _Desk:
    """What the program may ask, answered by whoever keeps the memory at the moment."""

    def __init__(self, opened: Callable[[], AbstractAsyncContextManager[Admin]], tools: list[Json]) -> None:
        """Serve these tools; `opened` gives whoever keeps the memory, for as long as a block takes."""
        self._opened = opened
        self._tools = tools
        self._one = asyncio.Lock()
        """Held while the memory may be open in this process, which can have it once only."""

    async def listed(self, _: "ServerRequestContext[Any]", __: "PaginatedRequestParams | None") -> "ListToolsResult":
        """Return the tools with the descriptions that it has too."""
        from mcp.types import ListToolsResult, Tool, ToolAnnotations

        tools = [
            Tool(
                name=str(one["name"]),
                description=str(one["description"]),
                input_schema=one["schema"],
                annotations=ToolAnnotations(read_only_hint=one["name"] in READING, open_world_hint=False),
            )
            for one in self._tools
            if isinstance(one, dict) and isinstance(one["schema"], dict)
        ]
        return ListToolsResult(tools=tools)

    async def called(self, _: "ServerRequestContext[Any]", given: "CallToolRequestParams") -> "CallToolResult":
        """Run a tool; a refusal is an answer marked as one."""
        try:
            request = UseTool(do="tool", name=given.name, arguments=given.arguments or {}, source="mcp")
            async with self._one, self._opened() as admin:
                return await _used(admin, request)
        except (Problem, MemoryFailure, ValidationError) as error:
            return _told(str(error), is_error=True)


async def _used(admin: Admin, request: UseTool) -> "CallToolResult":
    """Run a tool. A refusal is told here: the group of tasks around an open memory would wrap it."""
    try:
        found = await admin.use(request)
    except (Problem, MemoryFailure) as error:
        return _told(str(error), is_error=True)
    result = _told(json.dumps(found, ensure_ascii=False))
    result.structured_content = found
    return result


def _told(text: str, *, is_error: bool = False) -> "CallToolResult":
    from mcp.types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)
