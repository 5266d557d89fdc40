"""The ears, opened: microphone or recording, and everything from there to the mailbox."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Final, TypeAlias

import structlog

from agent.mailbox import Mailbox
from agent.model.messages import Json
from appliance.config import Config
from appliance.hearing.event import event_of
from appliance.hearing.recognizers import Hearing, choose_recognizer
from appliance.notify import HeartBeat
from appliance.options import RunOptions
from audio.endpointer import Endpointer, EndpointerSettings
from audio.errors import DeviceUnavailable
from audio.half_duplex import HalfDuplex
from audio.interfaces import AudioSource
from audio.listener import Listener
from audio.recording import RecordingSource
from audio.speech import Heard
from audio.vad import load_detector
from memory.errors import StateUnusable

log = structlog.get_logger()

FRAMES_SECONDS: Final = 10.0
"""Without a chunk for so long the ears count as stuck."""

REOPEN_SECONDS: Final = 3.0
"""Between tries to open a microphone that went away."""

WORDS_COME_WITHIN: Final = 1.5
"""Seconds from the end of a short utterance to its words: the closing silence, and a small model's time."""

RETRY_SECONDS: Final = 1.0
"""Between tries to put heard words into a mailbox whose disk is full."""


@dataclass(frozen=True, slots=True)
class Ears:
    """The ears' loops."""

    listener: Listener
    hearing: Hearing
    beat: HeartBeat

    async def listen(self) -> None:
        """Cut the source into utterances: a recording until it ends, a microphone for ever, whatever happens to it."""
        while True:
            try:
                await self.listener.listen()
            except DeviceUnavailable as error:
                log.warning("microphone_unavailable", reason=str(error))
            else:
                return
            finally:
                self.beat.rest()
            await asyncio.sleep(REOPEN_SECONDS)

    async def until_silent(self, seconds: float) -> None:
        """Return when a recording is used up and handed on, or nobody spoke into the microphone for so long."""
        began = monotonic()
        while not self.listener.ended.is_set():
            silence = monotonic() - max(began, self.listener.last_speech_at)
            if silence >= seconds:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds - silence):
                    await self.listener.ended.wait()

    def hear_somebody(self) -> bool:
        """Whether somebody speaks, or did so just now that the words may not be known yet."""
        return monotonic() - self.listener.last_speech_at < WORDS_COME_WITHIN

    def describe(self) -> dict[str, Json]:
        """Return what the ears did so far, for the status."""
        counters = self.listener.counters
        return {
            "source": self.listener.source.name,
            "recognizer": self.hearing.recognizer.name,
            "chunks": counters.chunks,
            "dropped_chunks": self.listener.source.dropped_chunks,
            "gated_chunks": counters.gated,
            "utterances": counters.utterances,
            "transcripts": counters.transcripts,
            "suppressed": dict(counters.suppressed),
        }


Reflex: TypeAlias = Callable[[str], Awaitable[bool]]
"""Acts on words beside the loop, at once; returns whether that was all they asked for."""


async def no_reflex(words: str) -> bool:
    """Leave all words to the mind."""
    return False


@dataclass(frozen=True, slots=True)
class Intake:
    """Where transcripts become events: once `accept` returns, nothing loses them any more."""

    mailbox: Mailbox
    max_tool_calls: int
    reflex: Reflex = no_reflex
    pause: float = RETRY_SECONDS
    """Seconds between two tries."""

    async def accept(self, heard: Heard) -> None:
        """Put one turn into the mailbox, unless a reflex took it; tries again for as long as the disk refuses."""
        if await self.reflex(heard.transcript.text):
            return
        event = event_of(heard, self.max_tool_calls)
        while True:
            try:
                await self.mailbox.enqueue(event)
            except StateUnusable as error:
                log.warning("event_refused", reason=str(error))
                await asyncio.sleep(self.pause)
            else:
                log.info("event_accepted", event_id=event.id)
                return


def open_ears(
    config: Config, options: RunOptions, busy_until: Callable[[], float], mailbox: Mailbox, reflex: Reflex = no_reflex
) -> Ears | None:
    """Return the ears, None without a microphone (said in one line).

    `busy_until` tells when the loudspeaker falls silent; `reflex` hears words before the mind. Raises `BadRecording`
    for an input that is no sound, `ModelNotFound` for a configured model folder that is none.
    """
    if options.deaf:
        return None
    source = _source(config, options)
    hearing = choose_recognizer(config)
    if source is None:
        return None
    endpointer = Endpointer(EndpointerSettings(commit_seconds=config.ears.commit_silence))
    # A recording read faster than real time has no common clock with the loudspeaker, and no room between them.
    half_duplex = None if options.fast else HalfDuplex(busy_until)
    intake = Intake(mailbox, config.mind.max_tool_calls, reflex)
    listener = Listener(source, load_detector(), endpointer, hearing.recognizer, intake.accept, half_duplex)
    beat = HeartBeat("ears", FRAMES_SECONDS)
    listener.on_chunk = beat.touch
    return Ears(listener, hearing, beat)


def _source(config: Config, options: RunOptions) -> AudioSource | None:
    if options.input is not None:
        return RecordingSource(options.input, fast=options.fast)
    from audio.devices import find_device
    from audio.microphone import MicrophoneSource

    try:
        find_device(config.ears.device, "input")
    except DeviceUnavailable as error:
        log.warning("no_microphone", reason=f"{error}; the other doors are open")
        return None
    if config.ears.backend == "pyaudio":
        from audio.microphone_pyaudio import PyAudioMicrophone

        return PyAudioMicrophone(config.ears.device)
    return MicrophoneSource(config.ears.device)
