"""Words made of noise alone: turns a minute that reach somebody, by kind of noise."""

from collections import Counter
from typing import Final

import numpy as np

from audio.pcm import SAMPLE_RATE
from benchmarks.ears.bench import Bench
from benchmarks.ears.material.mixing import alone, drawn

ABOUT: Final = "words made of noise"

LEVELS_DBFS: Final = (-22.0, -32.0, -42.0)
"""Of what is active of the noise, at the microphone."""

SHOWN: Final = 12
"""Invented words that are printed."""


def results(bench: Bench) -> list[str]:
    """Run every noise once, at a level of its own; return the turns that got through, and why the others did not."""
    seconds, taken, words, ended = 0.0, Counter[str](), list[str](), Counter[str]()
    for number, noise in enumerate(bench.sampled(bench.noises)):
        seed = bench.seed * 100_003 + number
        sound = alone(noise.samples(), drawn(LEVELS_DBFS, np.random.default_rng(seed)), seed)
        heard = bench.ears.hear(sound, is_noise=True)
        seconds += len(sound.samples) / SAMPLE_RATE
        ended.update([*(why or "TAKEN UP" for _, why in heard.turns), *(["too short"] * heard.too_short)])
        for turn, why in heard.turns:
            if not why:
                taken[noise.source] += 1
                words.append(turn.transcript.text)
    minutes = seconds / 60
    kinds = ", ".join(f"{source} {count}" for source, count in taken.most_common()) or "none"
    reasons = "; ".join(f"{why.removeprefix('no speech by the evidence: ')} {n}" for why, n in ended.most_common())
    invented = taken.total()
    return [
        f"{invented / max(1e-9, minutes):.2f} invented turns a minute ({invented} in {minutes:.1f} min): {kinds}",
        f"all turns: {reasons or 'none'}",
        f"words: {', '.join(map(repr, words[:SHOWN])) or 'none'}",
    ]
