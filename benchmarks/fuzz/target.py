"""One parser to be fed: what comes, what takes it, and how often the tests try."""

from collections.abc import Callable
from typing import Any

from hypothesis.strategies import SearchStrategy
from msgspec import Struct


class Target(Struct, frozen=True):
    """A parser, and what it is fed."""

    name: str
    inputs: SearchStrategy[Any]
    take: Callable[[Any], None]
    """Feeds one input; whatever it raises is a find: it swallows the named errors of the part itself."""
    examples: int = 60
    """In each run of the tests; fewer where each costs a process."""
    seconds: float = 2.0
    """That one input may take on a quiet machine; a process of its own has its own bound."""
