"""Replies as text: passed on to the client that waits for the event, as they are written."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from msgspec import Struct, field

from agent.bus import Bus
from agent.event import HOUSEHOLD, Event
from agent.record import step
from agent.replies import SOURCES, Delivered, ForwardedReply, Reply, ReplySink, ReplyStream
from audio.language import sentence_language
from audio.tts.sentences import SentenceSplitter
from memory.json_value import Json

WRITTEN = "speech.written"

TEXT_SOURCES = frozenset({"cli", "http"})
REMOTE = "remote"
"""Source of what was said at a remote place: it is answered there, in writing where nobody listens any more."""
_HEADS = defaultdict(lambda: "Sources:", zh="来源：")

CLIENT_CAPACITY = 4096
"""Pieces a client may be behind; one that stops reading loses the rest of the stream, never the journal."""


class TextReplySink:
    """Hands the words of a reply to whoever listens for its event; where nobody does, the journal has them."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._clients: dict[str, asyncio.Queue[str | None]] = {}

    def open(self, reply: Reply) -> ReplyStream:
        """Return a delivery that passes text on at once."""
        return TextDelivery(reply, self._bus, self._clients.get(reply.event.id))

    @contextmanager
    def listening(self, event_id: str) -> Iterator[AsyncIterator[str]]:
        """Give the words of an event's replies as they come, until `finish`. To be entered before it is enqueued."""
        pieces: asyncio.Queue[str | None] = asyncio.Queue(CLIENT_CAPACITY)
        self._clients[event_id] = pieces
        try:
            yield _until_none(pieces)
        finally:
            del self._clients[event_id]

    def finish(self, event_id: str) -> None:
        """Say that an event's run is over; a client that is behind loses a piece for it, but never waits for ever."""
        if client := self._clients.get(event_id):
            if client.full():
                client.get_nowait()
            client.put_nowait(None)


class TextDelivery(Struct):
    """One reply on its way to a text client."""

    reply: Reply
    bus: Bus
    client: asyncio.Queue[str | None] | None
    _pieces: list[str] = []
    _passed: int = 0
    """Characters that the client was given."""
    _is_over: bool = False
    """Whether it was closed or cut."""
    is_written: ClassVar = True
    is_sounding: ClassVar = False

    @property
    def handed(self) -> str:
        """The text passed on so far; a client reads letters, so that its pieces need not be sentences."""
        return "".join(self._pieces)

    async def feed(self, text: str) -> None:
        """Pass the text on, unless it may yet be what was read before the state failed."""
        self.reply.stages.mark("first_text")
        self._pieces.append(text)
        handed = self.handed if self.reply.already else ""
        if any(read.startswith(handed) for read in self.reply.already):
            return
        if self.client is not None:
            _offer(self.client, handed[self._passed :] or text)
        self._passed = len(handed)

    async def close(self) -> None:
        """End this reply with a line break, and name below it what it rests on."""
        if not self._is_over:
            await self._end("\n")
            if self.handed.strip() and (named := named_sources(self.reply)) is not None:
                self.bus.hold(named, durable=False)
                if self.client is not None:
                    _offer(self.client, below(named.content, self.handed))

    async def cut(self) -> None:
        """Mark the place where the text broke off."""
        if not self._is_over:
            await self._end(" …\n")

    async def ended(self) -> Delivered:
        """Return at once: written is read."""
        return Delivered(self.handed, self.handed)

    async def _end(self, mark: str) -> None:
        self._is_over = True
        if words := self.handed.strip():
            await self.feed(mark)
            await self.bus.publish(step(WRITTEN, self.reply.event, "", {"call_id": self.reply.call_id}, words))


def named_sources(reply: Reply) -> Event | None:
    """Return the envelope of what a reply rests on, a line each; None where it rests on nothing, or that was named."""
    sources = reply.sources.take()
    if not sources:
        return None
    told: list[Json] = [{"title": source.title, "url": source.url} for source in sources]
    words = "\n".join(map(str, sources))
    return step(SOURCES, reply.event, "", {"call_id": reply.call_id, "sources": told}, words)


def below(sources: str, words: str) -> str:
    """Return the lines of sources as they stand below the words of a reply, under a head in their language."""
    return f"\n{_HEADS[sentence_language(words, 'en')[:2]]}\n" + "".join(f"  {line}\n" for line in sources.split("\n"))


def names_sources(piece: str) -> bool:
    """Whether a piece of an answer is what `below` wrote: it is to be read, and not said."""
    return piece.startswith(tuple(f"\n{head}\n" for head in (_HEADS[""], _HEADS["zh"])))


class ReplyRouter(Struct, frozen=True):
    """Sends each reply back to where its event came from: written to text clients, spoken for everything else.

    At a remote place it is both. One that is wanted in a room is spoken.
    What is another owner's is never said in the room: that is the household's.
    """

    voice: ReplySink
    text: ReplySink
    there: Callable[[Event], ReplySink | None]
    """Returns what speaks at the remote place an event came from; None where nobody there listens, or ever did."""

    def open(self, reply: Reply) -> ReplyStream:
        """Return the delivery of one reply."""
        if reply.is_aloud or reply.room:
            return self.voice.open(reply)
        if (mouth := self.there(reply.event)) is not None:
            return mouth.open(reply)
        if is_text(reply.event):
            return self.text.open(reply)
        spoken = self.voice.open(reply)
        return WrittenToo(spoken, self.text.open(reply)) if reply.event.source in TEXT_SOURCES else spoken


class EndedSentences(Struct):
    """A `Sentences` that ends them where the mouth does, and keeps the white space between them."""

    _splitter: SentenceSplitter = field(default_factory=SentenceSplitter)
    _rest: str = ""
    """What has no end yet."""

    def feed(self, text: str) -> str:
        """Append text; return what there is up to the last end of a sentence, but for what was returned before."""
        self._rest += text
        whole = self._splitter.feed(text)
        end = _behind(self._rest, "".join(whole)) if whole else 0
        ended, self._rest = self._rest[:end], self._rest[end:]
        return ended

    def finish(self) -> str:
        """Return the rest."""
        self._splitter.cut()
        rest, self._rest = self._rest, ""
        return rest


class WrittenToo(ForwardedReply):
    """A reply that is said in the room, which counts, and written to the client that asked for it to be spoken.

    Written are whole sentences, as they are said: of an answer that breaks off and is made anew the unfinished one
    comes again, and would be read as often as it is tried.
    """

    written: ReplyStream
    _sentences: EndedSentences = field(default_factory=EndedSentences)

    async def feed(self, text: str) -> None:
        """Hand the text on to both."""
        if ended := self._sentences.feed(text):
            await self.written.feed(ended)
        await self.stream.feed(text)

    async def close(self) -> None:
        """End both."""
        if rest := self._sentences.finish():
            await self.written.feed(rest)
        await self.written.close()
        await self.stream.close()

    async def cut(self) -> None:
        """Break both off."""
        self._sentences.finish()
        if self.written.handed:
            await self.written.cut()
        await self.stream.cut()


def is_text(event: Event) -> bool:
    """Whether the event's reply is written rather than spoken."""
    return (
        event.owner_key != HOUSEHOLD
        or event.source == REMOTE
        or (event.source in TEXT_SOURCES and not event.metadata.get("speak"))
    )


def _offer(client: asyncio.Queue[str | None], piece: str) -> None:
    if not client.full():
        client.put_nowait(piece)


async def _until_none(pieces: asyncio.Queue[str | None]) -> AsyncIterator[str]:
    while (piece := await pieces.get()) is not None:
        yield piece


def _behind(text: str, words: str) -> int:
    """Return the index behind these words in a text that begins with them, but for white space."""
    left = sum(not letter.isspace() for letter in words)
    for index, letter in enumerate(text):
        left -= not letter.isspace()
        if left == 0:
            return index + 1
    return len(text)
