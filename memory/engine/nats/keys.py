"""Keys in JetStream's key-value store."""

from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from memory.engine.interface import KeyEntry
from memory.engine.names import require_dotted, require_message
from memory.engine.nats.connection import Connection, Link
from memory.errors import KeyMoved


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
