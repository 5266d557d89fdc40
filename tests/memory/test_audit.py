"""The audit log on a real disk: nothing acknowledged is lost, nothing changed unnoticed, an erasure still verifies."""

import errno
import json
import os
import resource
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory import audit
from memory.audit import AuditLog
from memory.audit_record import Record, as_line, sha256
from memory.errors import AuditBroken, StateUnusable

START = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


def minutes() -> Iterator[datetime]:
    at = START
    while True:
        yield at
        at += timedelta(minutes=1)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[AuditLog]:
    clock = minutes()
    opened = AuditLog(tmp_path / "audit", lambda: next(clock))
    yield opened
    opened.close()


def reopened(log: AuditLog) -> AuditLog:
    log.close()
    return AuditLog(log.folder)


async def written(log: AuditLog, *statements: str) -> list[Record]:
    """Write an attempt with its outcome for each statement."""
    records = []
    for statement in statements:
        attempt = await log.append("attempt", {"event_id": "e"}, {"cypher": statement, "params": {}})
        await log.append("outcome", {"of": attempt.seq, "committed": True})
        records.append(attempt)
    return records


@pytest.mark.shows("C11")
async def test_what_was_appended_is_read_again_after_a_restart(log: AuditLog) -> None:
    await written(log, "CREATE (a)", "CREATE (中文 {名: '小明'})", "CREATE (\ud800)")
    again = reopened(log)
    assert await again.open() == []
    read = list(again.records())
    assert [record.seq for record in read] == [1, 2, 3, 4, 5, 6]
    assert [record.kind for record in read] == ["attempt", "outcome"] * 3
    assert read[2].content == {"cypher": "CREATE (中文 {名: '小明'})", "params": {}}
    assert read[0].at == START
    assert [record.seq for record in again.records(after=4)] == [5, 6]
    assert await again.verify() == 6
    assert oct(again.folder.stat().st_mode & 0o777) == "0o700"


@pytest.mark.shows("C11")
async def test_an_attempt_without_an_outcome_is_known_after_a_crash(log: AuditLog) -> None:
    await written(log, "CREATE (a)")
    await log.append("attempt", {"event_id": "e"}, {"cypher": "CREATE (b)"})
    again = reopened(log)
    assert [record.content for record in await again.open()] == [{"cypher": "CREATE (b)"}]
    await again.append("outcome", {"of": 3, "committed": None})
    assert await again.open() == []


@pytest.mark.shows("C11")
@pytest.mark.parametrize("kept", [0, 1, 40, -1])
async def test_a_line_torn_by_a_power_cut_is_cut_off(log: AuditLog, kept: int) -> None:
    await written(log, "CREATE (a)")
    [file] = log.folder.glob("*.jsonl")
    whole = file.read_bytes()
    await log.append("attempt", {}, {"cypher": "CREATE (b)"})
    torn = file.read_bytes()[len(whole) :][:kept]
    file.write_bytes(whole + torn)
    again = reopened(log)
    assert await again.open() == []
    await written(again, "CREATE (c)")
    assert await again.verify() == 4


def _changed(lines: list[bytes], how: str) -> list[bytes]:
    match how:
        case "a word of the statement":
            return [line.replace(b"CREATE (b)", b"CREATE (x)") for line in lines]
        case "a word and its digest":
            record = json.loads(lines[2])
            record["content"]["cypher"] = "CREATE (x)"
            record["digest"] = sha256(as_line(record["content"]))
            return [*lines[:2], as_line(record).encode() + b"\n", *lines[3:]]
        case "an outcome":
            return [line.replace(b'"committed":true', b'"committed":false') for line in lines]
        case "a line missing":
            return [*lines[:2], *lines[3:]]
        case "two lines swapped":
            return [lines[1], lines[0], *lines[2:]]
    raise AssertionError(how)


@pytest.mark.shows("C11")
@pytest.mark.parametrize(
    "how", ["a word of the statement", "a word and its digest", "an outcome", "a line missing", "two lines swapped"]
)
async def test_a_change_is_found(log: AuditLog, how: str) -> None:
    await written(log, "CREATE (a)", "CREATE (b)", "CREATE (c)")
    [file] = log.folder.glob("*.jsonl")
    file.write_bytes(b"".join(_changed(file.read_bytes().splitlines(keepends=True), how)))
    with pytest.raises(AuditBroken, match="not as it was written"):
        await reopened(log).verify()


async def test_a_line_that_is_none_is_named(log: AuditLog) -> None:
    await written(log, "CREATE (a)")
    [file] = log.folder.glob("*.jsonl")
    file.write_bytes(b"what is this\n" + file.read_bytes())
    with pytest.raises(AuditBroken, match="put the file back"):
        await reopened(log).open()


@pytest.mark.shows("C11", "V29")
async def test_what_is_erased_is_gone_and_the_chain_holds(log: AuditLog) -> None:
    _, secret, _ = await written(log, "CREATE (a)", "CREATE (secret)", "CREATE (c)")
    assert await log.erase([secret.seq, 999]) == 1
    assert await log.erase([secret.seq]) == 0
    assert b"secret" not in b"".join(file.read_bytes() for file in log.folder.iterdir())
    again = reopened(log)
    assert await again.verify() == 7
    found = next(record for record in again.records() if record.seq == secret.seq)
    assert found.is_erased
    assert found.digest == secret.digest
    await written(again, "CREATE (d)")
    assert await again.verify() == 9


@pytest.mark.shows("C11", "V29")
async def test_an_erasure_that_was_killed_before_it_was_told_of_is_told_of_by_the_next(log: AuditLog) -> None:
    secret, _ = await written(log, "CREATE (secret)", "CREATE (kept)")
    assert await log.erase([secret.seq]) == 1
    [file] = log.folder.iterdir()
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))  # the kill came here
    again = reopened(log)
    assert await again.erase([secret.seq]) == 0
    assert [*again.verified()][-1].erases == {secret.seq}
    records = await again.verify()
    assert await again.erase([secret.seq]) == 0
    assert await again.verify() == records
    again.close()


async def test_a_long_log_goes_on_in_another_file(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    long = "x" * (audit.SEGMENT_BYTES // 3)
    attempts = await written(log, *[long] * 7)
    assert [file.name for file in log._files()] == [f"{seq:012}.jsonl" for seq in (1, 6, 12)]
    assert [record.seq for record in log.records(after=attempts[5].seq)] == [12, 13, 14]
    again = reopened(log)
    await again.append("attempt", {}, {"cypher": "CREATE (b)"})
    third = reopened(again)
    assert [record.seq for record in await third.open()] == [15]
    assert await third.verify() == 15


async def test_a_full_disk_is_one_sentence_and_tears_nothing(log: AuditLog) -> None:
    await written(log, "CREATE (a)")
    [file] = log.folder.glob("*.jsonl")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 50, limit[1]))
    try:
        with pytest.raises(StateUnusable, match="make room"):
            await log.append("attempt", {}, {"cypher": "CREATE (b)"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    await written(log, "CREATE (c)")
    assert await log.verify() == 4


async def test_a_folder_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    tmp_path.joinpath("audit").touch()
    with pytest.raises(StateUnusable, match=os.strerror(errno.EEXIST)):
        await AuditLog(tmp_path / "audit").open()
