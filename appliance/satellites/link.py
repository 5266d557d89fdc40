"""One paired device for years: found again wherever it is, connected, and refused when it is another."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import structlog
from msgspec.structs import replace

from appliance.satellites.errors import SatelliteFailure, SatelliteGone, SatelliteRefused
from appliance.satellites.interfaces import About, DeviceObserver, Dial, Features, Session, VoiceEvent
from appliance.satellites.paired import Paired, host_and_port
from appliance.satellites.sightings import MOST_ADDRESSES, Sighting
from audio.backoff import Backoff
from audio.loops import until_set
from memory.json_value import Json

FIRST_REST: Final = 1.0
"""Seconds after a connection was lost."""

LONGEST_REST: Final = 300.0
"""Seconds at most between two tries: what costs nothing, and finds back a device that mDNS says nothing of."""

SHORTEST_REST: Final = 2.0
"""Seconds that pass in any case before an announcement ends a rest, ..."""

ANNOUNCED_SHARE: Final = 0.1
"""... or this share of the rest, so that a flood of announcements is no flood of connections."""

STEADY_SECONDS: Final = 60.0
"""A connection that lasted so long was one: the next rest is the first again."""

MOST_TOLD: Final = 8
"""Reasons told of one absence."""

REOPEN_SECONDS: Final = 10.0
"""After a playback a device opens its microphone again within this time, if it was asked to."""

log = structlog.get_logger()


class Link:
    """A paired device, as `Device` and `Incoming`. All on the event loop."""

    def __init__(
        self,
        paired: Paired,
        dial: Dial,
        changed: Callable[[Paired], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin away; `changed` keeps what is new of it, its name and where it is."""
        self.paired = paired
        """As it is kept."""
        self._dial = dial
        self._changed = changed
        self._clock = clock
        self._rests = Backoff(FIRST_REST, LONGEST_REST, steady=STEADY_SECONDS, jitter=0.2, clock=clock)
        self._observers: list[DeviceObserver] = []
        self._session: Session | None = None
        self.is_there = False
        """Whether it is connected and gives its voice to this box."""
        self.features = Features()
        """As it said last."""
        self._about = About(paired.id, paired.name)
        self._failure: SatelliteFailure | None = SatelliteGone(f"{paired.name} was not reached yet")
        """Why it is away; None while it is there."""
        self._since = clock()
        self._sighting: Sighting | None = None
        self._announced = asyncio.Event()
        self._announcing = asyncio.Lock()
        self._awaited = 0
        """Announcements whose end is waited for, or was given up."""
        self._reopens_until = 0.0
        self.settled: Final = asyncio.Event()
        """Set once it was there, or was not reached."""
        self._told: set[str] = set()
        """Why it was away, as far as that was told since it was there."""

    @property
    def id(self) -> str:
        """Its MAC address."""
        return self.paired.id

    @property
    def name(self) -> str:
        """Its name on the network."""
        return self.paired.name

    @property
    def room(self) -> str:
        """The room where it stands."""
        return self.paired.place

    @property
    def address(self) -> str:
        """Of the device on the connection."""
        return self.paired.address if self._session is not None else ""

    @property
    def local_address(self) -> str:
        """This machine as the device reaches it."""
        return self._session.local_address if self._session is not None else ""

    def observe(self, observer: DeviceObserver) -> None:
        """Tell also this one."""
        self._observers.append(observer)

    def describe(self) -> dict[str, Json]:
        """Return how it is, for people and programs; nothing secret."""
        told: dict[str, Json] = {
            "room": self.room,
            "name": self.name,
            "id": self.id,
            "address": host_and_port(self.paired.address, self.paired.port),
            "is_encrypted": bool(self.paired.key),
            "state": "connected" if self.is_there else "away",
            "seconds": round(self._clock() - self._since),
        }
        if self.is_there:
            about = self._about
            return told | {"firmware": about.firmware, "model": about.model, "wakes_on": [*self.features.wake_words]}
        return told | {"reason": str(self._failure)}

    def check(self) -> None:
        """Raise why it is not there, SatelliteGone or SatelliteRefused; nothing when it is."""
        if self._failure is not None:
            raise self._failure

    def leave(self) -> None:
        """Be away from now on: the connection is over, or it was forgotten."""
        self.is_there, was_there = False, self.is_there
        if was_there:
            self._failure, self._since = SatelliteGone(f"{self.name} hung up, or went silent"), self._clock()
            self._tell_there()

    def seen(self, sighting: Sighting) -> None:
        """Take an announcement of anybody; one that may be of this device ends a rest."""
        is_named = sighting.name.lower() == self.paired.name.lower()
        if sighting.mac == self.id or (is_named and not sighting.mac):
            self._sighting = sighting
            self._announced.set()

    async def run(self) -> None:
        """Keep it connected, until cancelled."""
        while True:
            self._announced.clear()
            self._be_away(await self._visit())
            await self._rest(self._rests.failed())

    async def _rest(self, seconds: float) -> None:
        """Wait, shorter when the device is announced meanwhile, or was during the last try."""
        least = min(seconds, max(SHORTEST_REST, seconds * ANNOUNCED_SHARE))
        await asyncio.sleep(least)
        await until_set(self._announced, seconds - least)

    async def _visit(self) -> SatelliteFailure:
        """Connect, and return why the connection ended, or there was none."""
        failures: list[SatelliteFailure] = []
        for address, port in self._places():
            try:
                session = await self._dial(address, port, self.paired.key, self.id)
            except SatelliteFailure as error:
                failures.append(error)
            else:
                return await self._stay(session, address, port)
        return next((each for each in failures if isinstance(each, SatelliteRefused)), failures[0])

    def _places(self) -> list[tuple[str, int]]:
        """Return where it may be: where it was, then where it is announced."""
        places = [(self.paired.address, self.paired.port)]
        if self._sighting is not None:
            places += [(address, self._sighting.port) for address in self._sighting.addresses]
        return list(dict.fromkeys(places))[: MOST_ADDRESSES + 1]

    async def _stay(self, session: Session, address: str, port: int) -> SatelliteFailure:
        self._session, began = session, self._clock()
        try:
            features = await session.listen(self)
            await self._note(session.about, address, port)
            self._be_there(features)
            session.ask_states()
            await session.ended()
        except SatelliteFailure as error:
            return error
        finally:
            if self._clock() - began >= STEADY_SECONDS:
                self._told.clear()
            self._session = None
            self.leave()
            await session.close()
        return SatelliteGone(f"{self.name} hung up, or went silent")

    async def _note(self, about: About, address: str, port: int) -> None:
        """Keep what is new of it, now that it has proved who it is."""
        self._about = about
        found = replace(self.paired, name=about.name or self.name, address=address, port=port)
        if found != self.paired:
            log.info("satellite_changed", satellite=self.id, name=found.name, address=address)
            self.paired = found
            await self._changed(found)

    def _be_there(self, features: Features) -> None:
        self.features, self.is_there = features, True
        self._failure, self._since = None, self._clock()
        self.settled.set()
        self._awaited, self._reopens_until = 0, 0.0
        log.info("satellite_connected", satellite=self.id, name=self.name, room=self.room)
        self._tell_there()

    def _be_away(self, failure: SatelliteFailure) -> None:
        """Note why it is away. That it is gone is told once, and each refusal, until it was there for a while."""
        self._failure = failure
        self.settled.set()
        topic = str(failure) if isinstance(failure, SatelliteRefused) else "gone"
        if topic not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(topic)
            log.warning("satellite_away", satellite=self.id, name=self.name, reason=str(failure))

    def _tell_there(self) -> None:
        for observer in self._observers:
            observer.there(self.is_there)

    def tell(self, event: VoiceEvent, data: Mapping[str, str] | None = None) -> None:
        """Tell a step of its run."""
        if event is VoiceEvent.INTENT_END:
            goes_on = (data or {}).get("continue_conversation") == "1"
            self._reopens_until = float("inf") if goes_on else 0.0
        if self._session is not None and self.is_there:
            self._session.tell(event, data or {})

    async def announce(
        self, url: str, text: str, *, start_conversation: bool = False, patience_seconds: float = 120.0
    ) -> None:
        """Let it play a url and return when playback ended. Raises SatelliteGone."""
        async with self._announcing:
            session = self._session
            if session is None or not self.is_there:
                raise SatelliteGone(f"{self.name} is not there: {self._failure}")
            if not self.features.announce:
                raise SatelliteGone(f"{self.name} plays no announcements")
            self._awaited += 1
            self._reopens_until = float("inf") if start_conversation else 0.0
            await session.announce(url, text, start_conversation=start_conversation, patience_seconds=patience_seconds)

    def stop_media(self) -> None:
        """Silence its media player."""
        if self._session is not None and self.is_there:
            self._session.stop_media()

    def send_audio(self, pcm: bytes) -> None:
        """Send raw sound."""
        if self._session is not None and self.is_there:
            self._session.send_audio(pcm)

    def set_volume(self, level: float) -> None:
        """Set its loudspeaker's, in [0, 1]."""
        if self._session is not None and self.is_there:
            self._session.set_volume(min(1.0, max(0.0, level)))

    def set_muted(self, is_muted: bool) -> None:
        """Mute its microphone, or open it."""
        if self._session is not None and self.is_there:
            self._session.set_muted(is_muted)

    def wake(self, phrase: str) -> bool:
        """Return whether anybody takes the sound that follows."""
        if not self.is_there:
            return False
        follows_reply = not phrase and self._clock() < self._reopens_until
        self._reopens_until = 0.0
        log.info("satellite_woken", satellite=self.id, phrase=phrase, follows_reply=follows_reply)
        taken = [observer.wake(phrase, follows_reply=follows_reply) for observer in self._observers]
        return any(taken)

    def audio(self, pcm: bytes) -> None:
        """Pass on the sound of its microphone."""
        for observer in self._observers:
            observer.audio(pcm)

    def stopped(self, aborted: bool) -> None:
        """Pass on the end of the sound."""
        for observer in self._observers:
            observer.stopped(aborted)

    def announcement_finished(self) -> None:
        """Pass on the end of a run's playback."""
        if self._reopens_until:
            self._reopens_until = self._clock() + REOPEN_SECONDS
        if self._awaited:
            self._awaited -= 1
            return
        for observer in self._observers:
            observer.announcement_finished()

    def muted(self, is_muted: bool) -> None:
        """Pass on the state of its microphone's switch."""
        for observer in self._observers:
            observer.muted(is_muted)

    def volume(self, level: float) -> None:
        """Pass on its loudspeaker's."""
        for observer in self._observers:
            observer.volume(level)
