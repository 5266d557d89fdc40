"""An inbox as a JetStream work queue with one message in hand."""

import asyncio
from typing import Final

from nats.aio.msg import Msg
from nats.errors import Error
from nats.js.api import AckPolicy, ConsumerConfig, Header, RetentionPolicy, StreamConfig
from nats.js.errors import NotFoundError

from memory.engine.interface import DEADLINE, SAME_ID_SECONDS, Delivery, require_message, require_word
from memory.engine.nats.connection import Connection, Link
from memory.engine.nats.pull import ConsumerGone, Pull

_CONSUMER: Final = "taker"
_PATIENCE: Final = 0.2
"""Seconds before a consumer that vanished is made anew."""


class NatsInbox:
    """One `Inbox` of a household."""

    def __init__(self, link: Link, stream: str, subject: str, take_seconds: float) -> None:
        self._link = link
        self._take_seconds = take_seconds
        self._stream = stream
        self._subject = subject
        self._made_on: Connection | None = None

    async def _ready(self, connection: Connection) -> Connection:
        """Make the stream and its consumer, once on each connection."""
        if self._made_on is not connection:
            stream = StreamConfig(
                name=self._stream,
                subjects=[self._subject],
                retention=RetentionPolicy.WORK_QUEUE,
                duplicate_window=SAME_ID_SECONDS,
            )
            await make_stream(connection, stream)
            consumer = ConsumerConfig(
                durable_name=_CONSUMER, ack_policy=AckPolicy.EXPLICIT, ack_wait=self._take_seconds, max_ack_pending=1
            )
            await connection.jetstream.add_consumer(self._stream, consumer)
            self._made_on = connection
        return connection

    async def put(self, message: bytes, *, id: str) -> None:
        """Put a message at the end."""
        require_word(id)
        require_message(message)
        await self._link.ask(self._ready, changes=False)
        headers = {Header.MSG_ID.value: id}
        await self._link.ask(lambda connection: connection.jetstream.publish(self._subject, message, headers=headers))

    async def take(self) -> Delivery:
        """Wait for the oldest message, on one connection after the other."""
        while True:
            connection = await self._link.patiently()
            pull: Pull | None = None
            try:
                await connection.during(self._ready(connection), DEADLINE)
                pull = Pull(connection, self._stream, _CONSUMER)
                await pull.open()
                while True:
                    await pull.ask(1, waits=True)
                    if (message := await pull.next()) is not None:
                        return NatsDelivery(self._link, connection, message)
            except (ConsumerGone, TimeoutError, Error):
                if connection.is_alive:
                    self._made_on = None
                    await asyncio.sleep(_PATIENCE)
            finally:
                if pull is not None:
                    await pull.close()

    async def waiting(self) -> int:
        """Return how many messages the stream has."""
        await self._link.ask(self._ready, changes=False)
        info = await self._link.ask(lambda connection: connection.jetstream.stream_info(self._stream), changes=False)
        return info.state.messages


class NatsDelivery:
    """A `Delivery`: what is said about it goes to the subject that it came with, on any connection."""

    def __init__(self, link: Link, connection: Connection, message: Msg) -> None:
        self.message = message.data
        self.id = (message.headers or {}).get(Header.MSG_ID.value, "")
        self.tries = message.metadata.num_delivered
        self._link = link
        self._reply = message.reply

    async def ack(self) -> None:
        """Take it out for good."""
        await self._link.ask(lambda connection: connection.client.request(self._reply, b"+ACK", timeout=DEADLINE))

    async def release(self) -> None:
        """Hand it back."""

        async def say(connection: Connection) -> None:
            await connection.client.publish(self._reply, b"-NAK")
            await connection.client.flush()

        await self._link.ask(say, changes=False)


async def make_stream(connection: Connection, config: StreamConfig) -> None:
    """Make a stream where there is none; one that somebody set otherwise (replicas, limits) stays as it is."""
    try:
        await connection.jetstream.stream_info(config.name or "")
    except NotFoundError:
        await connection.jetstream.add_stream(config)
