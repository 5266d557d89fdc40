"""A voice made quieter, for the house and for the hour."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Final

import numpy as np

from audio.interfaces import Synthesizer
from audio.speech import SpeechAudio
from audio.synthesizer.pieces import closing

SILENT_DB: Final = -40.0
"""Level of 1 %, dB relative to the voice as it is made; loudness is heard by its logarithm."""


def gain(percent: int) -> float:
    """Return the factor of the samples for a volume of 0 to 100 %: 0 is silence, 100 changes nothing."""
    if percent <= 0:
        return 0.0
    return float(10 ** (SILENT_DB * (1 - min(percent, 100) / 100) / 20))


class AtVolume:
    """A `Synthesizer` over another one, at a fixed volume."""

    def __init__(self, voice: Synthesizer, percent: int) -> None:
        self.name = voice.name
        self._voice = voice
        self._gain = gain(percent)

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the voice's pieces, quieter. Raises what the voice raises."""
        async with closing(self._voice.speak(sentence, language)) as pieces:
            async for piece in pieces:
                yield replace(piece, samples=(piece.samples * self._gain).astype(np.int16))
