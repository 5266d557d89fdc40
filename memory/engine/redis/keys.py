"""Keys as two hashes, values and revisions, changed by scripts; a stream of one entry wakes who watches."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

from memory.engine.interface import DEADLINE, KeyEntry
from memory.engine.names import require_dotted, require_message
from memory.engine.redis.connection import RedisLink
from memory.errors import EngineUnreachable, KeyMoved

_SET: Final = """
local there = redis.call('HGET', KEYS[2], ARGV[1]) or ''
if there ~= ARGV[2] then return {0, there} end
local revision = redis.call('INCR', KEYS[3])
if ARGV[3] == 'set' then
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
    redis.call('HSET', KEYS[2], ARGV[1], string.format('%d', revision))
else
    redis.call('HDEL', KEYS[1], ARGV[1])
    redis.call('HDEL', KEYS[2], ARGV[1])
end
redis.call('XADD', KEYS[4], 'MAXLEN', 1, string.format('%d-0', revision), 'changed', 1)
return {1, revision}
"""

_ALL: Final = """
return {tonumber(redis.call('GET', KEYS[3]) or '0'), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2])}
"""

_WAIT: Final = 5.0


class RedisKeys:
    """The `Keys` of a household."""

    def __init__(self, link: RedisLink, prefix: str) -> None:
        self._link = link
        self._keys = [f"{prefix}:keys:{part}" for part in ("values", "revisions", "count", "bell")]

    async def get(self, key: str) -> KeyEntry | None:
        """Return the key's newest value."""
        require_dotted(key)
        return next((entry for entry in await self.entries(key) if entry.key == key), None)

    async def create(self, key: str, value: bytes) -> int:
        """Set a key that is not there."""
        return await self._set(key, "", "set", require_message(value))

    async def update(self, key: str, value: bytes, *, revision: int) -> int:
        """Set a key that is at a revision."""
        return await self._set(key, str(revision), "set", require_message(value))

    async def delete(self, key: str, *, revision: int) -> None:
        """Delete a key that is at a revision."""
        await self._set(key, str(revision), "delete", b"")

    async def _set(self, key: str, expected: str, what: str, value: bytes) -> int:
        require_dotted(key)
        is_set, revision = await self._link.script(_SET, self._keys, key, expected, what, value)
        if not is_set:
            there = revision.decode() or "none"
            raise KeyMoved(f"the key {key} is at revision {there}, not {expected or 'none'}; get it and decide anew")
        return int(revision)

    async def entries(self, prefix: str = "") -> Sequence[KeyEntry]:
        """Return all keys that begin with `prefix`."""
        _, entries = await self._all(prefix)
        return tuple(entries[key] for key in sorted(entries))

    async def _all(self, prefix: str) -> tuple[int, dict[str, KeyEntry]]:
        count, values, revisions = await self._link.script(_ALL, self._keys, changes=False)
        at = {key.decode(): int(revision) for key, revision in zip(revisions[::2], revisions[1::2], strict=True)}
        pairs = zip(values[::2], values[1::2], strict=True)
        entries = (KeyEntry(key.decode(), value, at[key.decode()]) for key, value in pairs)
        return int(count), {entry.key: entry for entry in entries if entry.key.startswith(prefix)}

    async def watch(self, prefix: str = "") -> AsyncIterator[KeyEntry]:
        """Yield the keys, then each that is different when something changed."""
        known: dict[str, KeyEntry] = {}
        while True:
            try:
                count, found = await self._all(prefix)
            except EngineUnreachable:
                await self._link.patiently()
                continue
            gone = [KeyEntry(key, None, count) for key in known if key not in found]
            new = [entry for key, entry in found.items() if entry != known.get(key)]
            known = found
            for entry in sorted([*gone, *new], key=lambda entry: entry.revision):
                yield entry
            with suppress(EngineUnreachable):
                wait = ("BLOCK", int(_WAIT * 1000), "STREAMS", self._keys[3], f"{count}-0")
                await self._link.do("XREAD", *wait, changes=False, seconds=_WAIT + DEADLINE)
