"""What each adapter of a speech server adds to the server's own time to its first byte of sound."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final

from audio.interfaces import Synthesizer, closing
from audio.loops import running
from audio.tts.chain import VoiceChain
from audio.tts.http_speech import OpenAiSpeechSynthesizer, Reference, SovitsSynthesizer
from audio.tts.wyoming import WyomingSynthesizer
from audio.wyoming import WyomingServer
from benchmarks.figure import Figure, Series, milliseconds, run, short
from benchmarks.processes import line_of, module, speaking

TEXT: Final = "The kettle is on, and the tea will be ready in about five minutes."

Ask = Callable[[], Awaitable[float]]


def measure(*, quick: bool = False) -> Figure:
    """Ask through each adapter, alone and in the chain, and over a bare connection that is kept, in turn."""
    with speaking(module("benchmarks.audio.voice_stand_in")) as server:
        http, wyoming = map(int, line_of(server).split())
        return asyncio.run(_compared(http, wyoming, 3 if quick else 200))


async def _compared(http: int, wyoming: int, count: int) -> Figure:
    url = f"http://127.0.0.1:{http}"
    openai = OpenAiSpeechSynthesizer(f"{url}/v1", "tts-1", {"": "alloy"})
    sovits = SovitsSynthesizer(url, Reference("/voices/anna.wav", "en"))
    wyoming_voice = WyomingSynthesizer(WyomingServer("127.0.0.1", wyoming), {})
    bodies = {
        "/v1/audio/speech": {"model": "tts-1", "voice": "alloy", "input": TEXT, "response_format": "pcm"},
        "/tts": {"text": TEXT, "text_lang": "en"},
    }
    pairs: dict[str, tuple[Synthesizer, Ask]] = {
        "OpenAI speech": (openai, lambda: _bare_http(http, "/v1/audio/speech", bodies["/v1/audio/speech"])),
        "GPT-SoVITS": (sovits, lambda: _bare_http(http, "/tts", bodies["/tts"])),
        "Wyoming": (wyoming_voice, lambda: _bare_wyoming(wyoming)),
    }
    found: dict[str, tuple[Series, Series, Series]] = {}
    for name, (voice, bare) in pairs.items():
        async with running(voice.loops()):
            found[name] = await _in_turn(voice, bare, count)
    ours, chained, plain = found["OpenAI speech"]
    notes = [
        f"{name}: {alone} against {floor}: {short(alone.median / floor.median)} ×"
        for name, (alone, _, floor) in found.items()
        if name != "OpenAI speech"
    ]
    held = f"with the chain, which holds 0.3 s of sound back before any is heard, {chained}"
    return Figure("First sound of a speech server, through its adapter", ours, plain, (*notes, held))


async def _in_turn(voice: Synthesizer, bare: Ask, count: int) -> tuple[Series, Series, Series]:
    """Return seconds through the adapter, through the chain with it, and over the bare connection."""
    chain = VoiceChain([voice], first_audio_deadline=10.0)
    await _first(voice)  # which opens the connection, and imports
    alone, chained, plain = [], [], []
    for _ in range(count):
        alone.append(await _first(voice))
        chained.append(await _first(chain))
        plain.append(await bare())
    return (
        milliseconds("through `audio/tts/http_speech.py`, its connection kept", alone),
        milliseconds("", chained),
        milliseconds("the server's first byte of sound over a bare connection", plain),
    )


async def _first(voice: Synthesizer) -> float:
    """Return the seconds to the first sound of a sentence, having heard all of it."""
    began, first = perf_counter(), 0.0
    async with closing(voice.speak(TEXT, "en")) as pieces:
        async for _ in pieces:
            first = first or perf_counter() - began
    return first


async def _bare_http(port: int, path: str, body: dict[str, str]) -> float:
    """Return the seconds from the request to the first byte behind the headers; connecting is not counted."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = json.dumps(body).encode()
    began = perf_counter()
    writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
    await reader.readuntil(b"\r\n\r\n")
    await reader.readline()  # the length of the first chunk
    await reader.readexactly(1)
    first = perf_counter() - began
    writer.close()
    await writer.wait_closed()
    return first


async def _bare_wyoming(port: int) -> float:
    """Return the seconds from connecting, which the protocol does for each sentence, to the first byte of sound."""
    began = perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = json.dumps({"text": TEXT, "voice": {"language": "en"}}).encode()
    writer.write(json.dumps({"type": "synthesize", "data_length": len(data)}).encode() + b"\n" + data)
    payload = 0
    while not payload:
        head = json.loads(await reader.readline())
        await reader.readexactly(head.get("data_length") or 0)
        payload = head.get("payload_length") or 0
    await reader.readexactly(1)
    first = perf_counter() - began
    writer.close()
    await writer.wait_closed()
    return first


if __name__ == "__main__":
    run(measure)
