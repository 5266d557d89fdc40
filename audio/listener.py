"""From chunks to transcripts in two loops: one never waits for anything, the other recognizes."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import numpy as np
import structlog

from audio.endpointer import Committed, Dropped, Endpointer, Signal, Started
from audio.errors import RecognitionFailed
from audio.half_duplex import HalfDuplex
from audio.interfaces import AudioSource, Recognizer, VoiceDetector
from audio.pcm import CHUNK_SECONDS, QUIETEST_DBFS, AudioChunk, rms_dbfs
from audio.speech import Heard, SpeechStarted, Transcript, Utterance

log = structlog.get_logger()

PRE_ROLL_SECONDS: Final = 0.5
"""Sound kept from before the onset, so that no first syllable is lost."""

WAITING_UTTERANCES: Final = 16
"""Utterances that may wait for the recognizer; past that the oldest is dropped, and counted."""


@dataclass(slots=True)
class Counters:
    """What the ears did since the start; for the status."""

    chunks: int = 0
    gated: int = 0
    """Chunks that were not listened to because she was speaking."""
    utterances: int = 0
    transcripts: int = 0
    suppressed: dict[str, int] = field(default_factory=dict)
    """Utterances that reached nobody, by reason."""

    def suppress(self, reason: str) -> None:
        """Count an utterance that reaches nobody."""
        self.suppressed[reason] = self.suppressed.get(reason, 0) + 1


@dataclass(slots=True)
class _Turn:
    """The chunks of the turn that is open, and those just before it."""

    before: deque[AudioChunk] = field(default_factory=lambda: deque(maxlen=round(PRE_ROLL_SECONDS / CHUNK_SECONDS)))
    chunks: list[AudioChunk] = field(default_factory=list)
    noise_dbfs: float = QUIETEST_DBFS
    """Level of the background, dB relative to full scale; slowly follows the chunks without speech."""

    def follow(self, chunk: AudioChunk) -> None:
        level = rms_dbfs(chunk.samples)
        self.noise_dbfs = level if self.noise_dbfs <= QUIETEST_DBFS else 0.95 * self.noise_dbfs + 0.05 * level
        self.before.append(chunk)

    def close(self, signal: Committed, closing_seconds: float) -> Utterance:
        speech = [c.samples for c in self.chunks if signal.started_at <= c.started_at < signal.ended_at]
        end = signal.ended_at + closing_seconds
        utterance = Utterance(
            samples=np.concatenate([chunk.samples for chunk in self.chunks if chunk.started_at < end]),
            started_at=signal.started_at,
            ended_at=signal.ended_at,
            committed_at=signal.at,
            speech_seconds=signal.speech_seconds,
            level_dbfs=rms_dbfs(np.concatenate(speech)),
            noise_dbfs=self.noise_dbfs,
        )
        self.drop(signal.ended_at)
        return utterance

    def drop(self, ended_at: float) -> None:
        """Forget the turn, but for the silence after it: whoever speaks next may begin in it."""
        self.before.extend(chunk for chunk in self.chunks if chunk.started_at >= ended_at)
        self.chunks = []


class Listener:
    """The ears. `listen` waits for nothing but its source; `recognize` works beside it, in a worker thread."""

    def __init__(
        self,
        source: AudioSource,
        detector: VoiceDetector,
        endpointer: Endpointer,
        recognizer: Recognizer,
        sink: Callable[[Heard], Awaitable[None]],
        half_duplex: HalfDuplex | None = None,
    ) -> None:
        self.source = source
        self.recognizer = recognizer
        self.counters = Counters()
        self.on_speech_started: Callable[[SpeechStarted], None] = lambda _: None
        """Called on the event loop for each onset; has to return at once."""
        self.ended = asyncio.Event()
        """Set when the source has ended and all of it was handed on."""
        self.last_speech_at = 0.0
        """Seconds on the source's clock at which speech was last under way; 0 before."""
        self.on_chunk: Callable[[], None] = lambda: None
        """Called for each chunk that came: the ears' heart beat."""
        self._detector = detector
        self._endpointer = endpointer
        self._sink = sink
        self._half_duplex = half_duplex
        self._turn = _Turn()
        self._waiting: asyncio.Queue[Utterance | None] = asyncio.Queue(WAITING_UTTERANCES)

    async def listen(self) -> None:
        """Cut the source into utterances until it ends. Raises `DeviceUnavailable` when the source does."""
        at = 0.0
        self._detector.reset()
        try:
            async for chunk in self.source.chunks():
                at = chunk.ended_at
                self.counters.chunks += 1
                self.on_chunk()
                self._take(chunk)
                if self._waiting.full() and not self.source.is_live:
                    await self._waiting.join()
        finally:
            self._handle(self._endpointer.flush(at))
        await self._waiting.put(None)

    async def recognize(self) -> None:
        """Turn utterances into transcripts, in order, until the source has ended and all are handed on."""
        try:
            await asyncio.to_thread(self.recognizer.warm)
        except RecognitionFailed as error:  # another one may come; until then each utterance is counted as failed
            log.error("recognizer_unavailable", reason=str(error))  # noqa: TRY400  a sentence, not a bug
        else:
            log.info("recognizer_ready", recognizer=self.recognizer.name)
        while (utterance := await self._waiting.get()) is not None:
            try:
                transcript = await asyncio.to_thread(self.recognizer.transcribe, utterance)
            except RecognitionFailed as error:
                self.counters.suppress("failed")
                log.warning("recognition_failed", reason=str(error))
            else:
                await self._hand_on(Heard(utterance, transcript, monotonic()))
            self._waiting.task_done()
        self.ended.set()

    async def _hand_on(self, heard: Heard) -> None:
        transcript: Transcript = heard.transcript
        log.info(
            "transcript_recognized",
            words=transcript.text,
            recognizer=transcript.recognizer,
            confidence=transcript.confidence,
            speech_seconds=round(heard.utterance.speech_seconds, 2),
        )
        if not transcript.text:
            self.counters.suppress("no words")
            return
        self.counters.transcripts += 1
        await self._sink(heard)

    def _take(self, chunk: AudioChunk) -> None:
        if self._half_duplex is not None and self._half_duplex.covers(chunk):
            self.counters.gated += 1
            self._handle(self._endpointer.flush(chunk.started_at))
            self._detector.reset()
            self._turn.before.clear()
            return
        probability = self._detector.probability(chunk.samples)
        signals = self._endpointer.process(probability, chunk.started_at)
        if self._endpointer.is_in_turn or self._turn.chunks:
            self._turn.chunks.append(chunk)
            self.last_speech_at = chunk.ended_at
        else:
            self._turn.follow(chunk)
        self._handle(signals)

    def _handle(self, signals: tuple[Signal, ...]) -> None:
        for signal in signals:
            if isinstance(signal, Started):
                self._turn.chunks[:0] = self._turn.before
                self._turn.before.clear()
                self.on_speech_started(SpeechStarted(signal.at))
            elif isinstance(signal, Committed):
                self.counters.utterances += 1
                self._offer(self._turn.close(signal, self._endpointer.settings.soft_end_seconds))
            elif isinstance(signal, Dropped):
                self.counters.suppress("too short")
                self._turn.drop(signal.ended_at)

    def _offer(self, utterance: Utterance) -> None:
        log.info(
            "utterance_ended",
            seconds=round(utterance.seconds, 2),
            speech_seconds=round(utterance.speech_seconds, 2),
            level_dbfs=round(utterance.level_dbfs, 1),
            noise_dbfs=round(utterance.noise_dbfs, 1),
        )
        if self._waiting.full():
            self._waiting.get_nowait()
            self._waiting.task_done()
            self.counters.suppress("recognizer too slow")
            log.warning("utterance_dropped", reason="the recognizer is too slow for what is said")
        self._waiting.put_nowait(utterance)
