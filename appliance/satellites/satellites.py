"""All paired devices: each connected for as long as it runs, more added and forgotten while it does."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Final, TypeAlias

import structlog
from msgspec import Struct

from appliance.config.sections import SatelliteSettings
from appliance.satellites.errors import SatelliteGone, SatelliteRefused, SatellitesDamaged, SatelliteUnknown
from appliance.satellites.interfaces import NOBODY, About, DevicesObserver, Dial, Features
from appliance.satellites.link import Link
from appliance.satellites.paired import Paired, PairedList
from appliance.satellites.sightings import Sighting, Sightings, mac_of, printable
from appliance.satellites.trial import Trial, served
from audio.loops import Loop, running
from memory.json_value import Json

PORT: Final = 6053
"""Where ESPHome's native API is answered, unless somebody chose another."""

KEY_BYTES: Final = 32

PLAY_SECONDS: Final = 20.0
"""How long a trial's sound may take to be played to its end."""

log = structlog.get_logger()


Look: TypeAlias = Callable[[Sightings], AbstractAsyncContextManager[None]]
"""Tells of what is announced until the end of the block, as `mdns.looking` does."""


class Limits(Struct, frozen=True):
    """How many there may be, and how long things take."""

    most: int
    port: int = 0
    """At which the sound of a trial is served; 0 is any that is free."""
    look_seconds: float = 3.0
    """How long a search lasts; a device answers within one."""
    hearing_seconds: float = 3.0
    """How long the microphone of a device that is tried is listened to."""
    sounding_seconds: float = 1.5
    """How long a device is left alone with the sound of a trial after it said that it was played: linux-voice-assistant
    says so once it has a short file whole, before the first sample sounds, and is silent when the connection ends."""


class Satellites:
    """The paired devices, as `Devices`. All on the event loop."""

    def __init__(self, kept: PairedList, dial: Dial, look: Look, limits: Limits) -> None:
        """Begin with those that are kept, at most so many; nothing is connected and nothing sent before `run`."""
        self._kept, self._dial, self._look, self._limits = kept, dial, look, limits
        self._problem = ""
        self._observers: list[DevicesObserver] = []
        self._links: dict[str, Link] = {}
        self._trials: dict[str, Trial] = {}
        self._changed = asyncio.Event()
        self._writing = asyncio.Lock()
        self._sightings = Sightings(self._seen)
        self._is_running = False
        try:
            for each in kept.read()[: limits.most]:
                self._add(each)
        except SatellitesDamaged as error:
            self._problem = str(error)
            log.warning("satellites_unreadable", reason=self._problem)

    @property
    def links(self) -> tuple[Link, ...]:
        """Return the devices in the order in which they were paired."""
        return tuple(self._links.values())

    def observe(self, observer: DevicesObserver) -> None:
        """Tell also this one, at once of those that are paired already."""
        self._observers.append(observer)
        for link in self.links:
            observer.joined(link)

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps them connected, until cancelled."""
        return {"satellites: paired devices, connected": self.run}

    def describe(self) -> dict[str, Json]:
        """Return how each is, by its room; and what is wrong with the list of them."""
        at_rest: dict[str, Json] = {} if self._is_running else {"state": "paired", "reason": ""}
        told: dict[str, Json] = {"paired": [link.describe() | at_rest for link in self.links]}
        return told | ({"problem": self._problem} if self._problem else {})

    async def unreadable(self) -> str:
        """Return what is wrong with the list on the disk by now; "" where it can be read."""
        try:
            await asyncio.to_thread(self._kept.read)
        except SatellitesDamaged as error:
            return str(error)
        return ""

    async def run(self) -> None:
        """Keep each connected, until cancelled. Nothing is asked of the network while none is paired."""
        self._is_running = True
        async with asyncio.TaskGroup() as group:
            running: dict[Link, asyncio.Task[None]] = {}
            looking: asyncio.Task[None] | None = None
            while True:
                self._changed.clear()
                wanted = [*self._links.values()]
                for link in [each for each in running if each not in wanted]:
                    running.pop(link).cancel()
                for link in wanted:
                    if link not in running:
                        running[link] = group.create_task(link.run(), name=f"satellite {link.id}")
                if wanted and looking is None:
                    looking = group.create_task(self._watch(), name="satellites: announcements")
                elif not wanted and looking is not None:
                    looking.cancel()
                    looking = None
                await self._changed.wait()

    async def _watch(self) -> None:
        async with self._look(self._sightings):
            await asyncio.Event().wait()

    async def search(self) -> tuple[Sighting, ...]:
        """Ask the network for devices that may be satellites; return them by name."""
        found = Sightings(lambda _: None)
        async with self._look(found):
            await asyncio.sleep(self._limits.look_seconds)
        return tuple(each for each in found.all() if each.may_hear)

    async def pair(self, which: str, room: str, key: str, *, without_key: bool) -> tuple[Paired, About, Features]:
        """Connect to a device, and keep it as paired when it can be a satellite; one that is paired already is renewed.

        `which` is its name on the network or its address, with a port or without; `key` is in base64, "" for none,
        which is taken `without_key`. Raises SatelliteGone, SatelliteRefused, SatellitesDamaged.
        """
        if self._problem:
            raise SatellitesDamaged(self._problem)
        key = key_of(key)
        if not key and not without_key:
            raise SatelliteRefused(f"{which} has to have a key; say --without-key where it knows no encryption")
        address, port = await self._place_of(which)
        session = await self._dial(address, port, key, "")
        try:
            about = session.about
            old = self._links.get(about.id)
            if old is None and len(self._links) >= self._limits.most:
                raise SatelliteRefused(f"{len(self._links)} are paired, and [satellites] most allows no more")
            room = printable(room) or (old.paired.room if old else "")
            if any(link.room.casefold() == (room or about.name).casefold() and link is not old for link in self.links):
                raise SatelliteRefused(f"there is a satellite in the room {room or about.name} already: name another")
            features = Features() if old is not None and old.is_there else await session.listen(NOBODY)
        finally:
            await session.close()
        paired = Paired(about.id, about.name, room, address, port, key)
        async with self._writing:
            others = [link.paired for link in self.links if link.id != about.id]
            await asyncio.to_thread(self._kept.write, (*others, paired))
        if old is not None:
            self._drop(old)
        self._add(paired)
        self._changed.set()
        return paired, about, features

    async def forget(self, which: str) -> Paired:
        """End a device's connection and keep it no more. Raises SatelliteUnknown, SatellitesDamaged."""
        link = self.find(which)
        async with self._writing:
            await asyncio.to_thread(self._kept.write, tuple(each.paired for each in self.links if each is not link))
        self._drop(link)
        self._changed.set()
        return link.paired

    def find(self, which: str) -> Link:
        """Return the device of a room, name, or MAC address. Raises SatelliteUnknown."""
        wanted = which.casefold().strip()
        for link in self.links:
            if wanted in {link.room.casefold(), link.name.casefold()} or mac_of(wanted) == link.id:
                return link
        there = ", ".join(link.room for link in self.links) or "none is paired"
        raise SatelliteUnknown(f"no satellite is called {which} ({there})")

    async def try_out(self, which: str, wake_seconds: float = 0.0) -> dict[str, Json]:
        """Play a short sound at a device, listen to its microphone for so long if it is woken; return what worked.

        Without `run` it is connected for as long as this takes. Raises SatelliteGone, SatelliteRefused.
        """
        link = self.find(which)
        async with self._connected(link):
            told = {**link.describe(), "features": words_of(link.features)}
            if link.features.announce:
                try:
                    async with served(link.local_address, self._limits.port) as url:
                        await link.announce(url, "", patience_seconds=PLAY_SECONDS)
                        await asyncio.sleep(self._limits.sounding_seconds)
                    told["played"] = "it says that it played a sound"
                except (SatelliteGone, OSError) as error:
                    told["played"] = f"no sound: {error}"
            if wake_seconds and link.features.has_microphone:
                told["heard"] = await self._trials[link.id].listen(wake_seconds)
        return told

    @asynccontextmanager
    async def _connected(self, link: Link) -> AsyncIterator[None]:
        """Have a device there until the end of the block. Raises SatelliteGone, SatelliteRefused."""
        if self._is_running or link.is_there:
            link.check()
            yield
            return
        async with running({f"satellite {link.id}": link.run}):
            await link.settled.wait()
            link.check()
            yield

    def _add(self, paired: Paired) -> None:
        link = Link(paired, self._dial, self._keep)
        self._links[paired.id] = link
        self._trials[paired.id] = trial = Trial(link, self._limits.hearing_seconds)
        link.observe(trial)
        for observer in self._observers:
            observer.joined(link)

    def _drop(self, link: Link) -> None:
        del self._links[link.id], self._trials[link.id]
        link.leave()
        for observer in self._observers:
            observer.left(link)

    async def _keep(self, paired: Paired) -> None:
        """Keep what is new of a paired device; a disk that refuses stops no connection."""
        async with self._writing:
            if paired.id not in self._links:
                return
            try:
                told = tuple(paired if each.id == paired.id else each.paired for each in self.links)
                await asyncio.to_thread(self._kept.write, told)
            except SatellitesDamaged as error:
                log.warning("satellite_not_kept", reason=str(error))

    def _seen(self, sighting: Sighting) -> None:
        for link in self.links:
            link.seen(sighting)

    async def _place_of(self, which: str) -> tuple[str, int]:
        """Return where a device is: an address as it was given, else where it is announced. Raises SatelliteGone."""
        host, port = split_address(which)
        if host:
            return host, port
        name = which.casefold().removesuffix(".local")
        found = [*self._sightings.all(), *await self.search()]
        for sighting in found:
            if name == sighting.name.casefold() or mac_of(name) == sighting.mac != "":
                return sighting.addresses[0], sighting.port
        seen = ", ".join(dict.fromkeys(each.name for each in found)) or "nothing"
        raise SatelliteGone(f"{which} is not announced on the network ({seen} is); give its address instead")


def words_of(features: Features) -> list[Json]:
    """Return what a device can do, in words."""
    can = {
        "hears": features.has_microphone,
        "plays urls": features.announce,
        "plays raw sound": features.speaker,
        "has a volume": features.has_player,
        "can be muted": features.has_mute,
        "shows timers": features.timers,
        "goes on listening after an announcement": features.start_conversation,
    }
    formats = {f"wants {each.format} {each.sample_rate} Hz" for each in features.formats if each.is_for_announcements}
    return [*(word for word, is_so in can.items() if is_so), *sorted(formats)]


def key_of(text: str) -> str:
    """Return a key as it was copied. Raises SatelliteRefused for what is none."""
    key = text.strip()
    try:
        is_key = not key or len(base64.b64decode(key, validate=True)) == KEY_BYTES
    except ValueError:
        is_key = False
    if not is_key:
        raise SatelliteRefused("a key of ESPHome has 44 characters, of which the last is =")
    return key


def split_address(text: str) -> tuple[str, int]:
    """Return the host and the port of "192.168.1.7", "192.168.1.7:6053", "[fe80::1]:6053"; "" for a name alone."""
    host, _, port = text.rpartition(":") if text.count(":") == 1 or text.startswith("[") else (text, "", "")
    host = host.strip("[]")
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        if not port:
            return "", PORT
    return host, int(port) if port.isdecimal() and 0 < int(port) < 65536 else PORT


def open_satellites(folder: Path, zone: str, settings: SatelliteSettings) -> Satellites:
    """Return the devices that are paired in a state folder; nothing is loaded, nothing sent."""
    from appliance.satellites.esphome import EspHome
    from appliance.satellites.mdns import looking

    return Satellites(PairedList(folder), EspHome(zone), looking, Limits(settings.most, port=settings.reply_port))
