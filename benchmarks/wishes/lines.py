"""Lines that people say, with what each wants and the words of its slots: "wake<TAB>get me up at {time:six}"."""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.intents.learned.tokens import Token

FOLDER: Final = Path(__file__).parent / "lines"
"""One file a writer, en1.tsv and on; none of them saw the code, another writer's lines, or what the network read."""

_SLOT: Final = re.compile(r"\{([^:{}]*):([^{}]*)\}")

_KEPT: Final = frozenset({"fact", "old", "which"})
"""Slots whose words stand nowhere else."""

MIXED: Final = 0.5
"""Share of the lines that get other lines' words into slots, and of the slots of such a line that do."""


class Span(Struct, frozen=True):
    """A slot in a line."""

    slot: str
    start: int
    end: int
    """In characters of the line; the end is behind it."""


class Line(Struct, frozen=True):
    """Something that somebody says."""

    name: str
    words: str
    spans: tuple[Span, ...]

    def slots(self) -> list[tuple[str, str]]:
        """Return the slots with their words, in order."""
        return [(span.slot, self.words[span.start : span.end]) for span in self.spans]


def read_line(written: str) -> Line:
    """Return a line as it stands in a file. Raises ValueError where it has no name."""
    name, marked = written.rstrip("\n").split("\t")
    words, spans, at = "", [], 0
    for slot in _SLOT.finditer(marked):
        words += marked[at : slot.start()]
        spans.append(Span(slot[1], len(words), len(words) + len(slot[2])))
        words, at = words + slot[2], slot.end()
    return Line(name, words + marked[at:], tuple(spans))


def read_lines(writers: Iterable[str], folder: Path = FOLDER) -> list[Line]:
    """Return the lines of these writers. Raises OSError, ValueError."""
    files = (folder / f"{writer}.tsv" for writer in writers)
    texts = (file.read_text(encoding="utf-8") for file in files)
    return [read_line(line) for text in texts for line in text.splitlines() if line.strip()]


def marks_of(line: Line, pieces: Sequence[Token]) -> list[str]:
    """Return the BIO mark of each piece: B-time at the first of a slot, I-time at the others, O outside."""
    marks = []
    for piece in pieces:
        span = next((each for each in line.spans if each.start <= piece.start and piece.end <= each.end), None)
        begins = span is not None and not any(span.start <= other.start < piece.start for other in pieces)
        marks.append("O" if span is None else f"{'B' if begins else 'I'}-{span.slot}")
    return marks


def words_by_slot(lines: Iterable[Line]) -> dict[str, list[str]]:
    """Return all that was said in each slot."""
    found: dict[str, list[str]] = {}
    for line in lines:
        for slot, words in line.slots():
            found.setdefault(slot, []).append(words)
    return found


def mixed(line: Line, others: Mapping[str, Sequence[str]], chance: random.Random) -> Line:
    """Return a line, perhaps with what other lines have in its slots."""
    if not line.spans or chance.random() > MIXED:
        return line
    words, spans, at = "", [], 0
    for span in line.spans:
        words += line.words[at : span.start]
        is_kept = span.slot in _KEPT or chance.random() > MIXED
        said = line.words[span.start : span.end] if is_kept else chance.choice(others[span.slot])
        spans.append(Span(span.slot, len(words), len(words) + len(said)))
        words, at = words + said, span.end
    return Line(line.name, words + line.words[at:], tuple(spans))
