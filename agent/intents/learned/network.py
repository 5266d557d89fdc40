"""What wants what in words of any kind: a network names the wish of a sentence and marks what it is of.

A joint classifier of intents and tagger of slots (Liu and Lane, 2016): three residual convolutions over the pieces of a
sentence that look at ever wider neighbours (Strubell et al., 2017), the name from their attention, maximum and mean, a
BIO tag from each. benchmarks/wishes trains it on lines that some writers wrote, and measures it on those of others.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from agent.intents.intent import Language
from agent.intents.learned.tokens import KINDS, Token, tokens

LONGEST: Final = 48
"""Pieces of a sentence that are read; of a longer one nothing is."""

BUCKETS: Final = 2000
"""Rows that pairs of neighbours share by their checksum."""

DILATIONS: Final = (1, 2, 4)
"""Pieces between those that each convolution looks at."""

TABLES: Final = ("word", "pair", "kind", "meaning")
"""What pieces are looked up in; these stay packed."""

Floats = NDArray[np.float32]

Span: TypeAlias = tuple[str, int, int]
"""A slot, and from where to where in the words it is."""


class Reading(Struct, frozen=True):
    """What a sentence seems to want."""

    name: str
    """A wish of plain.yaml, or one of those that want nothing: tell, recall, chat, sum, other."""
    certainty: float
    """0 to 1: the probability of the name times that of the least sure mark."""
    slots: tuple[tuple[str, str], ...]
    """Names of slots and the words that stand in them, in the order of the sentence."""


class Network:
    """The weights of one language."""

    def __init__(self, file: Path) -> None:
        """Read the file that the trainer writes. Raises OSError, or ValueError where it is not one."""
        with np.load(file, allow_pickle=False) as data:
            self.names: tuple[str, ...] = tuple(data["names"].tolist())
            self._marks: list[str] = data["marks"].tolist()
            self._first, self._follows = data["first"], data["follows"]
            self._rows = {word: row for row, word in enumerate(data["words"].tolist(), 2)}
            self._known = {word: row for row, word in enumerate(data["known"].tolist(), 1)}
            self._tables = {name: (data[name], data[f"{name}_scale"]) for name in TABLES}
            self._of = {name: _unpacked(data[name], data[f"{name}_scale"]) for name in data["weights"].tolist()}

    def read(self, words: str) -> Reading | None:
        """Return what a sentence wants; None of one that is empty, or too long."""
        pieces = tokens(words)
        if not 0 < len(pieces) <= LONGEST:
            return None
        names, marks = self._judged(pieces)
        at = int(names.argmax())
        best = _likeliest(marks, self._first, self._follows)
        least = float(marks[range(len(best)), best].min())
        slots = tuple(_joined(words, _spans(pieces, [self._marks[each] for each in best])))
        return Reading(self.names[at], float(names[at]) * least, slots)

    def _judged(self, pieces: Sequence[Token]) -> tuple[Floats, Floats]:
        """Return the probabilities of the names, shape (names,), and of the marks, shape (pieces, marks)."""
        of = self._of
        inputs = np.concatenate(
            [
                self._looked_up("word", [self._rows.get(each.text, 1) for each in pieces]),
                self._looked_up("pair", list(buckets(pieces))),
                self._looked_up("kind", [KINDS.index(each.kind) for each in pieces]),
                self._looked_up("meaning", [row_of(each.text, self._known) for each in pieces]),
            ],
            axis=1,
        )
        hidden = _positive(inputs @ of["in"] + of["in_bias"])
        for number, dilation in enumerate(DILATIONS):
            wide = _convolved(hidden, of[f"convolution_{number}"], dilation)
            hidden = hidden + _positive(wide + of[f"bias_{number}"])
        attention = _softmax((hidden @ of["attention"])[:, 0])[:, None]
        pooled = np.concatenate([(hidden * attention).sum(axis=0), hidden.max(axis=0), hidden.mean(axis=0)])
        names = _softmax(pooled @ of["name"] + of["name_bias"])
        return names, _softmax(hidden @ of["mark"] + of["mark_bias"] + names @ of["mark_of_name"])

    def _looked_up(self, table: str, rows: list[int]) -> Floats:
        values, scale = self._tables[table]
        return _unpacked(values[rows], scale)


@cache
def network(language: Language) -> Network:
    """Return the network of a language, read once in a process."""
    return Network(Path(__file__).with_name(f"{language}.npz"))


def _unpacked(values: NDArray[np.int8], scale: NDArray[np.float32]) -> Floats:
    """Return an array that is kept in whole numbers of -127 to 127, each so much."""
    unpacked: Floats = values.astype(np.float32) * scale
    return unpacked


def row_of(word: str, known: Mapping[str, int]) -> int:
    """Return the row of what a word means elsewhere; that of its singular, else 0, where nobody knows."""
    return next((known[each] for each in (word, word.removesuffix("'s"), word.removesuffix("s")) if each in known), 0)


def buckets(pieces: Sequence[Token]) -> Iterator[int]:
    """Yield the row of each piece with the one before it."""
    before = "^"
    for each in pieces:
        yield zlib.crc32(f"{before} {each.text}".encode()) % BUCKETS
        before = each.text


def _convolved(values: Floats, weights: Floats, dilation: int) -> Floats:
    """Return a convolution over the rows: values (pieces, hidden), weights (3, hidden, hidden)."""
    padded = np.pad(values, ((dilation, dilation), (0, 0)))
    parts = (padded[number * dilation :][: len(values)] @ weights[number] for number in range(3))
    summed: Floats = sum(parts, start=np.zeros_like(values))
    return summed


def _likeliest(marks: Floats, first: Floats, follows: Floats) -> list[int]:
    """Return the likeliest row of marks (Viterbi, 1967), of the probability of each and of one after another.

    `marks` has the probabilities (pieces, marks); `first` and `follows` have logarithms, of how usual each is first and
    behind each other.
    """
    told = np.log(marks + 1e-9)
    scores, ways = told[0] + first, []
    for each in told[1:]:
        paths = scores[:, None] + follows
        ways.append(paths.argmax(axis=0))
        scores = paths.max(axis=0) + each
    best = [int(scores.argmax())]
    for way in reversed(ways):
        best.append(int(way[best[-1]]))
    return best[::-1]


def _positive(values: Floats) -> Floats:
    kept: Floats = np.maximum(values, 0)
    return kept


def _softmax(values: Floats) -> Floats:
    raised = np.exp(values - values.max(axis=-1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def _joined(words: str, spans: Iterable[Span]) -> Iterator[tuple[str, str]]:
    """Yield slots with their words; things of one list as one, with what stands between them, known or not."""
    for slot, each in groupby(spans, key=lambda span: span[0]):
        found = list(each)
        if slot == "item":
            found = [(slot, found[0][1], found[-1][2])]
        yield from ((slot, words[start:end]) for _, start, end in found)


def _spans(pieces: Sequence[Token], marks: Sequence[str]) -> Iterator[Span]:
    """Yield the slots that the marks make: B- begins one, I- goes on."""
    slot, start, end = "", 0, 0
    for piece, mark in zip(pieces, marks, strict=True):
        named = mark[2:]
        if named and named == slot and mark[0] == "I":
            end = piece.end
            continue
        if slot:
            yield slot, start, end
        slot, start, end = named, piece.start, piece.end
    if slot:
        yield slot, start, end
