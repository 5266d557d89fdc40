"""Households asked all their questions, of nakari and of its peers in one run."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from benchmarks.recall.corpus import MISLEADING, UNANSWERABLE, Household
from benchmarks.recall.finders import Bm25Finder, CosineFinder, Finder, opened
from benchmarks.recall.scoring import DEPTHS, Asked, abstentions, milliseconds, score, sureness
from memory.vectors.embedding import Embedder


@dataclass(slots=True)
class Measured:
    """What every finder answered."""

    asked: dict[str, list[Asked]] = field(default_factory=dict)
    """By the finder's name."""
    turns: int = 0
    size: int = 0
    """Bytes of nakari's state files."""


async def measure(
    households: Iterable[Household], embedder: Embedder | None = None, *, has_filters: bool = True
) -> Measured:
    """Feed each household into a state file of its own and ask its questions, of nakari first.

    Without `has_filters` nakari is asked by the words alone, as its peers always are.
    """
    measured = Measured()
    for household in households:
        with tempfile.TemporaryDirectory(prefix="nakari-recall-") as folder, ExitStack() as stack:
            async with opened(household, Path(folder), embedder, has_filters=has_filters) as nakari:
                peers: list[Finder] = [stack.enter_context(closing(Bm25Finder(household)))]
                if embedder is not None:
                    peers.append(CosineFinder(household, embedder))
                for finder in (nakari, *peers):
                    measured.asked.setdefault(finder.name, []).extend(await ask(household, finder))
                measured.turns += len(household.turns)
                measured.size += nakari.size
    return measured


async def ask(household: Household, finder: Finder) -> list[Asked]:
    """Return what a finder answers to each question; one is asked before without counting, for what is made once."""
    for question in household.questions[:1]:
        await finder.find(question)
    asked = []
    for question in household.questions:
        began = perf_counter()
        answer = await finder.find(question)
        asked.append(Asked(household.name, question, answer, perf_counter() - began))
    return asked


def table(measured: Measured) -> str:
    """Return the figures as Markdown: evidence recall by category for every finder, then what it costs."""
    heads = [f"{name} @{depth}" for name in measured.asked for depth in DEPTHS]
    lines = [_row(["category", "n", *heads]), _row(["---"] * (len(heads) + 2))]
    names = sorted({each.question.category for asked in measured.asked.values() for each in asked})
    groups: Mapping[str, Sequence[str]] = {
        **{name: (name,) for name in names},
        "all": [name for name in names if name != MISLEADING],
    }
    for group, members in groups.items():
        scores = [
            score(each for each in asked if each.question.category in members) for asked in measured.asked.values()
        ]
        if scores[0].questions:
            shares = [f"{share:.1%}" for each in scores for share in each.at]
            lines.append(_row([group, str(scores[0].questions), *shares]))
    return "\n".join([*lines, "", *(_summary(name, asked) for name, asked in measured.asked.items()), _size(measured)])


def _summary(name: str, asked: Sequence[Asked]) -> str:
    whole = score(each for each in asked if each.question.category != MISLEADING)
    (right, wrong), (middle, late) = abstentions(asked), milliseconds(asked)
    absent = sureness(each for each in asked if each.question.category == UNANSWERABLE)
    there = sureness(each for each in asked if each.question.category not in (UNANSWERABLE, MISLEADING))
    sure = f"\n  answerable: {there}; unanswerable: {absent or 'none asked'}" if there else ""
    return (
        f"{name}: all evidence @10 {whole.all_at_ten:.1%}, with neighbours @10 {whole.shown_at_ten:.1%}; "
        f'"nothing" on {right:.1%} of the unanswerable and {wrong:.1%} of the answerable; '
        f"{middle:.1f} ms a question, p95 {late:.1f}{sure}"
    )


def _size(measured: Measured) -> str:
    return f"{measured.turns} turns, {measured.size / max(1, measured.turns):.0f} bytes a turn in the state file"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
