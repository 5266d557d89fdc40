"""Whether this box's Whisper may use the short window: compared once on voices of the box, kept in the state folder."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from appliance.input.whisper.choice import Pick, WhisperSettings, keep, kept
from audio.capture.recording import read_recording
from audio.errors import AudioError
from audio.pcm import SAMPLE_RATE
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.models.catalog import WEIGHTS
from audio.recognizer.models.compare import Comparison, compare
from audio.recognizer.models.speed import sample_utterance
from audio.speech import Utterance

SENTENCES: Final = {
    "en": (
        "Turn on the kitchen light.",
        "What time is it?",
        "Remember that my keys are in the drawer.",
        "Set a timer for ten minutes.",
        "Good morning.",
    ),
    "zh": ("打开客厅的灯。", "现在几点了？", "请记住钥匙在抽屉里。", "十分钟以后叫我。", "早上好。"),
}
"""What is said for the comparison; of other languages nothing can be said here."""

SPEAK_SECONDS: Final = 10.0
"""A voice that takes longer hangs."""


class Verdict(Struct, frozen=True):
    """What was found, about which model."""

    model: str
    size: int
    """Bytes of its weights."""
    language: str
    comparison: Comparison
    at: datetime
    """UTC."""


def is_short(settings: WhisperSettings, picked: Pick) -> bool:
    """Say whether this model is given the short window: as configured, else by what was found about it."""
    if settings.ears.short_window != "auto":
        return settings.ears.short_window == "on"
    verdict = recall(settings, picked)
    return verdict is not None and verdict.comparison.is_for_short


def recall(settings: WhisperSettings, picked: Pick) -> Verdict | None:
    """Return what was found about this model and language; None if nothing was, or it cannot be read."""
    found, weights = kept(Verdict, _file(settings)), picked.folder / WEIGHTS
    if found is None or not weights.is_file():
        return None
    now = (picked.folder.name, weights.stat().st_size, settings.language)
    return found if (found.model, found.size, found.language) == now else None


def compare_box(settings: WhisperSettings, picked: Pick, tell: Callable[[Comparison], None]) -> Verdict:
    """Compare both windows on what the box's own voices say, and keep what comes of it. Blocking, seconds to a minute.

    `tell` gets the sum so far after each sentence; what is interrupted leaves no verdict. Raises `AudioError`, and
    `OSError` when the state folder cannot be written.
    """
    recognizer = FasterWhisperRecognizer(picked.folder, settings.language, picked.threads)
    recognizer.warm()
    total = Comparison()
    for each in compare(recognizer, _spoken(settings.language)):
        total += each
        tell(total)
    size = (picked.folder / WEIGHTS).stat().st_size
    verdict = Verdict(picked.folder.name, size, settings.language, total, datetime.now(UTC))
    keep(verdict, _file(settings))
    return verdict


def described(comparison: Comparison) -> str:
    """Return it for people."""
    return (
        f"{comparison.differing} of {comparison.words} words differ in the short window, which takes "
        f"{comparison.short_seconds:.1f} s instead of {comparison.whole_seconds:.1f} s"
    )


def _spoken(language: str) -> Iterator[Utterance]:
    """Yield the sentences by every voice that is here; first the sample that comes along, where it is understood."""
    if language in ("", "en"):
        yield sample_utterance()
    spoken = language if language in SENTENCES else "en"
    with tempfile.TemporaryDirectory(prefix="nakari-window-") as folder:
        file = Path(folder) / "said.wav"
        for command in _voices(spoken, file):
            # A voice that is broken is left out; the doctor has a line of its own for that.
            with suppress(OSError, subprocess.SubprocessError, AudioError):
                for sentence in SENTENCES[spoken]:
                    yield _said([*command, sentence], file)


def _voices(language: str, file: Path) -> list[list[str]]:
    """Return the commands that write a sentence to a file, without the sentence."""
    espeak = ["espeak-ng", "-v", "cmn" if language == "zh" else "en-us", "-w", str(file)]
    flite = ["flite", "-voice", "slt", "-o", str(file), "-t"]
    return [each for each in (espeak, *([flite] if language == "en" else [])) if shutil.which(each[0])]


def _said(command: list[str], file: Path) -> Utterance:
    """Return what a voice says with a pre-roll before it and silence after it, as the ears would hand it on."""
    subprocess.run(command, check=True, capture_output=True, timeout=SPEAK_SECONDS)
    samples = read_recording(file)
    seconds = len(samples) / SAMPLE_RATE
    before, after = np.zeros(SAMPLE_RATE // 2, np.int16), np.zeros(SAMPLE_RATE // 5, np.int16)
    return Utterance(np.concatenate([before, samples, after]), 0.5, 0.5 + seconds, 1.2 + seconds, seconds)


def _file(settings: WhisperSettings) -> Path:
    return settings.state_folder / "short_window.json"
