"""What a short command costs to recognize, against the library's own way with it."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final, TypeVar

from faster_whisper import WhisperModel
from faster_whisper.audio import pad_or_trim

from audio.pcm import to_float
from audio.recognizer.faster_whisper import WHOLE, FasterWhisperRecognizer, WhisperOptions, short_window
from audio.speech import Utterance
from benchmarks.figure import Figure, Series, milliseconds, run
from tests.audio.spoken import plain, said, utterance
from tests.service.process import HOUSEHOLD

T = TypeVar("T")

SENTENCES: Final = ("What time is it?", "Turn on the kitchen light.", "Set a timer for one minute.", "Good morning.")
"""What the tests' small Whisper knows, by its list."""


def measure(*, quick: bool = False) -> Figure:
    """Recognize each sentence both ways, in turn, so that nobody meets the same sound twice in a row."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        sentences = SENTENCES[:2] if quick else SENTENCES
        spoken = {sentence: utterance(said(sentence, "en-us", Path(folder))) for sentence in sentences}
    both = Both()
    for _ in range(1 if quick else 15):
        for sentence, sound in spoken.items():
            both.recognize(sentence, sound)
    return both.figure()


@dataclass
class Both:
    """Our recognizer and the bare library, over the same small Whisper."""

    ours: FasterWhisperRecognizer = field(
        default_factory=lambda: FasterWhisperRecognizer(HOUSEHOLD, "en", 0, WhisperOptions(short_window=True))
    )
    library: WhisperModel = field(
        default_factory=lambda: WhisperModel(str(HOUSEHOLD), "cpu", compute_type="int8", local_files_only=True)
    )
    seconds: dict[str, list[float]] = field(default_factory=dict)
    misheard: int = 0
    retried: int = 0

    def __post_init__(self) -> None:
        self.ours.warm()

    def recognize(self, sentence: str, sound: Utterance) -> None:
        """Time both on one utterance, and the encoder alone on both windows."""
        samples = to_float(sound.samples)
        self._time("library", lambda: list(self.library.transcribe(samples)[0]))
        heard = self._time("ours", lambda: self.ours.transcribe(sound))
        self.misheard += plain(heard.text) != plain(sentence)
        self.retried += "retried" in heard.evidence
        self._time("ours whole", lambda: self.ours.transcribe_in(sound, is_short=False))
        features = self.library.feature_extractor(samples)
        for name, frames in (("whole", WHOLE), ("short", short_window(len(samples)))):
            self._time(name, partial(self.library.encode, pad_or_trim(features, frames)))

    def figure(self) -> Figure:
        """Return what was found."""
        times = {name: milliseconds("", seconds) for name, seconds in self.seconds.items()}
        count = len(self.seconds["ours"])
        ours = Series(f"ours, {count - self.misheard} of {count} right", "ms", times["ours"].values)
        library = Series("faster-whisper's own `transcribe(samples)`", "ms", times["library"].values)
        notes = (
            f"in a window cut to the utterance, tried again in the whole one {self.retried} of {count} times; "
            f"ours in the whole one takes {times['ours whole']}",
            f"encoding 30 s takes {times['whole']}, the utterance and a second more {times['short']}",
            "with the tests' small Whisper of 1.6 million parameters",
        )
        return Figure("A short command, recognized", ours, library, notes)

    def _time(self, name: str, work: Callable[[], T]) -> T:
        began = perf_counter()
        result = work()
        self.seconds.setdefault(name, []).append(perf_counter() - began)
        return result


if __name__ == "__main__":
    run(measure)
