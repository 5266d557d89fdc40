"""What the process costs beside its work: garbage is looked for seldom while it loads, and memory given back after."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

LOADING: Final = 50_000
"""New objects before Python looks for garbage (700 as it comes): modules and classes stay, and looking through them
again and again is a tenth of the processor time of a start."""

AS_IT_COMES: Final = gc.get_threshold()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Have garbage looked for seldom in this block, or until `give_back`."""
    gc.set_threshold(LOADING, *AS_IT_COMES[1:])
    try:
        yield
    finally:
        gc.set_threshold(*AS_IT_COMES)


def give_back() -> None:
    """Take what is loaded for permanent, and give back to the system what only loading needed; for a service, once.

    What is garbage now is freed first; what is not is never looked through again. Takes some 0.1 s, in any thread.
    """
    import ctypes

    gc.collect()
    gc.freeze()
    gc.set_threshold(*AS_IT_COMES)
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's; another C library has none
    if trim is not None:
        trim(0)
