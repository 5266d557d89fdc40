"""A page in a browser, as far as its sound goes: it speaks in real time of the loop's clock, and plays what it gets."""

import asyncio
from dataclasses import dataclass, field

import numpy as np

from agent.event import HOUSEHOLD
from appliance.remote.mouth import DELAY_SECONDS
from appliance.remote.outbox import Heard, Outgoing, PlaceGone, SoundBegins, SoundEnds, Trouble
from appliance.remote.session import RemoteSession
from appliance.wiring.box import Box
from audio.interfaces import Recognizer
from audio.pcm import SAMPLE_RATE, Samples
from audio.resampler import StreamResampler
from tests.audio.spoken import utterance
from tests.room.virtual_time import passed

FRAME_SECONDS = 0.064
"""Of sound in one binary message of its microphone."""

NOISE = 20
"""Amplitude of the noise of its microphone: some -66 dBFS."""


@dataclass
class Page:
    """What a page was sent, and what was heard of it."""

    told: list[tuple[float, Outgoing]] = field(default_factory=list, repr=False)
    """When each thing came, on the loop's clock."""
    is_gone: bool = False
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    async def send(self, item: Outgoing) -> None:
        """Take what the place is sent, as its `Send`."""
        if self.is_gone:
            raise PlaceGone
        self.told.append((asyncio.get_running_loop().time(), item))

    @property
    def heard(self) -> list[Heard]:
        return [item for _, item in self.told if isinstance(item, Heard)]

    @property
    def troubles(self) -> list[str]:
        return [item.sentence for _, item in self.told if isinstance(item, Trouble)]

    def times_of(self, kind: type[SoundBegins] | type[SoundEnds]) -> list[float]:
        return [at for at, item in self.told if isinstance(item, kind)]

    @property
    def is_playing(self) -> bool:
        """Whether sound came since the last end of one."""
        kinds = [item for _, item in self.told if isinstance(item, bytes | SoundEnds)]
        return bool(kinds) and isinstance(kinds[-1], bytes)

    @property
    def most_ahead(self) -> float:
        """Seconds of sound that were here before they could be heard, at most."""
        most, ends, rate = 0.0, 0.0, 1
        for at, item in self.told:
            if isinstance(item, SoundBegins):
                rate = item.sample_rate
            elif isinstance(item, SoundEnds) and item.is_cut:
                ends = at
            elif isinstance(item, bytes):
                ends = max(ends, at + DELAY_SECONDS) + len(item) / 2 / rate
                most = max(most, ends - at)
        return most

    def played(self) -> Samples:
        """Return what was heard here, 16 kHz: each piece in its time, what was cut off left out."""
        heard = [np.zeros(0, np.int16)]
        waiting: list[tuple[float, Samples]] = []
        ends, rate = 0.0, SAMPLE_RATE
        for at, item in self.told:
            if isinstance(item, SoundBegins):
                rate = item.sample_rate
            elif isinstance(item, bytes):
                begins = max(ends, at + DELAY_SECONDS)
                waiting.append((begins, _resampled(np.frombuffer(item, "<i2"), rate)))
                ends = begins + len(item) / 2 / rate
            elif isinstance(item, SoundEnds):
                heard += [each[: self._until(begins, at, cut=item.is_cut)] for begins, each in waiting]
                waiting, ends = [], at if item.is_cut else ends
        heard += [each for _, each in waiting]
        return np.concatenate(heard)

    @staticmethod
    def _until(begins: float, at: float, *, cut: bool) -> int | None:
        return max(0, round((at - begins) * SAMPLE_RATE)) if cut else None

    async def says(self, session: RemoteSession, samples: Samples) -> None:
        """Speak into the microphone, in real time; with the noise that every microphone has."""
        step = round(FRAME_SECONDS * SAMPLE_RATE)
        for at in range(0, len(samples), step):
            await passed(FRAME_SECONDS)
            sound = np.zeros(step, np.int16)
            sound[: len(samples[at : at + step])] = samples[at : at + step]
            noise = self._random.integers(-NOISE, NOISE, step, dtype=np.int16)
            session.feed((sound + noise).astype("<i2").tobytes())

    async def listens(self, session: RemoteSession, seconds: float) -> None:
        """Leave the microphone open for so long, and say nothing."""
        await self.says(session, np.zeros(round(seconds * SAMPLE_RATE), np.int16))


def _resampled(samples: Samples, rate: int) -> Samples:
    resampler = StreamResampler(rate, SAMPLE_RATE)
    return np.concatenate([resampler.feed(samples), resampler.flush()])


def words_in(samples: Samples, recognizer: Recognizer) -> str:
    """Return what a recording says, recognized again."""
    return recognizer.transcribe(utterance(samples)).text


def session_of(box: Box, page: Page, owner_key: str = HOUSEHOLD) -> RemoteSession:
    """Return the sound of a page that came to this box."""
    inside = box.doors.inside
    return RemoteSession(inside.house, inside.remote, owner_key, page.send)
