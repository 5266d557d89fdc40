"""Blobs in JetStream's object store: chunks, then a record of them that makes them count."""

import asyncio
import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from nats.js.errors import DigestMismatchError, NotFoundError
from nats.js.object_store import ObjectStore

from memory.engine.interface import DEADLINE, require_dotted
from memory.engine.nats.connection import Connection, Link
from memory.errors import BlobMissing
from memory.passing_files import written_beside

_SLOWEST: Final = 256 * 1024
"""Bytes a second that a blob is given time for, besides `DEADLINE`."""


class NatsBlobs:
    """The `Blobs` of a household, or the parts of its larger records."""

    def __init__(self, link: Link, bucket: str) -> None:
        self._link = link
        self._bucket = bucket
        self._meta = f"$O.{bucket}.M."

    async def put(self, name: str, source: Path) -> None:
        """Keep a file."""
        with await asyncio.to_thread(source.open, "rb") as file:
            await self._put(name, file, (await asyncio.to_thread(source.stat)).st_size)

    async def put_bytes(self, name: str, data: bytes) -> None:
        """Keep bytes; raises as `put`."""
        await self._put(name, io.BytesIO(data), len(data))

    async def _put(self, name: str, data: BinaryIO, size: int) -> None:
        require_dotted(name)

        async def put(connection: Connection) -> None:
            await self._store(connection).put(name, data)  # type: ignore[arg-type]  # any binary reader

        await self._link.ask(put, seconds=DEADLINE + size / _SLOWEST)

    async def get(self, name: str, target: Path) -> None:
        """Write a blob beside the target, then in its place."""
        async with written_beside(target) as file:
            await self._get(name, file)

    async def get_bytes(self, name: str) -> bytes:
        """Return a blob; raises as `get`."""
        into = io.BytesIO()
        await self._get(name, into)
        return into.getvalue()

    async def _get(self, name: str, into: BinaryIO) -> None:
        require_dotted(name)
        try:
            info = await self._link.ask(lambda connection: self._store(connection).get_info(name), changes=False)
            await self._link.ask(
                lambda connection: self._store(connection).get(name, writeinto=into),  # type: ignore[arg-type]
                changes=False,
                seconds=DEADLINE + (info.size or 0) / _SLOWEST,
            )
        except (NotFoundError, DigestMismatchError):
            raise BlobMissing(f"the engine has no whole blob {name}; see which there are") from None

    def _store(self, connection: Connection) -> ObjectStore:
        return ObjectStore(self._bucket, f"OBJ_{self._bucket}", connection.jetstream)

    async def delete(self, name: str) -> None:
        """Erase a blob, and that it was there."""
        require_dotted(name)

        async def delete(connection: Connection) -> None:
            try:
                await self._store(connection).delete(name)
            except NotFoundError:
                return
            meta = self._meta + base64.urlsafe_b64encode(name.encode()).decode()
            await connection.jetstream.purge_stream(f"OBJ_{self._bucket}", subject=meta)

        await self._link.ask(delete)

    async def names(self) -> Sequence[str]:
        """Return the names of all that have their record."""

        async def look(connection: Connection) -> Sequence[str]:
            info = await connection.jetstream.stream_info(f"OBJ_{self._bucket}", subjects_filter=f"{self._meta}>")
            found = (subject.removeprefix(self._meta) for subject in info.state.subjects or ())
            return tuple(sorted(base64.urlsafe_b64decode(each).decode() for each in found))

        return await self._link.ask(look, changes=False)
