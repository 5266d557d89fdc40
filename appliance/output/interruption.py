"""Barge-in, joined: what the ears notice while it speaks becomes a pause, a reply that goes on, or one that ends."""

import asyncio
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Final, Protocol

import structlog

from appliance.output.voice import VoiceReplySink
from audio.echo.duplex import DUCK_DB, Mode
from audio.loops import until_set
from audio.pcm import AudioChunk
from audio.playback.speech_output import SpeechObserver, SpeechOutput
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.barge_in import Actions, BargeIn, Commit, Duck, Pause, Peek, Resume, is_backchannel
from memory.json_value import Json

log = structlog.get_logger()

BARGE_IN: Final = "barge-in"
"""The name under which it holds the mouth."""

BACKCHANNEL: Final = "backchannel"
"""Why nobody gets the words of a turn that only accompanied it."""

SNATCH: Final = "a syllable over its own voice"
"""Why nobody gets what a recognizer makes of the end of a cough, whose beginning its own voice covered."""

SNATCH_SECONDS: Final = 0.3
"""Of speech, below which it is one (measured: 0.26, "hello" to pocketsphinx); reflex words are spotted all the same."""

_QUESTION_MARKS: Final = ("?", "？")


class OwnVoice(Protocol):
    """How much of its own voice reaches the microphone (`audio.echo.guard.CancellingGuard`)."""

    @property
    def mode(self) -> Mode:
        """How it listens while it speaks; asked whenever somebody speaks over it."""

    @property
    def hears_another(self) -> bool:
        """Whether something that is not its own voice began in the last chunk."""

    @property
    def is_doubtful(self) -> bool:
        """Whether speech that begins over its own voice may be the residual of that."""

    @property
    def explained(self) -> float:
        """Which share of the newest sound, 0 to 1, that residual explains."""


class Interruption(SpeechObserver):
    """A `TurnObserver` and a `ChunkWatcher` between ears, mouth and mind. On the event loop; `run` is its clockwork."""

    def __init__(
        self,
        speech: SpeechOutput,
        replies: VoiceReplySink,
        interrupt: Callable[[str], bool],
        own_voice: OwnVoice,
        is_held_back: Callable[[RecognizedTurn], str],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Follow what is spoken.

        `interrupt` ends the run of an event (`agent.loop.Loop.interrupt`); `is_held_back` says, without effect, why
        words of a turn that is still open end no reply yet, "" when they do; `clock` is the ears', in seconds.
        """
        self._speech = speech
        self._replies = replies
        self._interrupt = interrupt
        self._own_voice = own_voice
        self._is_held_back = is_held_back
        self._clock = clock
        self._barge_in = BargeIn(own_voice.mode)
        self._started: SpeechStarted | None = None
        """The newest beginning of speech: through it the words so far are asked for."""
        self._counts: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self._observers: list[Callable[[str], None]] = []
        speech.observe(self)

    def observe(self, observer: Callable[[str], None]) -> None:
        """Tell one more what speech does to a reply: "paused", "ducked", "went on" or "ended"; for good."""
        self._observers.append(observer)

    async def run(self) -> None:
        """Let time pass for whoever is paused, for ever."""
        while True:
            self._changed.clear()
            due = self._barge_in.due
            await until_set(self._changed, None if due is None else max(0.0, due - self._clock()))
            self._do(self._barge_in.time_passed(self._clock()))

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take a chunk, as a `ChunkWatcher`."""
        if covered or not self._barge_in.is_over_reply:
            return
        if not self._barge_in.is_quiet and self._own_voice.hears_another:
            self._barge_in.mode = self._own_voice.mode
            self._do(self._barge_in.startled(self._clock()))
        explained = self._own_voice.explained if self._barge_in.is_in_doubt else 0.0
        self._do(self._barge_in.chunk_came(probability, self._clock(), explained))

    def speech_started(self, started: SpeechStarted) -> None:
        """Be quiet, if it speaks."""
        self._started = started
        self._barge_in.mode = self._own_voice.mode
        is_doubtful = self._own_voice.is_doubtful
        self._do(self._barge_in.speech_started(started.at, self._clock(), is_doubtful=is_doubtful))

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """End the reply, if these are words that are meant."""
        if not self._is_held_back(heard):
            self._do(self._barge_in.words_so_far(heard))

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """End the reply, or go on with it, if need be a moment later."""
        self._do(self._barge_in.turn_ended(None if suppressed else heard))
        self._changed.set()

    def guard(self, heard: RecognizedTurn) -> str:
        """Return why words over what it says are no event, and it goes on: company, or hardly a syllable. A `Guard`.

        After a question they are the answer.
        """
        current = self._speech.current
        if current is None or current.text.rstrip().endswith(_QUESTION_MARKS):
            return ""
        transcript = heard.transcript
        if is_backchannel(transcript.text, transcript.language):
            return BACKCHANNEL
        return SNATCH if heard.utterance.speech_seconds < SNATCH_SECONDS else ""

    def describe(self) -> dict[str, Json]:
        """Return the mode, and how often it was quiet for somebody, went on, or ended; for the status."""
        return {
            "mode": str(self._own_voice.mode),
            **{name: self._counts[name] for name in ("quiet", "went_on", "ended")},
        }

    def speaking_changed(self, speaking: bool) -> None:
        """Begin to look for somebody who speaks over it, or end that."""
        self._barge_in.mode = self._own_voice.mode
        self._do(self._barge_in.reply_began(self._clock()) if speaking else self._barge_in.reply_ended())

    def _do(self, actions: Actions) -> None:
        for action in actions:
            match action:
                case Peek():
                    if self._started is not None:
                        self._started.peek()
                case Duck():
                    self._speech.volume.duck(DUCK_DB)
                    self._note("quiet", "ducked")
                    log.info("reply_ducked")
                case Pause():
                    self._speech.pause(BARGE_IN)
                    self._note("quiet", "paused")
                    log.info("reply_paused")
                case Resume():
                    self._speech.volume.unduck()
                    self._speech.resume(BARGE_IN)
                    self._note("went_on", "went on")
                    log.info("reply_resumed")
                case Commit():
                    self._end_reply(action.words)
        if actions:
            self._changed.set()

    def _end_reply(self, words: str) -> None:
        event_id = self._replies.stop_speaking()
        self._note("ended", "ended")
        log.info("reply_interrupted", event_id=event_id, words=words)
        if event_id:
            self._interrupt(event_id)

    def _note(self, counted: str, did: str) -> None:
        self._counts[counted] += 1
        for observer in self._observers:
            observer(did)
