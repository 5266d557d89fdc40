"""The listener: from chunks to transcripts in two loops, one that never waits and one that recognizes."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import structlog
from msgspec import Struct

from audio.errors import RecognitionFailed
from audio.interfaces import AudioSource, ChunkWatcher, Recognizer, TurnIntake, TurnObserver, VoiceDetector
from audio.pcm import AudioChunk, rms_dbfs
from audio.recognizer.following import Following, Tell
from audio.recognizer.recognition import Recognition
from audio.speech import PartialWords, RecognizedTurn, SpeechStarted, Utterance
from audio.turns.completeness import LONGEST_SILENCE, TONAL_LANGUAGES, Completeness, commit_silence, completeness_of
from audio.turns.endpointer import (
    LEAST_SPEECH_SECONDS,
    SPEECH_GOES_ON,
    Committed,
    Dropped,
    Endpointer,
    Resumed,
    Signal,
    SoftEnd,
    Started,
)
from audio.turns.foreground import Foreground
from audio.turns.surroundings import NoEcho, Surroundings
from audio.turns.turn import Span, Turn
from audio.turns.vad import LateDetector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["FAILED", "NO_WORDS", "REFLEX", "TOO_SHORT", "TOO_SLOW", "Counters", "Listener", "NoEcho", "Surroundings"]

log = structlog.get_logger()

REFLEX = "reflex"
"""What `TurnIntake.admit` answers when a reflex took the words: they were meant for it, and nobody else gets them."""

TOO_SHORT = "too short"
"""Why nobody gets a cough: it was no speech at all."""

NO_WORDS = "no words"
"""Why nobody gets what a recognizer found no words in."""

FAILED = "failed"
TOO_SLOW = "recognizer too slow"
"""Why nobody gets words that were lost: the recognizer broke off, or never came to them."""


class Counters(Struct):
    """Counts since the start, for the status."""

    chunks: int = 0
    gated: int = 0
    """Chunks in which no utterance could begin because it was speaking."""
    utterances: int = 0
    transcripts: int = 0
    """Turns with words; those that a guard held back are not among them."""
    reflexes: int = 0
    """Of the transcripts, those that a reflex took."""
    suppressed: dict[str, int] = {}
    """Utterances that reached nobody, by reason."""

    def suppress(self, reason: str) -> None:
        """Count an utterance that reaches nobody."""
        self.suppressed[reason] = self.suppressed.get(reason, 0) + 1


class Listener:
    """Makes turns of chunks. `listen` waits only for its source; `recognize` runs beside it, in a worker thread.

    Watchers and observers are told on the event loop, in the order in which they came; they have to return at once. The
    end of a turn is told when its words are known, so the next one may have started by then.
    """

    def __init__(
        self,
        source: AudioSource,
        detector: VoiceDetector,
        endpointer: Endpointer,
        recognizer: Recognizer,
        intake: TurnIntake,
        surroundings: Surroundings | None = None,
    ) -> None:
        self.source = source
        self.recognizer = recognizer
        self.counters = Counters()
        self._watchers: list[ChunkWatcher] = []
        self._observers: list[TurnObserver] = []
        self._readers: list[Tell] = []
        self.ready = asyncio.Event()
        """Set once the recognizer is loaded, or was found not to be there."""
        self.ended = asyncio.Event()
        """Set when the source has ended and all of it was handed on."""
        surroundings = surroundings or Surroundings()
        self._echo = surroundings.echo
        self._activity = surroundings.activity
        self._may_rest = surroundings.may_rest
        self._detector = detector
        self._endpointer = endpointer
        self._intake = intake
        self._turn = Turn()
        self._foreground = Foreground()
        self._now = 0.0
        """Seconds on the source's clock just after the newest chunk."""
        self._was_covered = False
        self._is_calm = False
        self._voice = 0.0
        """Evidence of how the voice sounded at the newest soft end (`ending_heard`)."""
        self._is_judged = False
        """Whether the recognizer's words have decided on this pause."""
        self.following = Following(surroundings.streaming, self._take_partial_words)
        self.recognition = Recognition(
            recognizer, self._tell_words_so_far, self._take_voice_so_far, surroundings.clock, surroundings.recognizing
        )

    def watch(self, *watchers: ChunkWatcher) -> None:
        """Show every chunk to more watchers, behind those that see it already; for good."""
        self._watchers += watchers

    def observe(self, *observers: TurnObserver) -> None:
        """Tell more observers of every turn, behind those that are told already; for good."""
        self._observers += observers

    def read_along(self, *readers: Tell) -> None:
        """Tell more readers the words of a turn while it is spoken, as often as they change, where they are followed.

        They may still change, and become nothing: for whoever shows them, not for whoever acts on them.
        """
        self._readers += readers

    @property
    def is_at_rest(self) -> bool:
        """Whether nobody speaks and nothing sounds like it: chunks may come a few at a time. Safe from any thread."""
        return self._is_calm and self._may_rest()

    async def listen(self) -> None:
        """Cut the source into utterances until it ends. Raises `DeviceUnavailable` when the source does."""
        self._detector.reset()
        try:
            async for chunk in self.source.chunks(lambda: self.is_at_rest):
                if isinstance(self._detector, LateDetector) and not self._detector.is_loaded:
                    await asyncio.to_thread(self._detector.load)  # the microphone keeps what it hears meanwhile
                self._now = chunk.ended_at
                self.counters.chunks += 1
                self._take(chunk if self.is_at_rest and self._echo.passes(chunk) else self._echo.clean(chunk))
                if not self.source.is_live:
                    await self.following.settled.wait()
                    await self.recognition.settled.wait()
        finally:
            self._handle(self._endpointer.flush(self._now))
            self.following.end()
        self.recognition.finish()

    async def recognize(self) -> None:
        """Turn utterances into transcripts, in order, until the source has ended and all are handed on."""
        try:
            await asyncio.to_thread(self.recognizer.warm)
        except RecognitionFailed as error:  # another one may come; until then each utterance is counted as failed
            log.error("recognizer_unavailable", reason=str(error))  # noqa: TRY400  a sentence, not a bug
        else:
            log.info("recognizer_ready", recognizer=self.recognizer.name)
        self.ready.set()
        await self.recognition.run(self._close)
        self.ended.set()

    def peek(self) -> None:
        """Have the words so far recognized and told to the observers; nothing happens while no turn is open."""
        if self._endpointer.is_in_turn:
            span = self._endpointer.turn_so_far(self._now)
            self.recognition.look_ahead(self._so_far(span), at_any_cost=True)

    def forget(self) -> None:
        """Keep no sound and no words of turns that are over; what nobody recognized yet is still to come."""
        self.recognition.forget_known()
        self.following.forget()
        if not self._endpointer.is_in_turn:
            self._turn.before.clear()

    def state(self) -> "Mapping[str, ArrayLike]":
        """Return all that the decisions about the next chunk depend on; {} while a turn is open or may just begin.

        `listener` begins with how many chunks of the newest it keeps as pre-roll.
        """
        if not self._endpointer.is_at_rest:
            return {}
        return {
            **self._detector.state(),
            **self._foreground.state(),
            "levels": tuple(self._turn.levels),
            "listener": (len(self._turn.before), float(self._was_covered), self.recognition.last_took),
        }

    def recall(self, state: "Mapping[str, ArrayLike]", before: Sequence[AudioChunk]) -> None:
        """Go on from a `state`, with the chunks that it kept as pre-roll; to be called before the first chunk."""
        self._detector.recall(state)
        self._foreground.recall(state)
        count, was_covered, last_took = np.asarray(state["listener"], np.float64).tolist()
        self._turn.before.extend(before[len(before) - int(count) :])
        self._turn.levels.extend(np.asarray(state["levels"], np.float64).tolist())
        self._was_covered = bool(was_covered)
        self.recognition.last_took = last_took

    def _take(self, chunk: AudioChunk) -> None:
        """Show a cleaned chunk to the detector and the watchers, and cut it unless nakari's own voice covers it."""
        covered = self._echo.covers(chunk)
        if covered != self._was_covered:
            if covered:
                self._handle(self._endpointer.flush(chunk.started_at))
                self._turn.before.clear()
            self._detector.reset()
            self._was_covered = covered
        probability = self._detector.probability(chunk.samples)
        # Behind the energy gate 0 means that the room is at its background; the detector itself never is so sure.
        self._is_calm = probability == 0.0 and not self._endpointer.is_in_turn
        for watch in self._watchers:
            watch(chunk, probability, covered)
        if covered:
            self.counters.gated += 1
            return
        level = rms_dbfs(chunk.samples)
        is_speech = probability >= SPEECH_GOES_ON
        if self._foreground.is_background(level, is_speech=is_speech, is_in_turn=self._endpointer.is_in_turn):
            probability = 0.0
        signals = self._endpointer.process(probability, chunk.started_at)
        is_kept = self._endpointer.is_in_turn or bool(self._turn.chunks)  # a chunk that ends the turn belongs to it
        self._turn.take(chunk, level, is_kept=is_kept)  # else it is pre-roll of the next one
        if is_kept:
            self._activity.heard(chunk.ended_at)
            self.following.take(chunk.samples)
        self._handle(signals)

    def _handle(self, signals: tuple[Signal, ...]) -> None:
        for signal in signals:
            match signal:
                case Started():
                    self._turn.begin()
                    self.following.begin(each.samples for each in self._turn.chunks)
                    for observer in self._observers:
                        observer.speech_started(SpeechStarted(signal.at, self.peek))
                case SoftEnd():
                    self._look_ahead()
                case Resumed():
                    self.recognition.forget()
                case Committed():
                    self._commit(signal)
                case Dropped():
                    self.following.end()
                    self.recognition.forget()
                    self._turn.drop(signal.ended_at)
                    self._end(None, TOO_SHORT)

    def _look_ahead(self) -> None:
        self._voice, self._is_judged = 0.0, False
        span = self._endpointer.turn_so_far(self._now)
        if span.speech_seconds >= LEAST_SPEECH_SECONDS and self.recognition.look_ahead(self._so_far(span)):
            # Before its words are known nobody could get the turn anyway: they decide when it ends.
            self._endpointer.commit_after(LONGEST_SILENCE)
        self._judge_partial_words()

    def _so_far(self, span: Span) -> Utterance:
        return self._turn.so_far(span, self._echo.suspicion(span.started_at, span.ended_at))

    def _commit(self, signal: Committed) -> None:
        self.following.end()
        utterance = self._so_far(signal)
        self._turn.drop(signal.ended_at)
        self.counters.utterances += 1
        log.info(
            "utterance_ended",
            seconds=round(utterance.seconds, 2),
            speech_seconds=round(utterance.speech_seconds, 2),
            level_dbfs=round(utterance.level_dbfs, 1),
            noise_dbfs=round(utterance.noise_dbfs, 1),
        )
        if self.recognition.add(utterance) is not None:
            log.warning("utterance_dropped", reason="the recognizer is too slow for what is said")
            self._end(None, TOO_SLOW)

    def _take_voice_so_far(self, utterance: Utterance, voice: float, are_words_coming: bool) -> None:
        self._voice = voice
        if not are_words_coming:
            self._decide(utterance, self._completeness_so_far(), voice)
        self._judge_partial_words()

    def _take_partial_words(self, words: PartialWords) -> None:
        for read in self._readers:
            read(words)
        self._judge_partial_words()

    def _judge_partial_words(self) -> None:
        """Let words that were followed end the pause, where they are a whole sentence and no others are known yet."""
        completeness = self._completeness_so_far()
        if not self._is_judged and completeness in {Completeness.WHOLE, Completeness.FINISHED}:
            self._end_after(completeness, self._voice)

    def _completeness_so_far(self) -> Completeness:
        words = self.following.words
        return completeness_of(words.text, words.language) if words else Completeness.NEUTRAL

    def _decide(self, utterance: Utterance, completeness: Completeness, voice: float) -> None:
        """Set the silence that ends the turn, unless speech went on since."""
        if self._endpointer.turn_so_far(self._now).ended_at == utterance.ended_at:
            self._end_after(completeness, voice)

    def _end_after(self, completeness: Completeness, voice: float) -> None:
        self._endpointer.commit_after(commit_silence(completeness, voice, self._endpointer.commit_seconds))

    def _tell_words_so_far(self, heard: RecognizedTurn) -> None:
        text, language = heard.transcript.text, heard.transcript.language
        voice = 0.0 if language in TONAL_LANGUAGES else self._voice
        self._decide(heard.utterance, completeness_of(text, language), voice)
        self._is_judged = True
        for observer in self._observers:
            observer.words_so_far(heard)

    async def _close(self, utterance: Utterance, heard: RecognizedTurn | None) -> None:
        """Take a whole turn from the recognizer: the end of its way, or on to the intake."""
        if heard is None:
            self._end(None, FAILED)
            return
        transcript = heard.transcript
        log.info(
            "transcript_recognized",
            words=transcript.text,
            recognizer=transcript.recognizer,
            confidence=transcript.confidence,
            speech_seconds=round(utterance.speech_seconds, 2),
        )
        reason = await self._intake.admit(heard) if transcript.text else NO_WORDS
        self._end(heard, reason)
        if not reason:
            await self._intake.accept(heard)

    def _end(self, heard: RecognizedTurn | None, reason: str) -> None:
        """Count the end of a turn and tell the observers."""
        if reason in {"", REFLEX}:
            self.counters.transcripts += 1
            self.counters.reflexes += reason == REFLEX
        else:
            self.counters.suppress(reason)
        for observer in self._observers:
            observer.turn_ended(heard, reason)
