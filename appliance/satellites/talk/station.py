"""Satellites as places: each paired device is the ears and the mouth of its room, for as long as it is paired."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Final

import structlog
from msgspec import Struct

from agent.event import Event
from appliance.input.intake import Guard
from appliance.output.company import Company
from appliance.remote.ears import Standing
from appliance.remote.place import House
from appliance.rooms.arbitration import Arbiter
from appliance.rooms.rooms import Room, Rooms, origin_of
from appliance.satellites.interfaces import Device
from appliance.satellites.talk.ears import SatelliteEars
from appliance.satellites.talk.mouth import SatelliteMouth
from appliance.satellites.talk.runs import Runs
from appliance.satellites.talk.serving import ReplyServer
from appliance.timers.ringer import Ringer, RingerHere
from audio.loops import Loop, running
from audio.turns.surroundings import SpeechActivity

log = structlog.get_logger()

STOPPED: Final = "stopped at the device"
"""What the journal has as words, where a button or the device's own stop word ended a ring."""

MOST_UNNOTED: Final = 16
"""Silenced rings that wait for the journal."""

MOST_DEVICES: Final = 32
"""That may join at the same time."""


class Neighbours(Struct, frozen=True):
    """What a place shares with the other rooms."""

    rooms: Rooms
    company: Company
    arbiter: Arbiter
    own_words: Guard
    ringer: Ringer | None


class Station:
    """One device as a place (`DeviceObserver`). Costs nothing while nobody speaks there. On the event loop."""

    def __init__(self, device: Device, house: House, around: Neighbours, server: ReplyServer) -> None:
        self.device = device
        self._around = around
        self._interrupt = house.mind.interrupt
        activity = SpeechActivity(house.recognizing.clock)
        origin = origin_of(device.room, device.id)
        self._turns = around.company.turns_in(device.room, activity)
        self._contest = around.arbiter.ears(device.room)
        self._runs = Runs(device, origin.session_id, house.recognizing.language, self.stopped_there)
        self.mouth = SatelliteMouth(house.speaking, device, server, self._runs)
        self.room = Room(device.room, self.mouth.speech, self.mouth, lambda: device.is_there, device.id)
        self._rings = None if around.ringer is None else RingerHere(around.ringer, self.room)
        observers, turns = (self._contest, self._turns), house.recognizing.turns
        standing = Standing(origin, self._contest, around.own_words, turns.room, activity, observers)
        self.ears = SatelliteEars(house, standing, self.mouth, self._runs, self._rings)
        self._stopped: asyncio.Queue[str] = asyncio.Queue(MOST_UNNOTED)
        """Words by which rings became silent."""
        self._left = asyncio.Event()
        device.observe(self)

    async def run(self) -> None:
        """Hear and speak until `leave`."""
        async with running(self._loops()):
            await self._left.wait()

    def leave(self) -> None:
        """Take that the device was forgotten."""
        self.there(is_there=False)
        self._around.company.leave(self._turns)
        self._around.arbiter.remove(self._contest)
        self._left.set()

    def _loops(self) -> Mapping[str, Loop]:
        return {
            "satellite: what is heard": self.ears.hear,
            "satellite: rings that were stopped": self._note,
            **self.ears.loops(),
            **self.mouth.loops(),
        }

    def wake(self, phrase: str, *, follows_reply: bool) -> bool:
        """Be silent, and take what is said; a wake ends what is said there, and what rings."""
        self._silence_rings(phrase)
        if self.mouth.player.is_sounding:
            self._end_reply()
        log.info("satellite_woken", satellite=self.device.name, phrase=phrase, follows_reply=follows_reply)
        return self.device.is_there and self.ears.wake(follows_reply=follows_reply)

    def audio(self, pcm: bytes) -> None:
        """Take int16 mono samples of 16 kHz."""
        self.ears.feed(pcm)

    def stopped(self, aborted: bool) -> None:
        """Take what was said as whole; aborted, take it back, or end the answer."""
        if not aborted:
            self.ears.end()
        elif not self.ears.abort():
            self.ears.stop()
            self._end_run()

    def announcement_finished(self) -> None:
        """Take that a reply was played, or stopped there."""
        if self.mouth.player.played():
            self.stopped_there()

    def there(self, is_there: bool) -> None:
        """Take that it is gone: what was said is understood, what it was saying ends where it was."""
        if not is_there:
            self.ears.end()
            self._end_run()
            self.mouth.leave()

    def muted(self, is_muted: bool) -> None:
        """Take that its microphone was switched."""
        if is_muted:
            self.ears.abort()

    def volume(self, level: float) -> None:
        """Take its volume, in [0, 1]."""
        self.ears.volume = level

    def run_finished(self, event_id: str) -> None:
        """Take that the run of an event is over: no more is said of it."""
        self._runs.answered(event_id, "", is_last=True)
        self.mouth.over(event_id)

    def stopped_there(self) -> None:
        """Take that somebody stopped at the device what it played: the reply and its run, or what rings."""
        self._silence_rings(STOPPED)
        self._end_reply()
        self._end_run()

    def _end_reply(self) -> None:
        if event_id := self.mouth.stop_speaking():
            self._interrupt(event_id)

    def _end_run(self) -> None:
        if self._runs.current is not None and not self._runs.current.is_over:
            self._runs.current.end()

    def _silence_rings(self, words: str) -> None:
        if self._rings is not None and self._rings.is_ringing and not self._stopped.full():
            self._rings.silence()
            self._stopped.put_nowait(words)

    async def _note(self) -> None:
        while True:
            words = await self._stopped.get()
            if self._rings is not None:
                await self._rings.note(words)


class Stations:
    """All satellites as places (`DevicesObserver`); each lives in `run`."""

    def __init__(self, house: House, around: Neighbours, server: ReplyServer) -> None:
        self._house = house
        self._around = around
        self._server = server
        self._stations: dict[str, Station] = {}
        """By the id of the device."""
        self._new: asyncio.Queue[Station] = asyncio.Queue(MOST_DEVICES)

    def __iter__(self) -> Iterator[Station]:
        """Every one, whether its device is there or not."""
        return iter(tuple(self._stations.values()))

    def joined(self, device: Device) -> None:
        """Make a device the ears and mouth of its room."""
        station = Station(device, self._house, self._around, self._server)
        self._stations[device.id] = station
        self._around.rooms.add(station.room)
        self._around.company.listen_by(lambda: device.is_there)
        self._new.put_nowait(station)

    def left(self, device: Device) -> None:
        """Take that a device was forgotten."""
        if (station := self._stations.pop(device.id, None)) is not None:
            self._around.rooms.remove(station.room)
            station.leave()

    async def run(self) -> None:
        """Let them live, for ever."""
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    station = await self._new.get()
                    group.create_task(self._live(station), name=f"satellite: {station.device.name}")
        finally:
            self._server.close()

    async def follow(self) -> None:
        """Tell each of the runs that are over, for ever."""

        async def tell(envelope: Event) -> None:
            if self._stations and envelope.metadata.get("event") == "run_finished":
                for station in self:
                    station.run_finished(envelope.parent_id)

        await self._house.mind.bus.attend("ui.events", tell)

    async def _live(self, station: Station) -> None:
        try:
            await station.run()
        except Exception:  # a bug must cost one room, not the box
            log.exception("satellite_failed", satellite=station.device.name)
            self.left(station.device)
