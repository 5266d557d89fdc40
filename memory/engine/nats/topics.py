"""Topics on core NATS, without JetStream: at most once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription
from nats.errors import Error

from memory.engine.interface import DEADLINE, Message, Subscription, require_dotted, require_message
from memory.engine.nats.connection import Connection, Link
from memory.engine.subscription import Keep, ServerTopics, Take, Waiting
from memory.errors import NobodyServes

_NOBODY: Final = "503"
"""Status of what the server answers for those who are not there."""


class NatsTopics(ServerTopics):
    """The `Topics` of a household, under its prefix."""

    def __init__(self, link: Link, prefix: str) -> None:
        super().__init__(f"{prefix}.topic.", f"{prefix}.ask.")
        self._link = link

    async def _send(self, at: str, data: bytes) -> None:
        async def send(connection: Connection) -> None:
            await connection.client.publish(at, data)

        await self._link.ask(send, changes=False)

    def _keep(self, pattern: str, take: Take) -> Keep:
        subject = f"{pattern[:-1]}>" if pattern.endswith("*") else pattern

        async def came(message: Msg) -> None:
            take(message.subject, message.data, message.reply)

        async def begin(connection: Connection) -> tuple[Connection, NatsSubscription]:
            subscription = await connection.client.subscribe(subject, cb=came)
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
