"""Topics on core NATS, without JetStream: at most once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription
from nats.errors import Error

from memory.engine.interface import DEADLINE, SUBSCRIPTION_CAPACITY, Message, Request, Subscription
from memory.engine.names import require_dotted, require_message, require_pattern
from memory.engine.nats.connection import Connection, Link
from memory.engine.subscription import Answering, Waiting, first_answer, kept_up
from memory.errors import NobodyServes

_NOBODY: Final = "503"
"""Status of what the server answers for those who are not there."""


class NatsTopics:
    """The `Topics` of a household, under its prefix."""

    def __init__(self, link: Link, prefix: str) -> None:
        self._link = link
        self._published = f"{prefix}.topic."
        self._asked = f"{prefix}.ask."

    async def publish(self, topic: str, data: bytes) -> None:
        """Hand a message to the server's connection."""
        await self._send(self._published + require_dotted(topic), data)

    async def _send(self, subject: str, data: bytes, reply: str = "") -> None:
        require_message(data)

        async def send(connection: Connection) -> None:
            await connection.client.publish(subject, data, reply)

        await self._link.ask(send, changes=False)

    @asynccontextmanager
    async def subscribe(self, pattern: str, capacity: int = SUBSCRIPTION_CAPACITY) -> AsyncIterator[Subscription]:
        """Receive what is published."""
        waiting = Waiting[Message](capacity)

        async def take(message: Msg) -> None:
            waiting.offer(Message(message.subject.removeprefix(self._published), message.data))

        async with kept_up(self._keep(self._published + subject_of(pattern), take)):
            yield waiting

    @asynccontextmanager
    async def serve(self, pattern: str) -> AsyncIterator[AsyncIterator[Request]]:
        """Receive requests."""
        requests = Waiting[Answering]()

        async def take(message: Msg) -> None:
            async def answer(data: bytes) -> None:
                await self._send(message.reply, data)

            asked = Message(message.subject.removeprefix(self._asked), message.data)
            requests.offer(Answering(asked, answer))

        async with kept_up(self._keep(self._asked + subject_of(pattern), take)):
            yield aiter(requests)

    def _keep(
        self, subject: str, take: Callable[[Msg], Awaitable[None]]
    ) -> Callable[[Callable[[], None]], Awaitable[None]]:
        """Return what subscribes, says when that stands, and subscribes anew on each connection."""

        async def begin(connection: Connection) -> tuple[Connection, NatsSubscription]:
            subscription = await connection.client.subscribe(subject, cb=take)
            await connection.client.flush()
            return connection, subscription

        async def keep(stands: Callable[[], None]) -> None:
            connection, subscription = await self._link.ask(begin, changes=False)
            stands()
            try:
                while True:
                    with suppress(TimeoutError):
                        await connection.during(asyncio.Event().wait())
                    connection = await self._link.patiently()
                    with suppress(TimeoutError, Error):
                        _, subscription = await connection.during(begin(connection), DEADLINE)
            finally:
                with suppress(Error):
                    await subscription.unsubscribe()

        return keep

    @asynccontextmanager
    async def ask(self, topic: str, data: bytes) -> AsyncIterator[Subscription]:
        """Send a request; the server says at once when nobody has subscribed to it."""
        require_message(data)
        waiting = Waiting[Message]()
        nobody: list[Msg] = []

        async def take(message: Msg) -> None:
            if (message.headers or {}).get("Status") == _NOBODY and not message.data:
                nobody.append(message)
            else:
                waiting.offer(Message(topic, message.data))

        async def send(connection: Connection) -> NatsSubscription:
            inbox = connection.client.new_inbox()
            subscription = await connection.client.subscribe(inbox, cb=take)
            await connection.client.publish(self._asked + require_dotted(topic), data, inbox)
            await connection.client.flush()
            while subscription.pending_msgs:  # noqa: ASYNC110  a turn of the loop or two hand over what came before
                await asyncio.sleep(0)
            return subscription

        subscription = await self._link.ask(send, changes=False)
        try:
            if nobody:
                raise NobodyServes(f"no machine serves {topic} now; try again when one does")
            yield waiting
        finally:
            with suppress(Error):
                await subscription.unsubscribe()

    async def request(self, topic: str, data: bytes, *, seconds: float = DEADLINE) -> bytes:
        """Return the first answer."""
        return await first_answer(self.ask(topic, data), topic, seconds)


def subject_of(pattern: str) -> str:
    """Return a pattern as NATS writes it."""
    require_pattern(pattern)
    return f"{pattern[:-1]}>" if pattern.endswith("*") else pattern
