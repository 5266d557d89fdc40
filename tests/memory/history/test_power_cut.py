"""The power goes at every moment of writing: what was said to be kept is there, and what is there can be read."""

from pathlib import Path

import pytest

from memory.history.audit import AuditLog
from memory.history.audit_anchor import SCHEMA, AuditAnchors
from memory.state.database import Database
from tests.memory.power import moments, recorded

pytestmark = pytest.mark.network  # strace

AUDIT = """
import asyncio, os, sys
from pathlib import Path
from memory.history.audit import AuditLog
async def main():
    log = AuditLog(Path(sys.argv[1]))
    for number in range(25):
        await log.append("attempt", {"number": number}, {"cypher": "CREATE (:A)", "params": {"t": "x" * number}})
        os.write(1, f"{number}\\n".encode())
asyncio.run(main())
"""

ANCHORED = """
import asyncio, os, sys
from pathlib import Path
from memory.history.audit import AuditLog
from memory.history.audit_anchor import SCHEMA, AuditAnchors
from memory.state.database import Database
async def main():
    folder = Path(sys.argv[1])
    database = Database(folder / "nakari.db")
    await database.open(SCHEMA)
    log = AuditLog(folder, anchors=AuditAnchors(database))
    for number in range(12):
        await log.append("attempt", {}, {"cypher": "CREATE (:A)", "params": {"n": number}})
    os.write(1, b"done\\n")
    os._exit(0)
asyncio.run(main())
"""

ERASING = """
import asyncio, os, sys
from pathlib import Path
from memory.history.audit import AuditLog
async def main():
    log = AuditLog(Path(sys.argv[1]))
    for words in ("hush", "tea", "coffee"):
        await log.append("attempt", {}, {"cypher": "CREATE (:A)", "params": {"words": words}})
    os.write(1, b"told\\n")
    await log.erase([1])
    os.write(1, b"erased\\n")
asyncio.run(main())
"""

SQLITE = """
import asyncio, os, sys
from pathlib import Path
from memory.state.database import Database
async def main():
    database = Database(Path(sys.argv[1]) / "nakari.db")
    await database.open("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY)")
    for number in range(25):
        await database.write(lambda c: c.execute("INSERT INTO notes VALUES (?)", (number,)).rowcount)
        os.write(1, f"{number}\\n".encode())
    os._exit(0)
asyncio.run(main())
"""

SPARING = SQLITE.replace(".rowcount)", ".rowcount, durable=number % 5 == 4)").replace(
    "        os.write", "        if number % 5 == 4: os.write"
)
"""Four of five writes need not last; what is said are the others."""


@pytest.mark.shows("C11", "A24")
@pytest.mark.parametrize("keep", [0.0, 0.5])
async def test_the_audit_log_keeps_what_it_acknowledged(tmp_path: Path, keep: float) -> None:
    folder = tmp_path / "audit"
    recorded(AUDIT, folder, tmp_path / "trace")
    cuts, acknowledged = 0, 0
    for disk, said in moments(tmp_path / "trace", folder):
        cuts += 1
        acknowledged = len(said)
        left = tmp_path / f"left-{cuts}"
        disk.after_a_cut(left, keep)
        log = AuditLog(left)
        await log.open()
        assert acknowledged <= await log.verify() <= acknowledged + 1
        log.close()
    assert acknowledged == 25
    assert cuts > 50


@pytest.mark.shows("C11", "A24")
async def test_no_cut_leaves_an_anchor_ahead_of_its_log(tmp_path: Path) -> None:
    """Though the disk has all of the database, which waits for no sync, and of the log what was synced."""
    folder = tmp_path / "state"
    recorded(ANCHORED, folder, tmp_path / "trace")
    heads, before = set[int](), b""
    for cut, (disk, _) in enumerate(moments(tmp_path / "trace", folder)):
        there = disk.files.get("nakari.db-wal")
        if there is None or there.content == before:
            continue
        before, left = bytes(there.content), tmp_path / f"left-{cut}"
        disk.after_a_cut(left, early="nakari.db")
        database = Database(left / "nakari.db")
        await database.open(SCHEMA)
        anchors = await AuditAnchors(database).all()
        await database.close()
        records = list(AuditLog(left).verified(anchors))
        heads.add(max((anchor.seq for anchor in anchors), default=0))
        assert len(records) >= max(heads)
    assert heads == {*range(13)}


@pytest.mark.shows("C11", "V29")
@pytest.mark.parametrize("renames", [True, False])
async def test_an_erasure_from_the_audit_log_loses_nothing_else_and_lasts(tmp_path: Path, renames: bool) -> None:
    folder = tmp_path / "audit"
    recorded(ERASING, folder, tmp_path / "trace")
    cuts, done = 0, ""
    for disk, said in moments(tmp_path / "trace", folder):
        if not said:
            continue
        cuts, done = cuts + 1, said[-1]
        left = tmp_path / f"left-{cuts}"
        disk.after_a_cut(left, renames=renames)
        log = AuditLog(left)
        await log.open()
        assert await log.verify() >= (4 if done == "erased" else 3)
        [one, *others] = [record for record in log.records() if record.kind == "attempt"]
        assert [record.is_erased for record in others] == [False, False]
        assert one.is_erased or done != "erased"
        log.close()
    assert done == "erased"
    assert cuts > 5


@pytest.mark.shows("A24")
async def test_the_state_database_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    recorded(SQLITE, folder, tmp_path / "trace")
    looked, before = 0, -1
    for disk, said in moments(tmp_path / "trace", folder):
        if len(said) == before:
            continue
        before = len(said)
        left = tmp_path / f"left-{looked}"
        looked += 1
        disk.after_a_cut(left)
        assert await _kept(left) >= len(said)
    assert before == 25


async def _kept(left: Path) -> int:
    """Return how many notes are in what a cut has left."""
    database = Database(left / "nakari.db")
    await database.open("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY)")
    try:
        return await database.read(
            lambda connection: int(connection.execute("SELECT count(*) FROM notes").fetchone()[0])
        )
    finally:
        await database.close()


@pytest.mark.shows("A24")
async def test_a_write_that_lasts_takes_with_it_those_before_it_that_need_not(tmp_path: Path) -> None:
    folder, trace = tmp_path / "state", tmp_path / "trace"
    folder.mkdir()
    recorded(SPARING, folder, trace)
    kept: dict[int, int] = {}
    for disk, said in moments(trace, folder):
        if len(said) not in kept:
            disk.after_a_cut(tmp_path / f"left-{len(said)}")
            kept[len(said)] = await _kept(tmp_path / f"left-{len(said)}")
    assert [kept[lasted] for lasted in range(1, 6)] == [5, 10, 15, 20, 25]
    assert trace.read_text(encoding="ascii").count("sync(") < 25, "those that need not last wait for no disk"
