"""Topics on Redis' publish and subscribe: at most once."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from redis.exceptions import RedisError

from memory.engine.interface import DEADLINE, Message, Subscription, require_dotted, require_message
from memory.engine.redis.connection import RedisLink
from memory.engine.subscription import Keep, ServerTopics, Take, Waiting, kept_up
from memory.errors import EngineUnreachable, NobodyServes


class RedisTopics(ServerTopics):
    """The `Topics` of a household, under its prefix. A request has the channel of its answers before a line break."""

    def __init__(self, link: RedisLink, prefix: str) -> None:
        super().__init__(f"{prefix}:topic:", f"{prefix}:ask:")
        self._link = link
        self._replies = f"{prefix}:reply:"

    async def _send(self, at: str, data: bytes) -> int:
        """Return how many subscriptions it was handed to."""
        return int(await self._link.do("PUBLISH", at, data, changes=False))

    @asynccontextmanager
    async def ask(self, topic: str, data: bytes) -> AsyncIterator[Subscription]:
        """Send a request; Redis says to how many it was handed."""
        require_dotted(topic)
        require_message(data)
        waiting = Waiting[Message]()
        reply = f"{self._replies}{secrets.token_hex(12)}"

        async with kept_up(self._keep(reply, lambda _, answer, __: waiting.offer(Message(topic, answer)))):
            if not await self._send(self._asked + topic, reply.encode() + b"\n" + data):
                raise NobodyServes(f"no machine serves {topic} now; try again when one does")
            yield waiting

    def _keep(self, pattern: str, take: Take) -> Keep:
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
                            at, data, reply = said[-2].decode(), said[-1], b""
                            if at.startswith(self._asked):
                                reply, _, data = data.partition(b"\n")
                            take(at, data, reply.decode(errors="replace"))
                except (RedisError, OSError, TimeoutError, EngineUnreachable) as error:
                    if is_first:
                        at = self._link.server.at
                        raise EngineUnreachable(f"Redis at {at} cannot be reached; start it") from error
                finally:
                    await self._link.drop(connection)
                await self._link.patiently()

        return keep
