"""The mind's side of ears on other machines: takes their turns, has a room for each, and keeps their timers."""

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
from agent.event import ASR_TRANSCRIPT, HOUSEHOLD, ROOM, TIMER, Event, room_of
from agent.mailbox import Mailbox
from agent.record import step
from agent.replies import SENTENCE_STARTED, Reply, ReplyStream
from agent.tools.timers import label_of
from appliance.machines.mind.arriving import Arriving
from appliance.machines.mind.speech import MachineSpeech, Way
from appliance.machines.namesakes import Namesakes
from appliance.machines.wire import (
    INBOX,
    PRESENCE,
    PROCESS,
    REPORTS,
    RETRY_SECONDS,
    Forget,
    Interrupt,
    NoMessage,
    Presence,
    Reader,
    Report,
    Ring,
    Timers,
    Turn,
    again_and_again,
    pack,
    tell_presence,
    unpack,
)
from appliance.output.company import Company, RoomTurns
from appliance.output.unasked import File
from appliance.output.voice import SENTENCE_ENDED, VoiceReplySink
from appliance.remote.mouth import FollowedDelivery
from appliance.rooms.rooms import DEVICE, SATELLITE, Room, Rooms, same_name
from appliance.timers.due import RANG, STOPPED
from audio.language import sentence_language
from audio.loops import Loop, running, until_set
from audio.playback.speech_output import SpokenSentence
from audio.turns.surroundings import SpeechActivity
from memory.engine.interface import Engine
from memory.errors import EngineFailure, MemoryFailure
from memory.json_value import Json
from memory.state.journal import Journal

log = structlog.get_logger()

LOOK_SECONDS: Final = 1.0
"""Between two looks whether ears are away, or have not been told yet."""

MOST_MACHINES: Final = 64
"""Ears of one household; more are not heard."""

UNSURE_WITHIN: Final = timedelta(minutes=5)
"""Age of a sentence of an earlier start about whose end the ears are asked."""

MOST_LOOKED_AT: Final = 200
"""Newest entries of the journal in which such sentences are looked for."""


class MachineReplies:
    """A `RoomReplies` into the sound at ears elsewhere."""

    def __init__(self, speech: MachineSpeech, voice: VoiceReplySink) -> None:
        """`voice` journals the sentences of `speech`."""
        self._speech = speech
        self._voice = voice

    def open(self, reply: Reply) -> ReplyStream:
        """Return a delivery that speaks the reply there."""
        self._speech.answers(reply)
        ended: list[str] = []

        def closed(words: str) -> None:
            if not ended:
                ended.append(words)
                self._speech.end(reply.call_id, words)

        return FollowedDelivery(self._voice.open(reply), lambda: None, closed)

    @property
    def is_replying(self) -> bool:
        """Whether a reply is under way."""
        return self._voice.is_replying

    def stop_speaking(self) -> str:
        """Be silent at once; return the id of the event whose reply was under way first, "" when there was none."""
        return self._voice.stop_speaking()


class EarsRoom(Struct, eq=False):
    """One pair of ears elsewhere as a room."""

    way: Way
    room: Room
    speech: MachineSpeech
    turns: RoomTurns
    known: tuple[str, ...] | None = None
    """Ids of the timers that the ears were told of; None before."""
    was_there: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set where the ears may have come, or are to be told something."""


class Surroundings(Struct, frozen=True):
    """What the mind's side acts upon."""

    mailbox: Mailbox
    journal: Journal
    bus: Bus
    rooms: Rooms
    company: Company
    interrupt: Callable[[str], bool]
    """`Attention.interrupt`."""
    in_hand: Callable[[], Event | None]
    """Returns the event of the run in hand."""
    file: File
    """Keeps words for later (`agent.unasked.announcements.Announcements.file`)."""
    forget: Callable[[int], Awaitable[object]]
    """Forgets the newest turns."""
    language: str
    clock: Callable[[], float] = monotonic


class RemoteRooms:
    """All ears elsewhere. On the event loop; `loops` does everything."""

    def __init__(self, engine: Engine, machine: str, epoch: int, around: Surroundings) -> None:
        """`machine` is what this one is called, `epoch` the one of its lease; `engine` is open, or tries again."""
        self._engine = engine
        self._machine = machine
        self._epoch = epoch
        self._around = around
        self._arriving = Arriving(around.mailbox)
        self._ears: dict[str, EarsRoom] = {}
        self._new: asyncio.Queue[EarsRoom] = asyncio.Queue(MOST_MACHINES)
        self._reader = Reader()
        self._namesakes = Namesakes()
        around.mailbox.observe_changes(self._changed)

    def loops(self) -> Mapping[str, Loop]:
        """Return what joins the mind to its ears, until cancelled."""
        return {
            "machines: turns of ears elsewhere": self._take_all,
            "machines: which ears live": partial(again_and_again, self._listen),
            "machines: what the ears report": partial(again_and_again, self._follow_reports),
            "machines: that the mind lives": self._tell_presence,
            "machines: ears elsewhere, as rooms": self._live,
        }

    def describe(self) -> dict[str, Json]:
        """Return what the status says: the role, the epoch, and the ears with their rooms."""
        ears: dict[str, Json] = {
            name: {"room": each.room.name, "there": each.way.is_there} for name, each in self._ears.items()
        }
        state = "connected" if self._engine.is_reachable else "away"
        told: dict[str, Json] = {"role": "mind", "machine": self._machine, "epoch": self._epoch, "engine": state}
        return told | {"ears": ears, "namesakes": [*self._namesakes.names]}

    def _changed(self) -> None:
        for ears in self._ears.values():
            ears.changed.set()

    async def _take_all(self) -> None:
        """File what the ears owe, one after the other; acknowledged only once the mailbox has it."""
        inbox = self._engine.inbox(INBOX)
        while True:
            try:
                delivery = await inbox.take()
                try:
                    await self._take(delivery.message)
                except NoMessage as error:  # waiting for an update would hold up all that comes behind it
                    log.error("message_put_away", reason=str(error))  # noqa: TRY400
                except MemoryFailure:
                    with suppress(EngineFailure):
                        await delivery.release()
                    raise
                await delivery.ack()
            except MemoryFailure as error:  # it comes again
                log.warning("turn_not_taken", reason=str(error))
                await asyncio.sleep(RETRY_SECONDS)

    async def _take(self, data: bytes) -> None:
        """Act on one message. Raises `StateUnusable`; one of a newer version stays where it is (`WireRefused`)."""
        message = unpack(data)
        if isinstance(message, Turn):
            await self._arriving.file(message)
            if message.event.is_from_person and (ears := self._ears.get(message.machine)) is not None:
                ears.turns.understood()
        elif isinstance(message, Ring):
            await self._rang(message)
        elif isinstance(message, Forget):
            await self._around.forget(message.count)

    async def _rang(self, ring: Ring) -> None:
        filed = await self._around.mailbox.find(ring.timer)
        if filed is None:
            return
        timer = filed.event
        if ring.state == "cancelled":
            await self._around.mailbox.withdraw(timer.id, "cancelled at the ears")
        elif not await self._around.journal.entries(topic=RANG, event_id=timer.id, limit=1):
            await self._around.bus.publish(step(RANG, timer, "", {"late_seconds": 0.0, "at": ring.machine}))
        if ring.state == "stopped":
            await self._around.bus.publish(step(STOPPED, timer, "", {"label": label_of(timer)}, ring.words))

    async def _listen(self) -> None:
        async with self._engine.topics.subscribe(PRESENCE) as words:
            async for each in words:
                message = self._reader.read(each.data)
                if isinstance(message, Presence):
                    self._namesakes.hear(message)
                    if message.role == "ears":
                        self._seen(message)

    async def expect(self) -> None:
        """Have a room for the ears that wait for an answer since before this start. Raises `StateUnusable`."""
        waiting = await self._around.mailbox.waiting(ASR_TRANSCRIPT, HOUSEHOLD)
        lease = await self._around.mailbox.in_hand()
        for event in [*waiting, *([lease.event] if lease else [])]:
            machine = event.metadata.get(DEVICE)
            if event.source == SATELLITE and isinstance(machine, str) and machine and machine not in self._ears:
                ears = self._ears[machine] = self._joined(Presence(machine, "ears", room_of(event)))
                ears.way.seen_at, ears.was_there = self._around.clock(), True

    def _seen(self, presence: Presence) -> None:
        ears = self._ears.get(presence.machine)
        if ears is None and len(self._ears) < MOST_MACHINES:
            ears = self._ears[presence.machine] = self._joined(presence)
        if ears is None:
            return
        ears.way.seen_at = float("-inf") if presence.leaves else self._around.clock()
        ears.way.is_heard = True
        if not (ears.was_there and ears.way.is_known) or presence.leaves:
            ears.changed.set()

    def _joined(self, presence: Presence) -> EarsRoom:
        around = self._around
        way = Way(presence.machine, self._engine, self._epoch, around.clock)
        speech = MachineSpeech(way, around.file, around.clock, around.mailbox.now)
        replies = MachineReplies(speech, VoiceReplySink(speech, around.bus, around.language))
        name = presence.room or presence.machine
        room = Room(name, speech, replies, lambda: way.is_there, presence.machine, rings_itself=True)
        turns = around.company.turns_in(name, SpeechActivity(around.clock))
        ears = EarsRoom(way, room, speech, turns)
        around.rooms.add(room)
        around.company.listen_by(lambda: way.is_there)
        self._new.put_nowait(ears)
        log.info("ears_joined", machine=presence.machine, room=name)
        return ears

    async def _follow_reports(self) -> None:
        async with self._engine.topics.subscribe(REPORTS) as reports:
            async for each in reports:
                message = self._reader.read(each.data)
                if isinstance(message, Report) and (ears := self._ears.get(message.machine)) is not None:
                    await ears.speech.take(message)
                elif isinstance(message, Interrupt):
                    self._interrupted(message)

    def _interrupted(self, message: Interrupt) -> None:
        event, ears = self._around.in_hand(), self._ears.get(message.machine)
        is_there = event is not None and ears is not None and self._around.rooms.of(event) is ears.room
        if message.event_id or is_there:
            self._around.interrupt(message.event_id)

    async def _tell_presence(self) -> None:
        here = Presence(self._machine, "mind", epoch=self._epoch, process=PROCESS)
        try:
            await tell_presence(self._engine, lambda: here)
        finally:
            with suppress(EngineFailure, TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(0.5):
                    await self._engine.topics.publish(PRESENCE, pack(replace(here, leaves=True)))

    async def _live(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                ears = await self._new.get()
                group.create_task(self._live_in(ears), name=f"machine: {ears.way.machine}")

    async def _live_in(self, ears: EarsRoom) -> None:
        async with running(ears.speech.loops()):
            while True:
                ears.changed.clear()
                try:
                    await self._look(ears)
                except MemoryFailure as error:
                    log.debug("ears_not_told", machine=ears.way.machine, reason=str(error))
                await until_set(ears.changed, LOOK_SECONDS)

    async def _look(self, ears: EarsRoom) -> None:
        """See whether the ears came or went; tell them of their timers. Raises `MemoryFailure`."""
        way = ears.way
        if not way.is_there:
            if ears.was_there:
                ears.was_there, ears.known = False, None
                log.info("ears_away", machine=way.machine)
                await ears.speech.gone()
            return
        ears.was_there = True
        if not way.is_heard:
            return
        if not way.is_known:
            await self._ask_before(ears)
            way.is_known = True
            ears.speech.came()
        await ears.speech.back()
        timers = await self._timers_of(ears.room)
        ids = tuple(timer.id for timer in timers)
        if ids != ears.known:
            await way.ask(Timers(self._epoch, timers))
            ears.known = ids

    async def _ask_before(self, ears: EarsRoom) -> None:
        """Ask about sentences of an earlier start of this mind, or of another, whose end nobody knows."""
        around = self._around
        topics = (SENTENCE_STARTED, SENTENCE_ENDED)
        entries = await around.journal.entries(topic=topics, newest=True, limit=MOST_LOOKED_AT)
        ended = {_key(each.body) for each in entries if each.topic == SENTENCE_ENDED}
        since = around.mailbox.now() - UNSURE_WITHIN
        for each in entries:
            if each.topic != SENTENCE_STARTED or _key(each.body) in ended or each.at < since:
                continue
            filed = await around.mailbox.find(each.event_id)
            if filed is None or same_name(room_of(filed.event)) != same_name(ears.room.name):
                continue
            call, number = _key(each.body)
            words = str(each.body.get("words", ""))
            sentence = SpokenSentence(call, number, words, sentence_language(words, around.language))
            ears.speech.ask_about(sentence, filed.event, each.at + timedelta(seconds=30))
        await ears.speech.back()

    async def _timers_of(self, room: Room) -> tuple[Event, ...]:
        waiting = await self._around.mailbox.waiting(TIMER, HOUSEHOLD)
        here = [each for each in waiting if self._rings_in(each) is room]
        return tuple(replace(each, metadata={**each.metadata, ROOM: room.name}) for each in here)

    def _rings_in(self, timer: Event) -> Room | None:
        """Return where a timer rings: in its room, and one without in the first that is there, the box's own too."""
        rooms = self._around.rooms
        own = same_name(room_of(timer))
        return next((each for each in rooms if own and same_name(each.called) == own), None) or rooms.any


def _key(body: Mapping[str, Json]) -> tuple[str, int]:
    number = body.get("number")
    return str(body.get("call_id", "")), number if isinstance(number, int) else 0
