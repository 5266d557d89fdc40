"""What goes on, to whoever looks: how it is now, then each message as it comes; nothing waits for a reader."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

import structlog
from msgspec import Struct

from agent.bus import Bus
from agent.event import HOUSEHOLD, TIMER, Event, utc_now
from agent.mailbox import Mailbox
from agent.tools.timers import label_of
from appliance.live.readers import Packet, Reader, Readers
from appliance.live.senses import Meter
from appliance.live.steps import DURABLE, Fact, Step, Steps
from appliance.version import version
from audio.loops import Loop
from memory.errors import MemoryFailure
from memory.json_value import Json
from memory.state.journal import Journal
from memory.state.tiers import TASK

log = structlog.get_logger()

CAPACITY: Final = 4096
"""Envelopes of the bus that may wait here."""

MOST_REPLAYED: Final = 500
"""Entries of the journal that are told again to who comes back; of more only the newest."""

LOOK_SECONDS: Final = 0.1
"""Between two looks at levels, state and mailbox, while somebody looks on."""


class Room(Struct, frozen=True):
    """What the household's streams show of the room."""

    meter: Meter
    is_listening: Callable[[], bool]
    """Whether there is a microphone that hears."""
    is_muted: Callable[[], bool]


class Mail(Struct, frozen=True):
    """How the mailbox was for an owner at the last look."""

    counts: Mapping[str, int]
    timers: Mapping[str, Event]
    """Those that are set, by id, the next one first."""


class Live:
    """Follows the bus, and tells readers of what is theirs; of others' runs only that something runs.

    Order: as published. Loss: a reader's own, once it is too slow. While nobody looks it keeps the run in hand, and
    does nothing else.
    """

    def __init__(self, bus: Bus, journal: Journal, mailbox: Mailbox, room: Room, readers: Readers) -> None:
        self.readers = readers
        self._journal = journal
        self._mailbox = mailbox
        self._room = room
        self._steps = Steps()
        self._observer = bus.observe("*", CAPACITY)
        self._seqs: dict[str, int] = {}
        """Places in the journal of envelopes that were not read here yet, by their ids."""
        self._place: int | None = None
        """The place of the last step that was read here; None until that is known."""
        self._is_ready = asyncio.Event()
        self._mail: dict[str, Mail] = {}
        """By owner, of those who look on."""
        self._is_mail_stale = False
        self._states: dict[str, Mapping[str, Json]] = {}
        """What each owner who looks on was told last."""
        self._levels: tuple[int, int | None] | None = None
        journal.observe(self._written)
        mailbox.observe_arrivals(self._observer.offer)
        mailbox.observe_changes(self._mail_changed)

    def loops(self) -> Mapping[str, Loop]:
        """Return what follows, until cancelled."""
        return {
            "live: what goes on, to whoever looks": self._follow,
            "live: levels and the mailbox, while somebody looks": self._look,
        }

    @asynccontextmanager
    async def reading(self, owner_key: str, after: int | None = None, *, levels: bool = True) -> AsyncIterator[Reader]:
        """Give a reader of what is this owner's: how it is now, then what comes.

        Before that, whatever the journal has of it `after` a place, which a reader had before. Raises `Problem` where
        too many look on already.
        """
        self.readers.check_room(owner_key)
        await self._is_ready.wait()
        await self._read_mail(owner_key)
        self._catch_up()
        with self.readers.reading(owner_key, self._anew, wants_levels=levels) as reader:
            told = [] if after is None else await self._since(owner_key, after)
            self._catch_up()

            def begun(meanwhile: list[Packet]) -> list[Packet]:
                lasting = [packet for packet in meanwhile if after is not None and _lasts(packet)]
                return [*told, *lasting, self._snapshot(owner_key)]

            reader.begin(begun)
            yield reader

    def forget(self) -> None:
        """Keep no words: who is behind is told how it is instead, and the run in hand begins anew."""
        self._catch_up()
        self.readers.forget()
        if self._steps.run is not None:
            self._steps.run.forget()

    def _written(self, places: Mapping[str, int]) -> None:
        self._seqs.update(places)
        while len(self._seqs) > CAPACITY:  # of what never was on the bus
            del self._seqs[next(iter(self._seqs))]

    def _mail_changed(self) -> None:
        self._is_mail_stale = True

    async def _follow(self) -> None:
        try:
            newest = await self._journal.entries(newest=True, limit=1)
            self._place = newest[0].seq if newest else 0
        except MemoryFailure as error:
            log.warning("journal_unreadable", reason=str(error))
        self._is_ready.set()
        async for event in self._observer:
            self._take(event)

    def _catch_up(self) -> None:
        """Read what the bus has shown so far: how it is now is what was published, and nothing older."""
        for event in self._observer.waiting():
            self._take(event)
        self._tell_states()

    def _take(self, event: Event) -> None:
        seq = self._seqs.pop(event.id, None)
        if seq is not None:
            self._place = max(seq, self._place or 0)
        for fact in self._steps.take(Step.published(event, seq)):
            self._tell(fact)
            self._is_mail_stale |= fact.name == "run_started"  # the mailbox tells nobody of a delivery
        self._tell_states()

    def _tell(self, fact: Fact) -> None:
        if fact.owner_key in self.readers.owners:
            for packet in packets_of([fact]):
                self.readers.tell(fact.owner_key, packet, levels=fact.name == "levels")

    def _tell_states(self) -> None:
        for owner_key in self.readers.owners:
            state = self._state(owner_key)
            if state != self._states.get(owner_key):
                self._states[owner_key] = state
                self._tell(Fact("state", state, owner_key, utc_now()))

    def _state(self, owner_key: str) -> dict[str, Json]:
        """Return what an owner may know of what it is doing; the room is the household's."""
        run, is_house = self._steps.run, owner_key == HOUSEHOLD
        is_muted = is_house and self._room.is_muted()
        tool = run.tool if run is not None and run.owner_key == owner_key else None
        in_room = self._steps.senses if is_house else frozenset[str]()
        if in_room:
            state = "hearing" if "hearing" in in_room else "speaking"
        elif run is not None:
            state = "using_a_tool" if tool else "thinking"
        else:
            state = "listening" if is_house and not is_muted and self._room.is_listening() else "idle"
        return {"state": state, "tool": tool if state == "using_a_tool" else None, "muted": is_muted}

    def _snapshot(self, owner_key: str) -> Packet:
        run, mail = self._steps.run, self._mail.get(owner_key, _NO_MAIL)
        self._states[owner_key] = state = self._state(owner_key)
        payload: dict[str, Json] = {
            "version": version(),
            **state,
            "run": run.described() if run is not None and run.owner_key == owner_key else None,
            "mailbox": dict(mail.counts),
            "timers": [_timer(timer, "set") for timer in mail.timers.values()],
        }
        return packet_of(Fact("snapshot", payload, owner_key, utc_now(), seq=self._place))

    def _anew(self, reader: Reader, missed: int) -> list[Packet]:
        """Return what stands for so many messages that a slow reader lost."""
        self._catch_up()
        lost = Fact("lost", {"count": missed}, reader.owner_key, utc_now())
        return [packet_of(lost), self._snapshot(reader.owner_key)]

    async def _since(self, owner_key: str, after: int) -> list[Packet]:
        """Return what the journal has of an owner between a place and the last step that was read here.

        A run that broke off without an end has one after that, unless it is in hand.
        """
        place, run = self._place, self._steps.run
        entries = await self._journal.entries(
            topic=DURABLE, owner_key=owner_key, after=after, newest=True, limit=MOST_REPLAYED + 1
        )
        facts = list[Fact]()
        if len(entries) > MOST_REPLAYED:
            entries = entries[1:]
            lost: dict[str, Json] = {"count": entries[0].seq - after - 1}
            facts.append(Fact("lost", lost, owner_key, utc_now()))
            after = entries[0].seq - 1
        replay = await self._as_of(owner_key, after) if entries else Steps()
        for entry in entries:
            if place is None or entry.seq <= place:
                facts.extend(replay.take(Step.stored(entry)))
        facts.extend(replay.over(run.run_id if run is not None else None, utc_now()))
        return packets_of(facts)

    async def _as_of(self, owner_key: str, place: int) -> Steps:
        """Return the steps of an owner as they stood at a place: what ends a run after it rests on how it began."""
        steps = Steps()
        begun = await self._journal.entries(topic=TASK, owner_key=owner_key, before=place + 1, newest=True, limit=1)
        for start in begun:
            for entry in await self._journal.entries(
                topic=DURABLE, owner_key=owner_key, after=start.seq - 1, before=place + 1, limit=MOST_REPLAYED
            ):
                for _ in steps.take(Step.stored(entry)):
                    pass
        return steps

    async def _look(self) -> None:
        while True:
            await self.readers.watched.wait()
            self._room.meter.switch(is_on=True)
            while self.readers.watched.is_set():
                await asyncio.sleep(LOOK_SECONDS)
                self._tell_levels()
                self._tell_states()
                if self._is_mail_stale:
                    self._is_mail_stale = False
                    for owner_key in self.readers.owners:
                        await self._read_mail(owner_key)
            self._room.meter.switch(is_on=False)
            self._states.clear()
            self._mail.clear()

    def _tell_levels(self) -> None:
        levels = self._room.meter.take()
        if levels != self._levels:
            self._levels = levels
            payload: dict[str, Json] = {"microphone_db": levels[0], "loudspeaker_db": levels[1]}
            self._tell(Fact("levels", payload, HOUSEHOLD, utc_now()))

    async def _read_mail(self, owner_key: str) -> None:
        """Look at an owner's mail, and tell what has changed since the last look."""
        try:
            counts = await self._mailbox.counts(owner_key)
            timers = {timer.id: timer for timer in await self._mailbox.waiting(TIMER, owner_key)}
        except MemoryFailure:
            return
        before, now = self._mail.get(owner_key), utc_now()
        self._mail[owner_key] = Mail(counts, timers)
        if before is None:
            return
        if counts != before.counts:
            self._tell(Fact("mailbox", {"counts": dict(counts)}, owner_key, now))
        for timer in timers.values():
            if timer.id not in before.timers or before.timers[timer.id].not_before != timer.not_before:
                self._tell(Fact("timer", _timer(timer, "set"), owner_key, now))
        for timer in before.timers.values():
            if timer.id not in timers and (gone := _gone(timer, now, owner_key)):
                self._tell(Fact("timer", _timer(timer, gone), owner_key, now))


_NO_MAIL: Final = Mail({}, {})


def _lasts(packet: Packet) -> bool:
    """Whether no snapshot stands for it: the journal has it, or makes it at the end of a run that was cut off."""
    return packet.seq is not None or packet.name == "interrupted"


def packets_of(facts: Iterable[Fact]) -> list[Packet]:
    """Return the facts as messages, ready to be sent; one that cannot be told is left out, and logged."""
    packets = []
    for fact in facts:
        try:
            packets.append(packet_of(fact))
        except ValueError:
            log.exception("message_not_made", name=fact.name)
    return packets


def packet_of(fact: Fact) -> Packet:
    """Return a fact as a message. Raises ValueError for one that is none."""
    from appliance.live.messages import MESSAGES, as_text  # needed once somebody looks

    about = {"run_id": fact.run_id, "seq": fact.seq, "at": fact.at, "payload": fact.payload}
    return Packet(fact.name, fact.seq, as_text(MESSAGES[fact.name].model_validate(about)))


def _timer(timer: Event, state: str) -> dict[str, Json]:
    due = None if timer.not_before is None else timer.not_before.isoformat()
    return {"id": timer.id, "label": label_of(timer), "due": due, "state": state}


def _gone(timer: Event, now: datetime, owner_key: str) -> str:
    """Return what became of a timer that waits no more; "" where the ringer tells that."""
    if timer.not_before is not None and timer.not_before > now:
        return "cancelled"
    return "" if owner_key == HOUSEHOLD else "ended"
