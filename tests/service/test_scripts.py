"""The scripts a person starts, run for real around a small project."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.architecture.source import ROOT, files
from tests.service.scratch_project import ScratchProject, scratch_project

OLD_PYTHON = "#!/bin/sh\nexit 1\n"


@pytest.fixture
def project(tmp_path: Path, set_up_once: ScratchProject) -> ScratchProject:
    return scratch_project(tmp_path, set_up_once.pip)


@pytest.fixture(scope="module")
def set_up_once(tmp_path_factory: pytest.TempPathFactory) -> ScratchProject:
    """A project that was set up by Python's own venv; all later environments get its pip."""
    project = scratch_project(tmp_path_factory.mktemp("ready"))
    assert "ready" in project.run("setup").stderr
    return replace(project, pip=project.copy_of_pip())


@pytest.fixture
def ready(set_up_once: ScratchProject) -> ScratchProject:
    """A project that was set up, on a machine where every package is installed."""
    return set_up_once.with_everything_installed()


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_every_script_is_plain_sh(shell: str) -> None:
    for script in [path for path in files("scripts/*", ".ci/*") if path.suffix != ".md"]:
        assert (ROOT / script).read_text(encoding="utf-8").startswith("#!/bin/sh\n")
        assert os.access(ROOT / script, os.X_OK), script
        subprocess.run([shell, "-n", script], cwd=ROOT, check=True)


def test_ci_and_pre_commit_call_the_scripts() -> None:
    assert "scripts/test" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "entry: scripts/check\n" in (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")


@pytest.mark.shows("H1")
def test_run_makes_good_a_set_up_that_was_interrupted_then_goes_straight_to_work(
    project: ScratchProject, tmp_path: Path
) -> None:
    interrupt_set_up_of(project)
    assert not (project.folder / ".venv/made-runtime").exists()
    (project.folder / ".venv/half-installed").touch()
    first = project.run("run", "say", "two words", folder=tmp_path)
    assert first.stdout == f"{tmp_path} say two words\n"
    assert "making the virtual environment" in first.stderr
    assert not (project.folder / ".venv/half-installed").exists()
    for name in ("python3", "python3.11", "python3.12", "python3.13", "apt-get"):
        project.command(name, OLD_PYTHON)
    made = written(project.folder / ".venv")
    second = project.run("run", folder=tmp_path)
    assert (second.stdout, second.stderr) == (f"{tmp_path} run\n", "")
    assert written(project.folder / ".venv") == made


def interrupt_set_up_of(project: ScratchProject) -> None:
    """Kill it and all it started when it begins to install."""
    with subprocess.Popen(
        ["dash", project.folder / "scripts/setup"],
        env=project.environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as setup:
        assert setup.stderr
        assert any("installing what requirements/runtime.txt locks" in line for line in iter(setup.stderr.readline, ""))
        os.killpg(setup.pid, signal.SIGKILL)


def written(folder: Path) -> dict[Path, int]:
    """Return when each file in a folder was written last, in ns since the epoch."""
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*")}


def test_test_needs_are_a_set_up_of_their_own_and_include_the_rest(ready: ScratchProject) -> None:
    first = ready.run("setup", "--test").stderr
    assert first.index("about 700 MB to fetch and 2.8 GB to keep") < first.index("making the virtual environment")
    assert "ready" in first
    assert ready.run("setup").stderr == ""
    assert ready.run("setup", "--test").stderr == ""


def test_another_interpreter_gets_a_folder_of_its_own(ready: ScratchProject) -> None:
    before = written(ready.folder / ".venv")
    ready.python("debians-python", "/usr/bin/python3")
    for said in ("ready", ""):
        done = ready.run("setup", NAKARI_PYTHON="debians-python", NAKARI_VENV=".venv-debian")
        assert said in done.stderr
    assert done.stderr == "", "the second time there is nothing to do"
    assert (ready.folder / ".venv-debian/bin/nakari").exists()
    assert written(ready.folder / ".venv") == before


def test_a_changed_lock_is_followed_in_place(ready: ScratchProject) -> None:
    (ready.folder / "requirements/runtime.txt").write_text("# another\n")
    (ready.folder / ".venv/kept").touch()
    locked = (ready.folder / ".venv/locked-runtime").read_text()
    assert "ready" in ready.run("setup").stderr
    assert (ready.folder / ".venv/kept").exists()
    assert (ready.folder / ".venv/locked-runtime").read_text() != locked, "pip went through it"
    assert ready.run("setup").stderr == ""


def test_a_moved_folder_gets_a_new_environment(ready: ScratchProject, tmp_path: Path) -> None:
    copied = shutil.copytree(ready.folder, tmp_path / "my box 盒子", symlinks=True)
    moved = replace(ready, folder=copied)
    done = moved.run("run", LC_ALL="C")
    assert done.stdout == f"{moved.folder} run\n"
    assert "ready" in done.stderr
    saved = moved.run("backup", "a file", LC_ALL="of_NOBODY.nowhere")
    assert (saved.stdout, saved.stderr) == (f"{moved.folder} backup a file\n", "")


def test_a_person_gets_one_apt_line_and_set_up_goes_on(ready: ScratchProject) -> None:
    ready.command("dpkg-query", "#!/bin/sh\necho flite=installed libportaudio2=config-files\nexit 1\n")
    ready.command("id", "#!/bin/sh\necho 1000\n")
    done = ready.run("run")
    assert re.findall(r"apt-get .*", done.stderr) == [
        "apt-get update && apt-get install -y --no-install-recommends libportaudio2 espeak-ng"
    ]
    assert done.stdout == f"{ready.folder} run\n"


def test_root_installs_what_is_missing_and_only_that(ready: ScratchProject, tmp_path: Path) -> None:
    ready.command("dpkg-query", "#!/bin/sh\necho libportaudio2=installed espeak-ng=installed\nexit 1\n")
    ready.command("id", "#!/bin/sh\necho 0\n")
    ready.command("apt-get", f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\n')
    assert ready.run("setup").returncode == 0
    assert (tmp_path / "asked").read_text() == "update -qq\ninstall -qq -y --no-install-recommends flite\n"


def test_root_is_told_when_apt_fails(ready: ScratchProject) -> None:
    ready.command("dpkg-query", "#!/bin/sh\nexit 1\n")
    ready.command("id", "#!/bin/sh\necho 0\n")
    ready.command("apt-get", "#!/bin/sh\necho 'E: no disk space' >&2\nexit 100\n")
    done = ready.run("setup")
    assert done.returncode == 69
    assert done.stderr.splitlines()[-2:] == [
        "E: no disk space",
        "nakari: apt-get failed (its words are above); fix that, then run this again",
    ]


@pytest.mark.parametrize(("libc", "is_new_enough"), [("glibc 2.31", False), ("glibc 2.35", True), ("", False)])
def test_a_system_that_the_wheels_are_too_new_for_is_told(
    ready: ScratchProject, libc: str, is_new_enough: bool
) -> None:
    ready.command("getconf", f"#!/bin/sh\necho {libc}\n")
    done = ready.run("setup")
    assert done.returncode == (0 if is_new_enough else 69)
    told = f"(Debian 12, Raspberry Pi OS 12, Ubuntu 22.04); this system has {libc[6:] or 'none'}\n"
    assert done.stderr.endswith(told) is not is_new_enough


def test_without_a_fitting_python_it_says_which(project: ScratchProject) -> None:
    for name in ("python3", "python3.11", "python3.12", "python3.13"):
        project.command(name, OLD_PYTHON)
    project.command("id", "#!/bin/sh\necho 1000\n")
    done = project.run("run")
    assert done.returncode == 69
    assert "apt-get install -y --no-install-recommends python3 python3-venv\n" in done.stderr
    assert "no Python 3.11, 3.12 or 3.13 with venv was found" in done.stderr


@pytest.mark.parametrize("script", ["install", "uninstall"])
def test_a_service_is_root_s_business(ready: ScratchProject, script: str) -> None:
    ready.command("id", "#!/bin/sh\necho 1000\n")
    done = ready.run(script)
    assert done.returncode == 77
    assert f"sudo scripts/{script}" in done.stderr


@pytest.mark.parametrize(("script", "usage"), [("setup", "[--service | --test]"), ("uninstall", "[--purge]")])
def test_an_option_that_is_none_changes_nothing(ready: ScratchProject, script: str, usage: str) -> None:
    ready.command("id", "#!/bin/sh\necho 1000\n")
    done = ready.run(script, "--prge")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"nakari: usage: scripts/{script} {usage}\n"


def test_what_is_locked_is_not_looked_through_again_where_only_the_project_changed(ready: ScratchProject) -> None:
    assert ready.run("setup").returncode == 0
    locked = ready.folder / ".venv/locked-runtime"
    with (ready.folder / "pyproject.toml").open("a") as project:
        project.write("# another\n")
    before = locked.stat().st_mtime_ns
    assert "ready" in ready.run("setup").stderr
    assert locked.stat().st_mtime_ns == before


def test_a_failed_installation_is_one_sentence(ready: ScratchProject) -> None:
    lock = ready.folder / "requirements/runtime.txt"
    lock.write_text("not-to-be-had==1 --hash=sha256:" + "0" * 64 + "\n")
    failed = ready.run("run")
    assert failed.returncode == 69
    assert failed.stdout == ""
    assert (
        "nakari: the installation failed; look at the lines above, check the network, then run this again"
        in failed.stderr
    )
    assert "No matching distribution found for not-to-be-had==1" in failed.stderr
    assert (ready.folder / ".venv/unfinished").exists()
