"""What was said since a place in the journal, by both sides: each event of a person with its answer."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field

from agent.context.epochs import MESSAGE
from agent.context.tokens import TokenCounter
from agent.event import SPEAKER
from agent.growth import cursor
from agent.model.messages import Message
from agent.tools.reply import REPLY
from memory.json_value import Json
from memory.state.journal import WORDS, Journal, Stored
from memory.state.speakers import corrections
from memory.state.tiers import TASK

ENTRIES: Final = 200
"""Entries of the journal that are read at a time."""

PAGES: Final = 4
"""Into which all that a look may show is divided, one an answer."""

LONGEST: Final = 0.5
"""Of a page that one utterance may take; the rest of it is in the journal."""

OVERHEAD: Final = 30
"""Tokens of an event's id, its time, and the marks around it."""


class Exchange(Struct):
    """What a person said, and what was answered; or what was said to people unasked."""

    event_id: str
    seq: int
    """Of its last entry."""
    at: datetime
    session_id: str
    speaker: str = ""
    words: str = ""
    """"" where nobody spoke before."""
    replies: list[str] = []

    def told(self, most: int, tokens: TokenCounter, *, names_session: bool) -> dict[str, Json]:
        """Return it as it is listed, each side cut at `most` tokens."""
        answer = " ".join(self.replies)
        listed: dict[str, Json] = {"id": self.event_id, "said_at": f"{self.at:%Y-%m-%dT%H:%M:%SZ}"}
        listed |= {"session": self.session_id} if names_session else {}
        listed |= {"speaker": self.speaker} if self.speaker else {}
        listed |= {"words": tokens.cut(self.words, most)} if self.words else {}
        return listed | ({"you": tokens.cut(answer, most)} if answer else {})


class Listed(Struct, frozen=True):
    """One page."""

    exchanges: list[dict[str, Json]]
    last: int
    """The place of the last; 0 where there is none."""
    has_more: bool
    """Whether this look may be shown more."""
    leaves: bool
    """Whether more is new than one look is shown: the next one begins with it."""


class Said(Struct, frozen=True):
    """Lists what is new to an owner's look, and takes note of what was shown to it."""

    journal: Journal
    most_tokens: Callable[[], int]
    """Of all that one look is shown."""
    tokens: TokenCounter = field(default_factory=TokenCounter)
    """An estimate is good enough."""

    async def page(self, event_id: str, owner_key: str, kind: str, after: int = 0) -> Listed:
        """Return the page behind a place, the oldest first; it is shown then. Whoever asks twice is answered alike.

        A place behind what was shown counts as that: nothing is passed over.
        """
        database, most = self.journal.database, self.most_tokens()
        since, shown = await database.read(lambda c: (cursor.since(c, owner_key, kind), cursor.shown(c, event_id)))
        longest = max(1, round(most / PAGES * LONGEST))
        every, leaves = await self._within(most, longest, owner_key, since)
        rest = [each for each in every if each.seq > min(after, max(shown, since))]
        page = self._first(rest, most // PAGES, longest)
        if page:
            last = page[-1].seq
            await database.write(lambda c: cursor.show(c, event_id, owner_key, last))
        names_session = len({each.session_id for each in every}) > 1
        told = [each.told(longest, self.tokens, names_session=names_session) for each in page]
        return Listed(told, page[-1].seq if page else 0, len(rest) > len(page), leaves)

    async def _within(self, room: int, longest: int, owner_key: str, since: int) -> tuple[list[Exchange], bool]:
        """Return what has room in one look, one at least; and whether that left anything out."""
        exchanges = list[Exchange]()
        async for each in self._exchanges(owner_key, since):
            room -= self._cost(each, longest)
            if room < 0 and exchanges:
                return exchanges, True
            exchanges.append(each)
        return exchanges, False

    def _first(self, rest: Sequence[Exchange], room: int, longest: int) -> list[Exchange]:
        """Return as many as have room, one at least."""
        page = list[Exchange]()
        for each in rest:
            room -= self._cost(each, longest)
            if room < 0 and page:
                break
            page.append(each)
        return page

    def _cost(self, exchange: Exchange, longest: int) -> int:
        texts = (exchange.words, " ".join(exchange.replies))
        return OVERHEAD + sum(min(longest, self.tokens.count(text)) for text in texts)

    async def _exchanges(self, owner_key: str, since: int) -> AsyncIterator[Exchange]:
        """Yield what was said after a place, each event whole: in the order in which they ended."""
        open_one: Exchange | None = None
        others = await corrections(self.journal, owner_key)
        while found := await self.journal.entries(
            topic=(TASK, MESSAGE), owner_key=owner_key, after=since, limit=ENTRIES
        ):
            for entry in found:
                if open_one is not None and entry.event_id != open_one.event_id:
                    yield open_one
                    open_one = None
                words = str(entry.body.get(WORDS) or "") if entry.topic == TASK else ""
                replies = _replies_of(entry, is_to_person=bool(words or (open_one and open_one.words)))
                if not (words or replies):
                    continue
                speaker = others.get(entry.event_id, str(entry.body.get(SPEAKER) or ""))
                open_one = open_one or Exchange(entry.event_id, entry.seq, entry.at, entry.session_id, speaker, words)
                open_one.replies += [each for each in replies if each not in open_one.replies]
                open_one.seq = entry.seq
            since = found[-1].seq
        if open_one is not None:
            yield open_one


def _replies_of(entry: Stored, *, is_to_person: bool) -> list[str]:
    """Return what the agent said in a message: the texts of its replies, or bare text to a person."""
    if entry.topic != MESSAGE or not entry.is_whole:
        return []
    try:
        message = Message.from_json(entry.body.get("message"))
    except ValueError:
        return []
    if message.role != "assistant":
        return []
    said = [text for call in message.tool_calls if call.name == REPLY and (text := _text(call.arguments))]
    return said or ([message.content] if is_to_person and message.content and not message.tool_calls else [])


def _text(arguments: str) -> str:
    try:
        return str(json.loads(arguments)["text"])
    except (ValueError, LookupError, TypeError):
        return ""
