"""Where transcripts become events: past the guards and the reflexes, into the mailbox."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agent.event import Event
from appliance.input.event import OWN, Origin, event_of
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


class TurnGate(Struct, frozen=True):
    """What holds words back that are nobody's, or not for nakari: each guard has its place, so that none is left out.

    Asked in this order, without effect, also of words that are still being said; the first reason counts.
    """

    mute: Guard
    evidence: Guard
    own_words: Guard
    addressing: Guard
    understood: Guard

    def __call__(self, heard: RecognizedTurn) -> str:
        """Return why nobody gets the words, "" to let them pass."""
        guards = (self.mute, self.evidence, self.own_words, self.addressing, self.understood)
        return next((reason for guard in guards if (reason := guard(heard))), "")


class Filing(Protocol):
    """The way into the mailbox (`appliance.input.pending_turns.PendingTurns`)."""

    async def file(self, event: Event) -> None:
        """Put what was said into the mailbox, or keep it for later and tell whoever spoke."""


class Contest(Protocol):
    """Decides between several ears that heard the same (`appliance.rooms.arbitration`)."""

    async def settle(self, heard: RecognizedTurn) -> str:
        """Return why nobody gets the words, "" where the event is theirs."""

    def id_of(self, heard: RecognizedTurn) -> str:
        """Return the id of the event that a turn becomes."""

    def told(self, heard: RecognizedTurn) -> Mapping[str, Json]:
        """Return what the journal keeps of a turn that is not theirs."""


@dataclass(slots=True)
class Intake:
    """Once `accept` returns, nothing loses the words any more, or the person has been told what the disk does."""

    turns: Filing
    max_tool_calls: int
    gate: Guard
    """Asked first: a `TurnGate`."""
    over_reply: Guard
    """Asked of what passed the gate: words that only accompany a reply."""
    contest: Contest
    """Asked of what passed both."""
    reflex: Reflex
    """Offered what is left."""
    addressing: Callable[[RecognizedTurn], Mapping[str, Json]]
    """Says what speaks for it that the words are for it; goes into the event's evidence."""
    clock: Callable[[], float] = monotonic
    """The one the turns' times are on."""
    origin: Origin = OWN
    _before: tuple[str, float, float] | None = field(default=None, init=False)
    """Of the last event: its id, when its turn was committed, and that turn's level in dBFS; nothing of its sound."""

    async def admit(self, heard: RecognizedTurn) -> str:
        """Return why nobody gets the words, `REFLEX` when a reflex has done with them, "" when the mind gets them."""
        if reason := self.gate(heard) or self.over_reply(heard):
            return reason
        if reason := await self.contest.settle(heard):
            return reason
        return REFLEX if await self.reflex(heard) else ""

    async def accept(self, heard: RecognizedTurn) -> None:
        """Make an event of one turn and file it; does not wait for a disk that refuses, so that stop is still heard."""
        continued, marks = self._continued(heard), self.addressing(heard)
        event = event_of(heard, self.max_tool_calls, continued, self.clock, marks, self.origin)
        event = replace(event, id=self.contest.id_of(heard))
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
