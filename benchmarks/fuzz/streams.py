"""Targets that read a connection of somebody else's: Wyoming both ways, ESPHome's frames, a model's stream."""

import asyncio
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from agent.model.dialects.dialect import Dialect
from agent.model.sight import Sight
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.events import EventStream as ModelStream
from agent.model.wire.profile import Profile
from appliance.satellites.errors import SatelliteFailure
from appliance.satellites.esphome import EspHome
from appliance.wyoming.wire import EventStream, Malformed, parsed
from audio.errors import ServerFailed
from audio.wyoming import WyomingServer
from benchmarks.fuzz.inputs import ANY_JSON, as_bytes, changed, fields, json_like
from benchmarks.fuzz.target import Target

KINDS = ("describe", "audio-start", "audio-chunk", "synthesize", "transcript", "synthesize-chunk", "error", "info")

EVENTS = st.lists(
    json_like(fields("data", "data_length", "payload_length", sure={"type": st.sampled_from(KINDS) | ANY_JSON})).map(
        lambda line: line + b"\n"
    )
    | st.builds(
        lambda data: as_bytes({"type": "audio-start", "data_length": len(data)}) + b"\n" + data,
        json_like(fields("rate", "width", "channels")),
    ),
    max_size=4,
).map(b"".join)

FRAMES = st.lists(
    st.binary(max_size=60)
    | st.builds(
        lambda number, body: bytes([0, len(body), number]) + body, st.integers(0, 127), st.binary(max_size=100)
    ),
    max_size=6,
).map(b"".join) | changed(
    b"\x00\x10\x02\x08\x01\x10\x0a\x1a\x05nakari\x22\x03box\x00\x00\x04", b"\x01\x00\x0a\x01name\x00mac\x00"
)


class _Sink(asyncio.WriteTransport):
    """The other half of a connection, which nobody reads."""

    def write(self, data: object) -> None:
        """Take it."""

    def is_closing(self) -> bool:
        """Whether nobody takes more: so nobody has to close it."""
        return True


def wyoming_door(content: bytes) -> None:
    """Read a program's events at the door."""
    from wyoming.audio import AudioChunk, AudioStart
    from wyoming.tts import Synthesize, SynthesizeChunk

    async def read() -> None:
        reader = asyncio.StreamReader(limit=64_000)
        reader.feed_data(content)
        reader.feed_eof()
        sink = _Sink()
        writer = asyncio.StreamWriter(sink, asyncio.streams.FlowControlMixin(), reader, asyncio.get_running_loop())
        stream = EventStream(reader, writer)
        while (event := await stream.read(is_amid=True)) is not None:
            for kind in (AudioStart, AudioChunk, Synthesize, SynthesizeChunk):
                if kind.is_type(event.type):
                    parsed(kind, event)

    with suppress(Malformed):
        asyncio.run(read())


async def _served(content: bytes) -> tuple[asyncio.Server, int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            writer.write(content)
            await writer.drain()
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


def wyoming_server(content: bytes) -> None:
    """Read a speech server's events, as its client."""
    from wyoming.audio import AudioChunk, AudioStart
    from wyoming.info import Info

    async def read() -> None:
        server, port = await _served(content)
        async with server, WyomingServer("127.0.0.1", port).connect() as connection:
            while True:
                event = await connection.read()
                for kind in (AudioStart, AudioChunk, Info):
                    if kind.is_type(event.type):
                        connection.parsed(kind, event)

    with suppress(ServerFailed):
        asyncio.run(read())


def esphome_device(content: bytes) -> None:
    """Dial a device that answers anything, through the library that reads its frames."""

    async def dial() -> None:
        server, port = await _served(content)
        async with server:
            await EspHome()("127.0.0.1", port, "", "")

    with suppress(SatelliteFailure):
        asyncio.run(dial())


def model_stream(pieces: list[bytes]) -> None:
    """Read a model's server-sent events."""
    stream = ModelStream()
    with suppress(ValueError):
        for piece in pieces:
            list(stream.feed(piece))
        list(stream.finish())


def model_answer(chunks: list[Any]) -> None:
    """Put together a model's answer, tool calls included, of any JSON."""
    accumulator = Accumulator(frozenset(), (), Dialect(Profile("all words"), "m", Sight()))
    for chunk in chunks:
        list(accumulator.feed(chunk))
    list(accumulator.finish())


CALL = fields("id", "index", "type", sure={"function": fields("name", "arguments") | ANY_JSON})
DELTA = fields("content", "reasoning", "reasoning_details", sure={"tool_calls": st.lists(CALL, max_size=2) | ANY_JSON})
CHUNK = fields(
    "usage", sure={"choices": st.lists(fields("finish_reason", sure={"delta": DELTA}), max_size=2) | ANY_JSON}
)

TARGETS = (
    Target("wyoming_door", EVENTS, wyoming_door),
    Target("wyoming_server", EVENTS, wyoming_server, examples=40),
    Target("esphome_frames", FRAMES, esphome_device, examples=20, seconds=20.0),
    Target(
        "model_stream", st.lists(st.binary(max_size=60) | changed(b"data: {}\r\n\r\n: a\n\n"), max_size=8), model_stream
    ),
    Target("model_answer", st.lists(CHUNK, max_size=4), model_answer),
)
