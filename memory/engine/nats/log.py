"""The log as a JetStream stream: its sequence numbers are the positions."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Final

from nats.aio.msg import Msg
from nats.errors import Error
from nats.js.api import DeliverPolicy, Header, StreamInfo
from nats.js.errors import APIError, NotFoundError

from memory.engine.interface import DEADLINE, READ_LIMIT, LogRecord, require_record, require_word
from memory.engine.nats.blobs import NatsBlobs
from memory.engine.nats.connection import WRONG_SEQUENCE, Connection, Link
from memory.engine.nats.pull import ConsumerGone, Pull, reading
from memory.errors import BlobMissing, EngineFailure, EngineUnreachable, LogDropped, LogLost, LogMoved, OutcomeUnknown

_ID: Final = "Nakari-Id"
_PARTS: Final = "Nakari-Parts"
"""Names the blob that a record lies in which is larger than the server's messages."""

_HEADERS: Final = 1024
"""Bytes of a message that are left for its headers."""

_BATCH: Final = 64
"""Records that are asked for at a time."""


class NatsLog:
    """The `Log` of a household.

    No Nats-Msg-Id is used: the expected last sequence lets a record in once, and the record's own id, read back when
    the server refuses, tells a repetition from another one, for ever and not for the stream's window only.
    """

    def __init__(self, link: Link, stream: str, subject: str, parts: NatsBlobs) -> None:
        self._link = link
        self._stream = stream
        self._subject = subject
        self._parts = parts

    async def append(self, record: bytes, *, after: int, id: str) -> int:
        """Append a record, in parts where the server's messages are smaller."""
        require_word(id)
        require_record(record)
        headers = {Header.EXPECTED_LAST_SEQUENCE.value: str(after), _ID: id}
        connection = await self._link.reach()
        if len(record) + _HEADERS > connection.client.max_payload:
            headers[_PARTS] = f"{after + 1}.{id}"
            try:
                await self._parts.put_bytes(headers[_PARTS], record)
            except OutcomeUnknown as error:
                raise EngineUnreachable(str(error)) from None
            record = b""
        try:
            acknowledged = await self._link.ask(
                lambda connection: connection.jetstream.publish(self._subject, record, headers=headers)
            )
        except APIError as error:
            if error.err_code not in WRONG_SEQUENCE:
                raise
            return await self._repeated(after, id)
        return acknowledged.seq

    async def _repeated(self, after: int, id: str) -> int:
        """Return the position when the record after `after` has this id, else raise `LogMoved`."""
        try:
            state = (await self._info()).state
            if state.first_seq <= after + 1 <= state.last_seq:
                found = await self._link.ask(
                    lambda connection: connection.jetstream.get_msg(self._stream, seq=after + 1), changes=False
                )
                if (found.headers or {}).get(_ID) == id:
                    return after + 1
        except NotFoundError:
            state = (await self._info()).state
        except EngineUnreachable as error:  # whether it was this one's own record cannot be seen now
            raise OutcomeUnknown(str(error)) from None
        what = f"the log ends at {state.last_seq}, and another record than this one stands after {after}"
        raise LogMoved(f"{what}; read on from there", state.last_seq)

    async def _info(self) -> StreamInfo:
        return await self._link.ask(lambda connection: connection.jetstream.stream_info(self._stream), changes=False)

    async def end(self) -> int:
        """Return the last sequence number."""
        return (await self._info()).state.last_seq

    async def read(self, after: int, limit: int = READ_LIMIT) -> Sequence[LogRecord]:
        """Return the records after a position."""
        state = (await self._info()).state
        self._require(after, state.first_seq, state.last_seq)
        wanted = min(limit, state.last_seq - after)
        found: list[LogRecord] = []
        while len(found) < wanted:
            more = await self._link.ask(
                lambda connection: self._batch(connection, after + len(found), wanted - len(found)), changes=False
            )
            found.extend([await self._whole(message) for message in more])
            if not more:
                raise LogDropped(f"the log dropped what comes after {after + len(found)}; load the newest snapshot")
        return found

    def _require(self, after: int, first: int, last: int) -> None:
        if after > last:
            what = f"the log at {self._link.server.at} ends at {last}, before {after}, which was read once"
            raise LogLost(f"{what}; restore the server's store, or name another household")
        if after + 1 < first:
            raise LogDropped(f"the log begins at {first}, not at {after + 1}; load the newest snapshot")

    async def _batch(self, connection: Connection, after: int, limit: int) -> list[Msg]:
        pull = await self._pull(connection, after)
        found: list[Msg] = []
        try:
            await pull.ask(min(limit, READ_LIMIT), waits=False)
            while (message := await pull.next(DEADLINE)) is not None:
                if message.metadata.sequence.stream != after + len(found) + 1:
                    break
                found.append(message)
        except ConsumerGone:
            raise TimeoutError from None
        finally:
            await pull.close()
        return found

    async def _pull(self, connection: Connection, after: int) -> Pull:
        return await reading(
            connection, self._stream, deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=after + 1
        )

    async def follow(self, after: int) -> AsyncIterator[LogRecord]:
        """Yield all records, for ever, on one connection after the other."""
        while True:
            connection = await self._link.patiently()
            try:
                async with aclosing(self._from(after)) as records:
                    async for record in records:
                        yield record
                        after = record.position
            except (EngineUnreachable, ConsumerGone, TimeoutError, Error, BlobMissing):
                pass
            if connection.is_alive:
                await asyncio.sleep(0.1)  # a consumer that vanished, or a record that is being dropped

    async def _from(self, after: int) -> AsyncGenerator[LogRecord, None]:
        """Yield records as long as one connection and one consumer last."""
        state = (await self._info()).state
        self._require(after, state.first_seq, state.last_seq)
        pull = await self._link.ask(lambda each: self._pull(each, after), changes=False)
        position = after
        try:
            while True:
                await pull.ask(_BATCH, waits=True)
                while (message := await pull.next()) is not None:
                    if message.metadata.sequence.stream != position + 1:
                        return
                    position += 1
                    yield await self._whole(message)
        finally:
            await pull.close()

    async def _whole(self, message: Msg) -> LogRecord:
        headers = message.headers or {}
        record = message.data
        if _PARTS in headers:
            record = await self._parts.get_bytes(headers[_PARTS])
        return LogRecord(message.metadata.sequence.stream, headers.get(_ID, ""), record)

    async def drop_through(self, position: int) -> None:
        """Purge the stream up to a position, and the parts of its records."""
        last = min(position, await self.end())
        await self._link.ask(lambda connection: connection.jetstream.purge_stream(self._stream, seq=last + 1))
        try:
            for name in await self._parts.names():
                if int(name.partition(".")[0]) <= last:
                    await self._parts.delete(name)
        except EngineFailure as error:
            raise OutcomeUnknown(str(error)) from None
