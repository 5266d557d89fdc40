"""A local HTTP server that answers as speech servers do, byte by byte, and as they should not."""

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from audio.pcm import Samples

RATE = 24_000
SECONDS = 1.5


def sound(rate: int = RATE, seconds: float = SECONDS) -> Samples:
    """A low tone that is nowhere digital silence for long."""
    time = np.arange(round(rate * seconds)) / rate
    return (8000 * np.sin(2 * np.pi * 220 * time + 0.5)).astype(np.int16)


def wav_header(rate: int, sample_bytes: int = 0) -> bytes:
    """A header of 44 bytes; GPT-SoVITS sends one with no samples before those that it streams."""
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    data = struct.pack("<4sI", b"data", sample_bytes)
    return struct.pack("<4sI4s", b"RIFF", 36 + sample_bytes, b"WAVE") + fmt + data


@dataclass
class Exchange:
    """One request, and the pen for its answer."""

    path: str
    headers: Mapping[str, str]
    """Names in small letters."""
    body: dict[str, Any]
    writer: asyncio.StreamWriter

    async def head(self, status: int = 200, **headers: str) -> None:
        """Write status and headers; underscores stand for hyphens. Without a length the body comes in chunks."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if "content-length" not in named:
            named["transfer-encoding"] = "chunked"
        lines = [f"HTTP/1.1 {status} Answer", *(f"{name}: {value}" for name, value in named.items()), "", ""]
        await self.raw("\r\n".join(lines).encode())

    async def chunk(self, data: bytes) -> None:
        await self.raw(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def whole(self, data: bytes, kind: str, status: int = 200) -> None:
        """Answer with a body of known length."""
        await self.head(status, content_type=kind, content_length=str(len(data)))
        await self.raw(data)

    async def stream(self, *pieces: bytes, kind: str = "audio/wav") -> None:
        """Answer with a body in chunks, to its end."""
        await self.head(content_type=kind)
        for piece in pieces:
            await self.chunk(piece)
        await self.end()


Answer: TypeAlias = Callable[[Exchange], Awaitable[None]]


@dataclass
class SpeechServer:
    """The running server: what it was asked, and what comes next."""

    answer: Answer
    """Has one request; when it returns, the next one of the connection is read. What it raises closes that."""
    port: int = 0
    asked: list[Exchange] = field(default_factory=list)
    connections: int = 0
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    """What a slow answer waits for; set at the end."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while True:
                    exchange = await _read(reader, writer)
                    self.asked.append(exchange)
                    await self.answer(exchange)
        finally:
            writer.transport.abort()


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Exchange:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Exchange(head[0].split()[1], headers, json.loads(body or b"{}"), writer)


class Cut(ConnectionError):
    """Raised by an answer: the connection ends here."""


@asynccontextmanager
async def speech_server(answer: Answer) -> AsyncIterator[SpeechServer]:
    """Run a server on a free port of this machine; its connections end with the block."""
    server = SpeechServer(answer)
    open_now: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_now.add(task)
        try:
            await server.serve(reader, writer)
        finally:
            open_now.discard(task)

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.go_on.set()
        listening.close()
        left = list(open_now)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def speak(exchange: Exchange) -> None:
    """Answer as GPT-SoVITS or OpenAI would."""
    data = sound().tobytes()
    if exchange.path == "/tts":
        await exchange.stream(wav_header(RATE), *(data[at : at + 4801] for at in range(0, len(data), 4801)))
        return
    pieces = [data[at : at + 4801] for at in range(0, len(data), 4801)]
    match exchange.body["response_format"]:
        case "wav":
            await exchange.whole(wav_header(RATE, len(data)) + data, "audio/wav")
        case _:
            await exchange.stream(*pieces, kind="audio/pcm")
