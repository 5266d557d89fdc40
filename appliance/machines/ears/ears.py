"""The ears' side of the engine: listens for the mind and what it sends, tells that these ears live, and reports."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Final

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent.bus import Bus
from agent.event import HOUSEHOLD, TIMER, Event, from_json, new_id, to_json
from agent.mailbox import Mailbox
from agent.run.system_replies import SystemReplies
from appliance.machines.ears.courier import TURN, Courier, MindPresence
from appliance.machines.ears.mouth import RemoteMouth
from appliance.machines.ears.outbox import Outbox, Owed
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
    Ring,
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
from appliance.timers.due import ENDED, RANG, STOPPED
from audio.loops import Loop, until_set
from memory.engine.interface import Engine, Request
from memory.errors import EngineFailure, MemoryFailure
from memory.json_value import Json

LONGEST: Final = 120.0
"""Seconds after which nobody waits for an answer any more: its event may have ended without one."""

MOST: Final = 32
"""Words that are followed at a time; of more the oldest gets no sign."""


class _Open(Struct):
    event: Event
    at: float
    is_signed: bool = False


class Waiting(Struct):
    """Follows what was handed over, until its first words come back."""

    replies: SystemReplies
    mind: MindPresence
    is_sounding: Callable[[], bool]
    """Whether something is said just now: that is sign enough."""
    clock: Callable[[], float] = monotonic
    _open: dict[str, _Open] = {}
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.mind.observe(self._changed.set)

    def handed_over(self, event: Event) -> None:
        """Take that the mind has these words, or has them as soon as it is there."""
        while len(self._open) >= MOST:
            del self._open[next(iter(self._open))]
        self._open[event.id] = _Open(event, self.clock())
        self._changed.set()

    def answered(self, event_id: str) -> None:
        """Take that an answer begins, or that none is wanted any more."""
        self._open.pop(event_id, None)

    @property
    def open(self) -> tuple[str, ...]:
        """The ids of events that wait for their first words."""
        return tuple(self._open)

    def forget(self) -> None:
        """Keep no words."""
        self._open.clear()

    async def run(self) -> None:
        """Give signs, until cancelled."""
        while True:
            self._changed.clear()
            with suppress(MemoryFailure):
                await self._look()
            await until_set(self._changed, self._next())

    def _next(self) -> float | None:
        """Return the seconds until something is due; None where nothing is."""
        after = self.replies.sign_after
        dues = [each.at + (LONGEST if each.is_signed or not after else after) for each in self._open.values()]
        return max(0.05, min(dues) - self.clock()) if dues else None

    async def _look(self) -> None:
        now, after = self.clock(), self.replies.sign_after
        for each in list(self._open.values()):
            if now - each.at > LONGEST:
                self.answered(each.event.id)
            elif self.mind.is_missed:
                self.answered(each.event.id)
                await self.replies.tell(each.event, "no_model")
            elif after and not each.is_signed and now - each.at >= after and not self.is_sounding():
                each.is_signed = True
                await self.replies.sign(each.event)


RING: Final = "ring"
"""Kind of what is owed that tells of a timer: its body is `id state words`."""

NOT_SET: Final = "the mind has it no more"
"""Why a timer is withdrawn that was cancelled elsewhere."""

RING_RETRY_SECONDS: Final = 5.0

SKEW: Final = timedelta(seconds=10)
"""How near its moment a timer rings though the mind has it no more: by the mind's clock it may be due already."""

_STATES: Final = {RANG: "rang", STOPPED: "stopped", ENDED: "ended"}


class RoomTimers(Struct):
    """Keeps the mailbox of the ears and the mind in agreement about the timers of this room.

    The ringer rings for what is in that mailbox, whoever set it, once each over all starts.
    """

    mailbox: Mailbox
    outbox: Outbox
    courier: Courier
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.mailbox.observe_changes(self._changed.set, of=TIMER)

    async def mirror(self, events: tuple[Event, ...]) -> None:
        """Take all timers that the mind has for this room. Raises `StateUnusable`."""
        async with self._one:
            wanted = {event.id for event in events}
            for event in events:
                await self.mailbox.enqueue(replace(event, owner_key=HOUSEHOLD, parent_id=""))
            await self.outbox.confirm_timers(wanted)
            confirmed = await self.outbox.known_timers(confirmed=True)
            soon = self.mailbox.now() + SKEW
            for timer in await self.mailbox.waiting(TIMER, HOUSEHOLD):
                is_gone = timer.id in confirmed and timer.id not in wanted
                if is_gone and (timer.not_before or soon) > soon:
                    await self.mailbox.withdraw(timer.id, NOT_SET)

    async def run(self) -> None:
        """Let the mind know of what is set and cancelled here, until cancelled."""
        while True:
            self._changed.clear()
            again: float | None = None
            try:
                async with self._one:
                    await self._reconcile()
            except MemoryFailure as error:
                log.warning("timers_not_told", reason=str(error))
                again = RING_RETRY_SECONDS
            await until_set(self._changed, again)

    async def follow(self, envelope: Event) -> None:
        """Take an envelope of the bus: those of `timer.*` tell what rings."""
        if envelope.type in _STATES:
            await self._owe(envelope.parent_id, _STATES[envelope.type], envelope.content)

    async def _reconcile(self) -> None:
        waiting = await self.mailbox.waiting(TIMER, HOUSEHOLD)
        known = await self.outbox.known_timers()
        for timer in waiting:
            if timer.id not in known:
                await self.outbox.add_timer(timer.id, TURN, to_json(timer))
                self.courier.wake()
        for id_ in known - {timer.id for timer in waiting}:
            filed = await self.mailbox.find(id_)
            if filed is not None and filed.state == "completed":
                await self._owe(id_, "rang")
            elif filed is not None and filed.state == "withdrawn" and filed.reason != NOT_SET:
                await self._owe(id_, "cancelled")
            elif filed is not None and filed.state not in {"dead", "withdrawn"}:
                continue  # the agent here has it in hand
            await self.outbox.forget_timer(id_)

    async def _owe(self, id_: str, state: str, words: str = "") -> None:
        await self.courier.owe(f"{state}-{id_}"[:128], RING, f"{id_}\n{state}\n{words}")


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
            timer, state, words = owed.body.split("\n", 2)
            return pack(Ring(self.machine, timer, state, words))
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
