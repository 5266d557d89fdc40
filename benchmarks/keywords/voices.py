"""Made voices that say the vocabulary: espeak-ng's, flite's, SVOX Pico's and festival's, at many speeds and pitches.

Debian's packages espeak-ng, flite, festival with festvox-kallpc16k, festvox-kdlpc16k and festvox-us-slt-hts, and
libttspico-utils (its voices are in non-free: free to use and to pass on, without their sources).
"""

import random
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from audio.capture.recording import read_recording
from audio.errors import BadRecording
from audio.pcm import Samples
from benchmarks.keywords.vocabulary import LONGER, NEAR_WORDS, OTHER_WORDS, REFLEX_WORDS

LONGEST_SAMPLES: Final = 38_000
"""2.4 s: what is longer is no single word."""

ACCENTS: Final = (
    *("en", "en-us", "en-us", "en-us", "en-gb-scotland", "en-gb-x-gbclan", "en-gb-x-rp", "en-gb-x-gbcwmd", "en-029"),
    "en-us-nyc",
)
NO_PEOPLE: Final = ("Demonic", "whisper", "fast", "Storm", "Tweaky", "UniRobot", "anikaRobot", "announcer", "croak")
"""Variants of espeak-ng that begin so, and all with "obosoft", are left out."""

FLITE_HERTZ: Final = {"kal": 105, "awb": 130, "rms": 100, "slt": 170}
"""The pitch that each voice speaks with by itself."""


class Spoken(Struct, frozen=True):
    """One word by one voice."""

    words: str
    engine: str
    samples: Samples
    """int16, 16 kHz, without the silence at both ends."""


class Takes(Struct, frozen=True):
    """How often each voice of an engine says a word."""

    espeak: int
    flite: int
    pico: int
    festival: int


PLAN: Final[Sequence[tuple[Sequence[str], Takes]]] = (
    (REFLEX_WORDS[:3], Takes(160, 20, 20, 8)),
    (REFLEX_WORDS[3:], Takes(20, 2, 2, 1)),
    (NEAR_WORDS, Takes(24, 1, 1, 0)),
    (OTHER_WORDS, Takes(12, 1, 1, 0)),
    (LONGER, Takes(16, 1, 1, 0)),
)

Command = Callable[[str, Path, random.Random], list[str]]


def all_spoken(seed: int) -> list[Spoken]:
    """Return everything that is said, the same for a seed; about 6,700 words. Takes minutes."""
    drawn, spoken = random.Random(seed), []
    with tempfile.TemporaryDirectory(prefix="nakari-voices-") as folder:
        file = Path(folder) / "said.wav"
        for vocabulary, takes in PLAN:
            for words in vocabulary:
                for engine, command in _takes(takes):
                    samples = _said(command(words, file, drawn), file)
                    if samples is not None:
                        spoken.append(Spoken(words, engine, samples))
    return spoken


def _takes(takes: Takes) -> list[tuple[str, Command]]:
    made: list[tuple[str, Command]] = [("espeak", _espeak)] * takes.espeak
    made += [("flite", _flite(voice)) for voice in FLITE_HERTZ for _ in range(takes.flite)]
    made += [("pico", _pico(language)) for language in ("en-US", "en-GB") for _ in range(takes.pico)]
    festival = ("kal_diphone", "ked_diphone", "cmu_us_slt_arctic_hts")
    return made + [("festival", _festival(voice)) for voice in festival for _ in range(takes.festival)]


def _said(command: list[str], file: Path) -> Samples | None:
    """Return what the program says; None for a voice that cannot say it."""
    file.unlink(missing_ok=True)
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=30)
        samples = read_recording(file)
    except (subprocess.SubprocessError, BadRecording, OSError):
        return None
    loudness = np.convolve(np.abs(samples.astype(np.float32)), np.ones(160, np.float32) / 160, "same")
    if not len(samples) or loudness.max() < 100:
        return None
    loud = np.flatnonzero(loudness > loudness.max() / 60)
    kept = samples[max(0, loud[0] - 160) : loud[-1] + 320]
    return kept if len(kept) <= LONGEST_SAMPLES else None


@cache
def variants() -> list[str]:
    """Return espeak-ng's variants that sound like somebody."""
    listed = subprocess.run(["espeak-ng", "--voices=variant"], check=True, capture_output=True, text=True).stdout
    named = [line.split("!v/")[1].split()[0] for line in listed.splitlines() if "!v/" in line]
    return [name for name in named if not name.startswith(NO_PEOPLE) and "obosoft" not in name]


def _espeak(words: str, file: Path, drawn: random.Random) -> list[str]:
    voice = f"{drawn.choice(ACCENTS)}+{drawn.choice(variants())}"
    return [
        *("espeak-ng", "-v", voice, "-s", str(drawn.randint(105, 210)), "-p", str(drawn.randint(15, 90))),
        *("-w", str(file), words),
    ]


def _flite(voice: str) -> Command:
    def command(words: str, file: Path, drawn: random.Random) -> list[str]:
        settings: Mapping[str, str] = {
            "duration_stretch": f"{drawn.uniform(0.75, 1.6):.2f}",
            "int_f0_target_mean": f"{FLITE_HERTZ[voice] * drawn.uniform(0.75, 1.5):.0f}",
            "int_f0_target_stddev": f"{drawn.uniform(5, 40):.0f}",
        }
        given = [part for name, value in settings.items() for part in ("--setf", f"{name}={value}")]
        return ["flite", "-voice", voice, *given, "-t", words, "-o", str(file)]

    return command


def _pico(language: str) -> Command:
    def command(words: str, file: Path, drawn: random.Random) -> list[str]:
        pitch, speed = drawn.randint(65, 150), drawn.randint(70, 150)
        marked = f'<pitch level="{pitch}"><speed level="{speed}">{words}</speed></pitch>'
        return ["pico2wave", "-l", language, "-w", str(file), marked]

    return command


def _festival(voice: str) -> Command:
    def command(words: str, file: Path, drawn: random.Random) -> list[str]:
        script = file.with_suffix(".scm")
        script.write_text(
            f"(voice_{voice})\n(Parameter.set 'Duration_Stretch {drawn.uniform(0.8, 1.5):.2f})\n"
            f'(set! said (Utterance Text "{words}"))\n(utt.synth said)\n(utt.save.wave said "{file}")\n'
        )
        return ["festival", "-b", str(script)]

    return command
