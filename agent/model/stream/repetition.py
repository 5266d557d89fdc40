"""Finds an answer that only repeats itself, as small models do that have lost themselves."""

from typing import Final

MOST_REPEATED: Final = 3000
"""Characters that may be one short thing again and again: somebody may have asked for some hundred."""

LONGEST_PERIOD: Final = 200
"""Characters of what is repeated; the verse between two refrains is longer."""


def is_endless(text: str) -> bool:
    """Whether the end of a text is but one short thing, over and over."""
    if len(text) < MOST_REPEATED:
        return False
    tail = text[-MOST_REPEATED:]
    last = tail[-LONGEST_PERIOD:]
    period = MOST_REPEATED - LONGEST_PERIOD - tail.rfind(last, 0, -1)
    return period <= LONGEST_PERIOD and tail[period:] == tail[:-period]
