"""The ears, opened: microphone or recording, and everything from there to the mailbox."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from msgspec import Struct, field
from msgspec.structs import astuple

from appliance.input.devices.devices import Devices
from appliance.input.hearing.choose import Hearing
from appliance.input.not_understood import Unanswered
from appliance.input.prewarm import LookAhead, Prewarm
from appliance.input.suppressed import SuppressedTurns
from appliance.notify import HeartBeat
from audio.capture.health import LevelWatch
from audio.interfaces import TurnObserver
from audio.loops import Loop, until_set
from audio.pcm import AudioChunk
from audio.turns.listener import Listener
from audio.turns.surroundings import SpeechActivity
from memory.json_value import Json

FRAMES_SECONDS: Final = 10.0
"""Without a chunk for so long the ears count as stuck."""

READY_SECONDS: Final = 15.0
"""How long everything that can come later lets the recognizer go first."""


class Followers(Struct, frozen=True):
    """Who follows the turns beside the way into the mailbox; told in this order."""

    reflexes: TurnObserver
    interruption: TurnObserver
    prewarm: Prewarm
    look_ahead: LookAhead
    suppressed: SuppressedTurns
    unanswered: Unanswered

    def follow(self, listener: Listener) -> None:
        """Have each of them told of every turn."""
        listener.observe(*astuple(self))


class Ears(Struct, frozen=True):
    """The ears' loops."""

    listener: Listener
    hearing: Hearing
    followers: Followers
    devices: Devices
    activity: SpeechActivity
    clock: Callable[[], float]
    """The source's."""
    beat: HeartBeat = field(default_factory=lambda: HeartBeat("ears", FRAMES_SECONDS))
    level: LevelWatch = field(default_factory=LevelWatch)

    def loops(self) -> Mapping[str, Loop]:
        """Return what hears, until cancelled."""
        return {
            "ears: chunks to utterances": self.listen,
            "ears: utterances to events": self.recognize,
            "ears: the model's connection, while somebody speaks": self.followers.prewarm.run,
            "ears: what the words so far bring back, in a pause": self.followers.look_ahead.run,
            "ears: turns that nobody gets, to the journal": self.followers.suppressed.run,
            "ears: a sign or a word for speech that comes to nothing": self.followers.unanswered.run,
            "ears: a better model, once it has come": partial(self.once_heard, self.hearing.improve),
            **self.devices.loops(),
        }

    def arrived(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take note that a chunk came, as a `ChunkWatcher`: the heart beat, and the proof that the device works."""
        self.beat.stepped()
        self.level.hear(chunk.samples)
        self.devices.microphone.chunk()

    async def listen(self) -> None:
        """Cut the source into utterances: a recording until it ends, a microphone for ever, whatever happens to it."""
        await self.devices.microphone.keep(self.listener.listen, self.beat.rested)

    @property
    def is_deaf(self) -> bool:
        """Whether there never was a microphone yet."""
        return self.devices.microphone.is_awaited

    async def recognize(self) -> None:
        """Turn utterances into events; the recognizer is loaded once there is something to hear with."""
        await self.devices.microphone.first_heard.wait()
        try:
            await self.listener.recognize()
        finally:
            await asyncio.to_thread(self.hearing.close)

    async def until_ready(self) -> None:
        """Return once words can be understood, or nobody knows when: without a microphone, or after a while."""
        if not self.is_deaf:
            await until_set(self.listener.ready, READY_SECONDS)

    async def once_heard(self, loop: Loop) -> None:
        """Run a loop from when there is something to hear with: what it loads, a box without a microphone needs not."""
        await self.devices.microphone.first_heard.wait()
        await loop()

    async def once_ready(self, loop: Loop) -> None:
        """Run a loop from when words can be understood, so that what it loads is not loaded beside the recognizer."""
        await self.until_ready()
        await loop()

    async def until_silent(self, seconds: float) -> None:
        """Return when a recording is used up and handed on, or nobody spoke into the microphone for so long."""
        began = self.clock()
        if self.is_deaf:
            return
        while not self.listener.ended.is_set():
            silence = self.clock() - max(began, self.activity.last_at)
            if silence >= seconds:
                return
            await until_set(self.listener.ended, seconds - silence)

    def describe(self) -> dict[str, Json]:
        """Return what the ears did so far, for the status."""
        counters = self.listener.counters
        return {
            "source": self.listener.source.name if self.devices.microphone.first_heard.is_set() else "none",
            "microphone": self.devices.microphone.describe(),
            "level": {**self.level.describe()},
            "recognizer": self.hearing.recognizer.name,
            "engines": {**self.hearing.describe()},
            "chunks": counters.chunks,
            "dropped_chunks": self.listener.source.dropped_chunks,
            "gated_chunks": counters.gated,
            "utterances": counters.utterances,
            "transcripts": counters.transcripts,
            "reflexes": counters.reflexes,
            "suppressed": dict(counters.suppressed),
        }
