"""What Wyoming's door adds to recognizer and voice: words of a recording, and the first sound of a sentence."""

import asyncio
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import numpy as np
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.event import Eventable
from wyoming.tts import Synthesize

from appliance.api.outcome import Outcome
from appliance.remote.ears import Recognizing
from appliance.remote.recording import utterances_in
from appliance.wyoming.guests import guests_of
from appliance.wyoming.handle import Conversation
from appliance.wyoming.info import Abilities
from appliance.wyoming.server import Services, WyomingServer
from appliance.wyoming.tts import Speaking
from audio.interfaces import closing
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.sharing import RecognizerTurns
from audio.tts.programs import EspeakSynthesizer
from audio.turns.vad import load_detector
from benchmarks.figure import Figure, milliseconds, run, short
from memory.json_value import Json
from tests.audio.spoken import HOUSEHOLD_WHISPER, silence
from tests.room.voices import spoken

SHOWS = ("X13", "F27", "F28")

WORDS = "Turn on the kitchen light."
PIECE = 1024
"""Samples of one event, as Home Assistant's satellites send them."""


class Nobody:
    """An `Asked` that is asked nothing."""

    async def ask(
        self, text: str, session: str, owner_key: str, *, marks: Mapping[str, Json]
    ) -> AsyncGenerator[str | Outcome, None]:
        """Yield nothing."""
        nothing: tuple[str, ...] = ()
        for piece in nothing:
            yield piece


def measure(*, quick: bool = False) -> Figure:
    """Send a recording and a sentence through the door, and give both to recognizer and voice, in turn."""
    return asyncio.run(_measure(2 if quick else 41))


async def _measure(runs: int) -> Figure:
    recognizer, voice = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en"), EspeakSynthesizer()
    recognizer.warm()
    sound = np.concatenate([silence(0.3), spoken(WORDS, "en-us"), silence(0.3)])
    [utterance] = utterances_in(sound, load_detector(), 0.0)
    door: dict[str, list[float]] = {"words": [], "sound": []}
    alone: dict[str, list[float]] = {"words": [], "heard": [], "sound": []}
    async with _open(recognizer, voice) as port:
        for _ in range(runs):
            door["words"].append(await _seconds(lambda: _asked(port, _recording(sound), "transcript")))
            alone["words"].append(await _seconds(lambda: asyncio.to_thread(recognizer.transcribe, utterance)))
            alone["heard"].append(await _seconds(lambda: asyncio.to_thread(utterances_in, sound, load_detector(), 0.0)))
            door["sound"].append(await _seconds(lambda: _asked(port, [Synthesize(WORDS)], "audio-chunk")))
            alone["sound"].append(await _seconds(lambda: _first_sound(voice)))
    said, bare = (milliseconds("", each["sound"]) for each in (door, alone))
    heard = milliseconds("", alone["heard"])
    notes = (
        f"first sound of a sentence {said} against {bare} from the voice: {short(said.median / bare.median)} ×",
        f"finding the speech in the recording takes {heard} of it, which the room does while somebody speaks",
    )
    return Figure(
        "A transcript by Wyoming",
        milliseconds("a whole recording sent, its words read, by a connection of its own", door["words"]),
        milliseconds("the tests' small Whisper on the same speech", alone["words"]),
        notes,
    )


@asynccontextmanager
async def _open(recognizer: FasterWhisperRecognizer, voice: EspeakSynthesizer) -> AsyncIterator[int]:
    """Give the port at which the door is open."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as thread:
        listener.setblocking(False)
        hearing = Recognizing(recognizer, RecognizerTurns(), load_detector, thread, "en", 0.5, time.monotonic)
        services = Services(
            Abilities(lambda: recognizer.name, "en"),
            hearing,
            Speaking(voice, "en"),
            Conversation(Nobody()),
        )
        server = WyomingServer(services, guests_of([]), 16, lambda: datetime.now(UTC))
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(listener))
            yield listener.getsockname()[1]
            serving.cancel()


def _recording(sound: Samples) -> list[Eventable]:
    form = (SAMPLE_RATE, 2, 1)
    pieces = [AudioChunk(*form, sound[at : at + PIECE].tobytes()) for at in range(0, len(sound), PIECE)]
    return [AudioStart(*form), *pieces, AudioStop()]


async def _asked(port: int, events: list[Eventable], until: str) -> None:
    async with AsyncTcpClient("127.0.0.1", port) as client:
        for event in events:
            await client.write_event(event.event())
        while (told := await client.read_event()) is not None and told.type != until:
            pass
        assert told is not None


async def _first_sound(voice: EspeakSynthesizer) -> None:
    async with closing(voice.speak(WORDS, "en")) as pieces:
        await anext(pieces)


async def _seconds(act: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await act()
    return time.perf_counter() - began


if __name__ == "__main__":
    run(measure)
