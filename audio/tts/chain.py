"""A chain of voices: the next speaks where the one before fails; the sign of an error is the last."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Final

import numpy as np
import structlog

from audio.backoff import Backoff
from audio.errors import SynthesisFailed, SynthesisLate
from audio.interfaces import Synthesizer, closing
from audio.loops import Loop
from audio.pcm import Samples
from audio.playback.earcons import sign
from audio.resampler import StreamResampler
from audio.speech import SpeechAudio, WordTiming
from audio.tts.words import WORD_MARKS, estimated_seconds, position_after

HEAD_SECONDS: Final = 0.3
"""Sound that a voice must have given before any of it is heard: most failures come earlier, and stay unheard."""

MOST_TIMES: Final = 5.0
MOST_BESIDE: Final = 10.0
"""A sentence that takes more than so many times what it is likely to, and so many seconds, has no end."""


async def watched(
    voice: Synthesizer, text: str, language: str, first_deadline: float, stall_deadline: float
) -> AsyncGenerator[SpeechAudio, None]:
    """Yield what a voice says of a text, from its first `HEAD_SECONDS` on; silence before its first sound is none.

    Raises `SynthesisLate` when they are not there within `first_deadline` seconds or a further piece takes longer than
    `stall_deadline`, `SynthesisFailed` when the sound does not end, or when all of it is digital silence.
    """
    head: list[SpeechAudio] = []
    sounding, total, most = 0.0, 0.0, MOST_TIMES * estimated_seconds(text) + MOST_BESIDE
    loop = asyncio.get_running_loop()
    by = loop.time() + first_deadline
    async with closing(voice.speak(text, language)) as pieces:
        while True:
            try:
                async with asyncio.timeout_at(by):
                    piece = await anext(pieces, None)
            except TimeoutError as error:
                late = f"no further sound within {stall_deadline:.1f} s"
                late = f"no sound within {first_deadline:.1f} s" if sounding < HEAD_SECONDS else late
                raise SynthesisLate(f"{voice.name}: {late}") from error
            if piece is None:
                break
            seconds = len(piece.samples) / piece.sample_rate
            total += seconds
            if total > most:
                raise SynthesisFailed(f"{voice.name}: the sentence has no end ({total:.0f} s of sound)")
            if sounding or piece.samples.any():
                sounding += seconds
            head.append(piece)
            if sounding < HEAD_SECONDS:
                continue
            for each in head:
                yield each
            head.clear()
            by = loop.time() + stall_deadline
    if not sounding:
        raise SynthesisFailed(f"{voice.name}: {'nothing but silence' if head else 'no sound'}")
    for each in head:
        yield each


log = structlog.get_logger()

FIRST_PAUSE_SECONDS = 10.0
LONGEST_PAUSE_SECONDS = 300.0
"""A voice's rest after one failure, doubled up to the longest: a person hears each, as a pause and another voice."""

PATIENCE_SECONDS = 10.0
"""For a voice that was late where no other could speak: a machine may be that busy, and a word late is not lost."""

PAUSE_SECONDS = 0.3
"""Silence before a sentence is begun anew."""


class VoiceChain(Synthesizer):
    """A `Synthesizer` over others, tried in order for each sentence.

    A voice has `first_audio_deadline` seconds for its first `HEAD_SECONDS` of sound, and `stall_deadline` for each
    piece after it (`watched`). If it fails before they are heard, the next voice speaks the whole sentence. If it
    fails later, the next one goes on after the last whole word where the voice timed its words, and otherwise begins
    the sentence anew after a pause: a word twice is better than none.
    A voice that failed is left out for a while in that language (`Backoff`), unless all are; each failure is logged.
    When every voice has failed, the `last_resort` is asked for the whole sentence, whether it could help before or not.
    When it cannot, the last one that was merely late is asked once more, with `patience`; and if that fails too, the
    sign of an error is heard, and then `SynthesisFailed` tells of each why.
    """

    name = "voices"

    def __init__(
        self,
        voices: Sequence[Synthesizer],
        last_resort: Synthesizer | None = None,
        *,
        first_audio_deadline: float = 1.5,
        stall_deadline: float = 3.0,
        patience: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._voices = voices
        self._last_resort = last_resort
        every = (*voices, *([last_resort] if last_resort else []))
        self.sends_to = tuple(dict.fromkeys(sent for voice in every for sent in voice.sends_to))
        self._breakers: defaultdict[tuple[str, str], Backoff] = defaultdict(
            lambda: Backoff(FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, clock=clock)
        )
        """By a voice's name and the language, because a voice may know one language and not another."""
        self._deadlines = (first_audio_deadline, stall_deadline)
        self._patience = max(patience, *self._deadlines)

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps its voices ready, until cancelled."""
        return dict(entry for voice in self._voices for entry in voice.loops().items())

    def expect(self) -> None:
        """Have the first voice that does not rest get ready for a sentence."""
        resting = {name for (name, _), breaker in self._breakers.items() if breaker.rest}
        if (first := next((voice for voice in self._voices if voice.name not in resting), None)) is not None:
            first.expect()

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound; all of it has the sample rate of the first voice that was heard."""
        said = _Said(sentence)
        order = _Order(self._in_order(language), self._deadlines, self._patience)
        for voice, deadlines in order:
            breaker = self._breakers[voice.name, language]
            if voice is self._last_resort:
                for piece in said.anew():
                    yield piece
            try:
                async with aclosing(watched(voice, said.text, language, *deadlines)) as pieces:
                    async for piece in pieces:
                        yield said.take(piece)
            except SynthesisFailed as error:
                log.warning("voice_failed", voice=voice.name, reason=str(error), rests=breaker.failed())
                order.failed(voice, error)
                for piece in said.interrupted():
                    yield piece
                if said.is_whole:
                    return
            else:
                breaker.worked()
                for piece in said.left():
                    yield piece
                return
        yield said.take(sign("error"))
        raise SynthesisFailed(f"no voice could speak: {'; '.join(order.reasons) or 'there is none'}")

    def _in_order(self, language: str) -> list[Synthesizer]:
        """Return the voices to be tried."""
        ready = [voice for voice in self._voices if not self._breakers[voice.name, language].rest]
        return [*(ready or self._voices), *([self._last_resort] if self._last_resort else [])]


class _Order:
    """Who is asked for one sentence, each with its seconds to the first sound and between two pieces."""

    def __init__(self, voices: Sequence[Synthesizer], deadlines: tuple[float, float], patience: float) -> None:
        self._voices, self._deadlines, self._patience = voices, deadlines, patience
        self._late: Synthesizer | None = None
        self.reasons: list[str] = []
        """Why each failed."""

    def __iter__(self) -> Iterator[tuple[Synthesizer, tuple[float, float]]]:
        """Yield each voice, and at the end the last one that was merely late once more."""
        for voice in self._voices:
            yield voice, self._deadlines
        if self._late is not None:
            yield self._late, (self._patience, self._patience)

    def failed(self, voice: Synthesizer, error: SynthesisFailed) -> None:
        """Take note of why the voice that was asked failed."""
        self.reasons.append(str(error))
        if isinstance(error, SynthesisLate):
            self._late = voice


class _Said:
    """What was given of a sentence so far, over the voices that took part."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self.text = sentence
        """What is still to be said; for the voice at work, all that it was asked to say."""
        self._words: list[WordTiming] = []
        """Of the voice at work, on its own clock."""
        self._began = 0.0
        """Seconds of the sentence at which the voice at work began."""
        self._seconds = 0.0
        self._resampler: StreamResampler | None = None
        self._sample_rate = 0

    @property
    def is_whole(self) -> bool:
        """Whether no word is missing."""
        return not any(character.isalnum() for character in self.text)

    def take(self, piece: SpeechAudio) -> SpeechAudio:
        """Return a voice's piece as a piece of this sentence."""
        self._sample_rate = self._sample_rate or piece.sample_rate
        self._resampler = self._resampler or StreamResampler(piece.sample_rate, self._sample_rate)
        self._words += piece.words
        shifted = [WordTiming(word.text, word.start + self._began, word.end + self._began) for word in piece.words]
        return self._give(self._resampler.feed(piece.samples), tuple(shifted))

    def left(self) -> list[SpeechAudio]:
        """Return what the change of sample rate kept back of a voice that has ended."""
        flushed = self._resampler.flush() if self._resampler else ()
        self._resampler = None
        return [self._give(np.asarray(flushed, np.int16), ())] if len(flushed) else []

    def interrupted(self) -> list[SpeechAudio]:
        """Make ready for the next voice after one that failed; return what is to be heard before it."""
        pieces = self.left()
        if self._words:
            self.text = self.text[position_after(self.text, self._words) :].lstrip(WORD_MARKS)
        elif self._seconds > self._began:
            pieces.append(self._pause())
        self._words, self._began = [], self._seconds
        return pieces

    def anew(self) -> list[SpeechAudio]:
        """Make ready for a voice that knows whole sentences only; return what is to be heard before it."""
        if self.text == self._sentence:
            return []
        self.text = self._sentence
        pause = self._pause()
        self._began = self._seconds
        return [pause]

    def _pause(self) -> SpeechAudio:
        return self._give(np.zeros(round(PAUSE_SECONDS * self._sample_rate), np.int16), ())

    def _give(self, samples: Samples, words: tuple[WordTiming, ...]) -> SpeechAudio:
        self._seconds += len(samples) / self._sample_rate
        return SpeechAudio(samples, self._sample_rate, words)
