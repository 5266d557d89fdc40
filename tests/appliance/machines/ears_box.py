"""A whole box as ears in virtual time, over an engine in memory; and a mind that speaks nothing but the wire."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from agent.event import Event
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.config.sections import VoiceSettings
from appliance.machines.wire import (
    ANSWERED,
    INBOX,
    PRESENCE,
    PRESENCE_SECONDS,
    REPORTS,
    End,
    Forget,
    Interrupt,
    Presence,
    Report,
    Ring,
    Sentence,
    Stop,
    Timers,
    Turn,
    pack,
    topic_of,
    unpack,
)
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import REAL, Environment
from audio.interfaces import Player
from audio.speech import SpeechAudio
from memory.engine.interface import Engine, Message
from memory.errors import EngineFailure
from tests.appliance.rooms.home import Ledger, TimedPlayer
from tests.audio.mouth_fakes import ScriptedVoice
from tests.engine_fake import FakeEngine, FakeInbox, FakeServer, FakeTopics
from tests.room.virtual_time import passed, run_virtually
from tests.service.process import Household

T = TypeVar("T")

EARS: dict[str, object] = {"url": "nats://127.0.0.1:4222", "role": "ears", "name": "kitchen"}
SENT_AGAIN = 1.0
"""Seconds after which the mind sends a sentence again of which it has heard no end."""


@dataclass
class RemoteMind:
    """A mind on another machine: it answers each turn by sentences that it is told, and keeps what it got."""

    engine: Engine
    answer: Callable[[Event], Sequence[str]] = lambda event: [f"You said {event.content}."]
    epoch: int = 1
    turns: list[Event] = field(default_factory=list)
    """What came from the ears, in order, doubles left out as a mailbox does."""
    rings: list[Ring] = field(default_factory=list)
    forgets: list[Forget] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    interrupts: list[Interrupt] = field(default_factory=list)
    heard: dict[str, list[str]] = field(default_factory=dict)
    """What was heard of the answer to each event, by its id."""

    async def live(self) -> None:
        """Be there until cancelled."""
        with suppress(EngineFailure):
            await self.engine.open()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._again(self._tell))
            group.create_task(self._again(self._follow))
            while True:
                delivery = await self.engine.inbox(INBOX).take()
                message = unpack(delivery.message)
                if isinstance(message, Turn) and message.event.id not in {event.id for event in self.turns}:
                    self.turns.append(message.event)
                    if message.event.is_from_person and ANSWERED not in message.event.metadata:
                        group.create_task(self.say(message.event, self.answer(message.event)))
                elif isinstance(message, Ring):
                    self.rings.append(message)
                elif isinstance(message, Forget):
                    self.forgets.append(message)
                with suppress(EngineFailure):
                    await delivery.ack()

    async def say(self, event: Event, sentences: Sequence[str], reply: str = "") -> None:
        """Have sentences spoken, each sent again until its end is told."""
        reply = reply or f"reply-{event.id}"
        for number, text in enumerate(sentences, 1):
            report = await self.send(Sentence(self.epoch, event.id, reply, number, text, "en"))
            self.heard.setdefault(event.id, []).extend([report.heard] if report.heard else [])
        await self.order(End(self.epoch, reply, len(sentences)))

    async def send(self, sentence: Sentence) -> Report:
        """Send a sentence until its end is told; return that."""
        while True:
            with suppress(EngineFailure):
                told = unpack(await self.engine.topics.request(topic_of("kitchen"), pack(sentence)))
                assert isinstance(told, Report)
                if told.state not in {"waits", "started"}:
                    return told
            await passed(SENT_AGAIN)

    async def order(self, message: End | Stop | Timers) -> None:
        """Send anything else until it was taken."""
        while True:
            with suppress(EngineFailure):
                await self.engine.topics.request(topic_of("kitchen"), pack(message))
                return
            await passed(SENT_AGAIN)

    async def _tell(self) -> None:
        while True:
            await self.engine.topics.publish(PRESENCE, pack(Presence("server", "mind", epoch=self.epoch)))
            await passed(PRESENCE_SECONDS)

    async def _follow(self) -> None:
        async with self.engine.topics.subscribe(REPORTS) as messages:
            async for each in messages:
                message = unpack(each.data)
                if isinstance(message, Report):
                    self.reports.append(message)
                elif isinstance(message, Interrupt):
                    self.interrupts.append(message)

    async def _again(self, loop: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while True:
            with suppress(EngineFailure):
                await loop()
            await passed(0.5)


class Tapped(FakeEngine):
    """An engine that keeps all bytes that this machine hands to it."""

    def __init__(self, server: FakeServer) -> None:
        super().__init__(server)
        self.sent: list[bytes] = []
        self.topics = TappedTopics(self, self.sent)

    def inbox(self, name: str) -> "TappedInbox":
        return TappedInbox(self, name, self.sent)


class TappedTopics(FakeTopics):
    def __init__(self, engine: FakeEngine, sent: list[bytes]) -> None:
        super().__init__(engine)
        self._sent = sent

    def _send(self, message: Message, reply: str = "", *, serves: bool = False) -> None:
        self._sent.append(message.data)
        super()._send(message, reply, serves=serves)


class TappedInbox(FakeInbox):
    def __init__(self, engine: FakeEngine, name: str, sent: list[bytes]) -> None:
        super().__init__(engine, name)
        self._sent = sent

    async def put(self, message: bytes, *, id: str) -> None:
        self._sent.append(message)
        await super().put(message, id=id)


class CountingPlayer(TimedPlayer):
    """A player that counts the sounds it is given."""

    played = 0

    async def play(self, audio: SpeechAudio) -> None:
        self.played += 1
        await super().play(audio)


@dataclass
class EarsBox:
    """Ears that run, and the mind that they may find."""

    box: Box
    server: FakeServer
    engine: Tapped
    mind: RemoteMind
    own: Ledger
    group: asyncio.TaskGroup
    now: Callable[[], datetime]
    _mind: asyncio.Task[None] | None = None

    @property
    def heard(self) -> list[str]:
        """What was heard from the loudspeaker."""
        return self.own.heard

    @property
    def player(self) -> CountingPlayer:
        """The loudspeaker."""
        assert isinstance(self.box.output.player, CountingPlayer)
        return self.box.output.player

    def mind_comes(self) -> None:
        """Start the mind."""
        self._mind = self.group.create_task(self.mind.live())

    def mind_goes(self) -> None:
        """Kill the mind."""
        if self._mind is not None:
            self._mind.cancel()

    async def there(self) -> None:
        """Return once the ears have found the mind."""
        assert self.box.elsewhere is not None
        await self.until(lambda: self.box.elsewhere is not None and self.box.elsewhere.mind.is_there)

    async def away(self) -> None:
        """Return once the ears miss the mind."""
        await self.until(lambda: self.box.elsewhere is not None and not self.box.elsewhere.mind.is_there)

    async def says(self, words: str, id_: str = "") -> Event:
        """Have somebody say something here."""
        event = Event("asr_transcript", words, source="mic", priority=10, created_at=self.now())
        event = replace(event, id=id_) if id_ else event
        await self.box.input.turns.file(event)
        return event

    async def until(self, condition: Callable[[], object], seconds: float = 120.0) -> None:
        """Return when it holds. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not condition():
                await passed(0.05)

    async def over(self) -> None:
        """Return when nothing waits for the mind, and nothing sounds."""
        assert self.box.elsewhere is not None
        courier = self.box.elsewhere.courier
        await self.until(lambda: not courier.waiting)
        await passed(0.3)
        await self.box.output.speech.quiet()


def live(
    folder: Path,
    story: Callable[[EarsBox], Coroutine[Any, Any, T]],
    server: FakeServer | None = None,
    begin: datetime | None = None,
    **settings: dict[str, object],
) -> T:
    """Open ears, let the story happen while they run, and return what it returns."""
    return run_virtually(_live(folder, story, server or FakeServer(), begin or datetime.now(UTC), settings))


async def _live(
    folder: Path,
    story: Callable[[EarsBox], Coroutine[Any, Any, T]],
    server: FakeServer,
    start: datetime,
    settings: dict[str, dict[str, object]],
) -> T:
    loop = asyncio.get_running_loop()
    began, engine = loop.time(), Tapped(server)
    now = lambda: start + timedelta(seconds=loop.time() - began)  # noqa: E731
    config = load(Household(folder, {"machines": EARS} | settings).write(), {"HOME": str(folder)})
    told: list[T] = []
    async with open_box(config, RunOptions(), outside(engine, now)) as box:
        own = Ledger()
        box.output.speech.observe(own)

        async def tell() -> None:
            async with asyncio.TaskGroup() as group:
                ears = EarsBox(box, server, engine, RemoteMind(FakeEngine(server)), own, group, now)
                told.append(await story(ears))
                ears.mind_goes()

        await serve(box, tell)
    return told[0]


def outside(engine: FakeEngine, now: Callable[[], datetime]) -> Environment:
    """Return an environment without a sound card, on the clock of the running loop."""

    async def player(settings: VoiceSettings, options: RunOptions) -> Player:
        return CountingPlayer()

    return replace(
        REAL,
        source=lambda ears, options: None,
        player=player,
        voice=lambda settings, state_folder: ScriptedVoice(),
        clock=asyncio.get_running_loop().time,
        now=now,
        engine=lambda config: engine,
    )
