"""The data of a rehearsed life: who said what when, what is asked then, and what a right answer holds."""

from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct

Kind: TypeAlias = Literal["now", "before", "since", "who", "forgotten", "absent"]
"""What a probe asks for: what is so now, what was so before, since when, who said it, what was to be forgotten, and
what nobody ever said."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

UNKNOWN: Final[frozenset[Kind]] = frozenset({"forgotten", "absent"})
"""Kinds whose right answer is that it is not known."""

FORGET: Final = "/forget"
"""What somebody types so that the last thing said is erased."""


class Said(Struct, frozen=True):
    """Something that a person says."""

    at: datetime
    """Aware UTC."""
    speaker: str
    words: str


class Probe(Said, frozen=True):
    """A question whose answer is known."""

    kind: Kind
    expected: tuple[str, ...] = ()
    """A right answer holds one of them, in any case of letters; empty where it is not known."""
    forbidden: tuple[str, ...] = ()
    """No right answer holds any of them."""


class Life(Struct, frozen=True):
    """What happens in a household, in order of time."""

    said: tuple[Said, ...]
    """Probes among them."""
    secrets: tuple[str, ...] = ()
    """Words that were said once and were to be forgotten: nothing may hold them afterwards."""

    @property
    def probes(self) -> tuple[Probe, ...]:
        """What is asked of it, in order."""
        return tuple(each for each in self.said if isinstance(each, Probe))

    @property
    def days(self) -> int:
        """How many days it goes over, the first and the last included."""
        return (self.said[-1].at.date() - self.said[0].at.date()).days + 1
