"""The ears' side of the engine: listens for the mind and what it sends, tells that these ears live, and reports."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent.bus import Bus
from agent.event import from_json, new_id
from appliance.machines.ears.courier import TURN, Courier
from appliance.machines.ears.mouth import RemoteMouth
from appliance.machines.ears.outbox import Owed
from appliance.machines.ears.presence import MindPresence
from appliance.machines.ears.ringing import RING, RoomTimers, ring_of
from appliance.machines.ears.waiting import Waiting
from appliance.machines.namesakes import Namesakes
from appliance.machines.wire import (
    PRESENCE,
    PROCESS,
    REPORTS,
    RETRY_SECONDS,
    End,
    Forget,
    Presence,
    Reader,
    Report,
    Sentence,
    Stop,
    Timers,
    Turn,
    again_and_again,
    pack,
    tell_presence,
    topic_of,
)
from appliance.reflexes.words import Forgot
from audio.loops import Loop
from memory.engine.interface import Engine, Request
from memory.errors import EngineFailure, MemoryFailure
from memory.json_value import Json

log = structlog.get_logger()

FORGET = "forget"
"""Kind of what is owed that has the mind forget: its body is how many turns."""


class Here(Struct, frozen=True):
    """Which ears these are."""

    machine: str
    room: str
    """The name of its room, "" where it has none."""

    def message_of(self, owed: Owed) -> bytes:
        """Return what is owed to the mind as it travels."""
        if owed.kind == RING:
            return pack(ring_of(owed.body, self.machine))
        if owed.kind == FORGET:
            return pack(Forget(self.machine, self.room, int(owed.body)))
        if owed.kind == TURN:
            return pack(Turn(self.machine, self.room, from_json(owed.body)))
        raise ValueError(f"nobody knows how {owed.kind!r} is told")


class RemoteEars(Struct):
    """What makes a box the ears of a mind elsewhere."""

    here: Here
    engine: Engine
    courier: Courier
    mind: MindPresence
    mouth: RemoteMouth
    timers: RoomTimers
    waiting: Waiting
    bus: Bus
    _reader: Reader = field(default_factory=Reader)
    _namesakes: Namesakes = field(default_factory=Namesakes)

    def __post_init__(self) -> None:
        self.mind.observe(self._mind_changed)

    def interrupt(self, event_id: str) -> bool:
        """Take that somebody here wants silence or the floor; tell the mind. Whether it has that event, or any ("")."""
        has = [each for each in self.waiting.open if event_id in {"", each}]
        for each in has:
            self.waiting.answered(each)
        was_speaking = self.mouth.silence(self.here.room, event_id, has)
        return bool(has) or was_speaking

    async def forget(self, here: Callable[[], Awaitable[Forgot]]) -> Forgot:
        """Forget what was said last, on this machine by `here`, and at the mind, where it went or as soon as it can."""
        self.waiting.forget()
        forgot = await here()
        try:
            if not await self.courier.drop_newest():
                await self.courier.owe(f"forget-{new_id()}", FORGET, "1")
        except MemoryFailure as error:
            log.warning("not_forgotten", reason=str(error))
            return Forgot("not forgotten")
        return replace(forgot, did="forgotten")

    def loops(self) -> Mapping[str, Loop]:
        """Return what joins these ears to the mind, until cancelled."""
        return {
            "machines: what is said, to the mind": self.courier.run,
            "machines: whether the mind is there": self.mind.run,
            "machines: signs that an answer takes its time": self.waiting.run,
            "machines: the mind's sentences, to the voice": self.mouth.run,
            "machines: timers of this room": self.timers.run,
            "machines: what rings here": partial(self.bus.attend, "timer.*", self.timers.follow),
            "machines: words of minds that live": partial(again_and_again, self._listen),
            "machines: what the mind sends": partial(again_and_again, self._serve),
            "machines: that these ears live": partial(tell_presence, self.engine, self._presence),
            "machines: what was heard, to the mind": self._tell_reports,
        }

    def describe(self) -> dict[str, Json]:
        """Return what the status says: the role, the mind and since when, and how many turns wait for it."""
        return {
            "role": "ears",
            "machine": self.here.machine,
            "engine": "connected" if self.engine.is_reachable else "away",
            **self.mind.describe(),
            "waiting": self.courier.waiting,
            "namesakes": [*self._namesakes.names],
        }

    def _mind_changed(self) -> None:
        if self.mind.is_missed:
            self.mouth.end()

    async def _listen(self) -> None:
        async with self.engine.topics.subscribe(PRESENCE) as words:
            async for each in words:
                message = self._reader.read(each.data)
                if not isinstance(message, Presence):
                    continue
                self._namesakes.hear(message)
                if message.role in {"mind", "all"}:
                    self.mouth.follow(message.epoch)
                    if message.leaves:
                        self.mind.left()
                    else:
                        self.mind.heard(message.machine)

    async def _serve(self) -> None:
        async with self.engine.topics.serve(topic_of(self.here.machine)) as requests:
            async for request in requests:
                try:
                    await self._answer(request)
                except MemoryFailure as error:  # no answer: the mind sends it again
                    log.warning("not_taken", reason=str(error))

    async def _answer(self, request: Request) -> None:
        message = self._reader.read(request.data)
        if isinstance(message, Timers):
            await self.timers.mirror(message.events)
        elif isinstance(message, Sentence | End | Stop):
            try:
                report = await self.mouth.take(message)
            except asyncio.QueueFull:
                return
            if report is not None:
                await request.answer(pack(report))
                return
        else:
            return
        await request.answer(b"{}")

    def _presence(self) -> Presence:
        waiting = self.courier.waiting
        return Presence(self.here.machine, "ears", self.here.room, waiting=waiting, process=PROCESS)

    async def _tell_reports(self) -> None:
        while True:
            message = await self.mouth.to_tell.get()
            is_told = False
            while not is_told:
                try:
                    await self.engine.topics.publish(REPORTS, pack(message))
                    is_told = True
                except EngineFailure:
                    is_told = isinstance(message, Report)  # the mind asks for one that it misses
                    await asyncio.sleep(RETRY_SECONDS)
