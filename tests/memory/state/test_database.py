import asyncio
import errno
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory.errors import DiskSilent, StateUnusable
from memory.state.database import Database, StateInUse
from tests.memory.state.door import Door, SlowDisk, until_reached
from tests.processes import child

NOTES = "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "state" / "nakari.db")
    await database.open(NOTES)
    yield database
    await database.close()


def note(text: str) -> Callable[[sqlite3.Connection], str]:
    def insert(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))
        return text

    return insert


def notes(connection: sqlite3.Connection) -> list[str]:
    return [row["text"] for row in connection.execute("SELECT text FROM notes ORDER BY id")]


async def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    for text in ("first", "second"):
        database = Database(tmp_path / "nakari.db")
        await database.open(NOTES)
        assert await database.write(note(text)) == text
        await database.close()
    database = Database(tmp_path / "nakari.db")
    await database.open(NOTES)
    assert await database.read(notes) == ["first", "second"]
    await database.close()
    await database.close()


async def test_a_change_that_raises_leaves_nothing_and_raises_its_own_error(database: Database) -> None:
    def half(connection: sqlite3.Connection) -> None:
        note("half")(connection)
        raise LookupError("the other half")

    with pytest.raises(LookupError, match="other half"):
        await database.write(half)
    await database.write(note("whole"))
    with pytest.raises(sqlite3.IntegrityError):
        await database.write(note("whole"))
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await database.write(lambda connection: connection.execute("DELETE FROM nowhere"))
    assert await database.read(notes) == ["whole"]


async def test_a_read_sees_every_write_asked_for_before_it_and_can_change_nothing(database: Database) -> None:
    async with asyncio.TaskGroup() as together:
        for place in range(5):
            together.create_task(database.write(note(str(place))))
        seen = together.create_task(database.read(notes))
        together.create_task(database.write(note("later")))
    assert seen.result() == ["0", "1", "2", "3", "4"]
    with pytest.raises(StateUnusable, match="readonly"):
        await database.read(note("sneaked in"))
    assert "sneaked in" not in await database.read(notes)


async def test_writes_that_wait_together_share_one_commit_and_fail_alone(database: Database) -> None:
    statements: list[str] = []
    await database.read(lambda connection: connection.set_trace_callback(statements.append))
    door = Door()
    async with asyncio.TaskGroup() as together:
        together.create_task(database.read(door))
        await until_reached(door)
        good = [together.create_task(database.write(note(text))) for text in ("a", "b")]
        twice = together.create_task(_failure(database, note("a")))
        good.append(together.create_task(database.write(note("c"))))
        together.create_task(door.open())
    assert [task.result() for task in good] == ["a", "b", "c"]
    assert isinstance(twice.result(), sqlite3.IntegrityError)
    assert statements.count("COMMIT") == 1
    assert await database.read(notes) == ["a", "b", "c"]


async def _failure(database: Database, change: Callable[[sqlite3.Connection], str]) -> Exception | None:
    try:
        await database.write(change)
    except sqlite3.Error as error:
        return error
    return None


async def test_the_event_loop_goes_on_while_the_disk_is_slow(database: Database) -> None:
    door = Door()
    async with asyncio.TaskGroup() as together:
        slow = together.create_task(database.write(door))
        await until_reached(door)
        await door.open()  # only a loop that is free comes here
    assert slow.result() is True


async def _cancel(task: asyncio.Task[str]) -> None:
    task.cancel()


async def test_a_write_cancelled_before_it_began_does_not_happen(database: Database) -> None:
    door = Door()
    async with asyncio.TaskGroup() as together:
        together.create_task(database.read(door))
        await until_reached(door)
        given_up = together.create_task(database.write(note("given up")))
        together.create_task(_cancel(given_up))
        with pytest.raises(asyncio.CancelledError):
            await given_up
        await door.open()
    assert await database.read(notes) == []


class SyncingDatabase(Database):
    """Tells when it syncs what nobody waited for."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.loop = asyncio.get_running_loop()
        self.synced = asyncio.Event()

    def _fdatasync(self) -> None:
        super()._fdatasync()
        self.loop.call_soon_threadsafe(self.synced.set)


@pytest.mark.shows("A24", "H9")
async def test_what_need_not_last_is_brought_to_the_disk_soon_after(tmp_path: Path) -> None:
    database = SyncingDatabase(tmp_path / "nakari.db")
    await database.open(NOTES)
    await database.write(note("lasting"))
    assert not database.synced.is_set()
    await database.write(note("first"), durable=False)
    await database.write(note("second"), durable=False)
    await database.synced.wait()
    await database.close()


@pytest.mark.shows("A24", "H9")
async def test_reads_and_writes_go_on_while_a_flush_waits_for_the_disk(tmp_path: Path) -> None:
    door = Door()
    database = SlowDisk(tmp_path / "nakari.db", door)
    await database.open(NOTES)
    await database.write(note("first"), durable=False)
    async with asyncio.TaskGroup() as together:
        flushed = together.create_task(database.flush())
        await until_reached(door)
        await database.write(note("second"), durable=False)
        assert await database.read(notes) == ["first", "second"]
        assert not flushed.done()
        await door.open()
    await database.close()


class NoDisk(Database):
    def _fdatasync(self) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


async def test_a_flush_that_the_disk_refuses_or_does_not_answer_says_so(tmp_path: Path) -> None:
    refusing, door = NoDisk(tmp_path / "refusing" / "nakari.db"), Door()
    hanging = SlowDisk(tmp_path / "hanging" / "nakari.db", door, patience=0.2)
    for database, told in ((refusing, "Input/output error"), (hanging, "does not answer")):
        with pytest.raises(StateUnusable, match="not open"):
            await database.flush()
        await database.open(NOTES)
        await database.write(note("kept"), durable=False)
        with pytest.raises(StateUnusable, match=told):
            await database.flush()
    with pytest.raises(DiskSilent):
        await hanging.read(notes)
    await door.open()
    for database in (refusing, hanging):
        await database.close()


async def test_more_callers_than_the_queue_holds_wait_for_room_in_order(database: Database) -> None:
    async with asyncio.TaskGroup() as together:
        for place in range(600):
            together.create_task(database.write(note(f"{place:03}")))
    assert await database.read(notes) == [f"{place:03}" for place in range(600)]


async def test_a_database_that_is_not_open_says_so(tmp_path: Path) -> None:
    database = Database(tmp_path / "nakari.db")
    with pytest.raises(StateUnusable, match="not open"):
        await database.read(notes)
    await database.open(NOTES)
    await database.close()
    with pytest.raises(StateUnusable, match="not open"):
        await database.write(note("too late"))


async def test_an_older_file_is_led_to_the_present_and_a_newer_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "nakari.db"
    first = Database(path)
    await first.open(NOTES)
    await first.write(note("old"))
    await first.close()

    with_tags = "ALTER TABLE notes ADD COLUMN tag TEXT NOT NULL DEFAULT 'none'"
    for _ in range(2):  # the second time nothing is left to do
        second = Database(path, migrations=(with_tags,))
        await second.open(NOTES)
        rows = await second.read(lambda connection: connection.execute("SELECT text, tag FROM notes").fetchall())
        assert [tuple(row) for row in rows] == [("old", "none")]
        await second.close()

    with pytest.raises(StateUnusable, match=r"newer nakari .*version 2, this one knows 1.*update nakari"):
        await Database(path).open(NOTES)


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "nakari.db"
    first = Database(path)
    await first.open(NOTES)
    await first.close()
    with pytest.raises(sqlite3.OperationalError):
        await Database(path, migrations=("DROP TABLE notes", "not SQL at all")).open(NOTES)
    await first.open()
    assert await first.read(notes) == []
    await first.close()


async def test_a_file_that_is_no_database_and_one_that_is_damaged_say_so_with_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "nakari.db"
    path.write_bytes(b"this is a shopping list, and a long one " * 200)
    with pytest.raises(StateUnusable, match=r"nakari\.db.*not a database.*backup"):
        await Database(path).open(NOTES)
    assert path.read_bytes().startswith(b"this is a shopping list")

    path.unlink()
    database = Database(path)
    await database.open(NOTES)
    for place in range(500):
        await database.write(note(f"{place} {'x' * 100}"))
    await database.close()
    with path.open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xff" * 8 * 4096)
    await database.open(NOTES)
    with pytest.raises(StateUnusable, match=r"malformed.*backup"):
        await database.read(notes)
    await database.close()


async def test_a_text_that_the_disk_changed_is_told_without_its_words(tmp_path: Path) -> None:
    database = Database(tmp_path / "nakari.db")
    await database.open(NOTES)
    await database.write(note("somebody's secret"))
    await database.close()
    content = database.path.read_bytes()
    database.path.write_bytes(content.replace(b"somebody", b"s\xefmebody"))
    await database.open(NOTES)
    with pytest.raises(StateUnusable, match=r"a text in it was changed.*backup") as told:
        await database.read(notes)
    assert "secret" not in str(told.value)
    await database.close()


async def test_a_folder_that_cannot_be_made_says_so_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StateUnusable, match=r"state folder .*cannot be used.*another \[state\] folder"):
        await Database(tmp_path / "file" / "state" / "nakari.db").open(NOTES)


@pytest.mark.parametrize("of", [Path.mkdir, lambda path: path.symlink_to(path.name)], ids=["folder", "loop"])
async def test_what_is_no_file_is_not_to_be_made_writable(tmp_path: Path, of: Callable[[Path], None]) -> None:
    path = tmp_path / "nakari.db"
    of(path)
    with pytest.raises(StateUnusable, match=r"nakari.db cannot be used \(it is no file\); restore it from a backup"):
        await Database(path).open(NOTES)
    path.rename(tmp_path / "aside")
    lock = path.with_name("nakari.db.lock")
    lock.unlink()
    of(lock)
    with pytest.raises(StateUnusable, match=rf"cannot be used \({lock}: .*\); move that away, or set another"):
        await Database(path).open(NOTES)


@pytest.fixture
def folder_of_somebody_else(tmp_path: Path) -> Iterator[Path]:
    tmp_path.chmod(0o500)
    yield tmp_path
    tmp_path.chmod(0o700)


async def test_a_folder_of_somebody_else_says_so_with_the_mend(folder_of_somebody_else: Path) -> None:
    async with child("tests.memory.holder", str(folder_of_somebody_else / "nakari.db"), "as_nobody") as process:
        assert "state folder" in await process.line()
        assert "Permission denied" in process.last
        assert "writable for this user" in process.last


async def test_a_second_process_is_told_at_once_and_a_killed_one_leaves_the_folder_free(tmp_path: Path) -> None:
    path = tmp_path / "nakari.db"
    async with child("tests.memory.holder", str(path)) as process:
        assert await process.line() == "open"
        with pytest.raises(StateInUse, match=f"process {process.pid}.*stop that one first"):
            await Database(path).open(NOTES)
        await process.kill()
        database = Database(path)
        await database.open(NOTES)
        assert await database.read(notes) == ["held"]
        await database.close()


async def test_a_program_that_is_being_started_keeps_no_folder_from_being_opened_again(tmp_path: Path) -> None:
    """From fork to exec it has each descriptor too, as a copy that shares its lock."""
    path = tmp_path / "nakari.db"
    database = Database(path)
    await database.open(NOTES)
    with copied(path.with_name("nakari.db.lock")):
        await database.close()
        await database.open(NOTES)
    await database.close()


@contextmanager
def copied(file: Path) -> Iterator[None]:
    """Hold copies of this process's descriptors of a file."""
    numbers = [int(each.name) for each in Path("/proc/self/fd").iterdir() if each.exists() and each.resolve() == file]
    assert numbers
    copies = [os.dup(number) for number in numbers]
    try:
        yield
    finally:
        for copy in copies:
            os.close(copy)


async def test_a_full_disk_is_told_loses_nothing_acknowledged_and_passes(tmp_path: Path) -> None:
    path = tmp_path / "nakari.db"
    acknowledged = []
    async with child("tests.memory.holder", str(path), "full") as process:
        while (line := await process.line()).startswith("acknowledged "):
            acknowledged.append(line.removeprefix("acknowledged "))
        assert line.startswith("StateUnusable the state database")
        assert "free some disk space" in line
        assert await process.line() == "room again: acknowledged last"
        await process.kill()
    database = Database(path)
    await database.open(NOTES)
    found = [text.rstrip("x") for text in await database.read(notes)]
    assert len(acknowledged) > 3
    assert found == [*acknowledged, "last"]
    await database.close()


@pytest.fixture
async def impatient(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "nakari.db", patience=0.2)
    await database.open(NOTES)
    yield database
    await database.close()


async def test_a_disk_that_hangs_fails_what_is_asked_of_it_until_it_answers(impatient: Database) -> None:
    door = Door()
    async with asyncio.TaskGroup() as group:

        async def hung() -> None:
            with pytest.raises(DiskSilent, match=r"does not answer.*may be done once it answers: look before"):
                await impatient.write(lambda connection: door(connection) and note("begun")(connection))

        asked = group.create_task(hung())
        await until_reached(door)
        with pytest.raises(DiskSilent, match=r"see with dmesg whether it fails$"):
            await impatient.write(note("behind it"))
        await asked
        with pytest.raises(DiskSilent):
            await impatient.read(notes)
    await door.open()
    while impatient.is_silent:  # noqa: ASYNC110  the thread tells nobody
        await asyncio.sleep(0)
    await impatient.write(note("after it"))
    assert await impatient.read(notes) == ["begun", "after it"]


def modes_in(folder: Path) -> dict[str, int]:
    return {each.name: each.stat().st_mode & 0o777 for each in folder.iterdir()}


async def test_a_new_file_is_for_its_owners_eyes_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        database = Database(tmp_path / "nakari.db")
        await database.open(NOTES)
        await database.write(note("mine"))
        modes = await asyncio.to_thread(modes_in, tmp_path)
        await database.close()
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}, modes
