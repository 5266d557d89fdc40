"""Where a calendar comes from: what every kind of source does."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from agent.errors import CalendarLost
from memory.egress import SendsTo


class Collection(Struct, frozen=True):
    """One calendar of a source: an account has several, a file is one."""

    key: str
    """Its address or path."""
    name: str
    """For people; the server's words."""
    tag: str
    """Changes whenever something in it does; "" where its server tells no such thing."""
    is_writable: bool = False
    kind: str = "ics"
    """How its body is to be read (`agent.calendars.reading.read`)."""


class Source(Protocol):
    """Looks at calendars, and may write into them. Every method raises `CalendarLost`."""

    @property
    def sends_to(self) -> Sequence[SendsTo]:
        """What it hands to other machines."""

    async def look(self, known: Mapping[str, Collection]) -> list[Collection]:
        """Return what there is now; `known` is what was there the last time, by its key."""

    async def body(self, collection: Collection, begin: datetime, end: datetime) -> bytes:
        """Return what stands in a collection that `look` has just returned; what falls into this time (aware)."""

    async def add(self, collection: Collection, uid: str, ics: bytes) -> None:
        """Put an entry into a collection; one of this uid that is there already stays."""
        raise CalendarLost("it can only be read")

    async def aclose(self) -> None:
        """Let connections go, where any are open."""
        return
