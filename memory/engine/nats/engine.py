"""One household on a NATS server with JetStream."""

import asyncio
from collections.abc import Sequence
from typing import Final

from nats.js.api import AccountInfo, StreamConfig
from nats.js.object_store import OBJ_ALL_CHUNKS_PRE_TEMPLATE, OBJ_ALL_META_PRE_TEMPLATE

from memory.egress import SendsTo
from memory.engine.access import Address, Login
from memory.engine.interface import DEADLINE, TAKE_SECONDS
from memory.engine.names import require_word
from memory.engine.nats.blobs import NatsBlobs
from memory.engine.nats.connection import Connection, Link
from memory.engine.nats.inbox import NatsInbox, make_stream
from memory.engine.nats.keys import NatsKeys
from memory.engine.nats.log import NatsLog
from memory.engine.nats.syncing import syncs
from memory.engine.nats.topics import NatsTopics
from memory.errors import EngineFailure, EngineUnreachable, OutcomeUnknown

OLDEST: Final = (2, 10)
"""The first version of nats-server that can sync before it acknowledges."""

SENDS: Final = "what is said, done and remembered, to the household's other machines"

_NEARLY_FULL: Final = 0.9


class NatsEngine:
    """An `Engine`: its streams and buckets are nakari_HOUSEHOLD_*, its subjects nakari.HOUSEHOLD.*."""

    def __init__(self, server: Address, household: str, login: Login, *, take_seconds: float = TAKE_SECONDS) -> None:
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

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """All of it goes to the one server."""
        return (SendsTo(SENDS, self._server.at),)

    def inbox(self, name: str) -> NatsInbox:
        """Return the inbox of a name, the same each time."""
        require_word(name)
        subject = f"{self._prefix}.inbox.{name}"
        made = NatsInbox(self._link, f"{self._name}_inbox_{name}", subject, self._take_seconds)
        return self._inboxes.setdefault(name, made)

    async def open(self) -> None:
        """Connect, and make what is missing."""
        await self._link.ask(_nothing, changes=False)

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
        connection = await self._link.ask(_nothing, changes=False)
        return f"NATS {_version(connection)} at {self._server.url}"

    async def check(self) -> Sequence[str]:
        """Return what is wrong: version, room, and whether it syncs before it acknowledges."""
        try:
            connection = await self._link.ask(_nothing, changes=False)
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
        except (EngineUnreachable, OutcomeUnknown):
            return ()
        if found:
            return ()
        what = f"NATS at {self._server.at} acknowledges before it writes to its disk"
        return (f"{what}: a cut of its power loses that; set sync_interval: always in its jetstream block",)


def _version(connection: Connection) -> str:
    version = connection.client.connected_server_version
    return f"{version.major}.{version.minor}.{version.patch}"


async def _nothing(connection: Connection) -> Connection:
    await asyncio.sleep(0)
    return connection
