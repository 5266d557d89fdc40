"""The ears, opened: microphone or recording, and everything from there to the mailbox."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Final

from msgspec import Struct, field
from msgspec.structs import astuple

from appliance.input.devices.devices import Devices
from appliance.input.hearing.choose import Hearing
from appliance.input.not_understood import NotUnderstood
from appliance.input.prewarm import LookAhead, Prewarm
from appliance.input.suppressed import SuppressedTurns
from appliance.notify import HeartBeat
from audio.capture.health import LevelWatch
from audio.interfaces import TurnObserver
from audio.loops import Loop, until_set
from audio.pcm import AudioChunk
from audio.playback.earcons import Sign
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.evidence import REFUSED, sounds_like_speech
from audio.turns.listener import FAILED, NO_WORDS, TOO_SLOW, Listener
from audio.turns.surroundings import SpeechActivity
from memory.backoff import Backoff
from memory.json_value import Json

NOT_AGAIN_WITHIN: Final = 5.0
"""Seconds after a sign; twice as long each time until words are recognized again, for the television may be on."""

UNCLEAR_NOT_AGAIN_WITHIN: Final = 60.0
"""Seconds after the sign that speech was heard and no words; twice as long each time while that goes on ..."""

CLEAR_AFTER: Final = 300.0
"""... until so many seconds have passed since without any such speech."""

LONGEST_REST: Final = 3600.0
"""Seconds."""


def rest_of_unclear(clock: Callable[[], float] = monotonic) -> Backoff:
    """Return the rest between two signs that speech was heard and not understood, whoever gives them."""
    return Backoff(UNCLEAR_NOT_AGAIN_WITHIN, LONGEST_REST, steady=CLEAR_AFTER, clock=clock)


class LostTurns(TurnObserver):
    """A `TurnObserver`. The end of a turn only sets what sign is wanted; `run` gives it."""

    def __init__(
        self,
        give: Callable[[Sign], Awaitable[None]],
        is_for_it: Callable[[float, float], bool],
        unclear: Backoff,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`give` plays a sign; `is_for_it` says whether words between two moments of the clock may be for it.

        `unclear` is `rest_of_unclear`, shared with all who give that sign.
        """
        self._give = give
        self._is_for_it = is_for_it
        self._clock = clock
        self._began = 0.0
        """When speech began the last time."""
        self._rests: dict[Sign, Backoff] = {
            "error": Backoff(NOT_AGAIN_WITHIN, LONGEST_REST, clock=clock),
            "unclear": unclear,
        }
        self._wanted: asyncio.Queue[Sign] = asyncio.Queue(maxsize=1)
        """A sign that comes while another one waits is left out."""

    def speech_started(self, started: SpeechStarted) -> None:
        """Take note when it began."""
        self._began = started.at

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Want a sign for words that were lost or not understood; with a wake word only where they were for it."""
        if heard is not None:
            self._rests["error"].worked()
        if (wanted := _sign_for(heard, suppressed)) is None or self._rests[wanted].rest:
            return
        began, ended = heard.utterance.span if heard is not None else (self._began, self._clock())
        if self._is_for_it(began, ended) and not self._wanted.full():
            self._rests[wanted].failed()
            self._wanted.put_nowait(wanted)

    async def run(self) -> None:
        """Give the sign whenever one is wanted, for ever."""
        while True:
            await self._give(await self._wanted.get())


def _sign_for(heard: RecognizedTurn | None, suppressed: str) -> Sign | None:
    """Return the sign that a turn deserves: for words that were lost, or for clear speech without clear words."""
    if heard is None:
        return "error" if suppressed in {FAILED, TOO_SLOW} else None
    is_refused = suppressed == NO_WORDS or suppressed.startswith(REFUSED)
    return "unclear" if is_refused and sounds_like_speech(heard.utterance) else None


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
    lost: LostTurns
    not_understood: NotUnderstood

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
            "ears: a sign for words that were lost": self.followers.lost.run,
            "ears: a word about speech that it does not understand": self.followers.not_understood.run,
            "ears: a better model, once it has come": self.improve,
            **self.devices.loops(),
        }

    def arrived(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take note that a chunk came, as a `ChunkWatcher`: the heart beat, and the proof that the device works."""
        self.beat.touch()
        self.level.hear(chunk.samples)
        self.devices.microphone.chunk()

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
