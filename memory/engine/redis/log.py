"""The log as a Redis stream whose ids are the positions, with its end in a key beside it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

from memory.engine.interface import DEADLINE, READ_LIMIT, LogRecord, require_record, require_word
from memory.engine.redis.connection import RedisLink
from memory.errors import EngineFailure, EngineUnreachable, LogDropped, LogLost, LogMoved

_APPEND: Final = """
local last, after = tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[1])
local id = string.format('%d-0', after + 1)
if last == after then
    redis.call('XADD', KEYS[1], id, 'id', ARGV[2], 'record', ARGV[3])
    redis.call('SET', KEYS[2], string.format('%d', after + 1))
    return {1, after + 1}
end
local found = redis.call('XRANGE', KEYS[1], id, id)
if found[1] and found[1][2][2] == ARGV[2] then return {1, after + 1} end
return {0, last}
"""

_READ: Final = """
local last, first = tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(redis.call('GET', KEYS[3]) or '1')
local after = tonumber(ARGV[1])
if after > last or after + 1 < first then return {last, first, {}} end
return {last, first, redis.call('XRANGE', KEYS[1], string.format('%d-0', after + 1), '+', 'COUNT', ARGV[2])}
"""

_DROP: Final = """
local through = math.min(tonumber(ARGV[1]), tonumber(redis.call('GET', KEYS[2]) or '0'))
if through + 1 <= tonumber(redis.call('GET', KEYS[3]) or '1') then return 0 end
redis.call('SET', KEYS[3], string.format('%d', through + 1))
return redis.call('XTRIM', KEYS[1], 'MINID', string.format('%d-0', through + 1))
"""

_WAIT: Final = 5.0
"""Seconds that one waiting for the next record lasts at the server."""

_TOGETHER: Final = 32
"""Records that a follower is given at a time."""


class RedisLog:
    """The `Log` of a household."""

    def __init__(self, link: RedisLink, prefix: str) -> None:
        self._link = link
        self._stream = f"{prefix}:log"
        self._keys = [self._stream, f"{self._stream}:end", f"{self._stream}:first"]

    async def append(self, record: bytes, *, after: int, id: str) -> int:
        """Append a record, by a script: whole or not at all."""
        require_word(id)
        require_record(record)
        is_in, position = await self._link.script(_APPEND, self._keys, after, id, record)
        if not is_in:
            what = f"the log ends at {position}, and another record than this one stands after {after}"
            raise LogMoved(f"{what}; read on from there", position)
        return int(position)

    async def read(self, after: int, limit: int = READ_LIMIT) -> Sequence[LogRecord]:
        """Return the records after a position."""
        last, first, found = await self._link.script(_READ, self._keys, after, limit, changes=False)
        if after > last:
            what = f"the log at {self._link.server.at} ends at {last}, before {after}, which was read once"
            raise LogLost(f"{what}; restore the server's files, or name another household")
        if after + 1 < first:
            raise LogDropped(f"the log begins at {first}, not at {after + 1}; load the newest snapshot")
        return [LogRecord(int(at.partition(b"-")[0]), fields[1].decode(), fields[3]) for at, fields in found]

    async def follow(self, after: int) -> AsyncIterator[LogRecord]:
        """Yield all records, for ever."""
        while True:
            try:
                found = await self.read(after, _TOGETHER)
            except EngineUnreachable:
                await self._link.patiently()
                continue
            for record in found:
                yield record
                after = record.position
            if not found:
                with suppress(EngineUnreachable):
                    wait = ("BLOCK", int(_WAIT * 1000), "COUNT", 1, "STREAMS", self._stream, f"{after}-0")
                    await self._link.do("XREAD", *wait, changes=False, seconds=_WAIT + DEADLINE)

    async def end(self) -> int:
        """Return the position of the last record."""
        return int(await self._link.do("GET", self._keys[1], changes=False) or 0)

    async def drop_through(self, position: int) -> None:
        """Trim the stream, and have the file rewritten that all commands are in."""
        await self._link.script(_DROP, self._keys, position)
        with suppress(EngineFailure):  # one is under way; the next follows by itself when the file has grown
            await self._link.do("BGREWRITEAOF")
