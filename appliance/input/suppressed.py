"""Turns that nobody gets: published with their reason and evidence, so that a person can see why it said nothing."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

import structlog

from agent.bus import Bus
from agent.event import Event
from appliance.input.event import Origin, evidence_of
from audio.capture.mute import MUTED
from audio.interfaces import TurnObserver
from audio.speech import RecognizedTurn
from audio.turns.listener import REFLEX, TOO_SHORT
from memory.errors import StateUnusable
from memory.json_value import Json

log = structlog.get_logger()

EARS_SUPPRESSED: Final = "ears.suppressed"
"""Topic of the bus and the journal."""

WAITING: Final = 100
"""Turns that may wait for the disk; past that the oldest is dropped: they are counted all the same."""


class SuppressedTurns(TurnObserver):
    """A `TurnObserver` that publishes, from `run`, the turns with a reason; what was no speech at all is only counted.

    Their words are not `words` in the journal: it does not remember what was not meant for it.
    """

    def __init__(
        self,
        bus: Bus,
        now: Callable[[], datetime],
        origin: Origin,
        told: Callable[[RecognizedTurn], Mapping[str, Json]],
    ) -> None:
        """Take where they are heard; `told` says what else is to be known of a turn."""
        self._bus = bus
        self._told = told
        self._now = now
        self._origin = origin
        self._waiting: deque[Event] = deque(maxlen=WAITING)
        self._has_some = asyncio.Event()

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Keep the turn for `run` where there is a reason."""
        if suppressed in {"", REFLEX, TOO_SHORT, MUTED}:
            return
        body: dict[str, Json] = {**self._origin.marks, "reason": suppressed}
        if heard is not None:
            body |= {"text_spoken": heard.transcript.text, "evidence": evidence_of(heard), **self._told(heard)}
        origin = self._origin
        self._waiting.append(
            Event(
                type=EARS_SUPPRESSED,
                owner_key=origin.owner_key,
                session_id=origin.session_id,
                source=origin.source,
                metadata=body,
                created_at=self._now(),
            )
        )
        self._has_some.set()

    def forget(self) -> None:
        """Keep nothing of the turns that nobody has published yet."""
        self._waiting.clear()

    async def run(self) -> None:
        """Publish what comes, for ever; what a full disk refuses is left out."""
        while True:
            await self._has_some.wait()
            self._has_some.clear()
            turns = tuple(self._waiting)
            self._waiting.clear()
            try:
                await self._bus.publish(*turns)
            except StateUnusable as error:
                log.warning("suppressed_not_kept", turns=len(turns), reason=str(error))
