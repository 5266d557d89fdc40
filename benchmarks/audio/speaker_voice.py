"""What listening to who speaks adds to recognizing a sentence, in processor time, by a small recognizer.

`python -m benchmarks.audio.speaker_voice` takes some seconds. Who is told from whom is measured by
`python -m benchmarks.speakers FOLDER`, on people's voices.
"""

import tempfile
from pathlib import Path
from time import process_time
from typing import Final

from audio.capture.recording import read_recording
from audio.interfaces import Recognizer
from audio.pcm import SAMPLE_RATE
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.speakers.encoder import SpeakerEncoder
from audio.speakers.recognizer import SpeakerRecognizer, voice_in
from audio.speech import Utterance
from benchmarks.figure import Figure, Series, milliseconds, run
from tests.audio.spoken import HOUSEHOLD_WHISPER, utterance
from tests.service.process import speak

SENTENCE: Final = "turn on the kitchen light and tell me how much time is left"


def measure(*, quick: bool = False) -> Figure:
    """Recognize the same sentence with the voice and without, in turn."""
    encoder = SpeakerEncoder()
    plain = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 1)
    both = SpeakerRecognizer(plain, encoder, lambda: None)
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        said = utterance(read_recording(speak(SENTENCE, Path(folder) / "said.wav")))
    taken: dict[bool, list[float]] = {True: [], False: []}
    for with_voice, recognizer in ((True, both), (False, plain)):
        _seconds(recognizer, said)  # what is loaded once
        taken[with_voice] = []
    for _ in range(2 if quick else 15):
        taken[True].append(_seconds(both, said))
        taken[False].append(_seconds(plain, said))
    cost = _cost(encoder, said, rounds=2 if quick else 15)
    notes = (
        f"of the voice alone: {cost:.1f} ms of processor time a second of speech, its halves compared",
        f"a sentence of {len(said.samples) / SAMPLE_RATE:.1f} s, the smallest recognizer: of a larger one it is less",
    )
    ours = milliseconds("processor time to the words with the voice", taken[True])
    return Figure("Who speaks, beside the words", ours, milliseconds("to the words alone", taken[False]), notes)


def _seconds(recognizer: Recognizer, said: Utterance) -> float:
    began = process_time()
    recognizer.transcribe(said)
    return process_time() - began


def _cost(encoder: SpeakerEncoder, said: Utterance, rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        began = process_time()
        voice = voice_in(said, encoder)
        taken.append(1000 * (process_time() - began) / (voice.seconds if voice else 1.0))
    return Series("", "ms", tuple(taken)).median


if __name__ == "__main__":
    run(measure)
