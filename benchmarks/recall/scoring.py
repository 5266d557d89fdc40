"""How much of the evidence was found.

Evidence recall at k is the share of a question's evidence turns among the first k hits, averaged over the questions;
"all" is the share of questions with every one of them there; "shown" counts what is shown as a hit's neighbour too.
Of misleading questions it is the share of turns that lead astray: the less the better, and no part of any sum.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median, quantiles
from typing import Final

from msgspec import Struct

from benchmarks.recall.corpus import MISLEADING, UNANSWERABLE, Question
from benchmarks.recall.finders import Answer

DEPTHS: Final = (5, 10, 20)

NOTHING: Final = "nothing"


class Asked(Struct, frozen=True):
    """A question with what a finder answered."""

    household: str
    question: Question
    answer: Answer
    seconds: float

    def found(self, depth: int) -> float:
        """Return the share of the evidence among the first hits, 0 to 1."""
        return _share(self.question.evidence, self.answer.hits[:depth])

    def shown(self, depth: int) -> float:
        """Return the share of the evidence among the first hits and their neighbours, 0 to 1."""
        return _share(self.question.evidence, frozenset().union(*self.answer.shown[:depth]))

    @property
    def says_nothing(self) -> bool:
        """Whether nothing near was the answer."""
        return not self.answer.hits or self.answer.sureness == NOTHING


class Score(Struct, frozen=True):
    """Figures of one finder over some answerable questions, as shares."""

    questions: int
    at: tuple[float, ...]
    """Evidence recall at each of `DEPTHS`."""
    all_at_ten: float
    shown_at_ten: float


def score(asked: Iterable[Asked]) -> Score:
    """Return the figures of the questions that have evidence among these; of none they are 0."""
    answerable = [each for each in asked if each.question.evidence]
    if not answerable:
        return Score(0, (0.0,) * len(DEPTHS), 0.0, 0.0)
    at = tuple(fmean(each.found(depth) for each in answerable) for depth in DEPTHS)
    whole = fmean(each.found(10) == 1 for each in answerable)
    return Score(len(answerable), at, whole, fmean(each.shown(10) for each in answerable))


def abstentions(asked: Sequence[Asked]) -> tuple[float, float]:
    """Return the share of "nothing" among the unanswerable questions, and among those that have an answer."""
    unanswerable = [each.says_nothing for each in asked if each.question.category == UNANSWERABLE]
    answerable = [each.says_nothing for each in asked if each.question.category not in (UNANSWERABLE, MISLEADING)]
    return fmean(unanswerable or [0]), fmean(answerable or [0])


def sureness(asked: Iterable[Asked]) -> str:
    """Return how sure the answers were, as counts by what the finder called it; "" of one that does not say."""
    counted = Counter(each.answer.sureness for each in asked if each.answer.sureness)
    return ", ".join(f"{count} {name}" for name, count in counted.most_common())


def milliseconds(asked: Sequence[Asked]) -> tuple[float, float]:
    """Return what a question took, median and 95th of a hundred."""
    times = [each.seconds * 1000 for each in asked]
    return median(times), quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]


def _share(evidence: Sequence[str], found: Iterable[str]) -> float:
    there = set(found)
    return fmean(turn in there for turn in evidence)
