"""What the process costs beside its work: garbage is looked for seldom while it loads, and memory given back after."""

import gc
from collections.abc import Callable
from typing import Final

LOADING: Final = 500_000
"""New objects before Python looks for garbage (700 as it comes): a start makes 260,000, modules and classes that stay,
and to look through them again and again is a tenth of its processor time; each look takes 0.1 s, and all waits."""

AS_IT_COMES: Final = gc.get_threshold()

ARENAS: Final = 2
"""Heaps of the C library: the main thread's, and one that all others share; of its own it makes eight for each core."""

_M_ARENA_MAX: Final = -8
"""The name of that limit in glibc's malloc.h."""


def share_heaps() -> None:
    """Have the threads share a heap, so that what one frees another uses; for a service, before it starts any."""
    limit = _of_c("mallopt")
    if limit is not None:
        limit(_M_ARENA_MAX, ARENAS)


def collect_seldom() -> None:
    """Have garbage looked for seldom from now on, or until `give_back`; for a process that is all nakari's."""
    gc.set_threshold(LOADING, *AS_IT_COMES[1:])


def leave_to_the_end() -> None:
    """Have Python look for no garbage once more before the process ends, which frees all of it."""
    gc.freeze()


def give_back() -> None:
    """Take what is loaded for permanent, and give back to the system what only loading needed; for a service, once.

    What is garbage now is freed first; what is not is never looked through again. Takes some 0.1 s, in any thread.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*AS_IT_COMES)
    trim = _of_c("malloc_trim")
    if trim is not None:
        trim(0)


def _of_c(name: str) -> Callable[..., int] | None:
    """Return a function of glibc's; None where another C library has none of that name."""
    import ctypes

    return getattr(ctypes.CDLL(None), name, None)
