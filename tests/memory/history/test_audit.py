"""The audit log on a real disk: nothing acknowledged is lost, nothing changed unnoticed, an erasure still verifies."""

import errno
import json
import os
import random
import resource
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from memory.errors import AuditBroken, StateUnusable
from memory.history import audit
from memory.history.audit import AuditLog
from memory.history.audit_record import Record, as_line, sha256
from memory.history.server_integrity import Counts, expected

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


def forged(line: bytes, previous: str = "") -> bytes:
    """Return another record in the place of a line, with all its hashes made anew."""
    record = Record.from_line(line)
    content = None if record.content is None else {**record.content, "cypher": "CREATE (x)"}
    digest = "" if content is None else sha256(as_line(content))
    facts = {**record.facts, "event_id": "another"}
    return replace(record, facts=facts, content=content, digest=digest, previous=previous or record.previous).to_line()


def _changed(lines: list[bytes], how: str) -> list[bytes]:
    match how:
        case "a word of the statement":
            return [line.replace(b"CREATE (b)", b"CREATE (x)") for line in lines]
        case "a word and its digest":
            record = json.loads(lines[2])
            record["content"]["cypher"] = "CREATE (x)"
            record["digest"] = sha256(as_line(record["content"]))
            return [*lines[:2], as_line(record).encode() + b"\n", *lines[3:]]
        case "a line and its hash":
            return [*lines[:2], forged(lines[2]), *lines[3:]]
        case "an outcome":
            return [line.replace(b'"committed":true', b'"committed":false') for line in lines]
        case "a line missing":
            return [*lines[:2], *lines[3:]]
        case "two lines swapped":
            return [lines[1], lines[0], *lines[2:]]
    raise AssertionError(how)


@pytest.mark.shows("C11")
@pytest.mark.parametrize(
    "how",
    [
        "a word of the statement",
        "a word and its digest",
        "a line and its hash",
        "an outcome",
        "a line missing",
        "two lines swapped",
    ],
)
async def test_a_change_is_found(log: AuditLog, how: str) -> None:
    await written(log, "CREATE (a)", "CREATE (b)", "CREATE (c)")
    [file] = log.folder.glob("*.jsonl")
    file.write_bytes(b"".join(_changed(file.read_bytes().splitlines(keepends=True), how)))
    with pytest.raises(AuditBroken, match="not as it was written"):
        await reopened(log).verify()


@pytest.mark.shows("C11", "C15")
async def test_a_line_that_is_none_is_told_once_and_the_log_goes_on(log: AuditLog) -> None:
    await written(log, "CREATE (a)", "CREATE (b)")
    [file] = log.folder.glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b"what is this\n" + b"".join(lines[2:]))
    again = reopened(log)
    with capture_logs() as told:
        assert [(record.seq, record.kind) for record in await again.open()] == [(1, "attempt"), (2, "lost")]
        await again.append("outcome", {"of": 1, "committed": None})
        await again.append("snapshot", {"file": "since"})
        assert await again.open() == []
        assert [record.seq for record in again.records()] == [1, 2, 3, 4, 5, 6]
    assert [(line["event"], line["record"]) for line in told] == [("audit_damaged", 2)]
    with pytest.raises(AuditBroken, match="record 2 is missing or was changed"):
        await again.verify()
    again.close()


@pytest.mark.shows("C11", "C15")
async def test_every_flipped_byte_is_noticed_or_harmless(log: AuditLog) -> None:
    """Of the last line too, which no other one follows."""
    await written(log, "CREATE (a)", "CREATE (小明)")
    await log.append("snapshot", {"file": "x", "nodes": 100, "relationships": 10, "digest": "d", "reason": "r"})
    whole, [file] = list(log.verified()), [*log.folder.glob("*.jsonl")]
    content, chance, noticed = file.read_bytes(), random.Random(20261121), 0
    for place in chance.sample(range(len(content)), 400):
        flipped = bytearray(content)
        flipped[place] ^= 1 << chance.randrange(8)
        file.write_bytes(flipped)
        again = AuditLog(log.folder)
        with capture_logs() as told:
            await again.open()
            try:
                assert list(again.verified()) == whole
            except AuditBroken:
                noticed += 1
                assert expected(again.records()) in (Counts(100, 10), None)
                is_of_content = all(record.kind != "lost" for record in again.records())
                assert is_of_content or [line["event"] for line in told] == ["audit_damaged"]
        again.close()
    assert noticed > 350


@pytest.mark.shows("C15")
async def test_what_is_not_the_logs_is_left_alone(log: AuditLog) -> None:
    await written(log, "CREATE (a)")
    for name in ("0-copy.jsonl", "000000000001 (1).jsonl", ".DS_Store", "000000000001.jsonl~", "1.jsonl", "x.jsonl"):
        (log.folder / name).write_text("foreign")
    (log.folder / "000000000009.jsonl").mkdir()
    (log.folder / "000000000008.jsonl").symlink_to("nowhere")
    again = reopened(log)
    assert await again.open() == []
    await written(again, "CREATE (b)")
    assert await again.erase([1]) == 1
    assert await again.verify() == 5
    assert again.folder.joinpath("0-copy.jsonl").read_text() == "foreign"
    again.close()


@pytest.mark.shows("C15")
async def test_a_file_that_the_disk_does_not_give_back_is_one_sentence(log: AuditLog) -> None:
    await written(log, "CREATE (a)")
    (log.folder / "000000000003.jsonl").symlink_to("/proc/self/mem")  # opens, and answers EIO
    again = AuditLog(log.folder)
    assert [record.kind for record in again.records()] == ["attempt", "outcome", "lost"]
    with pytest.raises(AuditBroken, match="record 3"):
        await again.verify()
    for asked in (again.open(), again.append("erased", {}), again.erase([1])):
        with pytest.raises(StateUnusable, match=os.strerror(errno.EIO)):
            await asked
    again.close()


@pytest.mark.shows("C11", "V29", "C15")
async def test_an_erasure_leaves_no_line_whose_words_nobody_can_tell(log: AuditLog) -> None:
    await written(log, "CREATE (secret)", "CREATE (b)")
    [file] = log.folder.glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"cypher":', b'"cypher";', 1))
    again = reopened(log)
    assert await again.erase([3]) == 1
    assert b"secret" not in file.read_bytes()
    assert [record.kind for record in again.records()] == ["lost", "outcome", "attempt", "outcome", "erased"]
    again.close()


@pytest.mark.parametrize("last", [b"\x0b", b"\x8a"])
async def test_an_end_of_line_that_was_flipped_costs_nothing(log: AuditLog, last: bytes) -> None:
    await written(log, "CREATE (a)")
    [file] = log.folder.glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-1] + last)
    again = reopened(log)
    assert await again.open() == []
    assert await again.verify() == 2
    again.close()


async def test_a_file_of_zeros_is_not_taken_for_a_torn_line(log: AuditLog) -> None:
    await written(log, "CREATE (a)")
    [file] = log.folder.glob("*.jsonl")
    file.write_bytes(bytes(file.stat().st_size))
    again = reopened(log)
    assert [record.kind for record in await again.open()] == ["lost"]
    assert (await again.append("outcome", {"of": 1, "committed": None})).seq == 2
    with pytest.raises(AuditBroken, match="record 1 "):
        await again.verify()
    again.close()


@pytest.mark.shows("C11", "V29")
async def test_what_is_erased_is_gone_and_the_chain_holds(log: AuditLog) -> None:
    _, secret, _ = await written(log, "CREATE (a)", "CREATE (secret)", "CREATE (c)")
    assert await log.erase([secret.seq, 999]) == 1
    assert await log.erase([secret.seq]) == 0
    assert b"secret" not in b"".join(file.read_bytes() for file in log.folder.iterdir())
    assert [oct(file.stat().st_mode & 0o777) for file in log.folder.iterdir()] == ["0o600"]
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
    assert [next(log.records(after=seq)).seq for seq in (4, 5, 10, 11)] == [5, 6, 11, 12], "where a file begins, too"
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
