"""What an engine does for one household, as Protocols: the same promises on NATS and on Redis.

Everything runs on the event loop that called `Engine.open`; another thread goes through
`asyncio.run_coroutine_threadsafe`. Calls may run beside one another. Each that asks the engine something ends within
`DEADLINE` seconds, by its result or an error of `memory.errors`: `EngineUnreachable` (nothing was kept, nor will be),
`OutcomeUnknown` (only by what changes something: kept, not kept, or kept a moment later, for a frozen server goes on
with what lies in its buffers), `EngineRefused` (wrong login, too large, not set up). What waits for ever instead
(`Log.follow`, `Inbox.take`, a `Subscription`) also waits while the engine is away and goes on afterwards.
Cancelling is always safe: what was cancelled is as one whose outcome is unknown. A connection that was lost comes back
by itself, for years; meanwhile calls fail at once or within `DEADLINE`.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from memory.egress import SendsTo
from memory.errors import EngineRefused

DEADLINE: Final = 3.0
"""Seconds that a call takes at most; one with a blob, or a record in parts, takes one more for each 256 KB."""

RECORD_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one record of the log; a larger one is refused. One larger than the server's messages travels in parts."""

MESSAGE_LIMIT: Final = 512 * 1024
"""Bytes of a message of an inbox or a topic, and of a key's value; `EngineRefused` says so of a larger one."""

READ_LIMIT: Final = 256
"""Records that `Log.read` returns at a time where nothing else is said."""

TAKE_SECONDS: Final = 30.0
"""Seconds without `ack` after which a message that was taken comes again."""

SAME_ID_SECONDS: Final = 24 * 3600.0
"""Seconds for which an inbox knows the id of a message that it was given, also after it was acknowledged."""

SUBSCRIPTION_CAPACITY: Final = 1024
"""Messages that a subscription may be behind before it loses the oldest."""


class LogRecord(Struct, frozen=True):
    """One record of the log."""

    position: int
    """1 for the first record of a household, then one more each."""
    id: str
    """The `id` that it was appended with."""
    record: bytes


class Log(Protocol):
    """One ordered log with compare-and-set on its end. All machines see the same records at the same positions.

    A record is acknowledged when it is on the engine's disk (see `Engine.check`): killed at any time, the engine has
    each acknowledged one, once.
    """

    async def append(self, record: bytes, *, after: int, id: str) -> int:
        """Append a record if the log ends at `after` (0: it is empty and always was); return its position, `after` + 1.

        Idempotent: when the record at `after` + 1 has this `id`, that was this append, and its position is returned.
        An `id` is of up to 128 ASCII letters, digits, "-" and "_", and never used for another record. Raises `LogMoved`
        when another record stands at `after` + 1, or the log ends before `after`; `EngineUnreachable`, `EngineFull`
        (nothing was kept), `OutcomeUnknown`, `EngineRefused` (larger than `RECORD_LIMIT`).

        After `OutcomeUnknown` the record may yet come. Either append the same again (same `after`, same `id`), or
        read to the end and append another one there: once that is in, the lost one cannot come any more; if it is
        refused by `LogMoved`, what came in between may be one's own lost one.
        """

    async def read(self, after: int, limit: int = READ_LIMIT) -> Sequence[LogRecord]:
        """Return the records after a position, in order, without gaps, up to `limit` of them; none at the end.

        It sees all that was acknowledged before the call. Raises `LogDropped` when the record at `after` + 1 was
        dropped, `LogLost` when the log ends before `after`, `EngineUnreachable`.
        """

    def follow(self, after: int) -> AsyncIterator[LogRecord]:
        """Yield all records after a position in order, for ever, each once; wait while there is no engine.

        Raises `LogDropped` and `LogLost` as `read` does, also later on. Nothing is buffered without bound: who is slow
        is behind. Close it (`aclosing`) when it is not read any more.
        """

    async def end(self) -> int:
        """Return the position of the last record, 0 where there was none; it stays when records are dropped.

        Raises `EngineUnreachable`.
        """

    async def drop_through(self, position: int) -> None:
        """Erase all records up to and with a position (at most the end); positions go on as before. Idempotent.

        When it returns, no server hands them out any more. Their bytes leave the files of Redis at its next rewriting
        of the append-only file, which is asked for here, those of NATS when it compacts the block that they are in.
        Raises `EngineUnreachable`, `OutcomeUnknown`.
        """


class KeyEntry(Struct, frozen=True):
    """A key as it is at a revision."""

    key: str
    value: bytes
    revision: int
    """Rises with each change of this key, not by one; never the same twice."""


class Keys(Protocol):
    """Few small values with compare-and-set. A key is of ASCII letters, digits, "-", "_" and "." between them."""

    async def get(self, key: str) -> KeyEntry | None:
        """Return the key's newest value; None where there is none. Raises `EngineUnreachable`."""

    async def create(self, key: str, value: bytes) -> int:
        """Set a key that is not there; return its revision.

        Raises `KeyMoved` when it is there, `EngineUnreachable`, `EngineFull`, `OutcomeUnknown` (look with `get`; it may
        yet come, until the key has another value), `EngineRefused` (larger than `MESSAGE_LIMIT`).
        """

    async def update(self, key: str, value: bytes, *, revision: int) -> int:
        """Set a key that is at `revision`; return its new one. Raises as `create`, `KeyMoved` also where it is gone."""


class Delivery(Protocol):
    """A message that was taken and is in hand until it is acknowledged, released or `TAKE_SECONDS` old."""

    @property
    def message(self) -> bytes:
        """As it was put."""

    @property
    def id(self) -> str:
        """As it was put."""

    @property
    def tries(self) -> int:
        """How often it was handed out, with this time: 1 for the first."""

    async def ack(self) -> None:
        """Take it out for good; return when the engine has taken note. Idempotent.

        Raises `EngineUnreachable`, `OutcomeUnknown`: then, and when its time was over, it may come again, so do not ask
        again but take the next. A killed NATS server answers no acknowledgement of what it handed out before.
        """

    async def release(self) -> None:
        """Hand it back: it comes again at once, before any other. Raises `EngineUnreachable`."""


class Inbox(Protocol):
    """A durable first-in first-out queue. One message is in hand at a time, of all who take, on all machines.

    Loss: none. Whatever dies, a message comes until it is acknowledged, so it may come twice: who takes knows an id.
    A killed NATS server forgets what was in hand: that comes again at once, as the oldest, its tries counted anew.
    """

    async def put(self, message: bytes, *, id: str) -> None:
        """Put a message at the end; return when it is on the engine's disk.

        Idempotent by `id` (as one of the log) for `SAME_ID_SECONDS`: the second put does nothing. NATS forgets the ids
        of acknowledged messages when the server starts anew. Raises `EngineUnreachable`, `EngineFull`,
        `OutcomeUnknown` (put the same again), `EngineRefused` (larger than `MESSAGE_LIMIT`).
        """

    async def take(self) -> Delivery:
        """Wait for the oldest message, also while the engine is away or another one is in hand; return it.

        Cancelled in the moment of its arrival, it comes again after `TAKE_SECONDS`. Raises `EngineRefused`.
        """

    async def waiting(self) -> int:
        """Return how many messages are not acknowledged yet, with the one in hand. Raises `EngineUnreachable`."""


class Message(Struct, frozen=True):
    """What was published."""

    topic: str
    data: bytes


class Subscription(Protocol):
    """Messages as they come. Order: of one publisher, as published. Loss: see `lost`, and all while disconnected."""

    @property
    def lost(self) -> int:
        """How many were lost because the reader was `SUBSCRIPTION_CAPACITY` behind: the oldest go."""

    def __aiter__(self) -> AsyncIterator[Message]:
        """Yield messages for ever, for one reader."""


class Request(Protocol):
    """A request to answer."""

    @property
    def topic(self) -> str:
        """As it was asked."""

    @property
    def data(self) -> bytes:
        """As it was asked."""

    async def answer(self, data: bytes) -> None:
        """Send an answer, at most once delivered. Raises `EngineUnreachable`, `EngineRefused`."""


class Topics(Protocol):
    """Publish, subscribe and request. At most once: who is away misses it, and nobody is told.

    A topic is of words of ASCII letters, digits, "-" and "_", with "." between them. A pattern is a topic, or a prefix
    of whole words and ".*" for all that begin with it ("node.*" is node.a and node.a.b, not node), or "*" for all.
    """

    async def publish(self, topic: str, data: bytes) -> None:
        """Hand a message to the engine; whether it or anybody got it is not known.

        Raises `EngineUnreachable`, `EngineRefused` (larger than `MESSAGE_LIMIT`).
        """

    def subscribe(
        self, pattern: str, capacity: int = SUBSCRIPTION_CAPACITY
    ) -> AbstractAsyncContextManager[Subscription]:
        """Receive what is published on entering and later, one's own too; entering waits for the engine's word.

        Entering raises `EngineUnreachable`. Afterwards it comes back by itself with the connection.
        """

    def serve(self, pattern: str) -> AbstractAsyncContextManager[AsyncIterator[Request]]:
        """Receive requests, as `subscribe` does messages. All who serve a topic get each request."""

    def ask(self, topic: str, data: bytes) -> AbstractAsyncContextManager[Subscription]:
        """Send a request to all who serve its topic; the subscription has their answers as they come.

        Entering raises `NobodyServes` at once when no machine does, `EngineUnreachable`, `EngineRefused`.
        """

    async def request(self, topic: str, data: bytes, *, seconds: float = DEADLINE) -> bytes:
        """Return the first answer of all who serve the topic.

        Raises `NobodyServes` at once when no machine does, `EngineUnreachable` when no answer came in time (whoever
        serves may have acted on it all the same), `EngineRefused`.
        """


class Blobs(Protocol):
    """Files by name: the snapshots. A name is as an id of the log, with "." too. Whole or not there at all."""

    async def put(self, name: str, source: Path) -> None:
        """Keep a file under a name; what had the name is replaced when all of it is there.

        Raises `EngineUnreachable`, `EngineFull`, `OutcomeUnknown` (put it again), OSError of the file.
        """

    async def get(self, name: str, target: Path) -> None:
        """Write a blob into a file, which is there only when it is whole (its checksum is compared).

        Raises `BlobMissing`, `EngineUnreachable`, OSError of the file.
        """

    async def delete(self, name: str) -> None:
        """Erase a blob; one that is not there too. Raises `EngineUnreachable`, `OutcomeUnknown`."""

    async def names(self) -> Sequence[str]:
        """Return the names of all whole blobs, sorted. Raises `EngineUnreachable`."""


class Engine(Protocol):
    """All that one household has on an engine. Another household on the same server sees none of it."""

    @property
    def log(self) -> Log:
        """The household's one log."""

    @property
    def keys(self) -> Keys:
        """The household's keys."""

    @property
    def topics(self) -> Topics:
        """The household's topics."""

    @property
    def blobs(self) -> Blobs:
        """The household's blobs."""

    @property
    def is_reachable(self) -> bool:
        """Whether the connection stands, as far as is known without asking. Nothing is waited for."""

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """What it hands to which machine."""

    def inbox(self, name: str) -> Inbox:
        """Return the inbox of a name (letters, digits, "-" and "_"); it is made when it is first used."""

    async def open(self) -> None:
        """Connect, and make what is missing. Idempotent.

        Raises `EngineUnreachable` after `DEADLINE` at most, `EngineRefused` (login, JetStream). The engine can be used
        after either: each call tries again to connect, not more often than a rest that doubles up to five seconds.
        """

    async def close(self) -> None:
        """Let go of the connection, without waiting for a server that is away; safe to call twice, or unopened."""

    async def describe(self) -> str:
        """Return the server's name, version and address without a login: "NATS 2.12.1 at nats://server:4222".

        Raises `EngineUnreachable`, `EngineRefused`.
        """

    async def check(self) -> Sequence[str]:
        """Return what is wrong with the server, each a sentence with its fix; none when all is well. For the doctor.

        That it cannot be reached is one of them. Raises nothing.
        """


_WORD: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_DOTTED: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def require_word(word: str) -> str:
    """Return an id, or the name of an inbox or a household; raises ValueError where it is none, a bug of the caller."""
    if not _WORD.fullmatch(word):
        raise ValueError(f"{word!r} is no name for an engine: up to 128 of ASCII letters, digits, - and _")
    return word


def require_dotted(name: str) -> str:
    """Return a key, topic or name of a blob; raises ValueError where it is none, a bug of the caller."""
    if not _DOTTED.fullmatch(name):
        raise ValueError(f"{name!r} is no name for an engine: words of ASCII letters, digits, - and _, with . between")
    return name


def require_pattern(pattern: str) -> str:
    """Return a pattern of topics; raises ValueError where it is none, a bug of the caller."""
    if pattern != "*":
        require_dotted(pattern.removesuffix(".*"))
    return pattern


def require_message(data: bytes) -> bytes:
    """Return a message or a key's value; raises `EngineRefused` for one over the limit."""
    if len(data) > MESSAGE_LIMIT:
        raise EngineRefused(f"a message of {len(data)} bytes is over the engine's limit of {MESSAGE_LIMIT}; split it")
    return data


def require_record(record: bytes) -> bytes:
    """Return a record of the log; raises `EngineRefused` for one over the limit."""
    if len(record) > RECORD_LIMIT:
        what = f"a record of {len(record)} bytes is over the engine's limit of {RECORD_LIMIT}"
        raise EngineRefused(f"{what}; write less in one transaction")
    return record
