"""A real MCP server of tests, by the official package: `python -m tests.agent.mcp_program stdio|PORT FOLDER`.

In FOLDER it keeps its process id.
"""

import base64
import os
import signal
import sys
from pathlib import Path

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ImageContent, TextContent, ToolAnnotations

from tests.agent.files import png

server = MCPServer("tests")
folder = Path(sys.argv[2])


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def die() -> str:
    """End by a signal."""
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


@server.tool()
async def grow(context: Context) -> str:
    """Have a tool more, and one less."""

    def grown() -> str:
        """Say that it has grown."""
        return "grown"

    server.add_tool(grown)
    server.remove_tool("add")
    await context.session.send_tool_list_changed()  # as it is told before 2026
    await context.notify_tools_changed()
    return "growing"


@server.tool()
def shout() -> str:
    """Say something to people."""
    sys.stderr.write("it is loud in here\n")
    return "shouted"


@server.tool()
def picture() -> ImageContent:
    """Paint."""
    return ImageContent(type="image", data=base64.b64encode(bytes(3_000)).decode(), mime_type="image/png")


@server.tool()
def camera() -> list[TextContent | ImageContent]:
    """Look out of the window."""
    seen = ImageContent(type="image", data=base64.b64encode(png(64, 48)).decode(), mime_type="image/png")
    return [TextContent(type="text", text="The garden:"), seen]


@server.resource("note://plums", name="plums", mime_type="text/plain")
def plums() -> str:
    """Where the plums are."""
    return "The plums are in the bowl."


@server.resource("photo://garden", name="garden", mime_type="image/png")
def garden() -> bytes:
    """The garden, this morning."""
    return png(64, 48)


@server.tool()
def long(characters: int) -> str:
    """Say much."""
    return "x" * characters


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("there is no such street")


if __name__ == "__main__":
    (folder / "pid").write_text(str(os.getpid()))
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
