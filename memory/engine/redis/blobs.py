"""Blobs as lists of chunks, which count once a hash names them."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from memory.engine.interface import require_dotted
from memory.engine.redis.connection import RedisLink
from memory.errors import BlobMissing
from memory.passing_files import written_beside

_CHUNK: Final = 512 * 1024

_UNFINISHED: Final = 3600
"""Seconds after which the chunks of a blob that was never finished go."""

_KEEP: Final = """
redis.call('PERSIST', KEYS[2])
local old = redis.call('HGET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if old then redis.call('DEL', ARGV[3] .. cjson.decode(old)['list']) end
return 1
"""

_DELETE: Final = """
local old = redis.call('HGET', KEYS[1], ARGV[1])
if old then
    redis.call('DEL', ARGV[2] .. cjson.decode(old)['list'])
    redis.call('HDEL', KEYS[1], ARGV[1])
end
return 1
"""


class RedisBlobs:
    """The `Blobs` of a household."""

    def __init__(self, link: RedisLink, prefix: str) -> None:
        self._link = link
        self._names = f"{prefix}:blobs"
        self._chunks = f"{prefix}:blob:"

    async def put(self, name: str, source: Path) -> None:
        """Send the chunks, then name them."""
        require_dotted(name)
        own = secrets.token_hex(12)
        with await asyncio.to_thread(source.open, "rb") as file:
            about = {"list": own, "sha256": await self._send(self._chunks + own, file)}
        await self._link.script(
            _KEEP, [self._names, self._chunks + own], name, json.dumps(about).encode(), self._chunks
        )

    async def _send(self, key: str, file: BinaryIO) -> str:
        digest = hashlib.sha256()
        while chunk := await asyncio.to_thread(file.read, _CHUNK):
            digest.update(chunk)
            await self._link.do("RPUSH", key, chunk)
            await self._link.do("EXPIRE", key, _UNFINISHED)
        return digest.hexdigest()

    async def get(self, name: str, target: Path) -> None:
        """Write a blob beside the target, then in its place."""
        found = await self._link.do("HGET", self._names, require_dotted(name), changes=False)
        about = json.loads(found) if found else {}
        async with written_beside(target) as file:
            if await self._fetch(self._chunks + about.get("list", ""), file) != about.get("sha256"):
                raise BlobMissing(f"the engine has no whole blob {name}; see which there are")

    async def _fetch(self, key: str, file: BinaryIO) -> str:
        digest = hashlib.sha256()
        at = 0
        while found := await self._link.do("LRANGE", key, at, at, changes=False):
            digest.update(found[0])
            await asyncio.to_thread(file.write, found[0])
            at += 1
        return digest.hexdigest()

    async def delete(self, name: str) -> None:
        """Erase a blob."""
        await self._link.script(_DELETE, [self._names], require_dotted(name), self._chunks)

    async def names(self) -> Sequence[str]:
        """Return the names that the hash has."""
        return tuple(sorted(name.decode() for name in await self._link.do("HKEYS", self._names, changes=False)))
