"""One household on a NATS server with JetStream; and whether that syncs before it acknowledges."""

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from statistics import median
from typing import Final

from nats.js.api import AccountInfo, StorageType, StreamConfig
from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError, NotFoundError
from nats.js.kv import KeyValue
from nats.js.object_store import OBJ_ALL_CHUNKS_PRE_TEMPLATE, OBJ_ALL_META_PRE_TEMPLATE

from memory.engine.access import Address, Login
from memory.engine.interface import DEADLINE, TAKE_SECONDS, KeyEntry, require_dotted, require_message, require_word
from memory.engine.nats.blobs import NatsBlobs
from memory.engine.nats.connection import Connection, Link
from memory.engine.nats.inbox import NatsInbox, make_stream
from memory.engine.nats.log import NatsLog
from memory.engine.nats.topics import NatsTopics
from memory.errors import EngineFailure, EngineRefused, EngineUnreachable, KeyMoved, OutcomeUnknown


class NatsKeys:
    """The `Keys` of a household."""

    def __init__(self, link: Link, bucket: str) -> None:
        self._link = link
        self._bucket = bucket

    def _store(self, connection: Connection) -> KeyValue:
        # The newest value is asked of the stream itself: a direct get may be answered by one that is behind.
        stream, subject = f"KV_{self._bucket}", f"$KV.{self._bucket}."
        return KeyValue(self._bucket, stream, subject, connection.jetstream, direct=False)

    async def get(self, key: str) -> KeyEntry | None:
        """Return the key's newest value."""
        require_dotted(key)
        try:
            found = await self._link.ask(lambda connection: self._store(connection).get(key), changes=False)
        except KeyNotFoundError:
            return None
        return KeyEntry(key, found.value or b"", found.revision or 0)

    async def create(self, key: str, value: bytes) -> int:
        """Set a key that is not there."""
        require_dotted(key)
        require_message(value)
        try:
            return await self._link.ask(lambda connection: self._store(connection).create(key, value))
        except KeyWrongLastSequenceError:
            raise KeyMoved(f"the key {key} is there already; get it and decide anew") from None

    async def update(self, key: str, value: bytes, *, revision: int) -> int:
        """Set a key that is at a revision."""
        require_dotted(key)
        require_message(value)
        try:
            return await self._link.ask(lambda connection: self._store(connection).update(key, value, last=revision))
        except KeyWrongLastSequenceError:
            raise KeyMoved(f"the key {key} is not at {revision} any more; get it and decide anew") from None


_MONITOR: Final = 8222
"""The port that the server's documentation gives its monitoring pages."""

_TRIES: Final = 25
_SLOWER: Final = 1.35
"""So many times as long takes a message that is synced, at least, as one that is kept in the server's memory."""

OLDEST: Final = (2, 10)
"""The first version of nats-server that can sync before it acknowledges."""

_NEARLY_FULL: Final = 0.9


async def syncs(connection: Connection, server: Address, name: str) -> bool:
    """Whether the server syncs: by its monitoring page where there is one, else by measuring.

    No request of a client asks for the setting. So messages to a stream in files are timed against one in memory, one
    after the other: on the same connection only a sync can be the difference. A disk that syncs within the noise, which
    then has a battery, counts as one that does not.
    """
    server_id = str(connection.client._server_info.get("server_id", ""))
    told = await asyncio.to_thread(_told, server.host, server_id)
    return told if told is not None else await _measured(connection, name)


def _told(host: str, server_id: str) -> bool | None:
    try:
        with closing(HTTPConnection(host, _MONITOR, timeout=1.0)) as page:
            page.request("GET", "/varz")
            told = json.loads(page.getresponse().read(1 << 20))
        is_it = told["server_id"] == server_id
        return bool(told["jetstream"]["config"].get("sync_always", False)) if is_it else None
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return None


async def _measured(connection: Connection, name: str) -> bool:
    """Whether files are slower, in one of two tries: what disturbs a measurement here makes them alike."""
    streams = {f"{name}_check_files": StorageType.FILE, f"{name}_check_memory": StorageType.MEMORY}
    try:
        for stream, storage in streams.items():
            config = StreamConfig(name=stream, subjects=[_subject(stream)], storage=storage)
            await connection.jetstream.add_stream(config)
        return await _is_slower(connection, *streams) or await _is_slower(connection, *streams)
    finally:
        for stream in streams:
            with suppress(NotFoundError):
                await connection.jetstream.delete_stream(stream)


async def _is_slower(connection: Connection, files: str, memory: str) -> bool:
    """Whether a message to one stream takes longer than to the other; in turn, beside all else."""
    seconds: dict[str, list[float]] = {files: [], memory: []}
    for _ in range(_TRIES):
        for stream, taken in seconds.items():
            began = time.perf_counter()
            await connection.jetstream.publish(_subject(stream), b"check")
            taken.append(time.perf_counter() - began)
    return median(seconds[files]) > _SLOWER * median(seconds[memory])


def _subject(stream: str) -> str:
    return stream.replace("_", ".")


class NatsEngine:
    """An `Engine`: its streams and buckets are nakari_HOUSEHOLD_*, its subjects nakari.HOUSEHOLD.*."""

    def __init__(self, server: Address, household: str, login: Login, *, take_seconds: float = TAKE_SECONDS) -> None:
        self.sends_to = server.sends_to
        self._server = server
        self._take_seconds = take_seconds
        self._link = Link(server, login, self._prepare)
        self._name = name = f"nakari_{household}"
        self._prefix = prefix = f"nakari.{household}"
        self._log_stream = StreamConfig(name=f"{name}_log", subjects=[f"{prefix}.log"], allow_direct=False)
        self.keys = NatsKeys(self._link, f"{name}_keys")
        self.topics = NatsTopics(self._link, prefix)
        self.blobs = NatsBlobs(self._link, f"{name}_blobs")
        parts = NatsBlobs(self._link, f"{name}_parts")
        self.log = NatsLog(self._link, f"{name}_log", f"{prefix}.log", parts)
        self._inboxes: dict[str, NatsInbox] = {}

    @property
    def is_reachable(self) -> bool:
        """Whether the connection stands, as far as is known."""
        return self._link.is_up

    def inbox(self, name: str) -> NatsInbox:
        """Return the inbox of a name, the same each time."""
        require_word(name)
        subject = f"{self._prefix}.inbox.{name}"
        made = NatsInbox(self._link, f"{self._name}_inbox_{name}", subject, self._take_seconds)
        return self._inboxes.setdefault(name, made)

    async def open(self) -> None:
        """Connect, and make what is missing."""
        await self._link.reach()

    async def close(self) -> None:
        """Let go of the connection."""
        await self._link.close()

    async def _prepare(self, connection: Connection) -> None:
        """Make the household's streams and buckets where they are missing."""
        await make_stream(connection, self._log_stream)
        keys = StreamConfig(
            name=f"KV_{self._name}_keys",
            subjects=[f"$KV.{self._name}_keys.>"],
            max_msgs_per_subject=1,
            allow_rollup_hdrs=True,
            deny_delete=True,
        )
        await make_stream(connection, keys)
        for bucket in (f"{self._name}_blobs", f"{self._name}_parts"):
            subjects = [each.format(bucket=bucket) for each in (OBJ_ALL_CHUNKS_PRE_TEMPLATE, OBJ_ALL_META_PRE_TEMPLATE)]
            store = StreamConfig(name=f"OBJ_{bucket}", subjects=subjects, allow_rollup_hdrs=True, allow_direct=True)
            await make_stream(connection, store)

    async def describe(self) -> str:
        """Return name, version and address."""
        connection = await self._link.reach()
        return f"NATS {_version(connection)} at {self._server.url}"

    async def check(self) -> Sequence[str]:
        """Return what is wrong: version, room, and whether it syncs before it acknowledges."""
        try:
            connection = await self._link.reach()
            account = await self._link.ask(lambda each: each.jetstream.account_info(), changes=False)
            return [*self._old(connection), *self._full(account), *await self._unsynced(connection)]
        except EngineFailure as failure:
            return [str(failure)]

    def _old(self, connection: Connection) -> Sequence[str]:
        version = connection.client.connected_server_version
        if (version.major, version.minor) >= OLDEST:
            return ()
        what = f"NATS {_version(connection)} at {self._server.at} cannot sync before it acknowledges"
        fix = f"update nats-server to {OLDEST[0]}.{OLDEST[1]} or newer"
        return (f"{what}: a cut of its power loses that; {fix}",)

    def _full(self, account: AccountInfo) -> Sequence[str]:
        limit = account.limits.max_storage
        used = account.storage
        if limit <= 0 or used < _NEARLY_FULL * limit:
            return ()
        what = f"JetStream at {self._server.at} has used {used} of {limit} bytes"
        return (f"{what}; raise max_file_store there, or the account's limit",)

    async def _unsynced(self, connection: Connection) -> Sequence[str]:
        try:
            found = await self._link.ask(
                lambda each: syncs(each, self._server, self._name), seconds=2 * DEADLINE, changes=False
            )
        except (EngineUnreachable, OutcomeUnknown, EngineRefused):  # ears may make no stream: the mind looks
            return ()
        if found:
            return ()
        what = f"NATS at {self._server.at} acknowledges before it writes to its disk"
        return (f"{what}: a cut of its power loses that; set sync_interval: always in its jetstream block",)


def _version(connection: Connection) -> str:
    version = connection.client.connected_server_version
    return f"{version.major}.{version.minor}.{version.patch}"
