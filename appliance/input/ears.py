"""The ears, opened: microphone or recording, and everything from there to the mailbox."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Final

from appliance.config.load import Config
from appliance.input.devices import Devices
from appliance.input.intake import Intake
from appliance.input.lost import LostTurns
from appliance.input.prewarm import Prewarm
from appliance.input.suppressed import SuppressedTurns
from appliance.input.whisper.recognizers import Hearing, choose_recognizer
from appliance.notify import HeartBeat
from audio.interfaces import AudioSource
from audio.turns.endpointer import Endpointer, EndpointerSettings
from audio.turns.listener import Listener, Surroundings
from audio.turns.vad import load_detector
from memory.json_value import Json

FRAMES_SECONDS: Final = 10.0
"""Without a chunk for so long the ears count as stuck."""

READY_SECONDS: Final = 15.0
"""How long everything that can come later lets the recognizer go first."""

WORDS_COME_WITHIN: Final = 1.5
"""Seconds from the end of a short utterance to its words: the closing silence, and a small model's time."""


@dataclass(frozen=True, slots=True)
class Followers:
    """Who follows the turns beside the way into the mailbox; each has a loop."""

    prewarm: Prewarm
    suppressed: SuppressedTurns
    lost: LostTurns


@dataclass(frozen=True, slots=True)
class Ears:
    """The ears' loops."""

    listener: Listener
    hearing: Hearing
    beat: HeartBeat
    followers: Followers
    devices: Devices
    clock: Callable[[], float] = monotonic
    """The source's."""

    async def listen(self) -> None:
        """Cut the source into utterances: a recording until it ends, a microphone for ever, whatever happens to it."""
        await self.devices.microphone.keep(self.listener.listen, self.beat.rest)

    @property
    def is_deaf(self) -> bool:
        """Whether there never was a microphone yet."""
        return self.devices.microphone.is_awaited

    async def recognize(self) -> None:
        """Turn utterances into events; the recognizer is loaded once there is something to hear with."""
        await self.devices.microphone.first_heard.wait()
        await self.listener.recognize()

    async def until_ready(self) -> None:
        """Return once words can be understood, or nobody knows when: without a microphone, or after a while."""
        if not self.is_deaf:
            with suppress(TimeoutError):
                async with asyncio.timeout(READY_SECONDS):
                    await self.listener.ready.wait()

    async def improve(self) -> None:
        """Fetch a better model where one is wanted, and there is something to hear with."""
        await self.devices.microphone.first_heard.wait()
        await self.hearing.improve()

    async def until_silent(self, seconds: float) -> None:
        """Return when a recording is used up and handed on, or nobody spoke into the microphone for so long."""
        began = self.clock()
        if self.is_deaf:
            return
        while not self.listener.ended.is_set():
            silence = self.clock() - max(began, self.listener.last_speech_at)
            if silence >= seconds:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds - silence):
                    await self.listener.ended.wait()

    def hear_somebody(self) -> bool:
        """Whether somebody speaks, or did so just now that the words may not be known yet."""
        return self.clock() - self.listener.last_speech_at < WORDS_COME_WITHIN

    def describe(self) -> dict[str, Json]:
        """Return what the ears did so far, for the status."""
        counters = self.listener.counters
        return {
            "source": self.listener.source.name if self.devices.microphone.first_heard.is_set() else "none",
            "microphone": self.devices.microphone.describe(),
            "recognizer": self.hearing.recognizer.name,
            "chunks": counters.chunks,
            "dropped_chunks": self.listener.source.dropped_chunks,
            "gated_chunks": counters.gated,
            "utterances": counters.utterances,
            "transcripts": counters.transcripts,
            "reflexes": counters.reflexes,
            "suppressed": dict(counters.suppressed),
        }


def open_ears(
    config: Config,
    source: AudioSource | None,
    surroundings: Surroundings,
    intake: Intake,
    followers: Followers,
    devices: Devices,
) -> Ears | None:
    """Return the ears, None without a microphone.

    Raises `ModelNotFound` for a configured model folder that is none.
    """
    hearing = choose_recognizer(config, fetches=True)
    if source is None:
        return None
    endpointer = Endpointer(EndpointerSettings(commit_seconds=config.ears.commit_silence))
    # A recording read faster than real time has no common clock with the loudspeaker, and no room between them.
    around = surroundings if source.is_live else Surroundings()
    listener = Listener(source, load_detector(), endpointer, hearing.recognizer, intake.accept, around)
    listener.admit = intake.admit
    listener.observers += [followers.prewarm, followers.suppressed, followers.lost]
    beat = HeartBeat("ears", FRAMES_SECONDS)

    def heard_chunk() -> None:
        beat.touch()
        devices.microphone.chunk()

    listener.on_chunk = heard_chunk
    return Ears(listener, hearing, beat, followers, devices, surroundings.clock)
