"""Trains the keyword network: `python -m benchmarks.keywords.train FOLDER`, with FOLDER as for `scripts/bench ears`.

Needs jax beside the project's own packages (0.10.2, on the processor), and the programs that `voices` names. It takes
an hour of one core. The file is the same for a seed as far as the processor's arithmetic is.
"""

import argparse
import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audio.reflexes.keyword_search import MODEL
from benchmarks.ears.material.corpus import read_corpus
from benchmarks.keywords.dataset import CLASSES, RANGE, Dataset
from benchmarks.keywords.vocabulary import REFLEX_WORDS
from benchmarks.keywords.voices import all_spoken

LAYERS: Final = (
    *((3, 1, 1, 40, 40), (3, 1, 1, 40, 40), (3, 2, 1, 40, 56), (3, 1, 1, 56, 56), (3, 2, 1, 56, 72)),
    *((3, 1, 1, 72, 72), (3, 1, 2, 72, 72)),
)
"""Convolutions over time: frames, step, frames apart, bands in, bands out."""

HIDDEN: Final = 96
BATCH: Final = 128
RATE, WARM_STEPS = 2e-3, 200
SMOOTHING: Final = 0.05
KEPT: Final = 0.8
"""Share that dropout leaves."""

Weights = dict[str, NDArray[np.float32]]


def main() -> None:
    """Make the voices, the windows and the network, and write its file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=MODEL)
    parser.add_argument("--windows", type=int, default=26_000)
    parser.add_argument("--epochs", type=float, default=13)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    random = np.random.default_rng(wanted.seed)
    windows, places = Dataset(all_spoken(wanted.seed), read_corpus(wanted.folder), random).windows(wanted.windows)
    halved = ((windows[:, 0::2].astype(np.uint16) + windows[:, 1::2]) // 2).astype(np.uint8)
    steps = int(wanted.epochs * len(halved) / BATCH)
    weights = Trainer(importlib.import_module("jax"), random).train(halved, places, steps)
    np.savez_compressed(wanted.out, allow_pickle=False, **packed(weights))


class Trainer:
    """Adam on cross entropy, batch normalisation, and windows that are shifted, warped and covered in part."""

    def __init__(self, jax: Any, random: np.random.Generator) -> None:
        self._jax, self._jnp, self._random = jax, jax.numpy, random
        self._weights, self._averages = self._first()

    def train(self, windows: NDArray[np.uint8], places: NDArray[np.int32], steps: int) -> Weights:
        """Return the weights and averages after so many batches; reflex words that are not core come twice as often."""
        jax, step = self._jax, self._jax.jit(self._step)
        rare = [CLASSES.index(word) for word in REFLEX_WORDS[3:]]
        shares = np.cumsum(1.0 + np.isin(places, rare))
        weights, averages = self._weights, self._averages
        first = second = jax.tree.map(self._jnp.zeros_like, weights)
        key, shown = jax.random.PRNGKey(int(self._random.integers(2**31))), 0.0
        for number in range(1, steps + 1):
            drawn = np.searchsorted(shares, self._random.random(BATCH) * shares[-1])
            rate = RATE * min(1, number / WARM_STEPS) * (1 + np.cos(np.pi * number / steps)) / 2
            key, now = jax.random.split(key)
            batch = varied(windows[drawn], self._random)
            state = (weights, averages, first, second)
            weights, averages, first, second, loss = step(state, batch, places[drawn], now, (rate, number))
            shown = 0.98 * shown + 0.02 * float(loss)
            if number % 200 == 0:
                print(f"{number} of {steps} batches, loss {shown:.2f}", flush=True)
        return {name: np.asarray(value) for name, value in {**weights, **averages}.items()}

    def _first(self) -> tuple[Weights, Weights]:
        weights: Weights = {}
        averages: Weights = {}
        for number, (width, _, _, bands_in, bands_out) in enumerate(LAYERS):
            scale = np.sqrt(2 / (width * bands_in))
            weights[f"w{number}"] = self._drawn((width * bands_in, bands_out), scale)
            for kept, name, value in ((weights, "g", 1), (weights, "b", 0), (averages, "m", 0), (averages, "v", 1)):
                kept[f"{name}{number}"] = np.full(bands_out, value, np.float32)
        for name, rows, columns in (("hidden", 2 * LAYERS[-1][-1], HIDDEN), ("last", HIDDEN, len(CLASSES))):
            weights[name] = self._drawn((rows, columns), np.sqrt((2 if name == "hidden" else 0.25) / rows))
            weights[f"{name}_b"] = np.zeros(columns, np.float32)
        return weights, averages

    def _drawn(self, shape: tuple[int, int], scale: float) -> NDArray[np.float32]:
        return self._random.normal(0, scale, shape).astype(np.float32)

    def _scores(self, weights: Any, averages: Any, sound: Any, key: Any) -> tuple[Any, Any]:
        """Return the scores of a batch (n, 72, 40) and the averages with it."""
        jax, jnp, moved = self._jax, self._jnp, {}
        for number, (width, step, apart, _, _) in enumerate(LAYERS):
            made = self._columns(sound, width, step, apart) @ weights[f"w{number}"]
            mean, variance = made.mean((0, 1)), made.var((0, 1))
            moved[f"m{number}"] = 0.98 * averages[f"m{number}"] + 0.02 * mean
            moved[f"v{number}"] = 0.98 * averages[f"v{number}"] + 0.02 * variance
            made = (made - mean) * jax.lax.rsqrt(variance + 1e-3) * weights[f"g{number}"] + weights[f"b{number}"]
            sound = sound + jax.nn.relu(made) if made.shape == sound.shape else jax.nn.relu(made)
        one, other = jax.random.split(key)
        pooled = jnp.concatenate([sound.mean(1), sound.max(1)], -1)
        pooled = pooled * jax.random.bernoulli(one, KEPT, pooled.shape) / KEPT
        hidden = jax.nn.relu(pooled @ weights["hidden"] + weights["hidden_b"])
        hidden = hidden * jax.random.bernoulli(other, KEPT, hidden.shape) / KEPT
        return hidden @ weights["last"] + weights["last_b"], moved

    def _columns(self, sound: Any, width: int, step: int, apart: int) -> Any:
        around, places = apart * (width - 1) // 2, -(-sound.shape[1] // step)
        padded = self._jnp.pad(sound, ((0, 0), (around, around + step), (0, 0)))
        taken = [padded[:, at * apart : at * apart + (places - 1) * step + 1 : step] for at in range(width)]
        return self._jnp.concatenate(taken, -1)

    def _step(self, state: Any, windows: Any, places: Any, key: Any, when: Any) -> Any:
        (weights, averages, first, second), (rate, number), jax, jnp = state, when, self._jax, self._jnp
        wanted = jax.nn.one_hot(places, len(CLASSES)) * (1 - SMOOTHING) + SMOOTHING / len(CLASSES)

        def loss(weights: Any) -> Any:
            scores, moved = self._scores(weights, averages, windows.astype(jnp.float32) * RANGE, key)
            decay = 1e-5 * sum((value**2).sum() for value in weights.values() if value.ndim == 2)
            return -(wanted * jax.nn.log_softmax(scores)).sum(-1).mean() + decay, moved

        (found, averages), slopes = jax.value_and_grad(loss, has_aux=True)(weights)
        first = jax.tree.map(lambda old, slope: 0.9 * old + 0.1 * slope, first, slopes)
        second = jax.tree.map(lambda old, slope: 0.999 * old + 0.001 * slope * slope, second, slopes)
        weights = jax.tree.map(
            lambda value, one, two: (
                value - rate * (one / (1 - 0.9**number)) / (jnp.sqrt(two / (1 - 0.999**number)) + 1e-7)
            ),
            *(weights, first, second),
        )
        return weights, averages, first, second, found


def varied(windows: NDArray[np.uint8], random: np.random.Generator) -> NDArray[np.uint8]:
    """Return the windows moved by up to 80 ms, at times warped in frequency, covered in part, or in a noise floor."""
    made = windows.copy()
    frames, bands = made.shape[1:]
    for sound in made:
        moved = int(random.integers(-4, 5))
        sound[:] = np.pad(sound[max(0, -moved) :][: frames - abs(moved)], ((max(0, moved), max(0, -moved)), (0, 0)))
        if random.random() < 0.5:
            sound[:] = sound[
                :, np.clip(np.round(np.arange(bands) * random.uniform(0.9, 1.1)), 0, bands - 1).astype(int)
            ]
        if random.random() < 0.4:
            sound[:, (band := random.integers(bands - 6)) : band + random.integers(1, 6)] = 0
        if random.random() < 0.3:
            sound[(frame := random.integers(frames - 6)) : frame + random.integers(1, 6)] = 0
        if random.random() < 0.3:
            np.maximum(sound, np.uint8(random.integers(110)), out=sound)
    return made


def packed(weights: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """Return the network as `KeywordModel` reads it: normalisation folded in, weights as int8 with a scale a column."""
    layers = []
    for number in range(len(LAYERS)):
        gain = weights[f"g{number}"] / np.sqrt(weights[f"v{number}"] + 1e-3)
        layers.append((weights[f"w{number}"] * gain, weights[f"b{number}"] - weights[f"m{number}"] * gain))
    layers += [(weights["hidden"], weights["hidden_b"]), (weights["last"], weights["last_b"])]
    stored: dict[str, NDArray[Any]] = {
        "words": np.array(CLASSES),
        "shapes": np.array([layer[:3] for layer in LAYERS], np.int8),
    }
    for number, (values, offsets) in enumerate(layers):
        scales = np.abs(values).max(0) / 127 + 1e-12
        stored[f"weights_{number}"] = np.round(values / scales).astype(np.int8)
        stored[f"scales_{number}"] = scales.astype(np.float32)
        stored[f"offsets_{number}"] = offsets.astype(np.float32)
    return stored


if __name__ == "__main__":
    main()
