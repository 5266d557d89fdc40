"""An engine in memory that keeps the promises of `memory.engine.interface`, with faults to put in.

`FakeServer` is the server; what lies on it outlives its death (`kill`, `start`). Each machine has a `FakeEngine` on it
with a `Link` of its own, which can be cut, slow, lose requests or answers, and deliver twice. Time is the running
loop's: on a `VirtualTimeLoop` all of it is virtual.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from memory.egress import SendsTo
from memory.engine.interface import (
    DEADLINE,
    READ_LIMIT,
    SAME_ID_SECONDS,
    SUBSCRIPTION_CAPACITY,
    TAKE_SECONDS,
    Delivery,
    KeyEntry,
    LogRecord,
    Message,
    Request,
    Subscription,
    require_dotted,
    require_message,
    require_pattern,
    require_record,
    require_word,
)
from memory.engine.subscription import Answering, Waiting, first_answer
from memory.errors import (
    BlobMissing,
    EngineFailure,
    EngineFull,
    EngineUnreachable,
    KeyMoved,
    LogDropped,
    LogLost,
    LogMoved,
    NobodyServes,
    OutcomeUnknown,
)

T = TypeVar("T")


class Bell:
    """Wakes all who wait, each time it is rung."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        event, self._event = self._event, asyncio.Event()
        event.set()

    async def wait(self, seconds: float | None = None) -> None:
        """Wait for the next ring, so long at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()


def matches(pattern: str, topic: str) -> bool:
    """Whether messages of this topic are meant: `*` is all, `node.*` a prefix, else the exact topic."""
    return topic.startswith(pattern[:-1]) if pattern.endswith("*") else topic == pattern


@dataclass(eq=False)
class _Put:
    id: str
    message: bytes
    tries: int = 0
    until: float = 0.0
    """Of the loop's clock: in hand until then."""


@dataclass(eq=False)
class _Box:
    waiting: list[_Put] = field(default_factory=list)
    known: dict[str, float] = field(default_factory=dict)
    """When each id was put."""


@dataclass(eq=False)
class _Subscriber:
    pattern: str
    link: "Link"
    offer: Callable[[Message, str], None]
    """Takes a message and the topic of its answers, "" for none."""
    serves: bool


class FakeServer:
    """What all machines see. `kill`, `start`, `freeze`, `thaw` and `is_full` are its faults."""

    def __init__(self) -> None:
        self.records: list[LogRecord] = []
        """All that were ever appended; those up to `dropped` are not handed out any more."""
        self.dropped = 0
        self.keys: dict[str, KeyEntry] = {}
        self.boxes: dict[str, _Box] = {}
        self.blobs: dict[str, bytes] = {}
        self.subscribers: list[_Subscriber] = []
        self.is_up = True
        self.is_full = False
        """Whether its disk has no room: what would be kept raises `EngineFull`."""
        self.bell = Bell()
        self.revisions = itertools.count(1)
        self.starts = 1
        """How often it was started."""
        self._frozen: list[Callable[[], None]] | None = None
        self._in_flight: set[asyncio.Future[object]] = set()

    def kill(self) -> None:
        """End it as kill -9 does: what was kept stays, calls under way never get their answer, ids are forgotten."""
        self.is_up, self._frozen = False, None
        for box in self.boxes.values():
            waiting = {put.id for put in box.waiting}
            box.known = {known: at for known, at in box.known.items() if known in waiting}
        for future in [each for each in self._in_flight if not each.done()]:
            future.set_exception(ConnectionResetError())
        self.bell.ring()

    def start(self) -> None:
        """Start it again with what it had kept."""
        self.starts += not self.is_up
        self.is_up = True
        self.bell.ring()

    def freeze(self) -> None:
        """Stop it as SIGSTOP does: it takes what is sent and does nothing with it."""
        self._frozen = self._frozen or []

    def thaw(self) -> None:
        """Let it go on, with what was sent to it meanwhile, also by those who gave up."""
        held, self._frozen = self._frozen or [], None
        for each in held:
            each()
        self.bell.ring()

    @property
    def is_serving(self) -> bool:
        """Whether it hands out anything."""
        return self.is_up and self._frozen is None

    def receive(self, request: Callable[[], None]) -> None:
        """Do what a request asks, when it is not frozen; a dead one does nothing."""
        if self._frozen is not None:
            self._frozen.append(request)
        elif self.is_up:
            request()

    async def answer(self, future: asyncio.Future[T], link: "Link") -> T:
        """Wait for a call's result; raises ConnectionResetError when server or link go, TimeoutError."""
        kept: set[asyncio.Future[object]] = self._in_flight
        kept.add(future)  # type: ignore[arg-type]  # only its end is set
        link.in_flight.add(future)  # type: ignore[arg-type]
        try:
            async with asyncio.timeout(DEADLINE):
                return await future
        finally:
            kept.discard(future)
            link.in_flight.discard(future)

    def require_room(self) -> None:
        if self.is_full:
            raise EngineFull("the engine has no room; free some disk space there")


class Link:
    """The way of one machine to the server."""

    def __init__(self, server: FakeServer) -> None:
        self.delay = 0.0
        """Seconds from sending a request to its arrival; messages on topics take as long."""
        self.is_cut = False
        self.lose_requests = 0
        """So many next calls that change something never arrive: not kept, and the caller cannot know."""
        self.lose_answers = 0
        """So many next calls that change something are kept, and their answer never arrives."""
        self.double = 0
        """So many next calls that change something, and messages on topics, arrive twice."""
        self.in_flight: set[asyncio.Future[object]] = set()
        self._server = server

    def cut(self) -> None:
        """Cut the connection: what was sent still arrives, its answers do not."""
        self.is_cut = True
        for future in [each for each in self.in_flight if not each.done()]:
            future.set_exception(ConnectionResetError())
        self._server.bell.ring()

    def mend(self) -> None:
        """Let the connection come back."""
        self.is_cut = False
        self._server.bell.ring()

    def spend(self, fault: str) -> bool:
        """Whether a fault meets this call; one less is left then."""
        left = int(getattr(self, fault))
        setattr(self, fault, max(0, left - 1))
        return left > 0


class FakeEngine:
    """One machine's client; an `Engine`."""

    def __init__(self, server: FakeServer | None = None, *, take_seconds: float = TAKE_SECONDS) -> None:
        self.take_seconds = take_seconds
        self.server = server or FakeServer()
        self.link = Link(self.server)
        self.is_open = False
        self.log = FakeLog(self)
        self.keys = FakeKeys(self)
        self.topics = FakeTopics(self)
        self.blobs = FakeBlobs(self)
        self.problems: list[str] = []
        """What `check` returns."""

    @property
    def is_reachable(self) -> bool:
        return self.is_open and self.server.is_up and not self.link.is_cut

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        return (SendsTo("what is said, done and remembered, to the household's other machines", "fake:4222"),)

    def inbox(self, name: str) -> "FakeInbox":
        return FakeInbox(self, require_word(name))

    async def open(self) -> None:
        self.is_open = True
        await self.call(lambda: None, changes=False)

    async def close(self) -> None:
        self.is_open = False
        self.server.bell.ring()

    async def describe(self) -> str:
        await self.call(lambda: None, changes=False)
        return "Fake 1.0 at fake://fake:4222"

    async def check(self) -> Sequence[str]:
        return self.problems if self.is_reachable else ["the engine fake:4222 cannot be reached; start it"]

    async def call(self, operation: Callable[[], T], *, changes: bool = True) -> T:
        """Let the server do something; returns what it returns and raises the `EngineFailure` that it raises."""
        await asyncio.sleep(0)
        if not (self.server.is_up and not self.link.is_cut):
            raise EngineUnreachable("the engine fake:4222 cannot be reached; start it, or mend the network")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        request = self._request(operation, future, changes=changes)
        if self.link.delay:
            loop.call_later(self.link.delay, self.server.receive, request)
        else:
            self.server.receive(request)
        try:
            return await self.server.answer(future, self.link)
        except (TimeoutError, ConnectionResetError):
            if changes:
                raise OutcomeUnknown("the engine fake:4222 gave no answer; look whether it was kept") from None
            raise EngineUnreachable("the engine fake:4222 gave no answer; try again") from None

    def _request(self, operation: Callable[[], T], future: asyncio.Future[T], *, changes: bool) -> Callable[[], None]:
        is_lost = changes and self.link.spend("lose_requests")
        is_unanswered = changes and not is_lost and self.link.spend("lose_answers")
        is_double = changes and not is_lost and self.link.spend("double")

        def arrive() -> None:
            if is_lost:
                return
            outcome: T | EngineFailure
            try:
                outcome = operation()
            except EngineFailure as failure:
                outcome = failure
            if is_double:
                with suppress(EngineFailure):
                    operation()
            if future.done() or is_unanswered or self.link.is_cut:
                return
            if isinstance(outcome, EngineFailure):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        return arrive

    async def until_changed(self, seconds: float | None = None) -> None:
        """Wait until something on the server, or on the way there, changes."""
        await self.server.bell.wait(seconds)

    @property
    def is_served(self) -> bool:
        return self.server.is_serving and not self.link.is_cut


class FakeLog:
    """A `Log`."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self._server = engine.server

    async def append(self, record: bytes, *, after: int, id: str) -> int:
        require_word(id)
        require_record(record)
        return await self._engine.call(lambda: self._append(record, after, id))

    def _append(self, record: bytes, after: int, id: str) -> int:
        records = self._server.records
        if after >= self._server.dropped and after < len(records) and records[after].id == id:
            return after + 1
        if after != len(records):
            raise LogMoved(f"the log ends at {len(records)}, not at {after}; read on from there", len(records))
        self._server.require_room()
        records.append(LogRecord(after + 1, id, record))
        self._server.bell.ring()
        return after + 1

    async def read(self, after: int, limit: int = READ_LIMIT) -> Sequence[LogRecord]:
        return await self._engine.call(lambda: self._read(after, limit), changes=False)

    def _read(self, after: int, limit: int) -> Sequence[LogRecord]:
        if after > len(self._server.records):
            raise LogLost(f"the log ends at {len(self._server.records)}, before {after}; look at the engine's store")
        if after < self._server.dropped:
            raise LogDropped(f"the log begins after {self._server.dropped}; load the newest snapshot")
        return tuple(self._server.records[after : after + limit])

    async def follow(self, after: int) -> AsyncIterator[LogRecord]:
        while True:
            found: Sequence[LogRecord] = ()
            if self._engine.is_served:
                with suppress(EngineUnreachable):
                    found = await self.read(after)
            for record in found:
                yield record
                after = record.position
            if not found and not (self._engine.is_served and after < len(self._server.records)):
                await self._engine.until_changed()

    async def end(self) -> int:
        return await self._engine.call(lambda: len(self._server.records), changes=False)

    async def drop_through(self, position: int) -> None:
        def drop() -> None:
            self._server.dropped = max(self._server.dropped, min(position, len(self._server.records)))
            self._server.bell.ring()

        await self._engine.call(drop)


class FakeKeys:
    """`Keys`."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self._server = engine.server

    async def get(self, key: str) -> KeyEntry | None:
        require_dotted(key)
        return await self._engine.call(lambda: self._server.keys.get(key), changes=False)

    async def create(self, key: str, value: bytes) -> int:
        return await self._engine.call(lambda: self._set(require_dotted(key), require_message(value), None))

    async def update(self, key: str, value: bytes, *, revision: int) -> int:
        return await self._engine.call(lambda: self._set(require_dotted(key), require_message(value), revision))

    def _set(self, key: str, value: bytes, revision: int | None) -> int:
        present = self._server.keys.get(key)
        there = present.revision if present is not None else None
        if there != revision:
            raise KeyMoved(f"the key {key} is at {there}, not at {revision}; get it and decide anew")
        self._server.require_room()
        entry = KeyEntry(key, value, next(self._server.revisions))
        self._server.keys[key] = entry
        self._server.bell.ring()
        return entry.revision


class FakeInbox:
    """An `Inbox`."""

    def __init__(self, engine: FakeEngine, name: str) -> None:
        self._engine = engine
        self._box = engine.server.boxes.setdefault(name, _Box())

    async def put(self, message: bytes, *, id: str) -> None:
        require_word(id)
        require_message(message)
        now = asyncio.get_running_loop().time()

        def put() -> None:
            if now - self._box.known.get(id, -SAME_ID_SECONDS) < SAME_ID_SECONDS:
                return
            self._engine.server.require_room()
            self._box.known[id] = now
            self._box.waiting.append(_Put(id, message))
            self._engine.server.bell.ring()

        await self._engine.call(put)

    async def take(self) -> Delivery:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(0)
            head = self._box.waiting[0] if self._box.waiting else None
            if head is not None and self._engine.is_served and head.until <= loop.time():
                head.tries += 1
                head.until = loop.time() + self._engine.take_seconds
                return FakeDelivery(self._engine, self._box, head)
            until = head.until - loop.time() if head is not None and head.until > loop.time() else None
            await self._engine.until_changed(until)

    async def waiting(self) -> int:
        return await self._engine.call(lambda: len(self._box.waiting), changes=False)


class FakeDelivery:
    """A `Delivery`."""

    def __init__(self, engine: FakeEngine, box: _Box, put: _Put) -> None:
        self.message = put.message
        self.id = put.id
        self.tries = put.tries
        self._engine, self._box, self._put = engine, box, put

    async def ack(self) -> None:
        def ack() -> None:
            if self._put in self._box.waiting:
                self._box.waiting.remove(self._put)
                self._engine.server.bell.ring()

        await self._engine.call(ack)

    async def release(self) -> None:
        now = asyncio.get_running_loop().time()

        def release() -> None:
            if self._put.tries == self.tries:  # not handed out again meanwhile
                self._put.until = now
                self._engine.server.bell.ring()

        with suppress(OutcomeUnknown):
            await self._engine.call(release)


class FakeTopics:
    """`Topics`."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self._server = engine.server
        self._asked = itertools.count(1)

    async def publish(self, topic: str, data: bytes) -> None:
        self._send(Message(require_dotted(topic), require_message(data)))

    def _send(self, message: Message, reply: str = "", *, serves: bool = False) -> None:
        link = self._engine.link
        if not self._server.is_up or link.is_cut:
            raise EngineUnreachable("the engine fake:4222 cannot be reached; start it, or mend the network")
        times = 2 if link.spend("double") else 1

        def arrive() -> None:
            for each in list(self._server.subscribers):
                if each.serves == serves and matches(each.pattern, message.topic) and not each.link.is_cut:
                    for _ in range(times):
                        each.offer(message, reply)

        if link.delay:
            asyncio.get_running_loop().call_later(link.delay, self._server.receive, arrive)
        else:
            self._server.receive(arrive)

    @asynccontextmanager
    async def subscribe(self, pattern: str, capacity: int = SUBSCRIPTION_CAPACITY) -> AsyncIterator[Subscription]:
        waiting = Waiting[Message](capacity)
        require_pattern(pattern)
        subscriber = _Subscriber(pattern, self._engine.link, lambda message, _: waiting.offer(message), serves=False)
        async with self._subscribed(subscriber):
            yield waiting

    @asynccontextmanager
    async def _subscribed(self, subscriber: _Subscriber) -> AsyncIterator[None]:
        await self._engine.call(lambda: self._server.subscribers.append(subscriber), changes=False)
        try:
            yield
        finally:
            self._server.subscribers.remove(subscriber)

    @asynccontextmanager
    async def serve(self, pattern: str) -> AsyncIterator[AsyncIterator[Request]]:
        waiting = Waiting[Message]()
        replies: dict[int, str] = {}
        require_pattern(pattern)

        def offer(message: Message, reply: str) -> None:
            own = Message(message.topic, message.data)
            replies[id(own)] = reply
            waiting.offer(own)

        async def requests() -> AsyncIterator[Request]:
            async for message in waiting:
                reply = replies.pop(id(message))
                yield Answering(message, lambda data, reply=reply: self.publish(reply, data))  # type: ignore[misc]

        async with self._subscribed(_Subscriber(pattern, self._engine.link, offer, serves=True)):
            yield requests()

    @asynccontextmanager
    async def ask(self, topic: str, data: bytes) -> AsyncIterator[Subscription]:
        reply = f"_reply.{id(self._engine)}.{next(self._asked)}"
        message = Message(require_dotted(topic), require_message(data))
        async with self.subscribe(reply) as answers:
            if not any(each.serves and matches(each.pattern, topic) for each in self._server.subscribers):
                raise NobodyServes(f"no machine serves {topic} now; try again when one does")
            self._send(message, reply, serves=True)
            yield answers

    async def request(self, topic: str, data: bytes, *, seconds: float = DEADLINE) -> bytes:
        return await first_answer(self.ask(topic, data), topic, seconds)


class FakeBlobs:
    """`Blobs`."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self._server = engine.server

    async def put(self, name: str, source: Path) -> None:
        content = await asyncio.to_thread(source.read_bytes)

        def keep() -> None:
            self._server.require_room()
            self._server.blobs[require_dotted(name)] = content

        await self._engine.call(keep)

    async def get(self, name: str, target: Path) -> None:
        found = await self._engine.call(lambda: self._server.blobs.get(require_dotted(name)), changes=False)
        if found is None:
            raise BlobMissing(f"the engine has no blob {name}; see which there are")
        await asyncio.to_thread(target.write_bytes, found)

    async def delete(self, name: str) -> None:
        await self._engine.call(lambda: self._server.blobs.pop(require_dotted(name), None))

    async def names(self) -> Sequence[str]:
        return await self._engine.call(lambda: tuple(sorted(self._server.blobs)), changes=False)
