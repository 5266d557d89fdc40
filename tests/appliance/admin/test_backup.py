"""Everything it is, written while it runs and restored on another box: the drill, and every bad archive."""

import asyncio
import hashlib
import io
import json
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
from appliance.admin.archive import LEFT_SECONDS, fetched, handed_over, in_the_making
from appliance.admin.local import local_admin
from appliance.admin.restoring import restore_archive
from appliance.api.requests.memory import Backup
from appliance.doctor.keeping import audit
from appliance.errors import Exit, Problem
from appliance.wiring.memory.state import open_state
from memory.errors import StateUnusable
from memory.graph.dump.fingerprint import fingerprint
from memory.json_value import listed
from memory.state.journal import Entry
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.admin.test_graph_admin import write
from tests.service.test_full_disk import small_disk


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


def _no_deflate(archive: bytes) -> bytes:
    return archive[:20] + b"\xff" * 100 + archive[120:]


@pytest.mark.shows("H7")
async def test_a_torn_or_foreign_archive_changes_nothing(tmp_path: Path) -> None:
    one, file = KeptBox(tmp_path / "one"), tmp_path / "all.nakari"
    await saved(one, file)
    whole = file.read_bytes()
    before = looks(one.state)
    damages: list[Callable[[bytes], bytes]] = [_cut, _flipped, _foreign, _empty, _no_deflate]
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
@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("nakari.db", b"no database at all" * 100, "its database is damaged: file is not a database"),
        ("nakari.db", b"", "its database is damaged: it is empty"),
        ("layout.json", b"", "its layout.json is damaged"),
        ("manifest.json", b'{"nakari": "backup", "format": 1, "at": [], "version": 5}', "no Manifest: "),
    ],
)
async def test_an_archive_that_somebody_put_together_is_refused(
    tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    one, file, forged = KeptBox(tmp_path / "one"), tmp_path / "all.nakari", tmp_path / "forged.nakari"
    async with local_admin(one.config()) as admin:
        await admin.act(Backup(file=str(file)), silent)
    put_together(file, forged, {name: content})
    before = looks(one.state)
    with pytest.raises(Problem, match=rf"is no whole backup of a nakari \({why}.*\); nothing was changed") as refused:
        await restore_archive(one.config(), forged, silent)
    assert refused.value.code is Exit.NO_INPUT
    assert looks(one.state) == before


def put_together(archive: Path, forged: Path, changes: dict[str, bytes]) -> None:
    """Write an archive anew with other content in some files, which its manifest knows."""
    with tarfile.open(archive) as whole:
        files = {member.name: (whole.extractfile(member) or io.BytesIO()).read() for member in whole}
    files |= changes
    manifest = json.loads(files.pop("manifest.json"))
    if "manifest.json" not in changes:
        manifest["files"] = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    with tarfile.open(forged, "w:gz") as made:
        for name, content in {"manifest.json": json.dumps(manifest).encode(), **files}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))


@pytest.mark.shows("H7")
async def test_what_is_no_file_is_left_out_and_named(tmp_path: Path) -> None:
    box, file = KeptBox(tmp_path / "one"), tmp_path / "all.nakari"
    (box.state / "one").mkdir(parents=True)
    (box.state / "two").mkdir()
    os.mkfifo(box.state / "pipe")
    (box.state / "itself").symlink_to("itself")
    (box.state / "up").symlink_to("..")
    (box.state / "one" / "other").symlink_to("../two")
    (box.state / "two" / "other").symlink_to("../one")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").write_text("on a larger disk")
    (box.state / "linked").symlink_to(tmp_path / "elsewhere")
    async with local_admin(box.config()) as admin:
        found = await admin.act(Backup(file=str(file)), silent)
    assert isinstance(found, dict)
    left_out = [box.state / name for name in ("itself", "one/other/other", "pipe", "two/other/other", "up")]
    assert sorted(map(str, listed(found["left_out"]))) == [str(each) for each in left_out]
    with tarfile.open(file) as archive:
        assert "linked/kept" in archive.getnames()


@pytest.mark.shows("H7", "H5")
async def test_a_full_disk_is_named_whatever_it_was_to_take(tmp_path: Path) -> None:
    one, file = KeptBox(tmp_path / "one"), tmp_path / "all.nakari"
    other = KeptBox(tmp_path / "disk" / "other")
    (one.state / "phrases").mkdir(parents=True)
    (one.state / "phrases" / "long.pcm").write_bytes(os.urandom(4_000_000))
    async with local_admin(one.config()) as admin:
        await admin.act(Backup(file=str(file)), silent)
        with small_disk(tmp_path / "disk", "size=2m"):
            with pytest.raises(
                Problem, match=f"the disk of {tmp_path}/disk has no room for it.nakari; free"
            ) as refused:
                await admin.act(Backup(file=f"{tmp_path}/disk/it.nakari"), silent)
            assert refused.value.code is Exit.CANNOT_CREATE
            assert [*(tmp_path / "disk").iterdir()] == []
            what = f"the disk of {other.state} has no room for what is in {file}; nothing was changed. Free some disk"
            with pytest.raises(Problem, match=what) as refused:
                await restore_archive(other.config(), file, silent)
            assert refused.value.code is Exit.CANNOT_CREATE
            assert [each.name for each in other.state.iterdir()] == ["nakari.db.lock"]


@pytest.mark.shows("H7", "H5")
async def test_a_state_s_disk_without_room_for_a_backup_is_named(tmp_path: Path) -> None:
    box = KeptBox(tmp_path / "disk" / "one")
    with small_disk(tmp_path / "disk", "size=40m"):
        (box.state / "phrases").mkdir(parents=True)
        with (box.state / "phrases" / "long.pcm").open("wb") as sparse:
            sparse.truncate(100_000_000)
        async with local_admin(box.config()) as admin:
            with pytest.raises(Problem, match=f"the disk of {box.state} has no room for a backup") as refused:
                await admin.act(Backup(file=str(tmp_path / "all.nakari")), silent)
        assert refused.value.code is Exit.CANNOT_CREATE
        assert [*box.state.glob("backup-*")] == []


@pytest.mark.shows("H7")
async def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "there"
    file.write_text("precious")
    async with local_admin(KeptBox(tmp_path / "one").config()) as admin:
        with pytest.raises(Problem, match="there already"):
            await admin.act(Backup(file=str(file)), silent)
    assert file.read_text() == "precious"


def test_what_a_killed_backup_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "all.nakari.new").write_bytes(b"half of the former")
    with in_the_making(tmp_path / "all.nakari") as target:
        target.write(b"whole")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("all.nakari", b"whole")]


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
