"""Barge-in, joined: what the ears notice while it speaks becomes a pause, a reply that goes on, or one that ends."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final

import structlog

from appliance.output.voice import VoiceReplySink
from audio.echo.duplex import DUCK_DB, Mode
from audio.pcm import AudioChunk
from audio.playback.speech_output import SpeechOutput
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.backchannels import is_backchannel
from audio.turns.barge_in import Actions, BargeIn, Commit, Duck, Pause, Peek, Resume
from audio.turns.listener import Listener
from memory.json_value import Json

log = structlog.get_logger()

BARGE_IN: Final = "barge-in"
"""The name under which it holds the mouth."""

BACKCHANNEL: Final = "backchannel"
"""Why nobody gets the words of a turn that only accompanied it."""

SNATCH: Final = "a syllable over her voice"
"""Why nobody gets what a recognizer makes of the end of a cough, whose beginning its own voice covered."""

SNATCH_SECONDS: Final = 0.3
"""Of speech, below which it is one (measured: 0.26, "hello" to pocketsphinx); reflex words are spotted all the same."""

_QUESTION_MARKS: Final = ("?", "？")


def _nobody_asked() -> None:
    """There are no ears to ask."""


class Interruption:
    """A `TurnObserver` and a `ChunkWatcher` between ears, mouth and mind. On the event loop; `run` is its clockwork."""

    def __init__(
        self,
        mouth: SpeechOutput,
        outlet: VoiceReplySink,
        interrupt: Callable[[str], bool],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`interrupt` ends the run of an event (`Attention.interrupt`); `clock` is the one of the ears, in seconds."""
        self.guards: tuple[Callable[[RecognizedTurn], str], ...] = ()
        """Say why words of a turn that is still open end no reply yet, "" when they do; without effect, asked often."""
        self.peek: Callable[[], None] = _nobody_asked
        """Asks the listener for the words so far."""
        self.hears_another: Callable[[], bool] = lambda: False
        """Whether something that is not its own voice began in the last chunk."""
        self.mode: Callable[[], Mode] = lambda: Mode.HALF
        """How it listens while it speaks; asked whenever somebody speaks over it."""
        self._mouth = mouth
        self._outlet = outlet
        self._interrupt = interrupt
        self._clock = clock
        self._barge_in = BargeIn(self.mode())
        self._counts: Counter[str] = Counter()
        self._changed = asyncio.Event()
        mouth.on_speaking = self._reply

    def follow(self, listener: Listener) -> None:
        """Be told what these ears notice."""
        listener.observers.append(self)
        listener.watchers.append(self)
        self.peek = listener.peek

    async def run(self) -> None:
        """Let time pass for whoever is paused, for ever."""
        while True:
            self._changed.clear()
            due = self._barge_in.due
            with suppress(TimeoutError):
                async with asyncio.timeout(None if due is None else max(0.0, due - self._clock())):
                    await self._changed.wait()
            self._do(self._barge_in.time_passed(self._clock()))

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take a chunk, as a `ChunkWatcher`."""
        if covered or not self._barge_in.is_over_reply:
            return
        if not self._barge_in.is_quiet and self.hears_another():
            self._barge_in.mode = self.mode()
            self._do(self._barge_in.startled(self._clock()))
        self._do(self._barge_in.chunk_came(probability))

    def speech_started(self, started: SpeechStarted) -> None:
        """Be quiet, if it speaks."""
        self._barge_in.mode = self.mode()
        self._do(self._barge_in.speech_started(started.at, self._clock()))

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """End the reply, if these are words that are meant."""
        if not any(guard(heard) for guard in self.guards):
            self._do(self._barge_in.words_so_far(heard))

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """End the reply, or go on with it."""
        self._do(self._barge_in.turn_ended(None if suppressed else heard))

    def guard(self, heard: RecognizedTurn) -> str:
        """Return why words over what it says are no event, and it goes on: company, or hardly a syllable. A `Guard`.

        After a question they are the answer.
        """
        current = self._mouth.current
        if current is None or current.text.rstrip().endswith(_QUESTION_MARKS):
            return ""
        transcript = heard.transcript
        if is_backchannel(transcript.text, transcript.language):
            return BACKCHANNEL
        return SNATCH if heard.utterance.speech_seconds < SNATCH_SECONDS else ""

    def silence(self) -> None:
        """Be silent at once, and say nothing more of the replies under way."""
        self._outlet.hush()

    def describe(self) -> dict[str, Json]:
        """Return the mode, and how often it was quiet for somebody, went on, or ended; for the status."""
        return {"mode": str(self.mode()), **{name: self._counts[name] for name in ("quiet", "went_on", "ended")}}

    def _reply(self, speaking: bool) -> None:
        self._barge_in.mode = self.mode()
        self._do(self._barge_in.reply_began(self._clock()) if speaking else self._barge_in.reply_ended())

    def _do(self, actions: Actions) -> None:
        for action in actions:
            if isinstance(action, Peek):
                self.peek()
            elif isinstance(action, Commit):
                self._end_reply(action.words)
            elif isinstance(action, Resume):
                self._go_on()
            else:
                self._be_quiet(action)
        if actions:
            self._changed.set()

    def _be_quiet(self, how: Pause | Duck) -> None:
        if isinstance(how, Duck):
            self._mouth.volume.duck(DUCK_DB)
            log.info("reply_ducked")
        else:
            self._mouth.pause(BARGE_IN)
            log.info("reply_paused")
        self._counts["quiet"] += 1

    def _go_on(self) -> None:
        self._mouth.volume.unduck()
        self._mouth.resume(BARGE_IN)
        self._counts["went_on"] += 1
        log.info("reply_resumed")

    def _end_reply(self, words: str) -> None:
        event_id = self._outlet.hush()
        self._counts["ended"] += 1
        log.info("reply_interrupted", event_id=event_id, words=words)
        if event_id:
            self._interrupt(event_id)
