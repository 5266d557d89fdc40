"""Topics of either server: what came by one and was not read yet, and what keeps it coming."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Generic, TypeAlias, TypeVar

from memory.engine.interface import (
    DEADLINE,
    SUBSCRIPTION_CAPACITY,
    Message,
    Request,
    Subscription,
    require_dotted,
    require_message,
    require_pattern,
)
from memory.errors import EngineFailure, EngineUnreachable

T = TypeVar("T")

Keep: TypeAlias = Callable[[Callable[[], None]], Awaitable[None]]
"""Subscribes, says when that stands, and subscribes anew whenever the connection broke."""

Take: TypeAlias = Callable[[str, bytes, str], None]
"""Is given where a message came, what it says, and where its answers go, "" for nowhere."""


class Waiting(Generic[T]):
    """What came, messages (then it is a `Subscription`) or requests, in order, for one reader; its engine offers it."""

    def __init__(self, capacity: int = SUBSCRIPTION_CAPACITY) -> None:
        self.lost = 0
        self._waiting: deque[T] = deque()
        self._capacity = capacity
        self._arrived = asyncio.Event()

    def offer(self, message: T) -> None:
        """Take a message without waiting; the oldest goes where there is no room."""
        if len(self._waiting) == self._capacity:
            self._waiting.popleft()
            self.lost += 1
        self._waiting.append(message)
        self._arrived.set()

    async def __aiter__(self) -> AsyncIterator[T]:
        """Yield them for ever."""
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            self._arrived.clear()
            await self._arrived.wait()


class Answering:
    """A `Request` that came as a message."""

    def __init__(self, message: Message, send: Callable[[bytes], Awaitable[None]]) -> None:
        self.topic = message.topic
        self.data = message.data
        self._send = send

    async def answer(self, data: bytes) -> None:
        """Send an answer."""
        await self._send(data)


@asynccontextmanager
async def kept_up(keep: Keep) -> AsyncIterator[None]:
    """Run something beside the block, which begins when it says so. What it raises before that is raised here."""
    loop = asyncio.get_running_loop()
    stands: asyncio.Future[None] = loop.create_future()
    raised: BaseException | None = None

    def tell() -> None:
        if not stands.done():  # whoever waits for it may have been cancelled in this moment
            stands.set_result(None)

    async def run() -> None:
        try:
            await keep(tell)
        except EngineFailure as failure:
            if stands.done():
                raise
            stands.set_exception(failure)

    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(run())
        try:
            await stands
            yield
        except (Exception, asyncio.CancelledError, GeneratorExit) as error:  # noqa: BLE001  it is raised as it was, outside
            raised = error
        finally:
            keeping.cancel()
    if raised is not None:
        raise raised


async def first_answer(asking: AbstractAsyncContextManager[Subscription], topic: str, seconds: float) -> bytes:
    """Return what comes first; raises `EngineUnreachable` after so many seconds, and what entering raises."""
    try:
        async with asyncio.timeout(seconds), asking as answers:
            return (await anext(aiter(answers))).data
    except TimeoutError:
        raise EngineUnreachable(f"nobody answered {topic} within {seconds:g} s; try again") from None


class ServerTopics(ABC):
    """The `Topics` of a household on a server: what is published under one prefix, what is asked under another."""

    def __init__(self, published: str, asked: str) -> None:
        self._published = published
        self._asked = asked

    async def publish(self, topic: str, data: bytes) -> None:
        """Hand a message to the server."""
        await self._send(self._published + require_dotted(topic), require_message(data))

    @asynccontextmanager
    async def subscribe(self, pattern: str, capacity: int = SUBSCRIPTION_CAPACITY) -> AsyncIterator[Subscription]:
        """Receive what is published."""
        waiting = Waiting[Message](capacity)

        def take(at: str, data: bytes, _: str) -> None:
            waiting.offer(Message(at.removeprefix(self._published), data))

        async with kept_up(self._keep(self._published + require_pattern(pattern), take)):
            yield waiting

    @asynccontextmanager
    async def serve(self, pattern: str) -> AsyncIterator[AsyncIterator[Request]]:
        """Receive requests."""
        requests = Waiting[Answering]()

        def take(at: str, data: bytes, reply: str) -> None:
            async def answer(data: bytes) -> None:
                await self._send(reply, require_message(data))

            requests.offer(Answering(Message(at.removeprefix(self._asked), data), answer))

        async with kept_up(self._keep(self._asked + require_pattern(pattern), take)):
            yield aiter(requests)

    async def request(self, topic: str, data: bytes, *, seconds: float = DEADLINE) -> bytes:
        """Return the first answer."""
        return await first_answer(self.ask(topic, data), topic, seconds)

    @abstractmethod
    def ask(self, topic: str, data: bytes) -> AbstractAsyncContextManager[Subscription]:
        """Send a request; the server knows at once when nobody has subscribed to it."""

    @abstractmethod
    async def _send(self, at: str, data: bytes) -> object:
        """Hand data to whoever has subscribed."""

    @abstractmethod
    def _keep(self, pattern: str, take: Take) -> Keep:
        """Return what keeps a subscription up."""
