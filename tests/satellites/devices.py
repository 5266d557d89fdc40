"""Devices in other rooms without a network between: they hear what is said there, get what they are told, and play it.

Time is the loop's. A device reads a sound as fast as it comes, and plays it `delay` seconds after its first byte.
"""

import asyncio
import io
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from enum import Enum

import av
import httpx
import numpy as np

from appliance.satellites.errors import SatelliteGone
from appliance.satellites.interfaces import DeviceObserver, DevicesObserver, Features, VoiceEvent
from audio.loops import Loop
from audio.pcm import SAMPLE_RATE, Samples
from audio.resampler import StreamResampler
from tests.room.virtual_time import passed, until

CHUNK_SECONDS = 0.064

NOISE = 20
"""Amplitude of the noise of its microphone: some -66 dBFS."""

ALL = Features(announce=True, timers=True, start_conversation=True, has_player=True, has_mute=True)

SPEAKER = Features(speaker=True)


class Fault(Enum):
    """How it goes wrong."""

    NONE = "as it should"
    GETS_NOTHING = "never comes for a sound"
    GETS_TWICE = "comes for each sound twice"
    NEVER_TELLS = "plays, and never says that it has"
    STOPS_READING = "takes the first bytes of a sound and no more"


@dataclass
class Told:
    """A step of a run that it was told."""

    at: float
    event: VoiceEvent
    data: dict[str, str]


@dataclass
class Played:
    """What it got of one url."""

    url: str
    begun: float
    """When its first byte came."""
    headers: Mapping[str, str]
    body: bytearray = field(default_factory=bytearray)
    ended: float | None = None
    """When it was played or stopped."""
    delay: float = 0.0

    @property
    def samples(self) -> Samples:
        """All of it, 16 kHz."""
        return decoded(bytes(self.body))

    @property
    def heard(self) -> Samples:
        """What sounded until it ended."""
        until = len(self.samples) / SAMPLE_RATE if self.ended is None else self.ended - self.begun - self.delay
        return self.samples[: max(0, round(until * SAMPLE_RATE))]


class RoomDevice:
    """A `Device`."""

    def __init__(self, room: str, features: Features = ALL, fault: Fault = Fault.NONE, delay: float = 0.4) -> None:
        self.id = f"02:00:00:00:00:{sum(room.encode()) % 256:02x}"
        self.name = self.room = room
        self.features = features
        self.fault = fault
        self.delay = delay
        self.is_there = False
        self.told: list[Told] = []
        self.played: list[Played] = []
        self.answers: list[int] = []
        """HTTP status of each get."""
        self.raw = bytearray()
        self.levels: list[float] = []
        self.mutes: list[bool] = []
        self._observers: list[DeviceObserver] = []
        self._urls: asyncio.Queue[tuple[str, asyncio.Event | None]] = asyncio.Queue()
        self._stop = asyncio.Event()
        self._random = np.random.default_rng(7)
        self._is_open = False
        self._goes_on = False

    @property
    def address(self) -> str:
        return "127.0.0.1"

    @property
    def local_address(self) -> str:
        return "127.0.0.1"

    def observe(self, observer: DeviceObserver) -> None:
        self._observers.append(observer)

    # what it is told

    def tell(self, event: VoiceEvent, data: Mapping[str, str] | None = None) -> None:
        if not self.is_there:
            return
        self.told.append(Told(_now(), event, dict(data or {})))
        match event:
            case VoiceEvent.STT_VAD_END | VoiceEvent.RUN_END:
                self._is_open = False
            case VoiceEvent.INTENT_END:
                self._goes_on = (data or {}).get("continue_conversation") == "1"
            case VoiceEvent.TTS_END if (data or {}).get("url"):
                self._urls.put_nowait(((data or {})["url"], None))

    async def announce(
        self, url: str, text: str, *, start_conversation: bool = False, patience_seconds: float = 120.0
    ) -> None:
        if not self.is_there:
            raise SatelliteGone(f"{self.name} is not there")
        played = asyncio.Event()
        self._goes_on = start_conversation
        self._urls.put_nowait((url, played))
        try:
            async with asyncio.timeout(patience_seconds):
                await played.wait()
        except TimeoutError as error:
            raise SatelliteGone("it does not say that it has played") from error
        if not self.is_there:
            raise SatelliteGone(f"{self.name} went away")

    def stop_media(self) -> None:
        self._stop.set()

    def send_audio(self, pcm: bytes) -> None:
        self.raw += pcm

    def set_volume(self, level: float) -> None:
        self.levels.append(level)
        for observer in self._observers:
            observer.volume(level)

    def set_muted(self, is_muted: bool) -> None:
        self.mutes.append(is_muted)
        for observer in self._observers:
            observer.muted(is_muted)

    # what happens in its room

    def plug_in(self) -> None:
        """Be there."""
        self.is_there = True
        for observer in self._observers:
            observer.there(True)
            observer.volume(0.5)

    def unplug(self) -> None:
        """Be gone at once."""
        self.is_there = self._is_open = False
        self._stop.set()
        for observer in self._observers:
            observer.there(False)

    def wake(self, phrase: str = "okay nabu", *, follows_reply: bool = False) -> bool:
        """Hear the wake word; return whether its sound is taken."""
        self._is_open = any(each.wake(phrase, follows_reply=follows_reply) for each in self._observers)
        return self._is_open

    def stop_word(self) -> None:
        """Stop what it plays, as its own stop word does."""
        self._stop.set()

    def abort(self) -> None:
        """Have its run stopped."""
        self._is_open = False
        for observer in self._observers:
            observer.stopped(True)

    async def hears(self, samples: Samples) -> None:
        """Hear somebody speak, in the time of the loop, until the box closes its microphone."""
        step = round(CHUNK_SECONDS * SAMPLE_RATE)
        for at in range(0, len(samples), step):
            await passed(CHUNK_SECONDS)
            if not self._is_open:
                return
            sound = np.zeros(step, np.int16)
            sound[: len(samples[at : at + step])] = samples[at : at + step]
            noise = self._random.integers(-NOISE, NOISE, step, dtype=np.int16)
            for observer in self._observers:
                observer.audio((sound + noise).astype("<i2").tobytes())

    async def quiet(self, seconds: float) -> None:
        """Hear nobody for so long, at most."""
        await self.hears(np.zeros(round(seconds * SAMPLE_RATE), np.int16))

    async def says(self, samples: Samples) -> bool:
        """Have somebody wake it and speak; return whether its microphone was closed after that."""
        self.wake()
        await self.hears(samples)
        await self.quiet(10.0)
        return not self._is_open

    @property
    def events(self) -> list[VoiceEvent]:
        return [each.event for each in self.told]

    def data_of(self, event: VoiceEvent) -> dict[str, str]:
        """Return the data of the last event of a kind."""
        return [each.data for each in self.told if each.event == event][-1]

    # its player

    async def run(self) -> None:
        """Play what it is told to, one after the other."""
        async with httpx.AsyncClient(timeout=None) as client:
            while True:
                url, played = await self._urls.get()
                if self.fault is Fault.GETS_NOTHING:
                    continue
                self._stop.clear()
                await self._play(client, url)
                if self.fault is Fault.GETS_TWICE:
                    self.answers.append((await client.get(url)).status_code)
                self._ended(played)

    def _ended(self, played: asyncio.Event | None) -> None:
        if played is not None:
            played.set()
        elif self.is_there and self.fault is not Fault.NEVER_TELLS:
            for observer in self._observers:
                observer.announcement_finished()
        if self._goes_on and self.is_there:
            self._goes_on = False
            self.wake("", follows_reply=True)

    async def _play(self, client: httpx.AsyncClient, url: str) -> None:
        try:
            async with client.stream("GET", url) as answer:
                self.answers.append(answer.status_code)
                played = Played(url, _now(), answer.headers, delay=self.delay)
                self.played.append(played)
                await self._until_stopped(self._read(answer, played))
        except httpx.HTTPError:
            return
        played.ended = _now()

    async def _read(self, answer: httpx.Response, played: Played) -> None:
        async for piece in answer.aiter_bytes():
            played.body += piece
            if self.fault is Fault.STOPS_READING:
                await self._stop.wait()
        await until(played.begun + self.delay + len(played.samples) / SAMPLE_RATE)

    async def _until_stopped(self, playing: Coroutine[None, None, None]) -> None:
        """Play to the end, or until it is stopped."""

        async def stop() -> None:
            await self._stop.wait()
            reading.cancel()

        async with asyncio.TaskGroup() as group:
            reading = group.create_task(playing)
            stopping = group.create_task(stop())
            reading.add_done_callback(lambda _: stopping.cancel())


class RoomDevices:
    """All of them, as `Devices`."""

    def __init__(self, *devices: RoomDevice) -> None:
        self.devices = devices

    def observe(self, observer: DevicesObserver) -> None:
        for device in self.devices:
            observer.joined(device)

    def loops(self) -> Mapping[str, Loop]:
        return {"satellites: paired devices, connected": self._run}

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for device in self.devices:
                device.plug_in()
                group.create_task(device.run())


def decoded(body: bytes) -> Samples:
    """Return what a sound says, 16 kHz mono; what is cut off in the middle as far as it goes."""
    if body[:4] == b"RIFF":
        channels, rate = int.from_bytes(body[22:24], "little"), int.from_bytes(body[24:28], "little")
        whole = body[44 : 44 + (len(body) - 44) // (2 * channels) * 2 * channels]
        samples = np.frombuffer(whole, "<i2").reshape(-1, channels)[:, 0].copy()
    else:
        with av.open(io.BytesIO(body), "r") as file:
            rate, found = 0, []
            resampler = av.AudioResampler(format="s16", layout="mono")
            for frame in file.decode(audio=0):
                rate = frame.sample_rate
                found += [each.to_ndarray() for each in resampler.resample(frame)]
            samples = np.concatenate(found, axis=1)[0]
    resampler16 = StreamResampler(rate, SAMPLE_RATE)
    return np.concatenate([resampler16.feed(samples), resampler16.flush()])


def _now() -> float:
    return asyncio.get_running_loop().time()
