"""Voices in the room: its own and those of the people, made by flite and espeak-ng once and kept for the run."""

import subprocess
import tempfile
from collections.abc import AsyncGenerator
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from audio.capture.recording import read_recording
from audio.errors import SynthesisFailed
from audio.interfaces import Synthesizer
from audio.pcm import SAMPLE_RATE, Samples
from audio.speech import SpeechAudio
from tests.audio.spoken import said, trimmed
from tests.room.acoustics import Sound, from_samples

OWN_VOICE: Final = "slt"
"""Flite's woman: nearer to a human's voice than espeak-ng's."""

PIECE_SECONDS: Final = 0.25
"""Of sound that it is given at a time."""


@cache
def spoken(text: str, voice: str) -> Samples:
    """Return a sentence by flite (`slt`, `awb`, `rms`, `kal`) or espeak-ng (`en-us` …): 16 kHz mono, pauses cut off."""
    with tempfile.TemporaryDirectory(prefix="nakari-voice-") as folder:
        return trimmed(said(text, voice, Path(folder)))


def says(text: str, voice: str = "en-us") -> Sound:
    """Return somebody's sentence, to be put into the room."""
    return from_samples(spoken(text, voice))


def clip(file: Path) -> Sound:
    """Return a recording of somebody, without the silence at its ends."""
    return from_samples(trimmed(read_recording(file)))


class Remembered(Synthesizer):
    """A `Synthesizer`: flite's voice, made once for a sentence; it counts what it was asked for."""

    name = "flite, remembered"
    sends_to = ()

    def __init__(self, voice: str = OWN_VOICE) -> None:
        self.voice = voice
        self.sentences: list[str] = []

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence in pieces of a quarter of a second. Raises `SynthesisFailed` when flite fails."""
        self.sentences.append(sentence)
        try:
            samples = np.concatenate([spoken(sentence, self.voice), np.zeros(SAMPLE_RATE // 8, np.int16)])
        except subprocess.CalledProcessError as error:
            raise SynthesisFailed(f"flite failed: {error}") from error
        step = round(PIECE_SECONDS * SAMPLE_RATE)
        for at in range(0, len(samples), step):
            yield SpeechAudio(samples[at : at + step], SAMPLE_RATE)
