"""Whether JetStream syncs before it acknowledges, as a client can see it."""

import asyncio
import json
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from statistics import median
from typing import Final

from nats.js.api import StorageType, StreamConfig
from nats.js.errors import NotFoundError

from memory.engine.access import Address
from memory.engine.nats.connection import Connection

_MONITOR: Final = 8222
"""The port that the server's documentation gives its monitoring pages."""

_TRIES: Final = 25
_SLOWER: Final = 1.35
"""So many times as long takes a message that is synced, at least, as one that is kept in the server's memory."""


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
    page = HTTPConnection(host, _MONITOR, timeout=1.0)
    try:
        page.request("GET", "/varz")
        told = json.loads(page.getresponse().read(1 << 20))
        if told["server_id"] != server_id:
            return None
        return bool(told["jetstream"]["config"].get("sync_always", False))
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        page.close()


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
