"""Speech for tests: sentences said on the spot by flite and espeak-ng, and clips of human speakers."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec import Struct

from audio.capture.recording import read_recording
from audio.pcm import SAMPLE_RATE, Samples
from audio.speech import Utterance

DEBIAN_CLIPS = Path("/usr/share/pocketsphinx/test/data")
"""The package pocketsphinx-testdata, which scripts/test installs."""

SHARED_CLIPS = Path(__file__).parents[3] / "shared" / "speech"
"""Where the project is developed; absent elsewhere."""

HOUSEHOLD_WHISPER = Path(__file__).parents[1] / "data" / "whisper-household"
HOUSEHOLD_STREAMING = Path(__file__).parents[1] / "data" / "streaming-household"


class Clip(Struct, frozen=True):
    """One recording of a human speaker and what is said in it."""

    name: str
    words: str
    samples: Samples

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * SAMPLE_RATE), np.int16)


def said(text: str, voice: str, folder: Path) -> Samples:
    """Return a sentence by flite (`slt`, `awb`, `rms`, `kal`) or espeak-ng (`en-us` …), 16 kHz mono."""
    file = folder / "said.wav"
    if voice in {"slt", "awb", "rms", "kal"}:
        subprocess.run(["flite", "-voice", voice, "-t", text, "-o", file], check=True)
    else:
        subprocess.run(["espeak-ng", "-v", voice, "-w", file, text], check=True)
    return read_recording(file)


def trimmed(samples: Samples) -> Samples:
    """Return the samples without the silence at both ends: what is below a fiftieth of the loudest."""
    loud = np.flatnonzero(np.abs(samples) > np.abs(samples).max() / 50)
    return samples[loud[0] : loud[-1] + 1]


def utterance(samples: Samples) -> Utterance:
    """Return the samples as what the endpointer would hand on, with some silence around them."""
    whole = np.concatenate([silence(0.4), samples, silence(0.2)])
    seconds = len(samples) / SAMPLE_RATE
    return Utterance(whole, 0.4, 0.4 + seconds, 1.1 + seconds, seconds)


def debian_clips(folder: str) -> list[Clip]:
    """Return the clips of `cards` (5, one man) or `librivox` (5, one woman) with their transcripts."""
    listed = next((DEBIAN_CLIPS / folder).glob("*transcription")).read_text().splitlines()
    found = [re.fullmatch(r"<s> (.*?)\s*</s> \((.*)\)", line) for line in listed]
    return [Clip(each[2], each[1], read_recording(DEBIAN_CLIPS / folder / f"{each[2]}.wav")) for each in found if each]


def go_forward() -> Clip:
    """Return the eleventh clip, which is bare PCM."""
    samples = np.fromfile(DEBIAN_CLIPS / "goforward.raw", np.int16)
    return Clip("goforward", "go forward ten meters", samples)


def plain(text: str) -> list[str]:
    """Return the words without case and punctuation."""
    return re.findall(r"[\w']+", text.lower())


def word_errors(meant: str, heard: str) -> int:
    """Return the least number of words to change, add or leave out."""
    wanted, got = plain(meant), plain(heard)
    row = list(range(len(got) + 1))
    for number, word in enumerate(wanted, 1):
        before, row = row, [number]
        for at, other in enumerate(got, 1):
            row.append(min(before[at] + 1, row[-1] + 1, before[at - 1] + (word != other)))
    return row[-1]


@dataclass
class WordErrorRate:
    """Word errors over many sentences; prints what was misheard."""

    errors: int = 0
    words: int = 0

    def add(self, meant: str, heard: str) -> None:
        self.errors += word_errors(meant, heard)
        self.words += len(plain(meant))

    @property
    def rate(self) -> float:
        return self.errors / max(1, self.words)

    def __str__(self) -> str:
        return f"{self.rate:.1%} ({self.errors} of {self.words} words)"
