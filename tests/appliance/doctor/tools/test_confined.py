"""The doctor's lines on allowed folders and the sandbox, on real folders, and what a service is told to do."""

import json
from pathlib import Path

import pytest

from agent.tools.confined.folders import Folders
from agent.tools.confined.sandbox import NO_SANDBOX, Sandbox
from appliance.config.load import load
from appliance.doctor.examine import Verdict
from appliance.doctor.tools.tools import code, files, judge_code, judge_files
from appliance.wiring.agent.machine import Machine, machine_of


def everybody(_: str) -> bool:
    return True


def configured(tmp_path: Path, *folders: Path, enabled: bool = False) -> Path:
    """Write a configuration with these folders, and its state in a folder of its own."""
    file = tmp_path / "nakari.toml"
    listed = json.dumps([str(folder) for folder in folders])
    allowed = f"[files]\nfolders = {listed}\n[code]\nenabled = {json.dumps(enabled)}\n"
    file.write_text(f'[state]\nfolder = "{tmp_path / "state"}"\n{allowed}')
    return file


@pytest.mark.shows("G6", "G7")
def test_both_are_off_where_nothing_is_said(tmp_path: Path) -> None:
    config = load(configured(tmp_path))
    assert [files(config).verdict, code(config).verdict] == [Verdict.OK, Verdict.OK]
    machine = machine_of(config)
    assert (machine.folders, machine.sandbox) == (None, None)


@pytest.mark.shows("G6")
def test_each_folder_that_cannot_be_used_is_told_with_what_to_do(tmp_path: Path) -> None:
    good, absent = tmp_path / "papers", tmp_path / "absent"
    good.mkdir()
    (tmp_path / "state").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "state")
    line = files(load(configured(tmp_path, good, absent, tmp_path, tmp_path / "link", Path("/proc/self"))))
    assert line.verdict is Verdict.FAULT
    assert line.what == f"the agent may use {good}"
    assert f"{absent}: it is not there; make it" in line.fix
    for never in (tmp_path, tmp_path / "link", Path("/proc/self")):
        assert f"{never}: it holds, or lies in, " in line.fix
    assert files(load(configured(tmp_path, good))).verdict is Verdict.OK


@pytest.mark.shows("G6")
async def test_a_service_is_told_the_lines_of_its_unit(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    machine = Machine(Folders([hidden], {}), None, is_service=True)
    await machine.look()
    fix = judge_files(machine.describe()).fix
    assert "`sudo systemctl edit nakari` with the lines [Service] and BindPaths=" in fix
    assert f"chgrp -R nakari {hidden}" in fix


@pytest.mark.shows("G7")
async def test_a_sandbox_that_is_not_there_is_told(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path / "socket", programs=str(tmp_path))
    machine = Machine(None, sandbox, is_service=True)
    assert judge_code(machine.describe()).verdict is Verdict.WARNING, "the service has not looked yet"
    await machine.look()
    line = judge_code(machine.describe())
    assert (line.verdict, line.fix) == (Verdict.FAULT, NO_SANDBOX)


def test_a_folder_has_to_be_the_same_wherever_nakari_is_started(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"\[files\] folders should begin with / or ~/"):
        load(configured(tmp_path, Path("papers")))
