"""Fits the weights of audio/turns/prosody.py on a folder of clips: `python -m benchmarks.ears.fit_prosody FOLDER`.

A logistic regression (ridge, Newton's steps) on the split "fit", on all silences of it as they are and, with half the
weight, worn; every source with the same weight. Prints weights, bias, and how well ends are told from what was cut; on
other clips `scripts/bench ears FOLDER turns` tells that.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.turns.prosody import WEIGHTS
from benchmarks.ears.material.corpus import Clip, Split, read_corpus
from benchmarks.ears.turns import silences

RIDGE: Final = 3.0
"""On standardised measures."""

WORN: Final = 0.5
"""Weight of worn silences: a voice that breaks off by itself is less abrupt than one that was cut with scissors."""

MOST: Final = 90
"""Clips of one source."""


class Table(Struct, frozen=True):
    """Measures of silences, shape (n, measures); whether each is an end; and what each weighs."""

    measures: NDArray[np.float64]
    is_end: NDArray[np.bool_]
    weighs: NDArray[np.float64]


def source_of(clip: Clip) -> str:
    """Return the collection that a clip is of."""
    return " ".join([*clip.source.split(";")[0].split()[:1], clip.language])


def sampled(clips: Sequence[Clip], split: Split) -> list[Clip]:
    """Return at most `MOST` clips of each source."""
    counted: Counter[str] = Counter()
    chosen = []
    for place in np.random.default_rng(0).permutation(len(clips)):
        clip = clips[place]
        if clip.is_speech and clip.split == split and counted[source_of(clip)] < MOST:
            counted[source_of(clip)] += 1
            chosen.append(clip)
    return chosen


def table(clips: Sequence[Clip]) -> Table:
    """Measure the silences of clips; those that the speakers made are left out, for half of them are ends as well."""
    rows, groups = [], []
    for clip in clips:
        for is_worn in (False, True):
            for each in silences(clip, is_worn=is_worn):
                if each.prosody is not None and each.kind != "own pause":
                    rows.append([getattr(each.prosody, name) for name in WEIGHTS])
                    groups.append((source_of(clip), each.kind == "end", is_worn))
    counted = Counter(groups)
    weighs = np.array([min(3.0, 300 / counted[group]) * (WORN if group[2] else 1.0) for group in groups])
    return Table(np.array(rows), np.array([is_end for _, is_end, _ in groups]), weighs)


def fitted(of: Table) -> tuple[NDArray[np.float64], float]:
    """Return weights and bias."""
    mean, deviation = of.measures.mean(0), of.measures.std(0)
    columns = np.column_stack([(of.measures - mean) / deviation, np.ones(len(of.measures))])
    ridge = np.diag([RIDGE] * len(mean) + [0.0])
    found = np.zeros(columns.shape[1])
    for _ in range(20):
        probability = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (of.weighs * (of.is_end - probability)) - ridge @ found
        curve = (columns * (of.weighs * probability * (1 - probability))[:, None]).T @ columns + ridge
        found += np.linalg.solve(curve, slope)
    weights = found[:-1] / deviation
    return weights, float(found[-1] - weights @ mean)


def told_apart(of: Table, weights: NDArray[np.float64]) -> float:
    """Return how often an end has more evidence than a cut (the area under the curve)."""
    evidence = of.measures @ weights
    return float((evidence[of.is_end][:, None] > evidence[~of.is_end]).mean())


def main(folder: Path) -> None:
    """Fit, and print."""
    clips = read_corpus(folder)
    found = table(sampled(clips, "fit"))
    weights, bias = fitted(found)
    for name, weight in zip(WEIGHTS, weights, strict=True):
        print(f'    "{name}": {weight:.3f},')
    print(f"bias {bias:.3f}; told apart {told_apart(found, weights):.3f} on {len(found.is_end)} silences")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
