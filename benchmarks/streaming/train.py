"""Trains the tests' streaming model: `python -m benchmarks.streaming.train`; some ten minutes of one core.

Needs torch, onnx and kaldi-native-fbank beside the project's own packages, espeak-ng and flite. What the model gets
wrong on voices that were held out, `python -m benchmarks.streaming.words` prints.
"""

import argparse
import importlib
import pickle
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.streaming.dataset import Dataset, Example, halves_of
from benchmarks.streaming.export import BANDS, Weights, write_model
from benchmarks.streaming.sentences import SENTENCES, tokens
from benchmarks.streaming.voices import Said, trained

MODEL: Final = Path(__file__).parents[2] / "tests" / "data" / "streaming-household"
TAKES: Final = {"en": 24, "de": 24, "zh": 24}
HALF_TAKES: Final = {"en": 1, "de": 1, "zh": 1}
HALVES: Final = 2
"""How often each sentence is cut, each time elsewhere."""

CHANNELS, HIDDEN, LAYERS = 96, 128, 1
BATCH: Final = 16
RATE, WARM = 5e-3, 20
EVEN: Final = 0.75
"""Share of the steps in which tokens are only told where they are if spread evenly over the sound; then CTC helps. CTC
alone says blank for thousands of steps before it learns anything."""

PAIRS: Final = 0.15
"""Share of the examples that are two in a row."""

LAG: Final = 3
"""Steps of 40 ms by which a token is told later than it is spoken: what is heard then helps."""

NORM: Final = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")


def main() -> None:
    """Make the voices, the examples and the network, and write its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=MODEL)
    parser.add_argument("--kept", type=Path, help="a file in which the examples are kept between two runs")
    parser.add_argument("--examples", type=int, default=800)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    if wanted.kept and wanted.kept.exists():
        examples = pickle.loads(wanted.kept.read_bytes())
    else:
        examples = made_examples(wanted.examples, wanted.seed)
        if wanted.kept:
            wanted.kept.write_bytes(pickle.dumps(examples))
    write_model(Trainer(examples, wanted.seed).train(wanted.steps, wanted.out), LAYERS, wanted.out)


def made_examples(count: int, seed: int) -> list[Example]:
    """Return the examples, the same for a seed."""
    drawn, texts = random.Random(seed), SENTENCES
    said = list(trained(texts, TAKES, drawn))
    print(f"{len(said)} sentences said", flush=True)
    halves: dict[str, list[Said]] = {"first": [], "rest": []}
    for _ in range(HALVES):
        cut = halves_of(texts, drawn)
        state = drawn.getstate()
        firsts = list(trained(cut["first"], HALF_TAKES, drawn))
        drawn.setstate(state)  # the same voice says both
        rests = list(trained(cut["rest"], HALF_TAKES, drawn))
        if len(firsts) == len(rests):
            halves["first"] += firsts
            halves["rest"] += rests
    print(f"{len(halves['first'])} sentences in halves", flush=True)
    return Dataset(said, halves, np.random.default_rng(seed)).examples(count)


class Trainer:
    """Adam on an even alignment, then on the CTC loss; bands and stretches of time are covered in part."""

    def __init__(self, examples: Sequence[Example], seed: int) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._torch.manual_seed(seed)
        self._torch.set_num_threads(1)
        self._examples = examples
        self._random = np.random.default_rng(seed)
        self._lengths = np.array([len(token) for token in tokens()])
        frames = np.concatenate([each.features for each in examples]).astype(np.float32)
        self._mean, self._scale = frames.mean(axis=0), 1 / (frames.std(axis=0) + 1e-3)
        nn = self._torch.nn
        self._parts = nn.ModuleDict(
            {
                "conv1": nn.Conv1d(BANDS, CHANNELS, 3, stride=2, bias=False),
                "norm1": nn.BatchNorm1d(CHANNELS),
                "conv2": nn.Conv1d(CHANNELS, HIDDEN, 3, stride=2, bias=False),
                "norm2": nn.BatchNorm1d(HIDDEN),
                "lstm": nn.LSTM(HIDDEN, HIDDEN, LAYERS),
                "out": nn.Linear(HIDDEN, len(tokens())),
            }
        )

    def train(self, steps: int, out: Path) -> Weights:
        """Return the weights after so many batches; what there is so far is written now and then."""
        torch, parts = self._torch, self._parts
        optimizer = torch.optim.AdamW(parts.parameters(), RATE, weight_decay=1e-3)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min(1, (step + 1) / WARM) * (1 + np.cos(np.pi * step / steps)) / 2
        )
        loss_of = torch.nn.CTCLoss(blank=len(tokens()) - 1, zero_infinity=True)
        shown = np.zeros(2)
        for step in range(1, steps + 1):
            batch = [self._drawn() for _ in range(BATCH)]
            inputs, lengths, targets, target_lengths = self._batch(batch)
            scores = self._scores(inputs)
            progress = step / steps
            even = self._even_loss(scores, batch)
            ctc = loss_of(scores, targets, lengths, target_lengths)
            loss = even if progress < EVEN else 0.3 * even + 0.3 * ctc
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parts.parameters(), 4.0)
            optimizer.step()
            schedule.step()
            shown += (np.array([float(even.detach()), float(ctc.detach())]) - shown) * (0.05 if step > 20 else 0.5)
            if step % 25 == 0:
                print(f"step {step}: even {shown[0]:.3f}, CTC {shown[1]:.3f}", flush=True)
            if step % 100 == 0:
                write_model(self._weights(), LAYERS, out)
        return self._weights()

    def _drawn(self) -> Example:
        """Return an example, or two in a row."""
        one = self._examples[int(self._random.integers(len(self._examples)))]
        if self._random.random() < 1 - PAIRS:
            return one
        other = self._examples[int(self._random.integers(len(self._examples)))]
        return Example(np.concatenate([one.features, other.features]), [*one.target, *other.target])

    def _even_loss(self, scores: Any, examples: Sequence[Example]) -> Any:
        """Return how far the scores (T, B, V) are from tokens that are spread over the loud steps by their length."""
        places = np.full((scores.shape[1], scores.shape[0]), len(tokens()) - 1, np.int64)
        for row, each in zip(places, examples, strict=True):
            whole = each.features[: len(each.features) // 4 * 4].astype(np.float32)
            loudness = whole.mean(axis=1).reshape(-1, 4).mean(axis=1)
            low, high = np.quantile(loudness, [0.1, 0.95])
            loud = np.flatnonzero(loudness > low + 0.4 * (high - low)) + LAG
            loud = loud[loud < len(row)]
            if len(each.target) and len(loud):
                ends = np.cumsum(self._lengths[list(each.target)])
                at = np.searchsorted(ends, np.arange(len(loud)) / len(loud) * ends[-1], side="right")
                row[loud] = np.asarray(each.target)[at]
        weights = self._torch.ones(len(tokens()))
        weights[-1] = 0.5
        return self._torch.nn.functional.nll_loss(
            scores.permute(1, 2, 0), self._torch.from_numpy(places), weight=weights
        )

    def _scores(self, inputs: Any) -> Any:
        torch, parts = self._torch, self._parts
        after = torch.relu(parts["norm1"](parts["conv1"](inputs)))
        after = torch.relu(parts["norm2"](parts["conv2"](after)))
        out, _ = parts["lstm"](after.permute(2, 0, 1))
        return parts["out"](out).log_softmax(-1)

    def _batch(self, examples: Sequence[Example]) -> tuple[Any, Any, Any, Any]:
        torch = self._torch
        longest = max(len(each.features) for each in examples)
        made = np.zeros((len(examples), BANDS, longest), np.float32)
        for row, each in zip(made, examples, strict=True):
            frames = (each.features.astype(np.float32) - self._mean) * self._scale
            row[:, : len(frames)] = self._covered(frames).T
        lengths = [((len(each.features) - 3) // 2 + 1 - 3) // 2 + 1 for each in examples]
        targets = [place for each in examples for place in each.target]
        counts = [len(each.target) for each in examples]
        return torch.from_numpy(made), torch.tensor(lengths), torch.tensor(targets), torch.tensor(counts)

    def _covered(self, frames: NDArray[np.float32]) -> NDArray[np.float32]:
        frames = frames + np.float32(self._random.normal(0, 0.3))
        for _ in range(2):
            band, width = self._random.integers(BANDS), self._random.integers(8)
            frames[:, band : band + width] = 0
        return frames

    def _weights(self) -> Weights:
        """Return the weights, the normalisation taken into the convolutions before it."""
        arrays = {name: each.detach().numpy().copy() for name, each in self._parts.state_dict().items()}
        weights = {"mean": self._mean, "scale": self._scale}
        for number in (1, 2):
            norm = {part: arrays.pop(f"norm{number}.{part}") for part in NORM}
            gain = norm["weight"] / np.sqrt(norm["running_var"] + 1e-5)
            weights[f"conv{number}.weight"] = arrays.pop(f"conv{number}.weight") * gain[:, None, None]
            weights[f"conv{number}.bias"] = norm["bias"] - norm["running_mean"] * gain
        return weights | arrays


if __name__ == "__main__":
    main()
