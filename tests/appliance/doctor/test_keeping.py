"""The doctor's lines on audit log, snapshots and room, on real files."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from appliance.admin.local import local_admin
from appliance.api.requests.memory import Replay, TakeSnapshot, VerifyAudit
from appliance.doctor.examine import Verdict
from appliance.doctor.keeping import (
    audit,
    bytes_below,
    judge_age,
    judge_none,
    judge_room,
    room,
    snapshots,
    visitors,
)
from memory.errors import AuditBroken
from memory.history.audit_record import Origin
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.admin.test_graph_admin import write
from tests.appliance.visiting import ADA, BEN, at_home
from tests.memory.history.test_erasure import NAME


@pytest.mark.shows("C11", "C12")
async def test_it_looks_at_what_keeps_it(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    config = box.config()
    assert [str(look(config)).split()[0] for look in (audit, snapshots, room)] == ["ok", "ok", "ok"]
    async with local_admin(config) as admin:
        await admin.use(write("CREATE (:P)"))
        await admin.act(TakeSnapshot(), silent)
        await admin.use(write("CREATE (:P)"))
    assert "5 records verified" in audit(config).what
    assert "1 writes since" in snapshots(config).what
    assert room(config).verdict is Verdict.OK
    [taken] = (box.state / "snapshots").iterdir()
    taken.write_bytes(taken.read_bytes()[:-20])
    assert snapshots(config).verdict is Verdict.FAULT
    [log] = (box.state / "audit").iterdir()
    log.write_bytes(log.read_bytes().replace(b"CREATE", b"DELETE"))
    assert audit(config).verdict is Verdict.FAULT


@pytest.mark.shows("C11")
async def test_a_log_that_was_cut_off_is_a_fault_until_it_is_put_back(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    async with local_admin(box.config()) as admin:
        for _ in range(3):
            await admin.use(write("CREATE (:P)"))
    [log] = (box.state / "audit").iterdir()
    whole = log.read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:4]))
    told = "the audit log is not as it was written: it ends at record 4, and 6 were written"
    assert str(audit(box.config())).startswith(f"fault   audit      {told}; ")
    log.write_bytes(whole)
    assert "6 records verified" in audit(box.config()).what
    log.unlink()
    assert "it ends at record 0, and 6 were written" in audit(box.config()).what
    async with local_admin(box.config()) as admin:
        await admin.use(write("CREATE (:P)"))
        with pytest.raises(AuditBroken, match="record 1 is missing"):
            await admin.act(VerifyAudit(), silent)
        again = await admin.act(Replay(), silent)
        assert isinstance(again, dict)
        assert again["equal"], "a snapshot was taken first"
    assert "record 1 is missing" in audit(box.config()).what


@pytest.mark.shows("C11", "C12", "F12")
async def test_visitors_graphs_are_counted_and_verified_and_nothing_in_them_is_told(tmp_path: Path) -> None:
    box = KeptBox(tmp_path, "visitors = 3")
    assert str(visitors(box.config())) == "ok      visitors   no graph of a visitor yet, 3 there may be"
    async with at_home(box.config()) as house:
        for owner in (ADA, BEN):
            await house.desk.write(owner, f"CREATE (:{NAME})")
        async with house.visitors.of(ADA) as kept:
            await kept.writer.take_snapshot("asked for")
    found = visitors(box.config())
    assert found.verdict is Verdict.OK
    assert re.fullmatch(
        r"2 graphs of at most 3, \d\.\d MB, 5 records verified; the last snapshot is 0\.0 h old, 1 with writes since",
        found.what,
    )
    assert NAME not in str(found)
    assert visitors(KeptBox(tmp_path, "visitors = 2").config()).verdict is Verdict.WARNING
    [log] = (box.state / "owners" / BEN / "audit").iterdir()
    log.write_bytes(log.read_bytes().replace(b"CREATE", b"DELETE"))
    found = visitors(box.config())
    assert found.verdict is Verdict.FAULT
    assert f"`nakari forget --owner {BEN}`" in found.fix
    assert NAME not in str(found)


@pytest.mark.shows("C11", "F12")
async def test_a_visitors_log_that_was_cut_off_is_told(tmp_path: Path) -> None:
    box = KeptBox(tmp_path, "visitors = 3")
    async with local_admin(box.config()) as admin, admin.visitors.of(ADA) as kept:
        await kept.writer.write("CREATE (:P)", {}, Origin("e", ADA))
    assert visitors(box.config()).verdict is Verdict.OK
    [log] = (box.state / "owners" / ADA / "audit").iterdir()
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:1]))
    assert f"of {ADA} the audit log is not as it was written: it ends at record 1, and 2" in visitors(box.config()).what


def test_it_judges() -> None:
    assert judge_none(0, 5).verdict is Verdict.OK
    assert judge_none(2, 5).verdict is Verdict.FAULT
    assert judge_age(timedelta(days=4), 0, damaged=False).verdict is Verdict.OK
    assert judge_age(timedelta(days=4), 1, damaged=False).verdict is Verdict.WARNING
    assert judge_age(timedelta(hours=1), 1, damaged=True).verdict is Verdict.WARNING
    assert judge_room(10, 20).verdict is Verdict.WARNING
    assert judge_room(20, 10).verdict is Verdict.OK


def test_a_file_that_goes_while_the_sizes_are_summed_up_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "graph/inner").mkdir(parents=True)
    (tmp_path / "graph/inner/stays").write_bytes(b"12345")
    (tmp_path / "graph/went").symlink_to("nowhere")  # listed, and not there
    assert bytes_below(tmp_path / "graph") == 5
    assert bytes_below(tmp_path / "none") == 0
