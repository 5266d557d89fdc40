"""How long to wait before a store that ended is started again."""

from typing import Final

FIRST_DELAY: Final = 0.2
LONGEST_DELAY: Final = 30.0
"""Seconds before a restart; doubled each time."""

STEADY_SECONDS: Final = 60.0
"""A store that lived so long has recovered: its next restart is quick again."""


def next_delay(last: float, lived: float) -> float:
    """Return the seconds to wait before a restart, from the last wait and the seconds the store has lived since."""
    if lived >= STEADY_SECONDS or last == 0:
        return FIRST_DELAY
    return min(last * 2, LONGEST_DELAY)
