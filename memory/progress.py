"""Progress of long work: reported in hundredths; a callback may end the work by raising."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how much of how much is done; what it raises ends the work."""


def silently(done: int, of: int) -> None:
    """Tell nobody how far a long work has come."""


def in_hundredths(told: Progress) -> Progress:
    """Return what passes on only the first word of each hundredth."""
    last = (-1, 0)

    def tell(done: int, of: int) -> None:
        nonlocal last
        now = (done * 100 // of if of else 100, of)
        if now != last:
            last = now
            told(done, of)

    return tell
