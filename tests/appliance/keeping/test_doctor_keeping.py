"""The doctor's lines on audit log, snapshots and room, on real files."""

from datetime import timedelta
from pathlib import Path

import pytest

from appliance.doctor.examine import Verdict
from appliance.doctor.keeping import audit, judge_age, judge_none, judge_room, room, snapshots
from appliance.door.memory_requests import TakeSnapshot
from appliance.keeping.alone import keeper_alone
from tests.appliance.keeping.boxes import KeptBox, silent
from tests.appliance.keeping.test_keeper import write


@pytest.mark.shows("C11", "C12")
async def test_it_looks_at_what_keeps_her(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    config = box.config()
    assert [str(look(config)).split()[0] for look in (audit, snapshots, room)] == ["ok", "ok", "ok"]
    async with keeper_alone(config) as keeper:
        await keeper.use(write("CREATE (:P)"))
        await keeper.act(TakeSnapshot(), silent)
        await keeper.use(write("CREATE (:P)"))
    assert "5 records verified" in audit(config).what
    assert "1 writes since" in snapshots(config).what
    assert room(config).verdict is Verdict.OK
    [taken] = (box.state / "snapshots").iterdir()
    taken.write_bytes(taken.read_bytes()[:-20])
    assert snapshots(config).verdict is Verdict.FAULT
    [log] = (box.state / "audit").iterdir()
    log.write_bytes(log.read_bytes().replace(b"CREATE", b"DELETE"))
    assert audit(config).verdict is Verdict.FAULT


def test_it_judges() -> None:
    assert judge_none(0, 5).verdict is Verdict.OK
    assert judge_none(2, 5).verdict is Verdict.FAULT
    assert judge_age(timedelta(days=4), 0, damaged=False).verdict is Verdict.OK
    assert judge_age(timedelta(days=4), 1, damaged=False).verdict is Verdict.WARNING
    assert judge_age(timedelta(hours=1), 1, damaged=True).verdict is Verdict.WARNING
    assert judge_room(10, 20).verdict is Verdict.WARNING
    assert judge_room(20, 10).verdict is Verdict.OK
