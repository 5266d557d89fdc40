"""An MCP server over HTTP of the year 2025 in a few lines: with sessions, a key, and answers no real one would give."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.agent.mcp_house import a_tool

JSON = {"Content-Type": "application/json"}

GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "old", "version": "1"},
}


class OldHttpServer:
    """Answers on loopback, and keeps what it was shown as a key."""

    def __init__(self) -> None:
        self.key = ""
        """What it wants to be shown; "" takes everybody."""
        self.shown: set[str] = set()
        self.sessions = 0
        self.session = ""
        """The one session it knows; another one is answered with 404."""
        self.says = "seen"
        """What a call gives."""
        self.refuses = ""
        """Why no call is carried out; "" where they are."""
        self.headers: dict[str, str] = {}
        """More of them for the answer to a call."""
        self.is_frozen = False
        self.cancelled = asyncio.Event()
        """Set when a call was cancelled."""
        self.url = ""

    def forget(self) -> None:
        """Know no session any more, as after a restart."""
        self.session = ""

    def answer(self, headers: Mapping[str, str], asked: dict[str, Any]) -> tuple[int, Mapping[str, str], object]:
        """Return status, headers and body."""
        self.shown.add(headers.get("authorization", ""))
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            return 401, {}, None
        if asked["method"] == "notifications/cancelled":
            self.cancelled.set()
        if "id" not in asked:
            return 202, {}, None
        if asked["method"].startswith("tools/") and headers.get("mcp-session-id") != self.session:
            return 404, {}, None
        more, told = self._told(asked["method"])
        return 200, JSON | more, {"jsonrpc": "2.0", "id": asked["id"], **told}

    def _told(self, method: str) -> tuple[dict[str, str], dict[str, object]]:
        """Return headers and what is in the message."""
        match method:
            case "initialize":
                self.sessions += 1
                self.session = f"session-{self.sessions}"
                return {"Mcp-Session-Id": self.session}, {"result": GREETING}
            case "tools/list":
                return {}, {"result": {"tools": [a_tool("look")]}}
            case "tools/call" if self.refuses:
                return {}, {"error": {"code": -32000, "message": self.refuses}}
            case "tools/call":
                return self.headers, {"result": {"content": [{"type": "text", "text": self.says}]}}
            case _:
                return {}, {"error": {"code": -32601, "message": "no such method"}}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it is closed."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if not head[0].startswith("POST"):
                    if self.is_frozen:
                        continue
                    writer.write(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
                    continue
                status, more, told = self.answer(headers, json.loads(body))
                if self.is_frozen:
                    continue
                text = b"" if told is None else json.dumps(told).encode()
                lines = [f"{name}: {value}\r\n" for name, value in {**more, "Content-Length": str(len(text))}.items()]
                writer.write(f"HTTP/1.1 {status} So\r\n{''.join(lines)}\r\n".encode() + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def old_http() -> AsyncIterator[OldHttpServer]:
    """A server that answers until the end of the block."""
    told = OldHttpServer()
    server = await asyncio.start_server(told.serve, "127.0.0.1", 0)
    told.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    async with server:
        yield told
