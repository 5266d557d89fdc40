"""The state database as a copy of the log, on real servers that are killed and frozen, by machines that stand still."""

import asyncio
import itertools
import random
import signal
import sqlite3
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent import mailbox as mailbox_module
from agent.event import Event
from agent.mailbox import Mailbox, Wake
from memory.engine.access import Login, engine_at
from memory.engine.interface import Engine
from memory.errors import StateUnusable, Unconfirmed
from memory.recall import index as recall_module
from memory.recall.index import Index
from memory.state import journal as journal_module
from memory.state import owner_settings as settings_module
from memory.state import retention
from memory.state import tiers as tiers_module
from memory.state.journal import Entry, Journal
from memory.state.replicated import ReplicatedDatabase
from memory.state.tiers import Tiers
from tests.engine_servers import Server, nats_server, redis_server
from tests.engine_session import shared_server
from tests.memory.state.copies import content, turn
from tests.memory.state.notes import NOTES, note, notes
from tests.processes import ROOT

SERVERS = {"nats": nats_server, "redis": redis_server}

STATE = (
    journal_module.SCHEMA,
    mailbox_module.SCHEMA,
    tiers_module.SCHEMA,
    recall_module.SCHEMA,
    settings_module.SCHEMA,
)

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def connected(url: str, household: str) -> AsyncIterator[Engine]:
    engine = engine_at(url, household, Login())
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()


@asynccontextmanager
async def machine(
    server: Server, household: str, folder: Path, name: str, *schemas: str
) -> AsyncIterator[ReplicatedDatabase]:
    async with connected(server.url, household) as engine:
        database = ReplicatedDatabase(folder / name / "nakari.db", engine, household=household, machine=name)
        await database.open(*schemas)
        try:
            yield database
        finally:
            await database.close()


async def until_equal(follower: ReplicatedDatabase, leader: ReplicatedDatabase) -> None:
    """Let a machine follow until it is where the other one is; then all of their files is the same."""
    async with asyncio.TaskGroup() as group:
        following = group.create_task(follower.follow())
        while follower.position.position < leader.position.position:
            await follower.read(turn)
        following.cancel()
    assert await follower.read(content) == await leader.read(content)


class Household:
    """A household that does anything, by chance."""

    def __init__(self, database: ReplicatedDatabase, seed: int) -> None:
        self.chance = random.Random(seed)
        self.database = database
        self.journal = Journal(database)
        self.now = NOON
        self.mailbox = Mailbox(database, lambda: self.now, self._refuse)
        self.tiers = Tiers(database, self.journal, lambda: self.now)
        self.index = Index(self.journal)
        self.events: list[str] = []
        self.entries: list[str] = []

    async def _refuse(self, *_: object) -> None:
        raise LookupError("nothing is due")

    async def act(self) -> None:
        """Do one thing."""
        self.now += timedelta(minutes=self.chance.randint(0, 90))
        steps = [self._say, self._put, self._take, self._put_again, self._erase, self._fill, self._fail, self._vector]
        weights = [8, 5, 8, 1, 1, 2, 1, 2]
        try:
            await self.chance.choices([*steps, self._thin], [*weights, 1])[0]()
        except (LookupError, sqlite3.IntegrityError):
            return

    async def _say(self) -> None:
        words = self.chance.choice(("call me Ada", "我喜欢茶", "half \ud800", "the key is 4711\0", "", "tea at five"))
        event = self.chance.choice(self.events or ["none"])
        entries = [
            Entry(
                self.chance.choice(("runs.new", "speech.sentence_started", "tools.requests", "events.marked")),
                {"words": words, "float": self.chance.random(), "whole": self.chance.getrandbits(63)},
                event_id=event,
                owner_key=self.chance.choice(("household", "ada")),
                session_id="room",
                id=f"{self.chance.getrandbits(128):032x}",
                at=self.now,
            )
            for _ in range(self.chance.randint(1, 3))
        ]
        self.entries += [entry.id for entry in entries]
        await self.journal.append(*entries, durable=self.chance.random() < 0.5)

    async def _put(self) -> None:
        event = Event("human_input", "do something", id=f"{self.chance.getrandbits(128):032x}", created_at=self.now)
        self.events.append(event.id)
        await self.mailbox.enqueue(event)

    async def _put_again(self) -> None:
        await self.mailbox.enqueue(
            Event("human_input", "again", id=self.chance.choice(self.events), created_at=self.now)
        )

    async def _take(self) -> None:
        lease = await self.mailbox.take()
        way = self.chance.randint(0, 3)
        if way == 0:
            await self.mailbox.complete(lease.event.id, "done 🎉", {"usd": 0.1})
        elif way == 1:
            await self.mailbox.suspend(lease.event.id, "later", Wake("time", self.now + timedelta(hours=1)))
        elif way == 2:
            await self.mailbox.fail(lease.event.id, "it does not work")
        else:
            await self.mailbox.recover()

    async def _erase(self) -> None:
        names = self.chance.sample(self.entries, min(3, len(self.entries)))

        def erase(connection: sqlite3.Connection) -> None:
            for name in names:
                row = connection.execute("SELECT seq, body FROM journal WHERE id = ?", (name,)).fetchone()
                if row is not None:
                    journal_module.erase_body(connection, row)

        await self.database.write(erase)

    async def _fill(self) -> None:
        await self.tiers.fill()
        await self.index.fill()

    async def _fail(self) -> None:
        def half(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE mailbox SET note = 'half'")
            raise LookupError

        async with asyncio.TaskGroup() as together:
            together.create_task(self._say())
            together.create_task(_failing(self.database, half))
            together.create_task(self._put())

    async def _vector(self) -> None:
        blob = self.chance.randbytes(64)
        await self.database.write(
            lambda connection: connection.execute(
                "INSERT OR REPLACE INTO recall_vector SELECT id, 'model', ? FROM recall_item ORDER BY id DESC LIMIT 1",
                (blob,),
            )
        )

    async def _thin(self) -> None:
        keep = retention.Keep(details_days=20, words_days=30)
        await retention.Retention(self.database, keep, lambda: False, now=lambda: self.now).once()


async def _failing(database: ReplicatedDatabase, change: object) -> None:
    with pytest.raises(LookupError):
        await database.write(change)  # type: ignore[arg-type]  # of a connection


@pytest.mark.shows("A23", "H10")
async def test_a_follower_equals_the_writer_after_hundreds_of_random_operations(
    tmp_path: Path, every_step: bool
) -> None:
    """600 of them, and 2,000 with --every-step."""
    operations = 2000 if every_step else 600
    server, household = await shared_server("nats"), f"h{uuid.uuid4().hex}"
    async with (
        machine(server, household, tmp_path, "one", *STATE) as one,
        machine(server, household, tmp_path, "two", *STATE) as two,
        machine(server, household, tmp_path, "new", *STATE) as new,
    ):
        await one.lead(1)
        living = Household(one, 7)
        for number in range(operations):
            await living.act()
            if number in (operations // 3, 2 * operations // 3):
                await one.take_snapshot()
            if number == operations // 2:
                await until_equal(two, one)
        await until_equal(two, one)
        await until_equal(new, one)
        assert len(await living.journal.entries()) > 100, "something is left to be compared"
        await two.lead(2)
        following = Household(two, 8)
        for _ in range(50):
            await following.act()
        await until_equal(one, two)


@pytest.mark.shows("A23", "H10")
@pytest.mark.parametrize("scheme", SERVERS)
async def test_a_server_that_is_killed_again_and_again_loses_nothing_and_takes_nothing_twice(
    scheme: str, tmp_path: Path
) -> None:
    await shared_server(scheme)  # skips where there is none
    chance, server = random.Random(scheme), SERVERS[scheme](tmp_path / "server")
    await asyncio.to_thread(server.start)
    written = itertools.count()
    try:
        async with machine(server, "home", tmp_path, "one", NOTES) as one:
            await one.lead(1)
            for _ in range(6):
                async with asyncio.TaskGroup() as together:
                    dying = together.create_task(killed_and_started(server, chance.randint(1, 20), one))
                    while not dying.done():
                        await until_written(one, str(next(written)))
            confirmed = [str(number) for number in range(next(written))]
            assert await one.read(notes) == confirmed
            async with machine(server, "home", tmp_path, "two", NOTES) as two:
                await until_equal(two, one)
    finally:
        server.kill()
    assert len(confirmed) > 20


async def until_written(database: ReplicatedDatabase, text: str) -> None:
    """Write a note, as often as it takes."""
    while True:
        try:
            await database.write(note(text))
        except StateUnusable:
            await asyncio.sleep(0)
        else:
            return


async def killed_and_started(server: Server, records: int, writer: ReplicatedDatabase) -> None:
    """Kill a server beside a machine that writes, once it has written so many records, and start it again."""
    wanted = writer.position.position + records
    while writer.position.position < wanted:
        await writer.read(notes)  # behind the writes that wait
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)


@pytest.mark.shows("H10")
async def test_a_frozen_server_takes_a_write_late_or_not_at_all_and_every_machine_agrees(tmp_path: Path) -> None:
    await shared_server("nats")
    server = nats_server(tmp_path / "server")
    await asyncio.to_thread(server.start)
    try:
        async with machine(server, "home", tmp_path, "one", NOTES) as one, asyncio.timeout(120):
            await one.lead(1)
            server.freeze()
            with pytest.raises(Unconfirmed, match="may be done yet: look before you say it again"):
                await one.write(note("frozen"))
            assert await one.read(notes) == []
            server.thaw()
            await until_written(one, "after")
            assert sorted(map(str, await one.read(notes))) in (["after"], ["after", "frozen"])
            async with machine(server, "home", tmp_path, "two", NOTES) as two:
                await until_equal(two, one)
    finally:
        server.kill()


@pytest.mark.shows("H10")
@pytest.mark.parametrize("scheme", SERVERS)
async def test_a_machine_that_was_stopped_while_another_took_over_writes_nothing_when_it_goes_on(
    scheme: str, tmp_path: Path
) -> None:
    server, household = await shared_server(scheme), f"h{uuid.uuid4().hex}"
    arguments = ("-m", "tests.memory.state.stale_program", server.url, household, str(tmp_path / "stale"))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    assert await process.stdout.readline() == b"leads\n"
    process.stdin.write(b"before\n")
    assert await process.stdout.readline() == b"written\n"
    process.send_signal(signal.SIGSTOP)
    async with machine(server, household, tmp_path, "new", NOTES) as new:
        await new.lead(2)
        await new.write(note("since"))
        process.stdin.write(b"stale\n")
        process.send_signal(signal.SIGCONT)
        assert b"superseded" in await process.stdout.readline()  # in its log
        assert b"Superseded: this machine only follows: 'new' leads" in await process.stdout.readline()
        process.stdin.close()
        assert await process.wait() == 0
        assert await new.read(notes) == ["before", "since"]
        async with machine(server, household, tmp_path, "two", NOTES) as two:
            await until_equal(two, new)
