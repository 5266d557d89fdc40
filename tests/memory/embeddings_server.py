"""A small OpenAI-compatible `/embeddings` server on loopback, with a script of answers and a record of requests."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class EmbeddingsServer:
    """What it was asked and how it answers."""

    answer: Callable[[dict[str, Any]], tuple[int, bytes]]
    """From the request's body to status and body."""
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request and close."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if ": " in line)
        assert head.startswith("POST /v1/embeddings ")
        self.keys.append(headers.get("authorization", ""))
        self.asked.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
        status, body = self.answer(self.asked[-1])
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()


def letters(text: str) -> list[float]:
    """Return a vector that means something: how often each letter stands in the text."""
    return [float(text.casefold().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]


def of_letters(body: dict[str, Any]) -> tuple[int, bytes]:
    """Answer as a real server does, last text first, which the format allows."""
    rows = [{"object": "embedding", "index": i, "embedding": letters(text)} for i, text in enumerate(body["input"])]
    return 200, json.dumps({"object": "list", "model": body["model"], "data": rows[::-1]}).encode()


@asynccontextmanager
async def embeddings_server(
    answer: Callable[[dict[str, Any]], tuple[int, bytes]] = of_letters,
) -> AsyncIterator[EmbeddingsServer]:
    """Serve on a free port until the block ends."""
    server = EmbeddingsServer(answer)
    async with await asyncio.start_server(server.serve, "127.0.0.1", 0) as listening:
        server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        yield server
