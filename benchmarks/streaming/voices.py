"""Made voices that say the sentences: espeak-ng's and flite's, at many speeds and pitches; some are held out.

Debian's packages espeak-ng and flite. Nobody trains on a voice of `HELD_OUT`; the word errors are reported on them.
"""

import random
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from audio.capture.recording import read_recording
from audio.errors import BadRecording
from audio.pcm import Samples

Plan = Sequence[tuple[str, int]]

LANGUAGES: Final[Mapping[str, Sequence[str]]] = {
    "en": ("en-us", "en-us", "en-gb", "en-gb-x-rp", "en-gb-x-gbclan", "en-029", "en-us-nyc"),
    "de": ("de",),
    "zh": ("cmn",),
}
"""Accents of espeak-ng that are trained on."""

VARIANTS: Final = ("", "m1", "m3", "m4", "m5", "m7", "f1", "f3", "f4", "f5", "Annie", "Denis", "Lee", "Andy", "steph")
FLITE: Final[Mapping[str, int]] = {"kal": 105, "rms": 100, "slt": 170}
"""Voices that are trained on, and the pitch each has by itself."""

HELD_OUT: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "en": (("espeak", "en-gb-scotland"), ("espeak", "en-us+m2"), ("espeak", "en-gb+f2"), ("flite", "awb")),
    "de": (("espeak", "de+m2"), ("espeak", "de+f2"), ("espeak", "de+Michael")),
    "zh": (("espeak", "cmn+m2"), ("espeak", "cmn+f2"), ("espeak", "cmn+Michael")),
}
"""Accents and variants that nobody trains on, by language."""


class Said(Struct, frozen=True):
    """A sentence by one voice."""

    text: str
    language: str
    voice: str
    samples: Samples
    """int16, 16 kHz, without the silence at both ends."""


def trained(texts: Mapping[str, Sequence[str]], takes: Mapping[str, int], drawn: random.Random) -> Iterator[Said]:
    """Yield each sentence so many times as its language says, by voices that are drawn."""
    with tempfile.TemporaryDirectory(prefix="nakari-voices-") as folder:
        for language, sentences in texts.items():
            for text in sentences:
                for _ in range(takes[language]):
                    engine, voice = _drawn_voice(language, drawn)
                    samples = spoken(text, engine, voice, Path(folder), drawn)
                    if samples is not None:
                        yield Said(text, language, voice, samples)


def held_out(texts: Mapping[str, Sequence[str]]) -> Iterator[Said]:
    """Yield each sentence once by every voice that nobody trains on, at its own speed and pitch."""
    with tempfile.TemporaryDirectory(prefix="nakari-voices-") as folder:
        for language, sentences in texts.items():
            for engine, voice in HELD_OUT[language]:
                for text in sentences:
                    samples = spoken(text, engine, voice, Path(folder), None)
                    if samples is not None:
                        yield Said(text, language, voice, samples)


def spoken(text: str, engine: str, voice: str, folder: Path, drawn: random.Random | None) -> Samples | None:
    """Return a sentence, its speed and pitch drawn or the voice's own; None where the program cannot say it."""
    file = folder / "said.wav"
    if engine == "espeak":
        pace = ["-s", str(drawn.randint(120, 215)), "-p", str(drawn.randint(25, 75))] if drawn else []
        command = ["espeak-ng", "-v", voice, *pace, "-w", str(file), text]
    else:
        command = ["flite", "-voice", voice, *(_flite_settings(voice, drawn) if drawn else []), "-t", text]
        command += ["-o", str(file)]
    file.unlink(missing_ok=True)
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=30)
        return _trimmed(read_recording(file))
    except (subprocess.SubprocessError, BadRecording, OSError):
        return None


def _drawn_voice(language: str, drawn: random.Random) -> tuple[str, str]:
    if language == "en" and drawn.random() < 0.35:
        return "flite", drawn.choice(list(FLITE))
    accent, variant = drawn.choice(LANGUAGES[language]), drawn.choice(VARIANTS)
    return "espeak", f"{accent}+{variant}" if variant else accent


def _flite_settings(voice: str, drawn: random.Random) -> list[str]:
    settings = {
        "duration_stretch": f"{drawn.uniform(0.8, 1.35):.2f}",
        "int_f0_target_mean": f"{FLITE[voice] * drawn.uniform(0.8, 1.35):.0f}",
    }
    return [part for name, value in settings.items() for part in ("--setf", f"{name}={value}")]


def _trimmed(samples: Samples) -> Samples | None:
    loudness = np.convolve(np.abs(samples.astype(np.float32)), np.ones(160, np.float32) / 160, "same")
    if not len(samples) or loudness.max() < 100:
        return None
    loud = np.flatnonzero(loudness > loudness.max() / 60)
    return samples[max(0, loud[0] - 320) : loud[-1] + 640]
