"""The interface for replies: the loop feeds a `ReplyStream`, and a `ReplySink` turns it into sound or text."""

from collections.abc import Callable
from itertools import takewhile
from typing import Final, Protocol

from msgspec import Struct, field

from agent.event import Event
from agent.record import step
from agent.turns.stages import Stages
from memory.json_value import Json

SENTENCE_STARTED: Final = "speech.sentence_started"
"""Topic of the commit that precedes a sentence's first sample."""

INTERRUPTED: Final = "speech.interrupted"
"""Topic of what was heard of a reply that was not heard whole, and of what stayed unsaid."""

SOURCES: Final = "speech.sources"
"""Topic of the pages and services that a reply rests on."""

MOST_SOURCES: Final = 5

AWAY: Final = "is away just now"
"""What a sink says of a room whose device cannot be reached."""


class Source(Struct, frozen=True):
    """A page or a service that an answer rests on."""

    title: str
    url: str

    def __str__(self) -> str:
        """Return it in one line, for people."""
        return f"{self.title}: {self.url}" if self.title else self.url


class Sources:
    """What the answers to an event rest on, each named once: in writing, never aloud."""

    def __init__(self) -> None:
        self._services: dict[str, Source] = {}
        self._read: dict[str, Source] = {}
        self._found: dict[str, Source] = {}
        self._named: set[str] = set()

    def asked(self, service: Source) -> None:
        """Add a service that told something."""
        self._services[service.url] = service

    def read(self, page: Source) -> None:
        """Add a page that was read."""
        self._read[page.url] = page

    def found(self, *pages: Source) -> None:
        """Add pages of which a search told; they are named where none was read."""
        self._found |= {page.url: page for page in pages}

    def take(self) -> tuple[Source, ...]:
        """Return what is to be named below the reply that ends now; those are not named again."""
        known = self._services | (self._read or self._found)
        fresh = [source for url, source in known.items() if url not in self._named]
        self._named.update(source.url for source in fresh)
        return tuple(fresh[:MOST_SOURCES])


class Reply(Struct, frozen=True):
    """One reply about to be delivered."""

    event: Event
    """What is answered; its `source` says where the words go."""
    call_id: str
    """The reply call's id; idempotency key of its sentences."""
    already: tuple[str, ...] = ()
    """Sentences committed for this event before a crash, or replies that were read, in order: never given again."""
    is_aloud: bool = False
    """Said in the room, though the event came in writing."""
    room: str = ""
    """The name of the room in which it is wanted instead, or "everywhere"; "" for where the event came from."""
    sources: Sources = field(default_factory=Sources)
    """What it may rest on; taken when its words are whole."""
    is_sign: bool = False
    """Only lets somebody hear that it goes on: no part of an answer."""
    stages: Stages = field(default_factory=Stages)
    """Of its turn: whoever delivers it marks there when its first words were written, or sounded."""


class Delivered(Struct, frozen=True):
    """The outcome of a reply: what was handed on, and what was heard of it."""

    text: str
    """Exactly what was handed on: whole sentences, or clauses of a first one that was long in coming."""
    heard: str
    """The part that was heard (for text: sent); equal to `text` unless interrupted."""
    interrupted: bool = False


class ReplyStream(Protocol):
    """One reply on its way out. Used by one task, in the order feed*, close or cut, ended."""

    async def feed(self, text: str) -> None:
        """Append text as it is generated; waits only when the mouth is many sentences behind."""

    @property
    def handed(self) -> str:
        """What was handed on so far: whole sentences, or clauses of a first one that was long in coming."""

    async def close(self) -> None:
        """Say that the text is whole; the last piece counts as a sentence. Does not wait for the sound."""

    async def cut(self) -> None:
        """Say that the text broke off: the unfinished sentence is dropped, the whole ones are still delivered.

        Does nothing once the delivery is closed.
        """

    @property
    def is_written(self) -> bool:
        """Whether it is read rather than heard."""

    @property
    def is_sounding(self) -> bool:
        """Whether something of it is being said, or is about to be, for which `ended` would wait; never of a text."""

    async def ended(self) -> Delivered:
        """Wait until everything was delivered (played to its end, or interrupted) and return what became of it."""


class ReplySink(Protocol):
    """Where the replies of one kind of source go."""

    def open(self, reply: Reply) -> ReplyStream:
        """Return the delivery of one reply; nothing is heard before its first whole sentence was fed."""


class Sentences(Protocol):
    """A text that arrives in pieces, as far as its sentences have ended."""

    def feed(self, text: str) -> str:
        """Append text; return what there is up to the last end of a sentence, but for what was returned before."""

    def finish(self) -> str:
        """Return the rest."""


class ShownReplies(Struct, frozen=True):
    """A `ReplySink` that is another one, and lets observers see the words of each reply as they are written.

    Whoever writes them: the model as it streams, a tool, the runtime itself. The journal gets them whole. Of what is
    said whole sentences are seen, as the mouth gets them: one that breaks off is not said, and comes again with the
    next try.
    """

    sink: ReplySink
    show: Callable[[Event], None]
    run_id_of: Callable[[str], str]
    """Returns the id of the run in hand if it is of the event of this id, else ""."""
    sentences: Callable[[], Sentences]
    """Returns what cuts a reply into sentences as the mouth does."""

    def open(self, reply: Reply) -> ReplyStream:
        """Return the other one's delivery; shown, unless it only is a sign."""
        stream = self.sink.open(reply)
        if reply.is_sign:
            return stream
        return _ShownStream(stream, reply, self, None if stream.is_written else self.sentences())

    def chunk(self, reply: Reply, words: str) -> None:
        """Show some words of a reply."""
        body: dict[str, Json] = {"event": "text_chunk", "call_id": reply.call_id, "chunk": words}
        self.show(step("llm.results", reply.event, self.run_id_of(reply.event.id), body))


class ForwardedReply(Struct):
    """A `ReplyStream` that is another one; a subclass does some of it otherwise."""

    stream: ReplyStream

    @property
    def handed(self) -> str:
        """The other one's."""
        return self.stream.handed

    @property
    def is_written(self) -> bool:
        """The other one's."""
        return self.stream.is_written

    @property
    def is_sounding(self) -> bool:
        """The other one's."""
        return self.stream.is_sounding

    async def feed(self, text: str) -> None:
        """Hand the text on."""
        await self.stream.feed(text)

    async def close(self) -> None:
        """Say that the text is whole."""
        await self.stream.close()

    async def cut(self) -> None:
        """Say that the text broke off."""
        await self.stream.cut()

    async def ended(self) -> Delivered:
        """Wait until it was delivered."""
        return await self.stream.ended()


class _ShownStream(ForwardedReply):
    """A delivery that is another one, and tells of what it is fed."""

    reply: Reply
    shown: ShownReplies
    sentences: Sentences | None
    """None of what is read, letter by letter."""

    async def feed(self, text: str) -> None:
        if words := self.sentences.feed(text) if self.sentences else text:
            self.shown.chunk(self.reply, words)
        await self.stream.feed(text)

    async def close(self) -> None:
        if self.sentences and (rest := self.sentences.finish()):
            self.shown.chunk(self.reply, rest)
        await self.stream.close()


def unsaid(delivered: Delivered, already: tuple[str, ...] = ()) -> str:
    """Return what of a reply's text was not heard; sentences of it that were heard before a crash count as heard."""
    text = delivered.text
    for sentence in already:
        text = text.replace(sentence, "", 1).strip()
    heard = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, delivered.heard, strict=False)))
    return text[heard:].strip()
