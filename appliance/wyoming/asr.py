"""Speech-to-text: a recording that a program sends, by the box's own recognizer and the gate before its mailbox."""

from collections.abc import Callable
from typing import Final

import structlog
from msgspec import Struct

from appliance.input.not_understood import understood_guard
from appliance.remote.ears import Recognizing
from audio.pcm import SAMPLE_RATE, Samples
from audio.speech import Transcript
from audio.turns.evidence import evidence_guard

log = structlog.get_logger()

NOTHING: Final = Transcript("", "", "")


class Transcription(Struct, frozen=True):
    """Recognizes for whoever asks, in turn with the room, which comes first, and with remote places."""

    recognizing: Recognizing

    async def of(self, samples: Samples, is_wanted: Callable[[], bool]) -> Transcript:
        """Return the words of a recording: int16, shape (n,), 16 kHz. Empty where nobody speaks, or no evidence is.

        What would not be taken for words in the room is not here either. Raises `RecognitionFailed`.
        """
        shared = self.recognizing
        began = shared.clock() - len(samples) / SAMPLE_RATE
        turn = await shared.recognized(samples, began, is_wanted)
        if turn is None:
            return NOTHING
        if reason := evidence_guard(turn) or understood_guard(shared.language)(turn):
            log.info("wyoming_words_held_back", reason=reason)
            return NOTHING
        return turn.transcript
