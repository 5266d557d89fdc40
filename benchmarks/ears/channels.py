"""Words understood through simulated microphones of two and four channels, by what is made of the channels.

`python -m benchmarks.ears.channels FOLDER` takes the one-word clips of the split `report`; pocketsphinx knows no other
words. Rooms with a reverberation of 0.4 s, noise from all around, one channel in turn dead, noisy or clipping.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audio.capture.channels import ChannelPicker
from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE
from benchmarks.ears.material.corpus import Clip, read_corpus

Sound = NDArray[np.float64]

FAULTS: Final = ("none", "dead", "noisy", "clipping")
WAYS: Final = ("mean", "first", "best")
SNRS: Final = (10.0, 5.0, 20.0)
APART: Final = {2: 0.14, 4: 0.045}
"""Metres from one microphone to the next, by their number."""

WORDS: Final = 5
"""Of a session; the first is for the picker to learn by, and does not count."""

GAP: Final = 20_000
"""Samples from one word to the next."""

LEVEL: Final = 32768 * 10 ** (-26 / 20)
SPEED_OF_SOUND: Final = 343.0
DIRECTIONS: Final = 12
"""From which noise comes."""


def rms(sound: Sound) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(sound**2)))


class Session:
    """Some words in a row, each said from another side, as the channels of one microphone hear them."""

    def __init__(self, clips: list[Clip], count: int, snr_db: float, fault: str, random: np.random.Generator) -> None:
        self._random = random
        self._count = count
        sounds = [clip.samples().astype(np.float64) for clip in clips]
        self.spans: list[slice] = []
        self._size = 1 << int(np.ceil(np.log2(2 * (GAP + sum(len(sound) + GAP for sound in sounds)))))
        self._turns = -2j * np.pi * np.fft.rfftfreq(self._size)
        heard, at = np.zeros((count, self._size // 2 + 1), np.complex128), GAP
        for sound in sounds:
            heard += self._said(sound, at)
            self.spans.append(slice(at - 1600, at + len(sound) + 1600))
            at += len(sound) + GAP
        speech = np.fft.irfft(heard)[:, :at]
        noise = np.fft.irfft(self._noise())[:, :at]
        noise = noise / rms(noise) + 0.3 * random.normal(size=noise.shape)
        self.frames = self._spoiled(speech + noise * LEVEL * 10 ** (-snr_db / 20), fault)

    def _delays(self) -> NDArray[np.float64]:
        """Return by how many samples a wave from a random side comes later to each channel."""
        side = np.cos(self._random.uniform(0, np.pi))
        return np.asarray(np.arange(self._count) * APART[self._count] * side / SPEED_OF_SOUND * SAMPLE_RATE)

    def _said(self, sound: Sound, at: int) -> NDArray[np.complex128]:
        loud = sound[np.abs(sound) > np.abs(sound).max() / 20]
        said = np.zeros(self._size)
        said[at : at + len(sound)] = sound / max(1.0, rms(loud)) * LEVEL
        spectrum = np.fft.rfft(said)
        tails = self._random.normal(size=(self._count, 6400)) * 10 ** (-3 * np.arange(6400) / 6400)
        tails[:, :40] = 0.0
        tails *= 0.5 / np.sqrt(np.sum(tails**2, axis=1, keepdims=True))
        direct = np.exp(self._turns * (self._delays()[:, None] + 20))
        return np.asarray(spectrum * (direct + np.fft.rfft(tails, self._size)))

    def _noise(self) -> NDArray[np.complex128]:
        total = np.zeros((self._count, self._size // 2 + 1), np.complex128)
        fall = np.sqrt(np.maximum(np.fft.rfftfreq(self._size), 1 / self._size))
        for _ in range(DIRECTIONS):
            wave = np.fft.rfft(self._random.normal(size=self._size)) / fall
            total += wave * np.exp(self._turns * self._delays()[:, None])
        return total

    def _spoiled(self, channels: Sound, fault: str) -> NDArray[np.int16]:
        bad = int(self._random.integers(self._count))
        if fault == "dead":
            channels[bad] = 0.0
        elif fault == "noisy":
            channels[bad] += self._random.normal(size=channels.shape[1]) * LEVEL * 10 ** (5 / 20)
        elif fault == "clipping":
            channels[bad] *= 25.0
        return np.clip(channels.T, -32768, 32767).astype(np.int16)

    def heard(self, way: str) -> NDArray[np.int16]:
        """Return what is made of the channels."""
        if way == "first":
            return self.frames[:, 0]
        if way == "mean":
            return np.asarray(self.frames.mean(axis=1), np.int16)
        picker = ChannelPicker(self._count)
        starts = range(0, len(self.frames), CHUNK_SAMPLES)
        return np.concatenate([picker.pick(self.frames[start : start + CHUNK_SAMPLES]) for start in starts])


class OneWord:
    """pocketsphinx, with a grammar of single words."""

    def __init__(self, words: set[str]) -> None:
        from pocketsphinx import Decoder

        with tempfile.NamedTemporaryFile("w", suffix=".gram") as grammar:
            grammar.write(f"#JSGF V1.0; grammar words; public <word> = {' | '.join(sorted(words))};")
            grammar.flush()
            self._decoder = Decoder(jsgf=grammar.name, loglevel="FATAL")

    def word(self, samples: NDArray[np.int16]) -> str:
        """Return the likeliest word; "" for none."""
        self._decoder.start_utt()
        self._decoder.process_raw(samples.tobytes(), full_utt=True)
        self._decoder.end_utt()
        found = self._decoder.hyp()
        return str(found.hypstr) if found else ""


def main(folder: Path, sessions: int) -> None:
    """Say words in so many sessions of each fault, and print how many were understood."""
    spoken = [clip for clip in read_corpus(folder) if clip.is_speech and clip.split == "report"]
    clips = [clip for clip in spoken if len(clip.text.split()) == 1 and clip.source.startswith("speech commands")]
    recognizer = OneWord({clip.text.casefold() for clip in clips})
    random = np.random.default_rng(21)
    right: Counter[tuple[str, str]] = Counter()
    for number in range(sessions):
        for fault in FAULTS:
            said = [clips[index] for index in random.choice(len(clips), WORDS)]
            session = Session(said, (4, 2)[number % 2], SNRS[number // 2 % 3], fault, random)
            for way in WAYS:
                heard = session.heard(way)
                words = [recognizer.word(heard[span]) for span in session.spans[1:]]
                right[fault, way] += sum(
                    word == clip.text.casefold() for word, clip in zip(words, said[1:], strict=True)
                )
    total = sessions * (WORDS - 1)
    for fault in FAULTS:
        counts = ", ".join(f"{way} {right[fault, way]}" for way in WAYS)
        sys.stdout.write(f"one channel {fault}: of {total} words {counts}\n")


if __name__ == "__main__":
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("folder", type=Path)
    wanted.add_argument("--sessions", type=int, default=12)
    given = wanted.parse_args()
    main(given.folder, given.sessions)
