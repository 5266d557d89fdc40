"""What came by a topic and was not read yet."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Generic, TypeVar

from memory.engine.interface import SUBSCRIPTION_CAPACITY, Message, Subscription
from memory.errors import EngineFailure, EngineUnreachable

T = TypeVar("T")


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
async def kept_up(keep: Callable[[Callable[[], None]], Awaitable[None]]) -> AsyncIterator[None]:
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
