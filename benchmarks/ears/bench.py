"""What every measurement of the ears is given: the clips of one split, noises, a seed, and the ears themselves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol, TypeVar

import numpy as np
from msgspec import Struct

from audio.pcm import Samples
from benchmarks.ears.listening import Ears
from benchmarks.ears.material.corpus import Clip, Split, read_corpus
from benchmarks.ears.material.mixing import GENERATED, STEADY, generated

T = TypeVar("T")

NOISE_SECONDS: Final = 20.0
"""Of a generated noise: longer than most clips."""


class Bench(Struct, frozen=True):
    """One run. Everything drawn hangs on the seed and the clip alone."""

    folder: Path
    clips: Sequence[Clip]
    """All of the folder, whatever their split."""
    split: Split
    ears: Ears
    seed: int = 0
    sample: int = 0
    """At most so many clips of a kind; 0 for all."""

    @property
    def speech(self) -> list[Clip]:
        """The clips of the split in which somebody speaks."""
        return [clip for clip in self.clips if clip.is_speech and clip.split == self.split]

    @property
    def noises(self) -> list[Clip]:
        """The noises of the split; none where the folder has none."""
        return [clip for clip in self.clips if not clip.is_speech and clip.split == self.split]

    def sampled(self, all_of_them: Sequence[T]) -> list[T]:
        """Return the sample that the seed draws, in their own order."""
        if not self.sample or self.sample >= len(all_of_them):
            return list(all_of_them)
        places = np.random.default_rng(self.seed).choice(len(all_of_them), self.sample, replace=False)
        return [all_of_them[place] for place in sorted(places)]

    def noise_for(self, random: np.random.Generator, *, is_steady: bool) -> Samples:
        """Return a noise to put beside a clip: a generated steady one, else one of the folder's in this split."""
        if is_steady or not self.noises:
            return generated(str(random.choice(STEADY if is_steady else list(GENERATED))), NOISE_SECONDS)
        return self.noises[random.integers(len(self.noises))].samples()


class Measurement(Protocol):
    """What a module of `benchmarks.ears.__main__.MEASUREMENTS` offers."""

    ABOUT: str
    """What is measured: a noun phrase."""

    def results(self, bench: Bench) -> list[str]:
        """Return the lines that tell what was found."""


def open_bench(folder: Path, ears: Ears, split: Split, seed: int, sample: int) -> Bench:
    """Read the folder. Raises FileNotFoundError where it holds no clips."""
    return Bench(folder, read_corpus(folder), split, ears, seed, sample)
