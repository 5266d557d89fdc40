"""The bus: hands each envelope to the journal first, then to observers and handlers; changes nothing."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Final, Protocol, TypeAlias

import structlog
from msgspec.structs import replace

from agent.event import Event, new_id, require_event, utc_now
from memory.errors import MemoryFailure
from memory.json_value import Json
from memory.state.database import Change, Writer

log = structlog.get_logger()

OBSERVER_CAPACITY = 1024
"""Envelopes an observer may be behind before it loses the oldest."""

RECENT: Final = 100
"""Envelopes kept for whoever debugs."""

Handler: TypeAlias = Callable[[Event], Awaitable[Event]]
"""Takes a request and returns its answer: an envelope whose status and result it has set."""

_Request: TypeAlias = tuple[Event, asyncio.Queue[Event]]
"""A request, and where its answer goes."""

INBOX_CAPACITY: Final = 64
"""Requests that may wait for one handler; one more is answered at once as failed."""

FAILED: Final = "failed"

ANSWER_SECONDS: Final = 30.0
"""How long a request waits for its answer where nothing else is said."""


class Transport(Protocol):
    """Carries envelopes to the buses of other machines; one bus uses it. What comes from there goes to `Bus.arrived`.

    Order: of one machine, as shown there. Loss: possible, and told; nothing comes twice, nor back to its own bus.
    """

    def show(self, event: Event) -> None:
        """Hand an envelope to whoever observes elsewhere; nothing is waited for."""

    async def request(self, event: Event) -> Event | None:
        """Deliver a request to all handlers elsewhere; return the first answer that succeeded, else the last failure.

        None where no other machine has a handler of its topic. It may wait for ever, and be cancelled at any time.
        """

    async def run(self, bus: "Bus") -> None:
        """Carry until cancelled: what this bus shows, what others show to it, and their requests to its handlers."""

    def describe(self) -> dict[str, Json]:
        """Return how many envelopes went out and came in, and how many were lost, for the status."""


class Observer:
    """A subscription. Order: publish order of each machine. Loss: the oldest, if the reader is too far behind."""

    def __init__(self, pattern: str, capacity: int = OBSERVER_CAPACITY, *, everywhere: bool = False) -> None:
        self.pattern = pattern
        self.everywhere = everywhere
        """Whether it sees what other machines publish too."""
        self.lost = 0
        """Envelopes that found no room here; and those, of any topic, that got lost on the way from other machines."""
        self._waiting: deque[tuple[str, Event]] = deque()
        self._capacity = capacity
        self._arrived = asyncio.Event()

    def offer(self, event: Event, machine: str = "") -> None:
        """Take an envelope without waiting; `machine` is the other one that it came from."""
        if len(self._waiting) == self._capacity:
            self._waiting.popleft()
            self.lost += 1
        self._waiting.append((machine, event))
        self._arrived.set()

    def waiting(self) -> Iterator[Event]:
        """Yield what has come and was not read yet, without waiting."""
        while self._waiting:
            yield self._waiting.popleft()[1]

    async def __aiter__(self) -> AsyncIterator[Event]:
        async for _, event in self.by_machine():
            yield event

    async def by_machine(self) -> AsyncIterator[tuple[str, Event]]:
        """Yield the name of the machine that published, "" for this one, and the envelope, for ever."""
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            self._arrived.clear()
            await self._arrived.wait()


class Inbox:
    """The requests of one handler. Order: as delivered. Loss: none; what finds no room is answered FAILED at once."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._waiting: asyncio.Queue[_Request] = asyncio.Queue(INBOX_CAPACITY)
        self._at_work: list[_Request] = []

    def offer(self, event: Event, answers: asyncio.Queue[Event]) -> None:
        """Take a request without waiting; its answer goes into `answers`, which has room for it."""
        try:
            self._waiting.put_nowait((event, answers))
        except asyncio.QueueFull:
            answers.put_nowait(failed(event, f"the handler of {self.pattern} has too much to do"))

    async def work(self, handler: Handler) -> None:
        """Answer what comes, until cancelled."""
        while True:
            event, answers = request = await self._waiting.get()
            self._at_work = [request]
            answers.put_nowait(await answered(handler, event))
            self._at_work = []

    def close(self) -> None:
        """Answer what is left: the handler has gone."""
        left, self._at_work = self._at_work, []
        while not self._waiting.empty():
            left.append(self._waiting.get_nowait())
        for event, answers in left:
            answers.put_nowait(failed(event, f"the handler of {self.pattern} has gone"))


class Bus:
    """Carries envelopes from whoever publishes to whoever observes or handles, all on one event loop.

    Guarantees: the journal has an envelope before anybody else and before `publish` returns; each observer and each
    handler sees publish order; one that is slow or crashes delays and harms no other. Not guaranteed: that an observer
    sees everything (it counts what it lost). The bus sets no status: an answer's is its handler's. With a transport,
    `show` and `request` reach other machines too; who is here still gets everything at once, and never waits for them.
    """

    def __init__(self, journal: Callable[..., Awaitable[None]], transport: Transport | None = None) -> None:
        """`journal` is a `Recorder`; one that only takes envelopes will do for a bus on which nothing goes along.

        `transport` leads to the other machines; None where this one is alone.
        """
        self._journal = journal
        self.transport = transport
        self._observers: list[Observer] = []
        self._inboxes: list[Inbox] = []
        self._held: tuple[Event, ...] = ()
        """For the next `publish`; of one round of one run at most, for whatever acts outside publishes first."""
        self._held_durable = False
        """Whether one of them has to be on the disk when the next `publish` returns, durable or not."""
        self.recent: deque[Event] = deque(maxlen=RECENT)
        """The last envelopes published, the newest last; nothing else is kept."""

    def hold(self, *events: Event, durable: bool = True) -> None:
        """Publish the envelopes with the next ones, before them and in their transaction, whoever publishes those.

        For steps after which nothing acts and nobody waits until something else is published. `durable` makes that
        transaction a durable one. Raises TypeError for anything that is no Event.
        """
        for event in events:
            require_event(event)
        self._held += events
        self._held_durable |= durable

    async def publish(self, *events: Event, durable: bool = True) -> None:
        """Journal the envelopes, and those held before, in one transaction, then show them.

        Not `durable`, a cut of the power (no kill) may take them back, until the next that are: for a step before
        something that has no effect. If the journal cannot be written, this raises, and what was held goes with the
        next ones. Raises TypeError for anything that is no Event.
        """
        if events or self._held:
            await self._publish(events, durable=durable)

    def in_transaction(self, *events: Event, durable: bool = True) -> Writer:
        """Return what publishes the envelopes, as `publish` does, in one transaction with a change of the state."""

        async def publish(change: Change) -> None:
            await self._publish(events, durable=durable, in_transaction=change)

        return publish

    async def _publish(self, events: tuple[Event, ...], *, durable: bool, in_transaction: Change | None = None) -> None:
        for event in events:
            require_event(event)
        held, held_durable = self._held, self._held_durable
        self._held, self._held_durable = (), False
        together = held + events
        is_durable = durable or held_durable
        try:
            if in_transaction is None and is_durable:
                await self._journal(together)
            else:
                await self._journal(together, in_transaction=in_transaction, durable=is_durable)
        except (MemoryFailure, asyncio.CancelledError):
            self._hold_again(held, durable=held_durable)
            raise
        except Exception:
            if held and (events or in_transaction is not None):
                # A bug of whoever publishes must not cost a run what it held.
                self._hold_again(held, durable=held_durable)
                await self._publish((), durable=False)
            raise
        self.recent.extend(together)
        for event in together:
            self.show(event)

    def _hold_again(self, held: tuple[Event, ...], *, durable: bool) -> None:
        self._held = held + self._held
        self._held_durable |= durable

    def show(self, event: Event) -> None:
        """Show an envelope to observers only: a passing piece of what a published one will hold whole (text chunks)."""
        require_event(event)
        for observer in self._observers:
            if matches(observer.pattern, event.type):
                observer.offer(event)
        if self.transport is not None:
            self.transport.show(event)

    def arrived(self, machine: str, event: Event, missed: int = 0) -> None:
        """Show an envelope of another machine to those who observe everywhere; `missed` were lost before it."""
        for observer in self._observers:
            if observer.everywhere:
                observer.lost += missed
                if matches(observer.pattern, event.type):
                    observer.offer(event, machine)

    def observe(self, pattern: str, capacity: int = OBSERVER_CAPACITY, *, everywhere: bool = False) -> Observer:
        """Return a new observer of the topics that match `pattern`; end it with `forget`.

        `everywhere`, it sees what other machines publish as well, for those who look; who acts, acts on its own.
        """
        observer = Observer(pattern, capacity, everywhere=everywhere)
        self._observers.append(observer)
        return observer

    def forget(self, observer: Observer) -> None:
        """End a subscription."""
        self._observers.remove(observer)

    async def attend(
        self, pattern: str, observe: Callable[[Event], Awaitable[None]], *, everywhere: bool = False
    ) -> None:
        """Call a function with each matching envelope, until cancelled; what it raises is logged and harms nobody."""
        observer = self.observe(pattern, everywhere=everywhere)
        try:
            async for event in observer:
                try:
                    await observe(event)
                except Exception:
                    log.exception("observer_failed", pattern=pattern, topic=event.type)
        finally:
            self.forget(observer)

    async def serve(self, pattern: str, handler: Handler) -> None:
        """Answer the requests of matching topics with a handler, one after the other, until cancelled.

        What it raises becomes an answer of its own: a FAILED envelope with the error.
        """
        inbox = Inbox(pattern)
        self._inboxes.append(inbox)
        try:
            await inbox.work(handler)
        finally:
            self._inboxes.remove(inbox)
            inbox.close()

    async def request(self, event: Event, *, seconds: float = ANSWER_SECONDS) -> Event:
        """Publish an envelope, deliver it to all handlers of its topic, and return the first answer that succeeded.

        For parts that may live on another machine, where a transport carries the envelope; within one process, call
        the other part. When each handler failed, the last failure; without a handler the envelope itself, unchanged.
        After `seconds` without an answer, a FAILED envelope says so; the handlers are not stopped. The answer is
        published before it is returned.
        """
        await self.publish(event)
        try:
            async with asyncio.timeout(seconds):
                answer = await self._answer(event)
        except TimeoutError:
            answer = failed(event, f"nobody answered {event.type} within {seconds:g} s")
        if answer is None:
            return event
        if answer is not event:
            await self.publish(answer)
        return answer

    async def _answer(self, event: Event) -> Event | None:
        here = self.deliver(event)
        if self.transport is None:
            return await first_good(event, here)
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(each) for each in (first_good(event, here), self.transport.request(event))]
            answer = None
            for each in asyncio.as_completed(asked):
                answer = await each or answer
                if answer is not None and answer.status != FAILED and answer is not event:
                    break
            for task in asked:
                task.cancel()
        return answer

    def deliver(self, event: Event) -> "asyncio.Queue[Event]":
        """Hand a request to the handlers here, at once and in order; each will put one answer into the queue.

        Its `maxsize` says how many come. An answer that is the request itself says nothing.
        """
        inboxes = [inbox for inbox in self._inboxes if matches(inbox.pattern, event.type)]
        answers = asyncio.Queue[Event](len(inboxes))
        for inbox in inboxes:
            inbox.offer(event, answers)
        return answers


async def first_good(event: Event, answers: "asyncio.Queue[Event]") -> Event | None:
    """Return the first answer that is neither failed nor the request itself, else the last; None without a handler."""
    answer: Event | None = None
    for _ in range(answers.maxsize):
        answer = await answers.get()
        if answer.status != FAILED and answer is not event:
            break
    return answer


async def answered(handler: Handler, event: Event) -> Event:
    """Return a handler's answer; an exception, or anything that is no Event, is a new FAILED envelope."""
    try:
        answer: object = await handler(event)
    except Exception as error:  # noqa: BLE001  it travels on to whoever asked
        return failed(event, f"{type(error).__name__}: {error}")
    if not isinstance(answer, Event):
        return failed(event, f"the handler answered with {type(answer).__name__}, which is no Event")
    if answer.id == event.id and answer is not event:
        return replace(answer, id=new_id(), parent_id=event.id)  # the journal knows an entry by its id
    return answer


def failed(event: Event, error: str) -> Event:
    """Return a new envelope that answers `event` with a failure."""
    return replace(event, id=new_id(), parent_id=event.id, status=FAILED, error=error, created_at=utc_now())


def matches(pattern: str, topic: str) -> bool:
    """Whether envelopes of this topic are meant: `*` is all, `node.*` a prefix, else the exact topic."""
    if pattern.endswith("*"):
        return topic.startswith(pattern[:-1])
    return topic == pattern
