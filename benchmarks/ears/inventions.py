"""Words made of noise alone: turns a minute that reach somebody, by kind of noise."""

from collections import Counter
from typing import Final

import numpy as np

from audio.pcm import SAMPLE_RATE
from benchmarks.ears.bench import NOISE_SECONDS, Bench
from benchmarks.ears.material.mixing import GENERATED, alone, drawn, generated

ABOUT: Final = "words made of noise"

LEVELS_DBFS: Final = (-22.0, -32.0, -42.0)
"""Of what is active of the noise, at the microphone."""

SHOWN: Final = 12
"""Invented words that are printed."""


def results(bench: Bench) -> list[str]:
    """Run every noise once, at a level of its own; return the turns that got through, and why the others did not.

    Where the folder has no noise in the split, the generated ones are run.
    """
    seconds, taken, words, ended = 0.0, Counter[str](), list[str](), Counter[str]()
    noises = [(noise.source, noise.samples()) for noise in bench.sampled(bench.noises)]
    made = [] if noises else [(name, generated(name, NOISE_SECONDS)) for name in GENERATED]
    for number, (source, samples) in enumerate(noises or made):
        seed = bench.seed * 100_003 + number
        sound = alone(samples, drawn(LEVELS_DBFS, np.random.default_rng(seed)), seed)
        heard = bench.ears.hear(sound, is_noise=True)
        seconds += len(sound.samples) / SAMPLE_RATE
        ended.update([*(why or "TAKEN UP" for _, why in heard.turns), *(["too short"] * heard.too_short)])
        for turn, why in heard.turns:
            if not why:
                taken[source] += 1
                words.append(turn.transcript.text)
    minutes = seconds / 60
    kinds = ", ".join(f"{source} {count}" for source, count in taken.most_common()) or "none"
    reasons = "; ".join(f"{why.removeprefix('no speech by the evidence: ')} {n}" for why, n in ended.most_common())
    invented = taken.total()
    return [
        f"{invented / minutes:.2f} invented turns a minute ({invented} in {minutes:.1f} min of "
        f"{'the folder' if noises else 'generated noises: the folder has none'}): {kinds}",
        f"all turns: {reasons or 'none'}",
        f"words: {', '.join(map(repr, words[:SHOWN])) or 'none'}",
    ]
