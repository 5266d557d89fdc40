"""Keys in JetStream's key-value store."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

from nats.aio.msg import Msg
from nats.errors import Error
from nats.js.api import DeliverPolicy
from nats.js.errors import APIError, KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KV_OP, KeyValue

from memory.engine.interface import DEADLINE, KeyEntry
from memory.engine.names import require_dotted, require_message
from memory.engine.nats.connection import WRONG_SEQUENCE, Connection, Link
from memory.engine.nats.pull import ConsumerGone, Pull, reading
from memory.errors import EngineUnreachable, KeyMoved

_BATCH: Final = 64


class NatsKeys:
    """The `Keys` of a household."""

    def __init__(self, link: Link, bucket: str) -> None:
        self._link = link
        self._bucket = bucket
        self._stream = f"KV_{bucket}"
        self._subject = f"$KV.{bucket}."

    def _store(self, connection: Connection) -> KeyValue:
        # The newest value is asked of the stream itself: a direct get may be answered by one that is behind.
        return KeyValue(self._bucket, self._stream, self._subject, connection.jetstream, direct=False)

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

    async def delete(self, key: str, *, revision: int) -> None:
        """Delete a key that is at a revision."""
        require_dotted(key)
        try:
            await self._link.ask(lambda connection: self._store(connection).delete(key, last=revision))
        except APIError as error:
            if error.err_code not in WRONG_SEQUENCE:
                raise
            raise KeyMoved(f"the key {key} is not at {revision} any more; get it and decide anew") from None

    async def entries(self, prefix: str = "") -> Sequence[KeyEntry]:
        """Return all keys that begin with `prefix`."""
        found = await self._link.ask(self._newest, changes=False)
        kept = [each for each in found if each.value is not None and each.key.startswith(prefix)]
        return tuple(sorted(kept, key=lambda entry: entry.key))

    async def _newest(self, connection: Connection) -> list[KeyEntry]:
        pull = await self._reading(connection)
        found: list[KeyEntry] = []
        try:
            while True:
                before = len(found)
                await pull.ask(_BATCH, waits=False)
                while (message := await pull.next(DEADLINE)) is not None:
                    found.append(self._entry(message))
                if len(found) < before + _BATCH:
                    return found
        except ConsumerGone:
            raise TimeoutError from None
        finally:
            await pull.close()

    async def watch(self, prefix: str = "") -> AsyncIterator[KeyEntry]:
        """Yield the keys, then each that changes, on one connection after the other."""
        there: set[str] = set()
        while True:
            connection = await self._link.patiently()
            pull: Pull | None = None
            try:
                pull = await self._link.ask(self._reading, changes=False)
                while True:
                    await pull.ask(_BATCH, waits=True)
                    while (message := await pull.next()) is not None:
                        entry = self._entry(message)
                        if entry.key.startswith(prefix) and (entry.value is not None or entry.key in there):
                            yield entry
                            (there.discard if entry.value is None else there.add)(entry.key)
            except (EngineUnreachable, ConsumerGone, TimeoutError, Error):
                if connection.is_alive:
                    await asyncio.sleep(0.1)
            finally:
                if pull is not None:
                    await pull.close()

    async def _reading(self, connection: Connection) -> Pull:
        newest = DeliverPolicy.LAST_PER_SUBJECT
        return await reading(connection, self._stream, deliver_policy=newest, filter_subject=f"{self._subject}>")

    def _entry(self, message: Msg) -> KeyEntry:
        is_deleted = KV_OP in (message.headers or {})
        key = message.subject.removeprefix(self._subject)
        return KeyEntry(key, None if is_deleted else message.data, message.metadata.sequence.stream)
