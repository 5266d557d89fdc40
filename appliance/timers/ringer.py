"""The ringer: a due timer rings and tells its name, beside the mind, until somebody says stop or its time is over."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Final, Protocol

import structlog
from msgspec import Struct, field

from agent.event import Event
from appliance.rooms.rooms import Room, Rooms
from appliance.timers.due import DueTimer, DueTimers
from appliance.timers.words import is_alarm, is_stop, is_stop_for_today, snooze_minutes, told
from audio.loops import Loop, until_set
from audio.playback.earcons import bell

log = structlog.get_logger()

RINGS_FOR: Final = 60.0
"""Seconds after which nobody seems to be there; the mind still knows."""

ALARM_RINGS_FOR: Final = 600.0
"""Seconds that an alarm has to wake somebody; other clocks take ten minutes to an hour."""

PAUSE: Final = 3.5
"""Seconds between two rings: with half duplex it listens only then, and a person says "stop" and a silence ends it."""

LATER_PAUSE: Final = 20.0
"""Seconds between two rings of what has rung for a minute."""

LONGEST_HOLD: Final = 8.0
"""Seconds that a pause lasts longer while somebody speaks; a television never ends."""

LOOK_AGAIN: Final = 0.5
"""Seconds between two looks whether somebody still speaks."""

WORDS_COME_WITHIN: Final = 1.5
"""Seconds from the end of a short utterance to its words: the closing silence, and a small model's time."""

MOST_ROOMS: Final = 64
"""In which something may begin to ring at the same moment."""


class HeardIn(Protocol):
    """Who was heard where (`appliance.output.company.Company`)."""

    def is_spoken_to(self, room: str, seconds: float) -> bool:
        """Whether somebody speaks in a room of this name, or did so in the last so many seconds."""

    @property
    def last_room(self) -> str:
        """The room in which a person was understood last, "" where that is long ago."""


class Ringing(Struct, frozen=True):
    """A timer that rings."""

    began: float
    """Seconds on the clock of the pace."""
    due: DueTimer

    @property
    def seconds(self) -> float:
        """How long it rings where nobody stops it."""
        return ALARM_RINGS_FOR if is_alarm(self.due.event) else RINGS_FOR


class Pace(Struct, frozen=True):
    """The time between rings; not the clock on the wall, which may be set while it rings."""

    now: Callable[[], float] = monotonic
    """Seconds."""
    wait: Callable[[asyncio.Event, float], Awaitable[None]] = until_set
    """Waits until the event is set or so many seconds are over; it may also return sooner."""


class RoomRinger(Struct, eq=False):
    """Rings in one room, until nothing rings there any more. All that rings at the same time rings together."""

    room: Room
    language: str
    is_spoken_to: Callable[[], bool]
    """Whether somebody speaks or just did: a ring over the word "stop" would drown it."""
    pace: Pace
    ringing: list[Ringing] = []
    """In the order in which they began."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _sounding: asyncio.Timeout | None = None
    """While a ring is heard or waits for its turn: what ends it early."""

    def add(self, more: Sequence[Ringing]) -> None:
        """Ring for these too."""
        self.ringing += more
        self._changed.set()

    def silence(self) -> list[Event]:
        """Be silent at once; return the timers that rang."""
        timers = [each.due.event for each in self.ringing]
        self.ringing.clear()
        self._changed.set()
        if self._sounding is not None:
            self._sounding.reschedule(asyncio.get_running_loop().time())
        return timers

    async def run(self, over: Callable[[Event], Awaitable[None]]) -> None:
        """Ring until all was stopped, the room is away, or its time is over, which `over` is told of each timer."""
        rung_at = float("-inf")
        while True:
            self._changed.clear()
            await self._end_old(over)
            if not (self.ringing and self.room.is_there()):
                return
            if self.ringing[-1].began > rung_at:  # a later ring has waited in its pause
                await self._hold()
            rung_at = self.pace.now()
            await self._ring()
            await self._pause()

    async def _end_old(self, over: Callable[[Event], Awaitable[None]]) -> None:
        for each in [each for each in self.ringing if self.pace.now() - each.began >= each.seconds]:
            self.ringing.remove(each)
            log.info("ringing_ended", event_id=each.due.event.id)
            await over(each.due.event)

    @property
    def _between(self) -> float:
        """Seconds between two rings of what rings now."""
        is_new = any(self.pace.now() - each.began < RINGS_FOR for each in self.ringing)
        return PAUSE if is_new else LATER_PAUSE

    async def _ring(self) -> None:
        """Ring once, with the names of all that is due; in silence where somebody says stop."""
        sentence = told([each.due for each in self.ringing], self.language)
        scope = asyncio.timeout(None)
        try:
            # A deadline that `silence` sets to now: cancelling from outside needs a scope.
            async with scope as self._sounding:
                await self.room.speech.announce(bell(), sentence)
            log.info("ring_sounded", words=sentence.text)
        except TimeoutError:
            if not scope.expired():
                raise
        finally:
            self._sounding = None

    async def _hold(self) -> None:
        """Wait for the end of a sentence that somebody is in the middle of, not for long."""
        latest = self.pace.now() + LONGEST_HOLD
        while self.ringing and self.is_spoken_to() and self.pace.now() < latest:
            self._changed.clear()
            await self.pace.wait(self._changed, LOOK_AGAIN)

    async def _pause(self) -> None:
        """Wait between two rings; shorter only when nothing rings any more, longer while somebody speaks."""
        began = self.pace.now()
        until = began + self._between
        latest = until + LONGEST_HOLD
        while self.ringing and self.pace.now() < until:
            self._changed.clear()
            await self.pace.wait(self._changed, until - self.pace.now())
            if self._changed.is_set():  # what joins waits for no later pause
                until = min(until, began + self._between)
            if self.pace.now() >= until and self.is_spoken_to():
                until = min(self.pace.now() + LOOK_AGAIN, latest)


class Ringer:
    """Rings for every due timer, once each, in the room where it was set, however busy the mind, and far the model.

    Where that room is away, it rings where somebody was heard last, else at the box: a ring is for everybody.
    """

    def __init__(
        self,
        due: DueTimers,
        rooms: Rooms,
        language: str,
        company: HeardIn,
        pace: Pace | None = None,
    ) -> None:
        self.due = due
        self._rooms = rooms
        self._language = language
        self._pace = pace or Pace()
        self._company = company
        self._ringers: list[RoomRinger] = []
        """Of the rooms in which something rings."""
        self._new: asyncio.Queue[RoomRinger] = asyncio.Queue(MOST_ROOMS)
        self._unnoted: list[Event] = []
        """Timers that were silenced and not journaled yet."""
        self._silent = asyncio.Event()
        self._silent.set()

    def loops(self) -> Mapping[str, Loop]:
        """Return what rings, for ever."""
        return {"ringer: due timers, beside the mind": self._watch, "ringer: rings to sound": self._ring_all}

    async def silence(self) -> None:
        """Return when nothing rings and nothing is about to."""
        await self.due.nothing_due.wait()
        await self._silent.wait()

    @property
    def is_ringing(self) -> bool:
        """Whether something rings anywhere, its pauses included."""
        return any(ringer.ringing for ringer in self._ringers)

    def meant_in(self, room: Room) -> list[RoomRinger]:
        """Return what is meant by a stop that is said in a room: what rings there, else what alone rings elsewhere."""
        ringing = [ringer for ringer in self._ringers if ringer.ringing]
        here = [ringer for ringer in ringing if ringer.room == room]
        return here or (ringing if len(ringing) == 1 else [])

    def silence_in(self, room: Room) -> list[Event]:
        """Silence at once what is meant there; return the timers that rang. `note` should be told of them."""
        timers = [timer for ringer in self.meant_in(room) for timer in ringer.silence()]
        self._unnoted += timers
        return timers

    async def note(self, words: str) -> None:
        """Journal the words by which what was silenced last became silent."""
        timers, self._unnoted = self._unnoted, []
        if timers:
            log.info("ringing_stopped", words=words)
            await self.due.note_stop(timers, words)

    async def _watch(self) -> None:
        while True:
            for due in await self.due.next():
                self._begin(Ringing(self._pace.now(), due))

    def _begin(self, ringing: Ringing) -> None:
        if self._rooms.rings_itself(ringing.due.event):
            return
        room = self._rooms.of(ringing.due.event) or self._rooms.named(self._company.last_room) or self._rooms.any
        self._silent.clear()
        ringer = next((each for each in self._ringers if each.room == room), None)
        if ringer is None:
            is_spoken_to = partial(self._company.is_spoken_to, room.called, WORDS_COME_WITHIN)
            ringer = RoomRinger(room, self._language, is_spoken_to, self._pace)
            self._ringers.append(ringer)
            self._new.put_nowait(ringer)
        ringer.add([ringing])

    async def _ring_all(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                ringer = await self._new.get()
                group.create_task(self._ring_in(ringer), name=f"ringer: {ringer.room.called}")

    async def _ring_in(self, ringer: RoomRinger) -> None:
        """Ring in a room; what still rings when that is away goes on elsewhere."""
        await ringer.run(self.due.over)
        self._ringers.remove(ringer)
        for ringing in ringer.ringing:
            self._begin(ringing)
        if not self._ringers:
            self._silent.set()


class RingerHere(Struct, frozen=True):
    """The ringer, as somebody in a room means it."""

    ringer: Ringer
    room: Room

    @property
    def is_ringing(self) -> bool:
        """Whether something rings that is meant here."""
        return bool(self.ringer.meant_in(self.room))

    def silence(self) -> list[Event]:
        """Silence at once what is meant here; return the timers that rang. `note` should be told of them."""
        return self.ringer.silence_in(self.room)

    async def note(self, words: str) -> None:
        """Journal the words by which what was silenced last became silent."""
        await self.ringer.note(words)

    async def take(self, words: str) -> bool:
        """Be silent at once if something rings and the words ask for that; return whether they are done with.

        "Snooze" is silence as well, and the same timers again in five minutes, or as many as are said; "stop for
        today" leaves out what would come later today of the same series.
        """
        minutes, for_today = snooze_minutes(words), is_stop_for_today(words)
        if minutes is not None:
            return await self.snooze(minutes, words)
        if not self.is_ringing or not (for_today or is_stop(words)):
            return False
        timers = self.silence()
        if for_today:
            await self.ringer.due.leave_out_today(timers)
        await self.note(words)
        return True

    async def snooze(self, minutes: float, words: str) -> bool:
        """Be silent at once and ring again in so many minutes; False when nothing rings."""
        if not self.is_ringing:
            return False
        await self.ringer.due.snooze(self.silence(), minutes)
        await self.note(words)
        return True
