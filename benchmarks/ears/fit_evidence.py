"""Fits the weights of the evidence gate on one split of a folder, and shows on another what a threshold would do.

`python -m benchmarks.ears.fit_evidence FOLDER [--sample N] [--seed N]`; the weights are written into
`audio.turns.evidence.Weights` by hand. Speech is heard by a recognizer that knows the words, for no true Whisper is
here: the weights of what a recognizer says of itself stay as they are. Noises, those of the folder and coughs and doors
made for it, are heard by the two recognizers that make words of everything.
"""

import argparse
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import structlog
from msgspec import Struct
from msgspec.structs import fields, replace
from numpy.typing import NDArray

from audio.pcm import Samples
from audio.turns.evidence import LEAST_SCORE, Evidence, Weights, evidence_of, judge, terms_of
from benchmarks.ears.bench import Bench, open_bench
from benchmarks.ears.listening import Ears
from benchmarks.ears.material.corpus import Split
from benchmarks.ears.material.mixing import LEVELS_DBFS, ROOMS, Condition, alone, drawn, mixed
from tests.room.sounds import cough, door, song

FITTED: Final = ("start", "certainty", "duration", "gaps", "hurry")
"""The weights that are fitted; no other figure is known of these sounds."""

BEFORE: Final = {"start": 2.0, "certainty": 2.0, "duration": 1.5, "gaps": 2.0, "hurry": 3.0}
"""The weights that were guessed."""

PRIOR_NATS: Final = 2.0
"""Spread of the normal prior around the weights before: few noises sound like speech, and each would weigh much."""

SNRS_DB: Final = (None, 10.0, 5.0, 3.0, 0.0)

NOISE_DBFS: Final = (-22.0, -34.0)

MADE: Final = 12
"""Of each noise that is made, by seed."""

Turn: TypeAlias = tuple[Evidence, float | None]
"""A turn's figures, and the ratio beside which it was said; for a noise NaN, in the clear None."""


class Turns(Struct, frozen=True):
    """What the ears made of a split."""

    speech: Sequence[Turn]
    noise: Sequence[Evidence]


def heard(folder: Path, split: Split, seed: int, sample: int) -> Turns:
    """Run the ears over a split: each clip at one ratio, in a room or dry; each noise at two levels."""
    bench = open_bench(folder, Ears("oracle"), split, seed, sample)
    speech = list(_speech(bench))
    noise = [each for name in ("household", "pocketsphinx") for each in _noise(replace(bench, ears=Ears(name)))]
    return Turns(speech, noise)


def _speech(bench: Bench) -> Iterator[Turn]:
    for number, clip in enumerate(bench.sampled(bench.speech)):
        random = np.random.default_rng(bench.seed * 100_003 + number)
        snr = SNRS_DB[number % len(SNRS_DB)]
        room = str(random.choice(list(ROOMS)))
        noise = bench.noise_for(random, is_steady=number % 2 == 0)
        sound = mixed(clip.samples(), noise, Condition(snr, room, drawn(LEVELS_DBFS, random)), bench.seed + number)
        yield from ((evidence_of(turn), snr) for turn, _ in bench.ears.hear(sound, clip.text).of(sound))


def _noise(bench: Bench) -> Iterator[Evidence]:
    seed = {"fit": 20, "choose": 60, "report": 100}[bench.split]
    made = [make(seed=seed + number) for number in range(MADE) for make in (cough, door)] + [song(20.0, seed)]
    sounds: list[Samples] = [noise.samples() for noise in bench.noises]
    sounds += [(np.clip(each, -1, 1) * 32767).astype(np.int16) for each in made]
    for dbfs in NOISE_DBFS:
        for number, sound in enumerate(sounds):
            for turn, _ in bench.ears.hear(alone(sound, dbfs, number), is_noise=True).turns:
                if turn.transcript.text:
                    yield evidence_of(turn)


def fit(turns: Turns) -> Weights:
    """Return the weights of greatest posterior probability, none below zero: speech and noise count alike in all."""
    values = [_values(evidence) for evidence, _ in turns.speech] + [_values(evidence) for evidence in turns.noise]
    features, rest = np.array([each[0] for each in values]), np.array([each[1] for each in values])
    is_speech = np.array([1.0] * len(turns.speech) + [0.0] * len(turns.noise))
    share = np.where(is_speech > 0, 0.5 / max(1, len(turns.speech)), 0.5 / max(1, len(turns.noise))) * len(values)
    prior = np.array([BEFORE[name] for name in FITTED])
    weights = prior.copy()
    for _ in range(20_000):
        wrong = is_speech - 1 / (1 + np.exp(-(features @ weights + rest)))
        step = features.T @ (share * wrong) - (weights - prior) / PRIOR_NATS**2
        weights = np.maximum(weights + 0.5 / len(values) * step, 0.0)
    return replace(Weights(), **{name: round(float(value), 1) for name, value in zip(FITTED, weights, strict=True)})


def _values(evidence: Evidence) -> tuple[list[float], float]:
    """Return what each fitted weight is multiplied by, and what the others come to."""
    said = {name: value for (name, _), value in terms_of(evidence).items()} | {"start": 1.0}
    rest = sum(value * getattr(Weights(), name) for name, value in said.items() if name not in FITTED)
    return [said.get(name, 0.0) for name in FITTED], rest


def told(turns: Turns, weights: Weights, least: float) -> str:
    """Return a line: what would be refused at each ratio, and how many noises would pass."""
    scores = [(judge(evidence, weights).score, snr) for evidence, snr in turns.speech]
    of = {snr: np.array([score for score, each in scores if each == snr]) for snr in SNRS_DB}
    refused = ", ".join(f"{_named(snr)} {_share(found < least):.1%} of {len(found)}" for snr, found in of.items())
    passed = sum(judge(evidence, weights).score >= least for evidence in turns.noise)
    return f"{least:.2f}: refused {refused}; noises passed {passed} of {len(turns.noise)}"


def _share(found: NDArray[np.bool_]) -> float:
    return float(np.mean(found)) if len(found) else 0.0


def _named(snr: float | None) -> str:
    return "clean" if snr is None else f"{snr:.0f} dB"


def main() -> None:
    """Fit on `fit`, show thresholds on `choose`."""
    parser = argparse.ArgumentParser(description="Fit the evidence gate.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    weights = fit(heard(wanted.folder, "fit", wanted.seed, wanted.sample))
    print("split fit:", ", ".join(f"{each.name} {getattr(weights, each.name)}" for each in fields(weights)))
    turns = heard(wanted.folder, "choose", wanted.seed, wanted.sample)
    for least in (0.1, 0.15, 0.2, LEAST_SCORE, 0.3, 0.4, 0.5):
        print("split choose:", told(turns, weights, least))


if __name__ == "__main__":
    main()
