"""Topics on Redis' publish and subscribe: at most once."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from redis.exceptions import RedisError

from memory.engine.interface import DEADLINE, SUBSCRIPTION_CAPACITY, Message, Request, Subscription
from memory.engine.names import require_dotted, require_message, require_pattern
from memory.engine.redis.connection import RedisLink
from memory.engine.subscription import Answering, Waiting, first_answer, kept_up
from memory.errors import EngineUnreachable, NobodyServes


class RedisTopics:
    """The `Topics` of a household, under its prefix."""

    def __init__(self, link: RedisLink, prefix: str) -> None:
        self._link = link
        self._published = f"{prefix}:topic:"
        self._asked = f"{prefix}:ask:"
        self._replies = f"{prefix}:reply:"

    async def publish(self, topic: str, data: bytes) -> None:
        """Hand a message to the server."""
        await self._send(self._published + require_dotted(topic), require_message(data))

    async def _send(self, channel: str, data: bytes) -> int:
        """Return how many subscriptions it was handed to."""
        return int(await self._link.do("PUBLISH", channel, data, changes=False))

    @asynccontextmanager
    async def subscribe(self, pattern: str, capacity: int = SUBSCRIPTION_CAPACITY) -> AsyncIterator[Subscription]:
        """Receive what is published."""
        waiting = Waiting[Message](capacity)

        def take(channel: str, data: bytes) -> None:
            waiting.offer(Message(channel.removeprefix(self._published), data))

        async with kept_up(self._keep(self._published + require_pattern(pattern), take)):
            yield waiting

    @asynccontextmanager
    async def serve(self, pattern: str) -> AsyncIterator[AsyncIterator[Request]]:
        """Receive requests, each with the channel of its answers before its first line break."""
        requests = Waiting[Answering]()

        def take(channel: str, data: bytes) -> None:
            reply, _, asked = data.partition(b"\n")

            async def answer(data: bytes) -> None:
                await self._send(reply.decode(), require_message(data))

            requests.offer(Answering(Message(channel.removeprefix(self._asked), asked), answer))

        async with kept_up(self._keep(self._asked + require_pattern(pattern), take)):
            yield aiter(requests)

    @asynccontextmanager
    async def ask(self, topic: str, data: bytes) -> AsyncIterator[Subscription]:
        """Send a request; Redis says to how many it was handed."""
        require_dotted(topic)
        require_message(data)
        waiting = Waiting[Message]()
        reply = f"{self._replies}{secrets.token_hex(12)}"

        async with kept_up(self._keep(reply, lambda _, answer: waiting.offer(Message(topic, answer)))):
            if not await self._send(self._asked + topic, reply.encode() + b"\n" + data):
                raise NobodyServes(f"no machine serves {topic} now; try again when one does")
            yield waiting

    async def request(self, topic: str, data: bytes, *, seconds: float = DEADLINE) -> bytes:
        """Return the first answer."""
        return await first_answer(self.ask(topic, data), topic, seconds)

    def _keep(
        self, pattern: str, take: Callable[[str, bytes], None]
    ) -> Callable[[Callable[[], None]], Awaitable[None]]:
        """Return what subscribes, says when that stands, and subscribes anew when the connection broke."""
        word, kind = ("PSUBSCRIBE", b"pmessage") if pattern.endswith("*") else ("SUBSCRIBE", b"message")

        async def keep(stands: Callable[[], None]) -> None:
            is_first = True
            while True:
                connection = None
                try:
                    async with asyncio.timeout(DEADLINE):
                        connection = await self._link.connection()
                        await connection.send_command(word, pattern)
                        await connection.read_response()
                    if is_first:
                        stands()
                        is_first = False
                    while True:
                        said = await connection.read_response()
                        if said[0] == kind:
                            take(said[-2].decode(), said[-1])
                except (RedisError, OSError, TimeoutError, EngineUnreachable) as error:
                    if is_first:
                        at = self._link.server.at
                        raise EngineUnreachable(f"Redis at {at} cannot be reached; start it") from error
                finally:
                    await self._link.drop(connection)
                await self._link.patiently()

        return keep
