"""How much memory the store of the box may have, by the size of the machine."""

import os
from typing import Final

LEAST: Final = 256
"""Megabytes of heap: a vector index over 50,000 vectors of 384 numbers was built in so many, as quickly as in 768."""

MOST: Final = 512
"""Megabytes of heap: the store frees late, so that in time it uses all that it is allowed."""

SHARE: Final = 16
"""The store has a sixteenth of the machine; speech needs the rest."""


def usual_heap(machine: int) -> int:
    """Return the megabytes of heap for a machine of so many."""
    return min(max(machine // SHARE, LEAST), MOST)


def machine_megabytes() -> int:
    """Return the machine's memory in units of 2^20 bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
