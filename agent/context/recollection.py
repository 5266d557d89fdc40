"""Recollections of earlier talk, told in blocks: what an event's words bring back, and what the memory tiers hold."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

import structlog
from msgspec import Struct

from agent.context.block import format_time, message_of
from agent.context.tokens import TokenCounter
from agent.event import Event
from agent.model.messages import Message
from memory.errors import MemoryFailure
from memory.recall import Hit, Recall
from memory.state.importance import IMPORTANT, UNSET, summary_of
from memory.state.tiers import Remembered, Tiers

RECALLED: Final = "Recalled"
RECENT: Final = "Recent"
"""Names of the parts of a block."""

MOST_TOKENS: Final = 150
"""Of all lines of what is recalled together."""

LONGEST: Final = 160
"""Characters told of one hit; `recall` and `journal_read` have the rest."""

LINES: Final = 4

SECONDS: Final = 0.05
"""Somebody waits for the answer: what takes longer to come back is left to the agent to ask for."""

AHEAD_SECONDS: Final = 5.0
"""For which what was found ahead stands: a turn ends sooner."""

SHARE: Final = 0.1
"""Of the tokens that history may take at the opening of an epoch; what is recent is on top of them."""

LONGEST_SHARE: Final = 0.25
"""Of all tokens of what is recent: a member that takes more is told by its summary."""

_OWN: Final = "self"
"""Source of the agent's own work."""

log = structlog.get_logger()


class _Ahead(Struct, frozen=True):
    """What was found before the turn was over."""

    words: str
    owner_key: str
    hits: Sequence[Hit]
    until: float
    """For how long it stands, in seconds on the clock."""


class Recalled:
    """Tells what was said or noted before with the rare words of an event, where the context has it no more.

    By words alone, in any session of the same owner: there is no time for vectors and queries of the graph, whose
    texts come back as the agent's notes. It is journaled with its block, so that a replay tells the same.
    """

    name = RECALLED
    most_tokens = MOST_TOKENS

    def __init__(
        self, recall: Recall, tokens: TokenCounter, seconds: float = SECONDS, clock: Callable[[], float] = monotonic
    ) -> None:
        self._recall = recall
        self._tokens = tokens
        self._seconds = seconds
        self._clock = clock
        self._looking = asyncio.Lock()
        self._ahead: _Ahead | None = None
        self._forgotten = 0
        """How often something was forgotten: what was being looked for meanwhile may be of it."""

    async def look_ahead(self, words: str, owner_key: str) -> None:
        """Find what these words bring back while nobody waits yet: they may be all that is said."""
        async with self._looking:
            forgotten = self._forgotten
            with suppress(MemoryFailure):  # who asks at the end of the turn is told
                hits = await self._recall.brought_back(words, owner_key)
                if forgotten == self._forgotten:
                    self._ahead = _Ahead(words, owner_key, hits, self._clock() + AHEAD_SECONDS)

    def is_found(self, words: str, owner_key: str) -> bool:
        """Whether what these words bring back was found ahead, and still stands."""
        if self._ahead is None or self._clock() > self._ahead.until:
            return False
        return (self._ahead.words, self._ahead.owner_key) == (words, owner_key)

    def forget(self) -> None:
        """Keep nothing of what was found ahead."""
        self._ahead = None
        self._forgotten += 1

    async def lines(self, event: Event, messages: Sequence[Message], besides: Collection[str]) -> str:
        """Return a line a hit, the best first, "" where nothing is near, or it takes too long to find."""
        if not event.is_from_person:
            return ""
        try:
            async with asyncio.timeout(self._seconds):
                hits = await self._brought_back(event)
        except (TimeoutError, MemoryFailure) as error:
            log.debug("not_recalled", reason=str(error) or "it takes too long")
            return ""
        held = _text_of(messages)
        fresh = [each for each in hits if each.id not in besides and not _is_in(held, each.id, each.words[:60])]
        # In a thread, which takes a while where they are long; mostly there are none.
        return await asyncio.to_thread(self._told, fresh[:LINES]) if fresh else ""

    async def _brought_back(self, event: Event) -> Sequence[Hit]:
        async with self._looking:  # what is found just now may be this
            ahead = self._ahead if self.is_found(event.content, event.owner_key) else None
            self._ahead = None
        return ahead.hits if ahead else await self._recall.brought_back(event.content, event.owner_key)

    def _told(self, hits: Sequence[Hit]) -> str:
        lines = [_line_of(each) for each in hits]
        return "\n".join(lines[place] for place in _fitting(lines, self._tokens, self.most_tokens))


class Recent(Struct, frozen=True):
    """Chooses from L1, L2 and L3 what a new epoch lacks: what mattered in the last week, then the rest of an hour.

    Of this owner and this session only: no words of one session come unasked into the context of another. Vectors
    never. What the tiers have not taken over yet is left out, for somebody waits.
    """

    tiers: Tiers
    tokens: TokenCounter
    most_tokens: int
    """Of all lines together."""
    name = RECENT

    async def lines(self, event: Event, messages: Sequence[Message], besides: Collection[str]) -> str:
        """Return a line a member, the oldest first, "" when there is none."""
        held = _text_of(messages)
        members = [
            each
            for each in (await self.tiers.views(event.owner_key)).everything
            if each.session_id == event.session_id
            and each.event_id not in besides
            and not _is_in(held, each.event_id, each.words[:100])
            and (each.importance > IMPORTANT or (each.importance >= UNSET and each.who != _OWN))
        ]
        members.sort(key=lambda each: (each.importance > IMPORTANT, each.seq), reverse=True)
        return await asyncio.to_thread(self._told, members) if members else ""  # it takes a while where they are long

    def _told(self, members: Sequence[Remembered]) -> str:
        lines = [self._line(each) for each in members]
        chosen = _fitting(lines, self.tokens, self.most_tokens)
        return "\n".join(lines[place] for place in sorted(chosen, key=lambda place: members[place].seq))

    def _line(self, member: Remembered) -> str:
        """Return a member as a line, "" where its action becomes no message."""
        words = " ".join(member.words.split())
        if self.tokens.count(words) > LONGEST_SHARE * self.most_tokens:
            words = summary_of(words)
        message = message_of(member.topic, words)
        if message is None:
            return ""
        who = "you" if message.role == "assistant" else member.who
        return f"{format_time(member.at)}, {who}: {message.content}"


def _line_of(hit: Hit) -> str:
    who = f", {hit.speaker}" if hit.speaker else ""
    return f"{format_time(hit.at)}{who} (id {hit.id}): {summary_of(hit.words, LONGEST)}"


def _text_of(messages: Sequence[Message]) -> str:
    """Return all that a context says behind its prompt."""
    return "\n".join(message.content for message in messages[1:])


def _is_in(held: str, event_id: str, beginning: str) -> bool:
    """Whether a context has an event already, or a digest that repeats the beginning of its words."""
    return f'id="{event_id}"' in held or beginning in held


def _fitting(lines: Sequence[str], tokens: TokenCounter, most: int) -> list[int]:
    """Return the places of the lines that have room together, those before others first; empty ones are left out."""
    places, room = list[int](), most
    for place, line in enumerate(lines):
        cost = tokens.count(f"{line}\n")
        if line and cost <= room:
            places.append(place)
            room -= cost
    return places
