"""nakari speaks on a sound card and is spoken to: real streams, detector, listener, mouth; only the words are scripted.

usage: python -m tests.audio.barge_in_program COUGHS

It hums one long sentence. The first COUGHS turns are recognized as nothing, the next one as words; then it prints, on
the clock of both streams, when each speech began at the microphone and when the loudspeaker fell silent and sounded
again, with what the accounts say, as one JSON object.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from time import monotonic

import numpy as np
import structlog

from agent.bus import Bus
from agent.event import Event
from agent.replies import Delivered, Reply
from appliance.config.sections import EarsSettings
from appliance.input.devices.source import microphone_of
from appliance.output.interruption import Interruption
from appliance.output.voice import VoiceReplySink
from audio.capture.live import LiveMicrophone
from audio.echo.duplex import Mode
from audio.interfaces import Synthesizer
from audio.pcm import CHUNK_SECONDS, SAMPLE_RATE, AudioChunk
from audio.playback.speaker import SpeakerPlayer
from audio.playback.speech_output import SpeechOutput
from audio.speech import RecognizedTurn, SpeechAudio, SpeechStarted, Transcript, Utterance, WordTiming
from audio.turns.endpointer import Endpointer
from audio.turns.listener import Listener
from audio.turns.vad import load_detector
from tests.audio.ears_fakes import Intake
from tests.audio.mouth_fakes import note
from tests.loops import together

RATE = 48_000
WORD_SECONDS = 0.25
WORDS = 60
"""Of one sentence: more would be cut into two."""
LOUD = 400
"""Of int16; both streams are silent below."""
SETTLE_SECONDS = 1.5
"""In its first second a stream of PulseAudio's still finds its pace."""
WINDOW = 80
"""Samples (5 ms) within which every hum has a crest."""


class Humming(Synthesizer):
    """A voice that hums each word for a quarter of a second, without a gap."""

    name = "humming"
    sends_to = ()

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        for number, word in enumerate(sentence.split()):
            start = number * WORD_SECONDS
            yield SpeechAudio(note(400, WORD_SECONDS, RATE), RATE, (WordTiming(word, start, start + WORD_SECONDS),))


class Script:
    """A recognizer that understands nothing for so many turns, and words in the next."""

    name = "script"
    sends_to = ()

    def __init__(self, coughs: int) -> None:
        self.coughs = coughs

    def warm(self) -> None:
        """There is nothing to load."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        return Transcript("" if self.coughs > 0 else "tell me another one", "en", self.name)


class Tape:
    """What went by on a stream, by its clock."""

    def __init__(self) -> None:
        self.chunks: list[AudioChunk] = []
        self._wanted = 0
        """Chunks that somebody waits for."""
        self._passed = asyncio.Event()

    async def passes(self, seconds: float) -> None:
        """Return when so much more has gone by."""
        self._wanted = len(self.chunks) + round(seconds / CHUNK_SECONDS)
        self._passed.clear()
        await self._passed.wait()

    def __call__(self, chunk: AudioChunk, probability: float = 0.0, covered: bool = False) -> None:
        self.chunks.append(chunk)
        if len(self.chunks) >= self._wanted:
            self._passed.set()

    def sounding(self, gap: float) -> list[tuple[float, float]]:
        """Return when it began and ceased to be loud, what is nearer than `gap` seconds taken together."""
        stretches: list[tuple[float, float]] = []
        for chunk in self.chunks:
            for start in range(0, len(chunk.samples), WINDOW):
                window = np.abs(chunk.samples[start : start + WINDOW].astype(int))
                loud = np.flatnonzero(window > LOUD)
                if not len(loud):
                    continue
                first, last = (chunk.started_at + (start + at) / SAMPLE_RATE for at in (loud[0], loud[-1]))
                if stretches and first - stretches[-1][1] < gap:
                    stretches[-1] = (stretches[-1][0], last)
                else:
                    stretches.append((first, last))
        return stretches


async def tape(source: LiveMicrophone, onto: Tape) -> None:
    async for chunk in source.chunks():
        onto(chunk)


async def nothing(*_: object, **__: object) -> None:
    """The journal is not looked at."""


class FullDuplex:
    """An `OwnVoice` of which nothing is left in the microphone."""

    mode = Mode.FULL
    hears_another = is_doubtful = False
    explained = 0.0


class Evening:
    """The parts, and the loops that run."""

    def __init__(self, coughs: int) -> None:
        self.script, self.spoken, self.heard = Script(coughs), Tape(), Tape()
        self.noticed: list[float] = []
        """Seconds on the streams' clock at which it was paused."""
        self.player = SpeakerPlayer("speaker")
        self.mouth = SpeechOutput(Humming(), self.player)
        self.outlet = VoiceReplySink(self.mouth, Bus(nothing), "en")
        self.listener = Listener(
            microphone_of(EarsSettings(device="mic")), load_detector(), Endpointer(), self.script, Intake()
        )
        self.interruption = Interruption(self.mouth, self.outlet, lambda event_id: True, FullDuplex(), lambda heard: "")
        self.listener.watch(self.interruption, self.spoken)
        self.listener.observe(self.interruption, self)

    def speech_started(self, started: SpeechStarted) -> None:
        self.noticed.append(monotonic())

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Nothing is understood before the end."""

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        self.script.coughs -= 1
        sys.stdout.write("turn ended\n")
        sys.stdout.flush()

    async def story(self) -> Delivered:
        """Hum until somebody interrupts, and a little longer, so that the tapes have the silence."""
        delivery = self.outlet.open(Reply(Event(type="asr_transcript", content="hum", source="mic"), "c1"))
        await delivery.feed(" ".join(["la"] * WORDS) + ".")
        await delivery.close()
        await self.heard.passes(SETTLE_SECONDS)
        sys.stdout.write("humming\n")
        sys.stdout.flush()
        told = await delivery.ended()
        await self.heard.passes(0.5)
        return told

    async def run(self) -> Delivered:
        await self.player.start()
        async with asyncio.TaskGroup() as group:
            loops = [
                group.create_task(loop)
                for loop in (
                    together(self.mouth.loops()),
                    self.interruption.run(),
                    self.listener.listen(),
                    self.listener.recognize(),
                    tape(microphone_of(EarsSettings(device="heard")), self.heard),
                )
            ]
            told = await self.story()
            for loop in loops:
                loop.cancel()
        await self.player.aclose()
        return told


def main() -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    evening = Evening(int(sys.argv[1]))
    told = asyncio.run(evening.run())
    result = {
        "speech": evening.spoken.sounding(gap=0.6),
        "hum": evening.heard.sounding(gap=0.6),
        "noticed": evening.noticed,
        "words_heard": len(told.heard.split()),
        "interrupted": told.interrupted,
        **evening.interruption.describe(),
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
