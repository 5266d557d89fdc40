"""A household that wants no graph: a backup of all else, and one sentence about what it has not."""

import json
from pathlib import Path

import pytest

from appliance.admin.graph_admin import NO_GRAPH, NoGraph
from appliance.admin.local import open_admin
from appliance.admin.restoring import restore_archive
from appliance.api.requests.memory import Backup, ListSnapshots, MemoryRequest, Restore, TakeSnapshot
from appliance.errors import Exit, Problem
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.admin.test_backup import lived
from tests.service.process import Household


@pytest.mark.shows("H7")
async def test_a_backup_holds_all_else_and_makes_it_on_another_box(tmp_path: Path) -> None:
    one, other = (KeptBox(tmp_path / name, "enabled = false") for name in ("one", "other"))
    await lived(one)
    (one.state / "graph").mkdir()  # of the time before it was switched off
    async with open_admin(one.config()) as admin:
        found = await admin.act(Backup(file=str(tmp_path / "all.nakari")), silent)
    assert isinstance(found, dict)
    assert (found["file"], found["left_out"]) == (str(tmp_path / "all.nakari"), [str(one.state / "graph")])
    restored = await restore_archive(other.config(), tmp_path / "all.nakari", silent)
    assert isinstance(restored, dict)
    assert "nodes" not in restored
    assert (other.state / "switches.json").read_text() == '{"muted": true}'
    assert (other.state / "phrases" / "one.pcm").read_bytes() == b"sound"
    assert (other.state / "nakari.db").exists()


@pytest.mark.parametrize("request_", [TakeSnapshot(), ListSnapshots(), Restore(snapshot="newest")])
async def test_what_is_about_a_graph_is_refused_in_one_sentence(tmp_path: Path, request_: MemoryRequest) -> None:
    async with open_admin(KeptBox(tmp_path, "enabled = false").config()) as admin:
        assert isinstance(admin, NoGraph)
        with pytest.raises(Problem) as refused:
            await admin.act(request_, silent)
        with pytest.raises(Problem):
            await admin.described()
    assert (str(refused.value), refused.value.code) == (NO_GRAPH, Exit.UNAVAILABLE)


@pytest.mark.shows("H7")
def test_a_running_box_is_backed_up_too(tmp_path: Path) -> None:
    home = Household(tmp_path)
    with home.running("run") as service:
        service.until("service_started")
        done = home.run("backup", str(tmp_path / "all.nakari"), "--json")
        assert done.returncode == Exit.OK, done.stderr
        assert json.loads(done.stdout)["files"] >= 1
        for command in (("memory", "list"), ("memory", "schema"), ("memory", "query", "RETURN 1")):
            told = home.run(*command)
            assert (told.returncode, told.stderr) == (Exit.UNAVAILABLE, f"nakari: {NO_GRAPH}\n"), command
        service.kill()
    restored = Household(tmp_path / "other").run("restore", str(tmp_path / "all.nakari"), "--json")
    assert restored.returncode == Exit.OK, restored.stderr
