"""Everything it is, written while it runs and restored on another box: the drill, and every bad archive."""

import asyncio
import os
import re
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from agent.event import TIMER, Event, utc_now
from appliance.admin.archive import LEFT_SECONDS, fetched, handed_over
from appliance.admin.local import local_admin
from appliance.admin.restoring import restore_archive
from appliance.api.requests.memory import Backup
from appliance.doctor.keeping import audit
from appliance.errors import Problem
from appliance.wiring.memory.state import open_state
from memory.errors import StateUnusable
from memory.graph.dump.fingerprint import fingerprint
from memory.state.journal import Entry
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.admin.test_graph_admin import write


async def lived(box: KeptBox) -> None:
    """Let something happen there: words in the journal, a timer, a phrase, a switch, a graph."""
    async with open_state(box.config().state_folder) as state:
        await state.journal.append(Entry("speech.heard", {"words": "the apple tree 苹果"}, owner_key="household"))
        await state.mailbox.enqueue(Event(TIMER, "tea", id="timer-1", not_before=utc_now() + timedelta(hours=1)))
    (box.state / "phrases").mkdir()
    (box.state / "phrases" / "one.pcm").write_bytes(b"sound")
    (box.state / "switches.json").write_text('{"muted": true}')
    (box.state / "recordings").mkdir()
    (box.state / "recordings" / "one.npz").write_bytes(b"what the room sounded like")
    (box.state / "models").mkdir()
    (box.state / "models" / "large").write_bytes(b"can be fetched")


async def saved(box: KeptBox, file: Path) -> str:
    """Write into the graph, back everything up, return the graph's fingerprint."""
    await lived(box)
    async with local_admin(box.config()) as admin:
        await admin.use(write("UNWIND range(1, 30) AS i CREATE (:A {i: i})-[:next]->(:B {at: datetime()})"))
        await admin.act(Backup(file=str(file)), silent)
        return await asyncio.to_thread(fingerprint, (await admin.writer.snapshots.listed())[-1].path)


@pytest.mark.shows("H7", "C12", "C11")
async def test_restored_on_another_box_it_is_who_it_was(tmp_path: Path) -> None:
    one, other, file = KeptBox(tmp_path / "one"), KeptBox(tmp_path / "other"), tmp_path / "all.nakari"
    graph = await saved(one, file)
    assert file.stat().st_mode & 0o777 == 0o600
    async with local_admin(other.config()) as admin:
        await admin.use(write("CREATE (:Old)"))
    found = await restore_archive(other.config(), file, silent)
    assert isinstance(found, dict)
    assert (found["nodes"], found["relationships"]) == (60, 30)
    assert (Path(str(found["kept_aside"])) / "audit").is_dir()
    assert (other.state / "switches.json").read_text() == '{"muted": true}'
    assert (other.state / "phrases" / "one.pcm").read_bytes() == b"sound"
    assert not (other.state / "models").exists()
    assert not (other.state / "recordings").exists()
    async with local_admin(other.config()) as admin:
        snapshot = await admin.writer.take_snapshot("to look")
        assert await asyncio.to_thread(fingerprint, snapshot.path) == graph
        assert await admin.writer.audit.verify() > 4
    line = str(audit(other.config()))
    assert re.search(r"^ok .* records verified.*; restored from a backup on \d{4}-", line), line
    async with open_state(other.config().state_folder) as state:
        [entry] = await state.journal.search("苹果", "household")
        assert entry.body["words"] == "the apple tree 苹果"
        timer = await state.mailbox.find("timer-1")
        assert timer is not None
        assert timer.event.content == "tea"
        assert timer.event.not_before is not None


@pytest.mark.shows("H7")
async def test_a_damaged_database_is_no_hindrance(tmp_path: Path) -> None:
    one, file = KeptBox(tmp_path / "one"), tmp_path / "all.nakari"
    graph = await saved(one, file)
    with (one.state / "nakari.db").open("r+b") as database:
        database.write(os.urandom(5_000))
    with pytest.raises(StateUnusable, match="restore it from a backup"):
        async with open_state(one.state):
            pass
    await restore_archive(one.config(), file, silent)
    async with local_admin(one.config()) as admin:
        assert await asyncio.to_thread(fingerprint, (await admin.writer.take_snapshot("to look")).path) == graph


def _cut(archive: bytes) -> bytes:
    return archive[:-200]


def _flipped(archive: bytes) -> bytes:
    middle = len(archive) // 2
    return archive[:middle] + bytes([archive[middle] ^ 0xFF]) + archive[middle + 1 :]


def _foreign(archive: bytes) -> bytes:
    return b"PK\x03\x04 of another program" + archive[:10]


def _empty(archive: bytes) -> bytes:
    return b""


@pytest.mark.shows("H7")
async def test_a_torn_or_foreign_archive_changes_nothing(tmp_path: Path) -> None:
    one, file = KeptBox(tmp_path / "one"), tmp_path / "all.nakari"
    await saved(one, file)
    whole = file.read_bytes()
    before = looks(one.state)
    damages: list[Callable[[bytes], bytes]] = [_cut, _flipped, _foreign, _empty]
    for damage in damages:
        file.write_bytes(damage(whole))
        with pytest.raises(Problem, match=r"nothing was changed|is no backup"):
            await restore_archive(one.config(), file, silent)
    with tarfile.open(file, "w:gz") as archive:
        archive.add(one.file, arcname="../outside")
    with pytest.raises(Problem, match="nothing was changed"):
        await restore_archive(one.config(), file, silent)
    with tarfile.open(file, "w:gz") as archive:
        link = tarfile.TarInfo("nakari.db")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(Problem, match=r"holds nakari.db, which is no file of a state\); nothing was changed"):
        await restore_archive(one.config(), file, silent)
    with pytest.raises(Problem, match="not there"):
        await restore_archive(one.config(), tmp_path / "nowhere", silent)
    assert looks(one.state) == before


@pytest.mark.shows("H7")
async def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "there"
    file.write_text("precious")
    async with local_admin(KeptBox(tmp_path / "one").config()) as admin:
        with pytest.raises(Problem, match="there already"):
            await admin.act(Backup(file=str(file)), silent)
    assert file.read_text() == "precious"


@pytest.mark.shows("H7", "C11")
def test_two_at_once_leave_each_other_s_files_alone_and_what_was_left_goes(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    box.state.mkdir()

    def made() -> list[Path]:
        archive = fetched(box.state)
        archive.with_name(f"{archive.name}.new").touch()  # as it is called while it is written
        archive.touch()
        return [archive, archive.with_name(f"{archive.name}.new"), handed_over(box.state, "a")]

    of_one, of_another = made(), made()
    assert all(file.exists() for file in (*of_one, *of_another))
    long_ago = of_one[0].stat().st_mtime - LEFT_SECONDS - 60
    for file in (*of_one, of_one[-1].parent, of_another[-1].parent):  # the last is being filled
        os.utime(file, (long_ago, long_ago))
    made()
    assert not any(file.exists() for file in (*of_one, of_one[-1].parent))
    assert all(file.exists() for file in of_another)


def looks(folder: Path) -> dict[str, bytes]:
    """Return every file that lasts, the database by what is in it: opening it counts in its header."""
    files = [file for file in folder.rglob("*") if file.is_file() and not file.name.endswith((".lock", "-wal", "-shm"))]
    found = {str(file.relative_to(folder)): file.read_bytes() for file in files}
    with closing(sqlite3.connect(folder / "nakari.db")) as database:
        return found | {"nakari.db": "\n".join(database.iterdump()).encode()}
