"""An inbox as a stream with one consumer group, one message in hand, by scripts."""

import secrets
from contextlib import suppress
from typing import Final

from memory.engine.interface import DEADLINE, SAME_ID_SECONDS, Delivery, require_message, require_word
from memory.engine.redis.connection import RedisLink
from memory.errors import EngineUnreachable

_PUT: Final = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - tonumber(ARGV[3]))
if redis.call('ZADD', KEYS[2], 'NX', now, ARGV[1]) == 0 then return 0 end
redis.call('XADD', KEYS[1], '*', 'id', ARGV[1], 'message', ARGV[2])
redis.call('XADD', KEYS[3], 'MAXLEN', 1, '*', 'changed', 1)
return 1
"""

_TAKE: Final = """
redis.pcall('XGROUP', 'CREATE', KEYS[1], 'takers', '0', 'MKSTREAM')
local rung = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
local bell = rung[1] and rung[1][1] or '0-0'
local hand = redis.call('XPENDING', KEYS[1], 'takers', '-', '+', 1)
if hand[1] then
    local wait = tonumber(ARGV[2]) - hand[1][3]
    if wait > 0 then return {0, bell, wait} end
    local again = redis.call('XCLAIM', KEYS[1], 'takers', ARGV[1], ARGV[2], hand[1][1])
    if again[1] then return {1, again[1][1], again[1][2], hand[1][4] + 1} end
    redis.call('XACK', KEYS[1], 'takers', hand[1][1])
end
local got = redis.call('XREADGROUP', 'GROUP', 'takers', ARGV[1], 'COUNT', 1, 'STREAMS', KEYS[1], '>')
if got then return {1, got[1][2][1][1], got[1][2][1][2], 1} end
return {0, bell, 5000}
"""

_RELEASE: Final = """
local hand = redis.call('XPENDING', KEYS[1], 'takers', ARGV[2], ARGV[2], 1)
if hand[1] and hand[1][2] == ARGV[1] and tostring(hand[1][4]) == ARGV[4] then
    redis.call('XCLAIM', KEYS[1], 'takers', ARGV[1], 0, ARGV[2], 'IDLE', ARGV[3], 'JUSTID')
    redis.call('XADD', KEYS[2], 'MAXLEN', 1, '*', 'changed', 1)
end
return 1
"""

_ACK: Final = """
redis.call('XACK', KEYS[1], 'takers', ARGV[1])
redis.call('XDEL', KEYS[1], ARGV[1])
redis.call('XADD', KEYS[2], 'MAXLEN', 1, '*', 'changed', 1)
return 1
"""

_WAIT: Final = 5.0

_LONG_IDLE: Final = 7 * 24 * 3600 * 1000
"""Milliseconds that a message counts as left alone which was handed back: longer than any is in hand."""


class RedisInbox:
    """One `Inbox` of a household."""

    def __init__(self, link: RedisLink, stream: str, take_seconds: float) -> None:
        self._link = link
        self._stream = stream
        self._in_hand = int(take_seconds * 1000)
        self._ids = f"{self._stream}:ids"
        self._bell = f"{self._stream}:bell"
        self._taker = secrets.token_hex(8)

    async def put(self, message: bytes, *, id: str) -> None:
        """Put a message at the end, unless its id is known."""
        keys = [self._stream, self._ids, self._bell]
        await self._link.script(_PUT, keys, require_word(id), require_message(message), int(SAME_ID_SECONDS))

    async def take(self) -> Delivery:
        """Wait for the oldest message."""
        while True:
            try:
                is_there, at, what, *tries = await self._link.script(
                    _TAKE, [self._stream, self._bell], self._taker, self._in_hand, changes=False
                )
            except EngineUnreachable:
                await self._link.patiently()
                continue
            if is_there:
                put = (what[1], what[3], *tries)
                return RedisDelivery(self._link, [self._stream, self._bell], self._taker, at, put)
            seconds = min(_WAIT, max(0.001, what / 1000))
            with suppress(EngineUnreachable):
                wait = ("BLOCK", max(1, int(seconds * 1000)), "STREAMS", self._bell, at)
                await self._link.do("XREAD", *wait, changes=False, seconds=seconds + DEADLINE)

    async def waiting(self) -> int:
        """Return how many messages the stream has."""
        return int(await self._link.do("XLEN", self._stream, changes=False))


class RedisDelivery:
    """A `Delivery`."""

    def __init__(self, link: RedisLink, keys: list[str], taker: str, at: bytes, put: tuple[bytes, bytes, int]) -> None:
        """`put` is id, message and how often it was handed out."""
        self.id, self.message, self.tries = put[0].decode(), put[1], put[2]
        self._link, self._keys, self._taker, self._at = link, keys, taker, at

    async def ack(self) -> None:
        """Take it out for good."""
        await self._link.script(_ACK, self._keys, self._at)

    async def release(self) -> None:
        """Hand it back."""
        held = (self._taker, self._at, _LONG_IDLE, self.tries)
        await self._link.script(_RELEASE, self._keys, *held, changes=False)
