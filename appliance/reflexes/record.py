"""What reflexes did, as the journal and the mind learn of it: an envelope each, and one line in the next block."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Final, Literal, TypeAlias

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent.bus import Bus
from agent.event import Event
from agent.mailbox import Lease
from appliance.api.caller import ROOM
from appliance.reflexes.verbs import Verb
from appliance.reflexes.words import Forgot
from memory.errors import MemoryFailure

log = structlog.get_logger()

REFLEX: Final = "reflex"
"""Type of the envelope in which the journal, and with it the mind, learns of a reflex."""

MOST_TOLD: Final = 8
"""Reflexes the mind is told of in one block; the newest."""

How: TypeAlias = Literal["spotted", "recognized", "committed", "typed", "door", "tool", "woken", "timed"]
"""In sound; by its words, ahead of the commit or at it; in writing; by a command; by the agent; by the wake word to a
muted microphone; by a mute's own end."""

ASKED_BACK: Final = "asked back"
"""What it did where it only asked for the order to be said again."""


class Acted(Struct, frozen=True):
    """A verb that was acted on."""

    reflex: Verb
    did: str
    """What it did, as `appliance.reflexes.words` names it."""
    words: str
    how: How
    span: tuple[float, float]
    """Seconds on the source's clock in which it was said; equal ends for what was not said."""
    at: float
    """Seconds on the clock of the one who acts."""
    forgot: Forgot | None = None
    """What was forgotten, for the answer alone."""
    forget: Callable[[], Awaitable[Forgot]] | None = None
    """Forgets what the agent was told to; None for what was heard last."""


class ReflexRecord:
    """Made before both sides: reflexes write into it, the mind's blocks are built from it."""

    def __init__(self, bus: Bus, clock: Callable[[], float] = monotonic) -> None:
        """`clock` is the source's, in seconds."""
        self.clock = clock
        self._bus = bus
        self._untold: deque[Acted] = deque(maxlen=MOST_TOLD)

    async def add(self, acted: Acted) -> None:
        """Publish a reflex as an envelope that is completed already, and keep it for the next block."""
        self._untold.append(replace(acted, words="", forgot=None, forget=None))
        envelope = Event(
            type=REFLEX,
            content=acted.words,
            session_id=ROOM,
            source="system",
            status="completed",
            result=acted.did,
            max_tool_calls=0,
            importance=0.2,
            metadata={"reflex": acted.reflex, "did": acted.did, "how": acted.how},
        )
        try:
            await self._bus.publish(envelope)
        except MemoryFailure as error:
            log.warning("reflex_not_journaled", reason=str(error))

    def situation(self, hand: Lease) -> Mapping[str, str]:
        """Tell the mind, once, what reflexes did since the room's last block (a `SituationProvider`)."""
        if hand.event.session_id != ROOM or not self._untold:
            return {}
        now = self.clock()
        told = "; ".join(f"{each.reflex} ({each.did}, {max(0, round(now - each.at))} s ago)" for each in self._untold)
        self._untold.clear()
        return {"Reflexes": told}
