"""Speech-to-text: a recording that a program sends, by the box's own recognizer and the gate before its mailbox."""

from collections.abc import Callable
from typing import Final

import numpy as np
import structlog
from wyoming.audio import AudioChunk, AudioFormat

from appliance.input.not_understood import understood_guard
from appliance.remote.decode import MOST_CHANNELS
from appliance.remote.decoding import MOST_SECONDS
from appliance.remote.ears import Recognizing
from appliance.wyoming.wire import Malformed
from audio.pcm import LEAST_RATE, MOST_RATE, SAMPLE_RATE, Samples
from audio.resampler import StreamResampler
from audio.speech import Transcript
from audio.turns.evidence import evidence_guard

WIDTHS: Final = (1, 2, 3, 4)
"""Bytes of a sample, signed and little-endian, as the library's own converter has them."""


class Recording:
    """What somebody says, piece by piece; each piece may have another rate, width and number of channels."""

    def __init__(self) -> None:
        self._pieces: list[Samples] = []
        self._samples = 0
        self._rest = b""
        """Of a sample whose other bytes come with the next piece."""
        self._form: tuple[int, int, int] = (0, 0, 0)
        self._resampler = StreamResampler(SAMPLE_RATE, SAMPLE_RATE)

    def feed(self, chunk: AudioChunk) -> None:
        """Take a piece. Raises `Malformed` for what is no sound, and for more than is taken at one go."""
        form = form_of(chunk)
        if form != self._form:
            self._keep(self._resampler.flush())
            self._form, self._rest = form, b""
            self._resampler = StreamResampler(chunk.rate, SAMPLE_RATE)
        content = self._rest + chunk.audio
        whole = len(content) - len(content) % (chunk.width * chunk.channels)
        self._rest = content[whole:]
        self._keep(self._resampler.feed(mono(content[:whole], chunk.width, chunk.channels)))

    def end(self) -> Samples:
        """Return all of it: int16, shape (n,), 16 kHz."""
        self._keep(self._resampler.flush())
        return np.concatenate([np.zeros(0, np.int16), *self._pieces])

    def _keep(self, samples: Samples) -> None:
        self._samples += len(samples)
        if self._samples > MOST_SECONDS * SAMPLE_RATE:
            raise Malformed(f"more than {MOST_SECONDS:g} s of sound at one go")
        self._pieces.append(samples)


def form_of(sound: AudioFormat) -> tuple[int, int, int]:
    """Return rate in Hz, bytes of a sample and channels. Raises `Malformed` for what no microphone gives."""
    rate, width, channels = sound.rate, sound.width, sound.channels
    if not all(type(each) is int for each in (rate, width, channels)):
        raise Malformed("sound whose form is no numbers")
    if not (LEAST_RATE <= rate <= MOST_RATE and width in WIDTHS and 1 <= channels <= MOST_CHANNELS):
        raise Malformed(f"sound of {rate} Hz, {width} bytes a sample and {channels} channels")
    return rate, width, channels


def mono(content: bytes, width: int, channels: int) -> Samples:
    """Return whole frames of PCM as mono: int16, shape (n,), the mean of the channels."""
    if width == 2:
        samples = np.frombuffer(content, "<i2")
    elif width == 1:
        samples = np.frombuffer(content, np.int8).astype(np.int16) << 8
    else:  # the two highest bytes of each sample
        samples = np.frombuffer(content, np.uint8).reshape(-1, width)[:, width - 2 :].copy().view("<i2")[:, 0]
    if channels == 1:
        return samples.astype(np.int16, copy=False)
    mixed: Samples = samples.reshape(-1, channels).mean(axis=1).astype(np.int16)
    return mixed


log = structlog.get_logger()

NOTHING: Final = Transcript("", "", "")


async def transcribed(shared: Recognizing, samples: Samples, is_wanted: Callable[[], bool]) -> Transcript:
    """Return the words of a recording: int16, shape (n,), 16 kHz. Empty where nobody speaks, or no evidence is.

    It is recognized in turn with the room, which comes first, and with remote places. What would not be taken for words
    in the room is not here either. Raises `RecognitionFailed`.
    """
    turn = await shared.recognized(samples, shared.clock() - len(samples) / SAMPLE_RATE, is_wanted)
    if turn is None:
        return NOTHING
    if reason := evidence_guard(turn) or understood_guard(shared.language)(turn):
        log.info("wyoming_words_held_back", reason=reason)
        return NOTHING
    return turn.transcript
