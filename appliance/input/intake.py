"""Where transcripts become events: past the guards and the reflexes, into the mailbox."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, TypeAlias

from appliance.input.event import event_of
from appliance.input.pending_turns import PendingTurns
from audio.speech import RecognizedTurn
from audio.turns.foreground import RISE_DB
from audio.turns.listener import REFLEX
from memory.json_value import Json

CONTINUES_WITHIN: Final = 2.0
"""Seconds after the commit of a turn within which speech that begins continues what was said in it."""

Guard: TypeAlias = Callable[[RecognizedTurn], str]
"""Looks at the words and their evidence, at once; returns "" to let them pass, else why nobody gets them."""

Reflex: TypeAlias = Callable[[RecognizedTurn], Awaitable[bool]]
"""Acts on words beside the loop, at once; returns whether that was all they asked for."""


@dataclass(slots=True)
class Intake:
    """Once `accept` returns, nothing loses the words any more, or the person has been told what the disk does."""

    turns: PendingTurns
    """On their way into the mailbox."""
    max_tool_calls: int
    guards: tuple[Guard, ...] = ()
    """Asked in order; the first reason counts."""
    reflexes: tuple[Reflex, ...] = ()
    """Asked in order, of what passed the guards, until one has done with the words."""
    clock: Callable[[], float] = monotonic
    """The one the turns' times are on."""
    addressing: Callable[[RecognizedTurn], Mapping[str, Json]] = lambda heard: {}
    """Says what speaks for it that the words are for it; goes into the event's evidence."""
    _before: tuple[str, float, float] | None = field(default=None, init=False)
    """Of the last event: its id, when its turn was committed, and that turn's level in dBFS; nothing of its sound."""

    async def admit(self, heard: RecognizedTurn) -> str:
        """Return why nobody gets the words, `REFLEX` when a reflex has done with them, "" when the mind gets them."""
        for guard in self.guards:
            if reason := guard(heard):
                return reason
        for reflex in self.reflexes:
            if await reflex(heard):
                return REFLEX
        return ""

    async def accept(self, heard: RecognizedTurn) -> None:
        """Make an event of one turn and file it; does not wait for a disk that refuses, so that stop is still heard."""
        event = event_of(heard, self.max_tool_calls, self._continued(heard), self.clock, self.addressing(heard))
        self._before = (event.id, heard.utterance.committed_at, heard.utterance.level_dbfs)
        await self.turns.file(event)

    def _continued(self, heard: RecognizedTurn) -> str:
        """Return the id of the event that these words go on with, "" where they begin anew.

        Somebody who goes on is not much quieter than before: a television that was drowned is.
        """
        if self._before is None:
            return ""
        event_id, committed_at, level_dbfs = self._before
        is_soon = heard.utterance.started_at - committed_at <= CONTINUES_WITHIN
        return event_id if is_soon and level_dbfs - heard.utterance.level_dbfs < RISE_DB else ""
