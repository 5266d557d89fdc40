"""A recognizer that also listens to the voice, in a thread of its own beside the one that makes words."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np
import structlog
from msgspec.structs import replace

from audio.interfaces import Recognizer
from audio.pcm import SAMPLE_RATE
from audio.recognizer.wrapped import WrappedRecognizer
from audio.speakers.encoder import SpeakerEncoder, speech_of, unit
from audio.speakers.gallery import LEAST_SECONDS
from audio.speech import Transcript, Utterance, Voice

log = structlog.get_logger()

LATEST_SECONDS: Final = 0.5
"""How long words wait for the voice at most: it takes some hundredths of a second, and is done first but for the
shortest sentences."""

MOST_SECONDS: Final = 4.0
"""Of speech that is compared; more makes nobody surer."""

SAME_VOICE: Final = 0.6
"""How near the two halves of an utterance must be for one voice to speak in it."""

HALVES_SECONDS: Final = 1.6
"""From how much speech on its halves are compared."""

WHOLE_SECONDS: Final = 3.2
"""From how much speech on its halves tell as much as the whole: each is a window long."""

MOST_ECHO: Final = 0.5
"""Suspicion of nakari's own voice above which nobody is listened for."""


class SpeakerRecognizer(WrappedRecognizer):
    """Adds the voice to the transcript; where it cannot be told, the words come all the same."""

    def __init__(self, recognizer: Recognizer, encoder: SpeakerEncoder, look: Callable[[], None]) -> None:
        """`look` is called in the thread before each voice is listened to: who is known may be read from a disk."""
        super().__init__(recognizer)
        self._encoder = encoder
        self._look = look
        self._thread = ThreadPoolExecutor(1, "speakers")
        self._has_failed = False

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words with the voice. Blocking. Raises `RecognitionFailed`."""
        if self._has_failed or not self._encoder.is_there:
            return super().transcribe(utterance)
        voice = self._thread.submit(self._listened, utterance)
        transcript = super().transcribe(utterance)
        return replace(transcript, voice=self._taken(voice)) if transcript.text else transcript

    def _listened(self, utterance: Utterance) -> Voice | None:
        self._look()
        return voice_in(utterance, self._encoder)

    def _taken(self, voice: "Future[Voice | None]") -> Voice | None:
        try:
            return voice.result(LATEST_SECONDS)
        except TimeoutError:
            return None
        except Exception as error:  # noqa: BLE001  onnxruntime's errors have no other base
            self._has_failed = True
            log.warning("speakers_unheard", reason=str(error), fix="install nakari again; until then nobody is known")
            return None


def voice_in(utterance: Utterance, encoder: SpeakerEncoder) -> Voice | None:
    """Return the voice of an utterance; None for too little speech, and for what may be nakari's own. Blocking."""
    if utterance.echo_suspicion > MOST_ECHO:
        return None
    speech = speech_of(utterance.samples, utterance.noise_dbfs)[: round(MOST_SECONDS * SAMPLE_RATE)]
    seconds = len(speech) / SAMPLE_RATE
    if seconds < LEAST_SECONDS:
        return None
    halves = [encoder.vectors(part) for part in np.array_split(speech, 2)] if seconds >= HALVES_SECONDS else []
    means = [unit(np.mean(half, axis=0)) for half in halves]
    is_one = not means or float(means[0] @ means[1]) >= SAME_VOICE
    vectors = [each for half in halves for each in half] if seconds >= WHOLE_SECONDS else encoder.vectors(speech)
    snr_db = utterance.level_dbfs - utterance.noise_dbfs
    return Voice(unit(np.mean(vectors, axis=0)), round(seconds, 2), round(snr_db, 1), is_one)
