"""Wyoming's server on a free port of loopback, over scripted ears, voice and agent, and programs that come."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from wyoming.asr import Transcript
from wyoming.client import AsyncTcpClient
from wyoming.event import Event, Eventable

from appliance.api.outcome import Outcome
from appliance.remote.ears import Recognizing
from appliance.wyoming.guests import Guests, guests_of
from appliance.wyoming.handle import PATIENCE_SECONDS, Conversation
from appliance.wyoming.info import Abilities
from appliance.wyoming.server import Services, WyomingServer
from appliance.wyoming.tts import Speaking
from appliance.wyoming.wire import USUAL, Patience
from audio.interfaces import VoiceDetector
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.sharing import RecognizerTurns
from memory.json_value import Json
from tests.audio.ears_fakes import ScriptedRecognizer
from tests.audio.mouth_fakes import ScriptedVoice, note

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


class LoudDetector(VoiceDetector):
    """A `VoiceDetector` that takes whatever is loud for speech."""

    def probability(self, samples: Samples) -> float:
        return 0.9 if np.abs(samples).max() > 1000 else 0.05

    def reset(self) -> None:
        """Remember nothing."""


class CountedTurns(RecognizerTurns):
    """Turns at the recognizer, with a count of the programs that came for one."""

    def __init__(self) -> None:
        super().__init__()
        self.came = asyncio.Semaphore(0)

    @asynccontextmanager
    async def other(self) -> AsyncIterator[None]:
        self.came.release()
        async with super().other():
            yield


@dataclass
class ScriptedHousehold:
    """An `Asked` that answers from a script and keeps what it was asked."""

    items: list[str | Outcome] = field(default_factory=lambda: ["It is ", "three.\n"])
    error: Exception | None = None
    hold: asyncio.Event | None = None
    """Waited for before the last item."""
    asked: list[tuple[str, str, Mapping[str, Json]]] = field(default_factory=list)
    """Words, session and marks."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(
        self, text: str, session: str, owner_key: str, *, marks: Mapping[str, Json]
    ) -> AsyncGenerator[str | Outcome, None]:
        self.asked.append((text, session, marks))
        self.begun.set()
        try:
            if self.error is not None:
                raise self.error
            for number, item in enumerate(self.items):
                if self.hold is not None and number == len(self.items) - 1:
                    await self.hold.wait()
                yield item
        finally:
            self.closed.set()


@dataclass
class Rig:
    """What is behind the door, and the door."""

    recognizer: ScriptedRecognizer = field(default_factory=lambda: ScriptedRecognizer(is_warm=True))
    voice: ScriptedVoice = field(default_factory=ScriptedVoice)
    household: ScriptedHousehold = field(default_factory=ScriptedHousehold)
    turns: CountedTurns = field(default_factory=CountedTurns)
    language: str = "en"
    most: int = 16
    patience: Patience = USUAL
    answer_within: float = PATIENCE_SECONDS
    guests: Guests = field(default_factory=lambda: guests_of(["127.0.0.0/8"]))
    port: int = 0
    server: WyomingServer = field(init=False)

    def services(self) -> Services:
        hearing = Recognizing(
            self.recognizer, self.turns, LoudDetector, ThreadPoolExecutor(1), self.language, 0.5, lambda: 1000.0
        )
        return Services(
            Abilities(lambda: self.recognizer.name, self.language),
            hearing,
            Speaking(self.voice, self.language),
            Conversation(self.household, self.answer_within),
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Rig"]:
        """Answer for the length of the block."""
        self.server = WyomingServer(self.services(), self.guests, self.most, lambda: NOW, self.patience)
        with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
            listener.setblocking(False)
            self.port = listener.getsockname()[1]
            async with asyncio.timeout(120), asyncio.TaskGroup() as group:
                serving = group.create_task(self.server.serve(listener))
                try:
                    yield self
                finally:
                    serving.cancel()

    def client(self) -> AsyncTcpClient:
        """Return a program that uses the library, to be entered."""
        return AsyncTcpClient("127.0.0.1", self.port)

    async def asks(self, *events: Eventable, until: str) -> list[Event]:
        """Send events by a connection of its own; return what comes, up to an event of that type."""
        async with self.client() as client:
            for event in events:
                await client.write_event(event.event())
            return await told(client, until)

    async def sends(self, content: bytes) -> bytes:
        """Send bytes by a connection of its own; return what comes until it is closed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(content)
        try:
            return await reader.read()
        except ConnectionError:  # closed with something of it unread
            return b""
        finally:
            writer.transport.abort()

    async def until_alone(self) -> None:
        """Return when nobody is connected any more."""
        while self.server.describe()["connections"]:  # noqa: ASYNC110  nobody tells when a server notices
            await asyncio.sleep(0)

    async def still_answers(self) -> bool:
        """Whether somebody else is answered."""
        events = await self.asks(Transcript("still there"), until="handled")
        return bool(events[-1].data["text"] == "It is three.")


async def told(client: AsyncTcpClient, until: str) -> list[Event]:
    """Return what a program is told, up to an event of that type, or to the end of the connection."""
    events: list[Event] = []
    while (event := await client.read_event()) is not None:
        events.append(event)
        if event.type == until:
            break
    return events


def speech(seconds: float = 1.0, rate: int = SAMPLE_RATE) -> Samples:
    """Return what `LoudDetector` takes for speech, and silence around it."""
    quiet = np.zeros(round(0.3 * rate), np.int16)
    return np.concatenate([quiet, note(440.0, seconds, rate), quiet])
