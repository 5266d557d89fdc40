"""One household on a Redis server."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from memory.engine.access import Address, Login
from memory.engine.interface import TAKE_SECONDS, KeyEntry, require_dotted, require_message, require_word
from memory.engine.redis.connection import RedisLink
from memory.engine.redis.inbox import RedisInbox
from memory.engine.redis.log import RedisLog
from memory.engine.redis.topics import RedisTopics
from memory.errors import BlobMissing, EngineFailure, EngineRefused, KeyMoved
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


OLDEST: Final = (7, 0)
"""The first version of Redis whose scripts and streams do what is asked of them here."""

_WANTED: Final = {
    "appendonly": ("yes", "keeps nothing over a restart"),
    "appendfsync": ("always", "acknowledges before it writes to its disk: a cut of its power loses that"),
    "maxmemory-policy": ("noeviction", "throws away what it was given when its memory is full"),
}
"""What a setting must be, and what Redis does otherwise."""

_NEARLY_FULL: Final = 0.9


class RedisEngine:
    """An `Engine`: its keys and channels are nakari:HOUSEHOLD:*."""

    def __init__(self, server: Address, household: str, login: Login, *, take_seconds: float = TAKE_SECONDS) -> None:
        self.sends_to = server.sends_to
        self._server = server
        self._take_seconds = take_seconds
        self._link = RedisLink(server, login)
        self._prefix = prefix = f"nakari:{household}"
        self.log = RedisLog(self._link, prefix)
        self.keys = RedisKeys(self._link, prefix)
        self.topics = RedisTopics(self._link, prefix)
        self.blobs = RedisBlobs(self._link, prefix)
        self._inboxes: dict[str, RedisInbox] = {}

    @property
    def is_reachable(self) -> bool:
        """Whether the last that was tried came through."""
        return self._link.is_up

    def inbox(self, name: str) -> RedisInbox:
        """Return the inbox of a name, the same each time."""
        require_word(name)
        made = RedisInbox(self._link, f"{self._prefix}:inbox:{name}", self._take_seconds)
        return self._inboxes.setdefault(name, made)

    async def open(self) -> None:
        """Connect."""
        await self._link.do("PING", changes=False)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._link.close()

    async def describe(self) -> str:
        """Return name, version and address."""
        return f"Redis {(await self._info())['redis_version']} at {self._server.url}"

    async def _info(self) -> Mapping[str, str]:
        lines = (await self._link.do("INFO", changes=False)).decode(errors="replace").splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    async def check(self) -> Sequence[str]:
        """Return what is wrong: version, settings, room."""
        try:
            info = await self._info()
            return [*self._old(info), *await self._unsafe(), *self._full(info)]
        except EngineFailure as failure:
            return [str(failure)]

    def _old(self, info: Mapping[str, str]) -> Sequence[str]:
        version = info["redis_version"]
        if tuple(int(part) for part in version.split(".")[:2]) >= OLDEST:
            return ()
        return (f"Redis {version} at {self._server.at} is too old; update it to {OLDEST[0]}.{OLDEST[1]} or newer",)

    async def _unsafe(self) -> Sequence[str]:
        try:
            found = await self._link.do("CONFIG", "GET", *_WANTED, changes=False)
        except EngineRefused:
            what = f"whether Redis at {self._server.at} writes to its disk before it acknowledges cannot be seen"
            return (f"{what}; permit this login CONFIG GET",)
        present = {key.decode(): value.decode() for key, value in zip(found[::2], found[1::2], strict=True)}
        return [
            f"Redis at {self._server.at} {does}; set {name} {value} in its configuration"
            for name, (value, does) in _WANTED.items()
            if present.get(name, value) != value
        ]

    def _full(self, info: Mapping[str, str]) -> Sequence[str]:
        problems = []
        limit, used = int(info.get("maxmemory", "0")), int(info.get("used_memory", "0"))
        if limit and used > _NEARLY_FULL * limit:
            problems.append(f"Redis at {self._server.at} has used {used} of {limit} bytes; raise its maxmemory")
        if info.get("aof_last_write_status", "ok") != "ok":
            problems.append(f"Redis at {self._server.at} could not write to its disk; free some space there")
        return problems
