"""Keys as two hashes, values and revisions, changed by a script."""

from typing import Final

from memory.engine.interface import KeyEntry
from memory.engine.names import require_dotted, require_message
from memory.engine.redis.connection import RedisLink
from memory.errors import KeyMoved

_SET: Final = """
local there = redis.call('HGET', KEYS[2], ARGV[1]) or ''
if there ~= ARGV[2] then return {0, there} end
local revision = redis.call('INCR', KEYS[3])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], string.format('%d', revision))
return {1, revision}
"""

_GET: Final = "return {redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HGET', KEYS[2], ARGV[1])}"


class RedisKeys:
    """The `Keys` of a household."""

    def __init__(self, link: RedisLink, prefix: str) -> None:
        self._link = link
        self._keys = [f"{prefix}:keys:{part}" for part in ("values", "revisions", "count")]

    async def get(self, key: str) -> KeyEntry | None:
        """Return the key's newest value."""
        value, revision = await self._link.script(_GET, self._keys, require_dotted(key), changes=False)
        return None if revision is None else KeyEntry(key, value, int(revision))

    async def create(self, key: str, value: bytes) -> int:
        """Set a key that is not there."""
        return await self._set(key, "", value)

    async def update(self, key: str, value: bytes, *, revision: int) -> int:
        """Set a key that is at a revision."""
        return await self._set(key, str(revision), value)

    async def _set(self, key: str, expected: str, value: bytes) -> int:
        require_dotted(key)
        is_set, revision = await self._link.script(_SET, self._keys, key, expected, require_message(value))
        if not is_set:
            there = revision.decode() or "none"
            raise KeyMoved(f"the key {key} is at revision {there}, not {expected or 'none'}; get it and decide anew")
        return int(revision)
