"""Rests between tries that double: one module under two names, as `audio` and `memory` import nothing of each other."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf


@dataclass(slots=True)
class Backoff:
    """A circuit breaker: open for a rest after failures in a row, then one try decides."""

    first: float
    """Seconds of the first rest; each further one is twice as long, ..."""
    longest: float
    """... so long at most."""
    forgiven: int = 0
    """Failures in a row that need no rest."""
    steady: float = inf
    """Seconds without a failure after a rest, after which the next failure is the first again."""
    jitter: float = 0.0
    """Share by which chance may shorten a rest, so that many do not come back in the same moment."""
    clock: Callable[[], float] = time.monotonic
    failures: int = field(default=0, init=False)
    """In a row."""
    _until: float = field(init=False)

    def __post_init__(self) -> None:
        self._until = self.clock()

    @property
    def rest(self) -> float:
        """Seconds left of the rest; 0 when it may be tried."""
        return max(0.0, self._until - self.clock())

    def failed(self, at_least: float = 0.0) -> float:
        """Count a failure; return the seconds to rest: `at_least` so many, also after one that is forgiven."""
        now = self.clock()
        self.failures = 1 if now - self._until >= self.steady else self.failures + 1
        doublings = self.failures - self.forgiven - 1
        rest = min(self.first * 2.0 ** min(doublings, 64), self.longest) if doublings >= 0 else 0.0
        rest = max(at_least, rest * (1.0 - self.jitter * random.random()))
        self._until = now + rest
        return rest

    def worked(self) -> None:
        """Forget the failures, and any rest."""
        self.failures, self._until = 0, self.clock()
