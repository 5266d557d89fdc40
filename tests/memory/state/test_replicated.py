"""The state database as a copy of the log, on the engine in memory."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from memory.errors import StateUnusable, Superseded
from memory.state.database import Database
from memory.state.replica.copying import Record
from memory.state.replica.snapshots import snapshots
from memory.state.replicated import ReplicatedDatabase
from tests.engine_fake import FakeBlobs, FakeEngine, FakeServer, Link
from tests.memory.state.copies import content, turn
from tests.memory.state.notes import NOTES, note, notes
from tests.room.virtual_time import passed


class Machines:
    """Machines of one household, each with a folder and a line to the engine of its own."""

    def __init__(self, folder: Path) -> None:
        self.server = FakeServer()
        self.engines: dict[str, FakeEngine] = {}
        self._folder = folder

    @asynccontextmanager
    async def machine(
        self, name: str, schema: str = NOTES, migrations: tuple[str, ...] = (), household: str = "home"
    ) -> AsyncIterator[ReplicatedDatabase]:
        engine = self.engine(name)
        database = ReplicatedDatabase(
            self.path(name), engine, household=household, machine=name, migrations=migrations, records_a_snapshot=10
        )
        await database.open(schema)
        try:
            yield database
        finally:
            await database.close()

    def engine(self, name: str) -> FakeEngine:
        return self.engines.setdefault(name, FakeEngine(self.server))

    def path(self, name: str) -> Path:
        return self._folder / name / "nakari.db"


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


@asynccontextmanager
async def following(*databases: ReplicatedDatabase) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each.follow()) for each in databases]
        yield
        for task in tasks:
            task.cancel()


async def until_at(database: ReplicatedDatabase, position: int) -> None:
    while database.position.position < position:
        await database.read(turn)


async def caught_up(database: ReplicatedDatabase, leader: ReplicatedDatabase) -> None:
    async with following(database):
        await until_at(database, leader.position.position)


async def test_what_the_leader_wrote_is_in_every_follower_and_in_a_machine_that_comes_new(machines: Machines) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        async with following(two):
            for number in range(20):
                await one.write(note(f"words {number}"), durable=False)
            await until_at(two, one.position.position)
        assert await two.read(notes) == [f"words {number}" for number in range(20)]
        assert await two.read(content) == await one.read(content)
        await one.take_snapshot()
        await one.write(note("later"))
        async with machines.machine("new") as new:
            await caught_up(new, one)
            assert await new.read(content) == await one.read(content)


async def test_a_follower_writes_nothing_and_says_who_leads(machines: Machines) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        await caught_up(two, one)
        with pytest.raises(Superseded, match="'one' leads"):
            await two.write(note("sneaked in"))
        assert await two.read(notes) == []


async def test_who_was_superseded_changes_nothing_more_and_is_told(machines: Machines) -> None:
    told: list[str] = []
    async with machines.machine("one") as one, machines.machine("two") as two:
        one.observe_superseded(lambda: told.append("one"))
        await one.lead(1)
        await one.write(note("before"))
        await two.lead(2)
        with pytest.raises(Superseded, match="'two' leads"):
            await one.write(note("stale"))
        await asyncio.sleep(0)
        assert told == ["one"]
        await two.write(note("after"))
        with pytest.raises(Superseded):
            await one.lead(2)
        await one.lead(3)
        assert await one.read(notes) == ["before", "after"]
        with pytest.raises(Superseded, match="'one' leads"):
            await two.write(note("stale too"))


async def test_a_follower_that_runs_along_is_told_without_writing(machines: Machines) -> None:
    superseded = asyncio.Event()
    async with machines.machine("one") as one, machines.machine("two") as two:
        one.observe_superseded(superseded.set)
        await one.lead(1)
        async with following(one):
            await two.lead(2)
            await superseded.wait()
        with pytest.raises(Superseded):
            await one.write(note("stale"))


async def test_a_transaction_is_one_record_without_what_failed_in_it(machines: Machines) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        before = one.position.position

        def half(connection: sqlite3.Connection) -> None:
            note("half")(connection)
            raise LookupError("the other half")

        async with asyncio.TaskGroup() as together:
            together.create_task(one.write(note("a")))
            together.create_task(_failing(one, half))
            together.create_task(one.write(note("b")))
        assert one.position.position - before <= 2, "what waits together shares a record"
        end = one.position.position
        await one.write(lambda connection: connection.execute("UPDATE notes SET text = text WHERE id > 99"))
        assert one.position.position == end, "what changed nothing is no record"
        await caught_up(two, one)
        assert await two.read(content) == await one.read(content)


async def _failing(database: ReplicatedDatabase, change: Callable[[sqlite3.Connection], None]) -> None:
    with suppress(LookupError):
        await database.write(change)


async def test_values_come_back_exactly(machines: Machines) -> None:
    values = [2**63 - 1, -(2**53) - 1, 0.1 + 0.2, 1e308, float("inf"), b"\0\xff", "a\0b", "漢字 🎉", None, True, b""]
    schema = "CREATE TABLE IF NOT EXISTS given (id INTEGER PRIMARY KEY, value, kind TEXT)"

    def keep(connection: sqlite3.Connection) -> None:
        connection.executemany("INSERT INTO given (value) VALUES (?)", ((value,) for value in values))
        connection.execute("INSERT INTO given (value) VALUES (:v)", {"v": memoryview(b"view"), "unused": "x" * 1000})
        connection.execute("UPDATE given SET kind = typeof(value)")

    def given(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
        return [tuple(row) for row in connection.execute("SELECT value, kind FROM given ORDER BY id")]

    async with machines.machine("one", schema) as one, machines.machine("two", schema) as two:
        await one.lead(1)
        await one.write(keep)
        await caught_up(two, one)
        assert await two.read(given) == await one.read(given)
        assert [value for value, _ in await two.read(given)] == [*values, b"view"]


async def test_a_number_of_autoincrement_that_an_ignored_insert_took_is_taken_on_every_machine(
    machines: Machines,
) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        for text in ("a", "a", "a", "b"):
            await one.write(note(text))
        await caught_up(two, one)
        assert await two.read(content) == await one.read(content)


async def test_what_the_engine_never_answered_is_there_or_not_but_never_half(machines: Machines) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        await one.write(note("a"))
        async with asyncio.TaskGroup() as group:
            machines.engine("one").link.lose_answers = 1
            group.create_task(cut_off_at(machines.server, 3, machines.engine("one").link))
            with pytest.raises(StateUnusable, match=r"cannot be written.*may be done yet: look before"):
                await one.write(note("unknown"))
        machines.engine("one").link.mend()
        assert await one.read(notes) == ["a"], "nothing in the file that may not be in the log"
        await one.write(note("b"))
        assert await one.read(notes) == ["a", "unknown", "b"], "it was there, and is found before the next write"
        await caught_up(two, one)
        assert await two.read(content) == await one.read(content)


async def cut_off_at(server: FakeServer, position: int, link: Link) -> None:
    """Cut a link in the moment in which a record has come to the server, and its answer has not come back."""
    while len(server.records) < position:
        await server.bell.wait()
    link.cut()


async def test_an_engine_that_is_away_or_full_takes_nothing_and_works_again_afterwards(machines: Machines) -> None:
    async with machines.machine("one") as one:
        await one.lead(1)
        machines.server.is_full = True
        with pytest.raises(StateUnusable):
            await one.write(note("no room"))
        machines.server.is_full = False
        machines.server.kill()
        with pytest.raises(StateUnusable):
            await one.write(note("away"))
        machines.server.start()
        await one.write(note("again"))
        assert await one.read(notes) == ["again"]


async def test_what_comes_twice_or_late_is_applied_once(machines: Machines) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        link = machines.engine("one").link
        for number in range(30):
            link.double, link.delay = number % 2, 0.001 * (number % 3)
            await one.write(note(number))
        await caught_up(two, one)
        assert await two.read(notes) == [str(number) for number in range(30)]
        assert await two.read(content) == await one.read(content)


async def test_a_file_of_before_becomes_the_households_first_state(machines: Machines) -> None:
    alone = Database(machines.path("one"))
    await alone.open(NOTES)
    await alone.write(note("of before"))
    await alone.close()
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        await one.write(note("since"))
        await caught_up(two, one)
        assert await two.read(notes) == ["of before", "since"]
        assert await two.read(content) == await one.read(content)
    again = Database(machines.path("one"))
    with pytest.raises(StateUnusable, match=r"is a copy of what a household keeps.*\[machines\] url"):
        await again.open(NOTES)


async def test_a_file_with_a_life_of_its_own_does_not_join_a_household(machines: Machines) -> None:
    alone = Database(machines.path("two"))
    await alone.open(NOTES)
    await alone.close()
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        for join in (two.lead(2), two.follow()):
            with pytest.raises(StateUnusable, match=r"no copy of this household's.*move the file away"):
                await join


async def test_a_machine_that_was_away_while_the_log_was_dropped_goes_on_from_a_snapshot(machines: Machines) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        await one.write(note("a"))
        await caught_up(two, one)
        for text in "bcd":
            await one.write(note(text))
            await one.take_snapshot()
        await one.write(note("e"))
        assert len(await snapshots(machines.engine("beside").blobs)) == 2
        assert machines.server.dropped > two.position.position
        await caught_up(two, one)
        assert await two.read(content) == await one.read(content)


class TellingBlobs(FakeBlobs):
    """Tells when a blob came."""

    def __init__(self, engine: FakeEngine) -> None:
        super().__init__(engine)
        self.came = asyncio.Event()

    async def put(self, name: str, source: Path) -> None:
        await super().put(name, source)
        self.came.set()


async def test_a_snapshot_is_taken_when_the_log_has_grown(machines: Machines) -> None:
    async with machines.machine("one") as one, asyncio.TaskGroup() as group:
        await one.lead(1)
        blobs = machines.engine("one").blobs = TellingBlobs(machines.engine("one"))
        keeping = group.create_task(one.follow())
        for number in range(10):
            await one.write(note(str(number)))
        await blobs.came.wait()
        keeping.cancel()


async def test_words_that_are_deleted_leave_the_engine_and_every_file(machines: Machines) -> None:
    secret = "the password is swordfish"
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        async with following(two):
            await one.write(note(secret))
            await one.take_snapshot()
            await until_at(two, one.position.position)
            await one.write(lambda connection: connection.execute("DELETE FROM notes"))
            await one.write(lambda connection: connection.execute("DELETE FROM words"))
            await one.write(lambda connection: connection.execute("INSERT INTO words (words) VALUES ('optimize')"))
            await one.rewrite()
            await until_at(two, one.position.position)
        assert machines.server.dropped == one.position.position
        assert len(machines.server.blobs) == 1
        files = [file for name in ("one", "two") for file in machines.path(name).parent.iterdir()]
        while any(b"swordfish" in file.read_bytes() for file in files):
            await passed(0.01)  # the follower rewrites its file in a thread, behind the position that it tells
        for file in files:
            assert b"swordfish" not in file.read_bytes(), file
        async with machines.machine("new") as new:
            await caught_up(new, one)
            assert await new.read(content) == await one.read(content)


@pytest.mark.parametrize("torn", [b"", b"J{", b"Zabc", b"something else", b'J{"version":1}'])
async def test_a_record_that_is_torn_or_foreign_is_refused_with_a_sentence(machines: Machines, torn: bytes) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        await caught_up(two, one)
        await machines.engine("beside").log.append(torn, after=one.position.position, id="torn")
        with pytest.raises(StateUnusable, match="torn, or none of nakari's"):
            await two.follow()


async def test_a_record_of_another_log_or_a_gap_is_refused(machines: Machines) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        await caught_up(two, one)
        foreign = Record("change", 1, "one", "0" * 32).encode()
        await machines.engine("beside").log.append(foreign, after=one.position.position, id="foreign")
        with pytest.raises(StateUnusable, match=r"does not go on from .* move that file away"):
            await two.follow()


async def test_a_newer_nakari_is_refused_until_this_one_is_updated(machines: Machines) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        await caught_up(two, one)
        newer = b'J{"version":2,"anything":"else"}'
        await machines.engine("beside").log.append(newer, after=one.position.position, id="newer")
        with pytest.raises(StateUnusable, match=r"written by a newer nakari .* update nakari on this machine"):
            await two.follow()


async def test_the_schema_comes_by_the_log_and_an_older_nakari_refuses_a_newer_one(machines: Machines) -> None:
    async with machines.machine("old") as old:
        await old.lead(1)
        await old.write(note("a"))
        async with machines.machine("new", migrations=("ALTER TABLE notes ADD COLUMN more TEXT",)) as new:
            await new.lead(2)
            await new.write(lambda connection: connection.execute("UPDATE notes SET more = 'b'"))
            with pytest.raises(StateUnusable, match="written by a newer nakari"):
                await old.follow()
            assert await old.read(notes) == ["a"], "nothing of it is in its file"


async def test_a_copy_that_was_changed_beside_the_log_is_seen(machines: Machines) -> None:
    async with machines.machine("one") as one, machines.machine("two") as two:
        await one.lead(1)
        await one.write(note("a"))
        await caught_up(two, one)
        beside = sqlite3.connect(machines.path("two"))
        beside.execute("DELETE FROM notes")
        beside.commit()
        beside.close()
        await one.write(lambda connection: connection.execute("UPDATE notes SET text = 'b'"))
        with pytest.raises(StateUnusable, match="no copy of it any more"):
            await two.follow()


async def test_a_log_that_lost_what_it_acknowledged_is_not_written_to(machines: Machines) -> None:
    async with machines.machine("one") as one:
        await one.lead(1)
        await one.write(note("a"))
        await one.write(note("b"))
        del machines.server.records[-1]
        with pytest.raises(StateUnusable, match="restore the engine's files"):
            await one.write(note("c"))
        assert await one.read(notes) == ["a", "b"]
