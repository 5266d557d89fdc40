"""What is asked of recall, and what it answers."""

from datetime import datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["said", "note"]
"""An utterance of either side, or a text that the agent wrote down."""

Sureness: TypeAlias = Literal["sure", "likely", "faint", "nothing"]
"""How much of what was asked for the best hit has. With "nothing" there are no hits: nothing near was ever said."""

AGENT: Final = "you"
"""The speaker of what the agent said or noted."""

SAID: Final = "said"
NOTE: Final = "note"


class Question(Struct, frozen=True):
    """What to look for; everything given has to hold, and without words the newest come first."""

    words: str = ""
    speaker: str = ""
    """Only what this one said; `you` is the agent."""
    since: datetime | None = None
    """Aware; not earlier."""
    until: datetime | None = None
    """Aware; earlier than this."""
    session: str = ""
    """Only of this session."""
    limit: int = 10
    skip: int = 0
    """Hits passed over, to read on."""
    neighbours: int = 1
    """Turns told before and after each hit."""


class Line(Struct, frozen=True):
    """A turn beside a hit."""

    id: str
    speaker: str
    words: str


class Hit(Struct, frozen=True):
    """Something that was said or noted."""

    id: str
    """Of its event, as `journal_read` takes it."""
    at: datetime
    """Aware UTC."""
    speaker: str
    """`you` for the agent, "" where nobody knows who of the household it was."""
    session: str
    words: str
    """Whole: of a reply all its sentences."""
    kind: Kind
    before: tuple[Line, ...] = ()
    """Turns of its session before it, oldest first."""
    after: tuple[Line, ...] = ()


class Found(Struct, frozen=True):
    """The hits, the best first, or the newest where no words were asked for."""

    hits: tuple[Hit, ...] = ()
    sureness: Sureness = "nothing"
    more: bool = False
    """Whether there are others behind these."""
