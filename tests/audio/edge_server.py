"""A local server that speaks the protocol of Edge's read-aloud service, with real MP3, and faults by script."""

import asyncio
import io
import json
import subprocess
import time
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache

import av
import numpy as np
from aiohttp import web
from msgspec import Struct

from audio.pcm import Samples
from audio.tts.decoding import WavStream

PATH = "/consumer/speech/synthesize/readaloud/edge/v1"
MESSAGE_BYTES = 720
"""What the real service sends in one message: 120 ms of sound."""

TICKS = 10_000_000
"""A second, in the service's unit."""

SILENCE_SECONDS = 0.8
"""The real service adds about as much after the last word."""


class Fault(Enum):
    """What becomes of one connection."""

    GOOD = auto()
    SLOW = auto()
    """Nothing after the handshake until `EdgeServer.go_on` is set, then all."""
    STALL = auto()
    """Half of the sound, then nothing until `EdgeServer.go_on` is set; then the other half."""
    DROP = auto()
    """Half of the sound, then the connection is gone."""
    DROP_AT_ONCE = auto()
    SHORT = auto()
    """Half of the sound, all word timings, and a proper end."""
    REFUSE_403 = auto()
    REFUSE_429 = auto()
    REFUSE_500 = auto()
    PAGE = auto()
    """A web page in place of the handshake: what a captive portal answers."""
    NO_AUDIO = auto()
    WRONG_TYPE = auto()
    NOT_MP3 = auto()
    NONSENSE = auto()


HTTP_STATUS = {Fault.REFUSE_403: 403, Fault.REFUSE_429: 429, Fault.REFUSE_500: 500, Fault.PAGE: 200}


class Spoken(Struct, frozen=True):
    """One text as sound."""

    mp3: bytes
    words: tuple[tuple[str, int, int], ...]
    """(word, offset, duration), in ticks, in order."""
    seconds: float
    """Of speech, without the silence at its end."""


@dataclass
class Request:
    """What a client asked for."""

    voice: str
    text: str
    config: str


@dataclass
class EdgeServer:
    """The running server: what it was asked, and what it will do next."""

    url: str
    script: list[Fault] = field(default_factory=list)
    """One fault a connection, in order; `GOOD` when it is used up."""
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    ports: list[int] = field(default_factory=list)
    """Where each of these came from: of one port, one connection of TCP."""
    open_ports: Callable[[], list[int]] = list
    """Returns where the connections come from that are open, asked by or not."""
    hang_up: Callable[[], object] = list
    """Closes them all."""
    first_asked: float = 0.0
    """Seconds on `time.monotonic` of the first connection; 0 before it."""
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    was_asked: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def asked(self, times: int) -> None:
        """Return when the server was asked to speak as many times."""
        async with self.was_asked:
            await self.was_asked.wait_for(lambda: len(self.requests) >= times)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.connections += 1
        self.ports.append(_port(request.transport))
        self.first_asked = self.first_asked or time.monotonic()
        fault = self.script.pop(0) if self.script else Fault.GOOD
        if fault in HTTP_STATUS:
            return web.Response(status=HTTP_STATUS[fault], text="<html>no</html>", content_type="text/html")
        if {"Sec-MS-GEC", "ConnectionId", "TrustedClientToken"} - request.query.keys():
            return web.Response(status=403)
        socket = web.WebSocketResponse(compress=True)
        await socket.prepare(request)
        config = await socket.receive_str(timeout=5)
        asked = _parsed(config, await socket.receive_str(timeout=5))
        self.requests.append(asked)
        async with self.was_asked:
            self.was_asked.notify_all()
        if fault is Fault.SLOW:
            await self.go_on.wait()
        await self._speak(socket, asked.text, fault)
        if fault in (Fault.DROP, Fault.DROP_AT_ONCE):
            assert request.transport is not None
            request.transport.abort()
        return socket

    async def _speak(self, socket: web.WebSocketResponse, text: str, fault: Fault) -> None:
        await _send_text(socket, "turn.start", {"context": {"serviceTag": "local"}})
        await _send_text(socket, "response", {"context": {}, "audio": {"type": "inline", "streamId": "1"}})
        if fault is Fault.DROP_AT_ONCE:
            return
        if fault is Fault.NONSENSE:
            await socket.send_str("Path:something.else\r\n\r\n{}")
        if fault is not Fault.NO_AUDIO:
            if not await self._send_sound(socket, await asyncio.to_thread(spoken, text), fault):
                return
            await _send_audio(socket, b"", "")
        await _send_text(socket, "turn.end", {})

    async def _send_sound(self, socket: web.WebSocketResponse, sound: Spoken, fault: Fault) -> bool:
        """Send messages of sound, each word's timing before its sound; say whether all of it was meant to be sent."""
        words = list(sound.words)
        half = len(sound.mp3) // 2 // MESSAGE_BYTES * MESSAGE_BYTES
        for start in range(0, len(sound.mp3), MESSAGE_BYTES):
            if start == half and fault is Fault.DROP:
                return False
            if start == half and fault is Fault.STALL:
                await self.go_on.wait()
            while words and (words[0][1] / TICKS * 6000 <= start + MESSAGE_BYTES or fault is Fault.SHORT):
                await _send_word(socket, *words.pop(0))
            if start >= half and fault is Fault.SHORT:
                break
            data = sound.mp3[start : start + MESSAGE_BYTES]
            await _send_audio(
                socket,
                bytes(len(data)) if fault is Fault.NOT_MP3 else data,
                "audio/x-wav" if fault is Fault.WRONG_TYPE else "audio/mpeg",
            )
        return True


@asynccontextmanager
async def edge_server(*script: Fault) -> AsyncIterator[EdgeServer]:
    """Run a server on a free port of this machine."""
    application = web.Application()
    runner = web.AppRunner(application, shutdown_timeout=1.0)
    server = EdgeServer("", list(script))
    application.router.add_get(PATH, server.answer)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    listening = runner.server
    assert listening is not None

    def transports() -> list[asyncio.Transport]:
        return [each.transport for each in listening.connections if each.transport]

    def hang_up() -> None:
        for each in transports():
            each.abort()

    server.open_ports = lambda: [_port(each) for each in transports()]
    server.hang_up = hang_up
    server.url = f"ws://{host}:{port}{PATH}?TrustedClientToken=local"
    try:
        yield server
    finally:
        server.go_on.set()
        await runner.cleanup()


def _port(transport: asyncio.BaseTransport | None) -> int:
    """Return the client's port."""
    assert transport is not None
    return int(transport.get_extra_info("peername")[1])


@cache
def spoken(text: str) -> Spoken:
    """Return the text spoken by espeak-ng as the service would send it: MP3, 24 kHz, mono, 48 kbit/s.

    Timings share the speech out among the words by their letters.
    """
    wav = subprocess.run(["espeak-ng", "--stdin", "--stdout"], input=text.encode(), capture_output=True, check=True)
    stream = WavStream()
    samples = stream.feed(wav.stdout)
    seconds = len(samples) / stream.sample_rate
    words = text.split()
    letters = np.cumsum([0, *(len(word) for word in words)]) / sum(len(word) for word in words)
    ticks = [round(share * seconds * TICKS) for share in letters]
    timed = tuple(
        (word.strip(".,!?"), start, end - start) for word, start, end in zip(words, ticks, ticks[1:], strict=False)
    )
    silence = np.zeros(round(SILENCE_SECONDS * stream.sample_rate), np.int16)
    return Spoken(mp3(np.concatenate([samples, silence]), stream.sample_rate), timed, seconds)


def mp3(samples: Samples, sample_rate: int) -> bytes:
    """Return the samples as bare MP3 frames, without tags."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp3", options={"write_xing": "0", "id3v2_version": "0"}) as container:
        stream = container.add_stream("libmp3lame", rate=24_000)
        stream.bit_rate = 48_000
        stream.layout = "mono"
        resampler = av.AudioResampler(format=stream.format, layout="mono", rate=24_000)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None, :]), format="s16", layout="mono")
        frame.sample_rate = sample_rate
        for resampled in (*resampler.resample(frame), *resampler.resample(None), None):
            container.mux(stream.encode(resampled))
    return file.getvalue()


def _parsed(config: str, ssml: str) -> Request:
    """Read the two messages of a client; whatever the real service would not take raises."""
    settings = json.loads(config.partition("\r\n\r\n")[2])["context"]["synthesis"]["audio"]
    assert settings["outputFormat"] == "audio-24khz-48kbitrate-mono-mp3"
    assert settings["metadataoptions"]["wordBoundaryEnabled"] == "true"
    root = ET.fromstring(ssml.partition("\r\n\r\n")[2])
    voice = root.find("{*}voice")
    assert voice is not None
    return Request(voice.get("name", ""), "".join(voice.itertext()), config)


async def _send_text(socket: web.WebSocketResponse, path: str, body: object) -> None:
    await socket.send_str(
        f"X-RequestId:1\r\nContent-Type:application/json; charset=utf-8\r\nPath:{path}\r\n\r\n{json.dumps(body)}"
    )


async def _send_word(socket: web.WebSocketResponse, word: str, offset: int, duration: int) -> None:
    text = {"Text": word, "Length": len(word), "BoundaryType": "WordBoundary"}
    data = {"Offset": offset, "Duration": duration, "text": text}
    await _send_text(socket, "audio.metadata", {"Metadata": [{"Type": "WordBoundary", "Data": data}]})


async def _send_audio(socket: web.WebSocketResponse, data: bytes, content_type: str) -> None:
    header = "X-RequestId:1\r\n" + (f"Content-Type:{content_type}\r\n" if content_type else "")
    encoded = f"{header}X-StreamId:1\r\nPath:audio\r\n".encode()
    await socket.send_bytes(len(encoded).to_bytes(2, "big") + encoded + data)
