"""Messages of a JetStream consumer, asked for in batches, so that who is slow is behind and nothing piles up."""

import asyncio
import json
from collections import deque
from contextlib import suppress
from typing import Final

from nats.aio.msg import Msg
from nats.errors import Error
from nats.js.api import AckPolicy, ConsumerConfig

from memory.engine.nats.connection import Connection, heeding

_EXPIRES: Final = 20.0
"""Seconds that one asking lasts at the server; asked anew then."""

_BATCH_BYTES: Final = 4 * 1024 * 1024


class ConsumerGone(Exception):
    """The consumer is not there any more: make it anew."""


async def reading(connection: Connection, stream: str, **where: object) -> "Pull":
    """Return a reader of a stream with a consumer of its own; `where` are fields of its settings."""
    config = ConsumerConfig(ack_policy=AckPolicy.NONE, inactive_threshold=60.0, mem_storage=True)
    consumer = await connection.jetstream.add_consumer(stream, config.evolve(**where))
    pull = Pull(connection, stream, consumer.name, is_own=True)
    await pull.open()
    return pull


class Pull:
    """One consumer's messages on one connection. Call `close` at the end."""

    def __init__(self, connection: Connection, stream: str, consumer: str, *, is_own: bool = False) -> None:
        self._connection = connection
        self._stream, self._consumer, self._is_own = stream, consumer, is_own
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._arrived = asyncio.Event()
        self._waiting: deque[Msg] = deque()
        self._asked = 0
        """Messages that the server may still send for what it was asked."""

    async def open(self) -> None:
        """Begin to receive."""
        client = self._connection.client
        self._inbox = client.new_inbox()
        self._subscription = await heeding(client.subscribe(self._inbox, cb=self._take))

    async def close(self) -> None:
        """Receive nothing any more; what came and was not read is handed back."""
        if not self._connection.is_alive:
            return
        with suppress(Error, TimeoutError):
            await self._subscription.unsubscribe()
            if self._is_own:
                delete = f"$JS.API.CONSUMER.DELETE.{self._stream}.{self._consumer}"
                await self._connection.client.publish(delete)
                return
            for message in self._waiting:
                if is_delivery(message):
                    await message.nak()

    async def _take(self, message: Msg) -> None:
        self._waiting.append(message)
        self._arrived.set()

    async def ask(self, batch: int, *, waits: bool) -> None:
        """Ask for so many messages: those that there are, or (`waits`) also those to come."""
        request: dict[str, object] = {"batch": batch, "max_bytes": _BATCH_BYTES} if batch > 1 else {"batch": 1}
        request |= {"expires": int(_EXPIRES * 1e9)} if waits else {"no_wait": True}
        self._asked = batch
        body = json.dumps(request).encode()
        await heeding(self._connection.client.publish(self._subject, body, self._inbox))

    async def next(self, seconds: float = _EXPIRES + 5.0) -> Msg | None:
        """Return the next message; None when the server has no more for what it was asked.

        Raises `ConsumerGone`, TimeoutError when the connection breaks or says nothing for so long.
        """
        while self._asked:
            if not self._waiting:
                self._arrived.clear()
                await self._connection.during(self._arrived.wait(), seconds)
                continue
            message = self._waiting.popleft()
            if is_delivery(message):
                self._asked -= 1
                return message
            # 404 and 408: there is no more now; 409: full batch, or the consumer went; 503: nobody is there.
            headers = message.headers or {}
            if headers.get("Status") == "503" or "Consumer" in headers.get("Description", ""):
                raise ConsumerGone
            self._asked = 0
        return None


def is_delivery(message: Msg) -> bool:
    """Whether a message is one of the stream, not a word of the server about it."""
    return message.reply.startswith("$JS.ACK")
