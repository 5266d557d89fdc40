"""Hints name the command as it is typed where the person sits."""

import subprocess
import sys
from pathlib import Path

import pytest

from appliance.hints import SET_UP, command, set_up, typed_here
from tests.appliance.command import environment
from tests.processes import ROOT


def clone(folder: Path) -> Path:
    """Return the program of a clone."""
    (folder / "scripts").mkdir()
    (folder / "scripts" / "run").touch()
    return folder / ".venv" / "bin" / "nakari"


def test_in_a_clone_it_is_its_script(tmp_path: Path) -> None:
    program = clone(tmp_path)
    assert command(program, is_root=False, here=Path("/")) == f"{tmp_path.relative_to('/')}/scripts/run"
    assert command(program, is_root=False, here=tmp_path) == "scripts/run"
    assert command(program, is_root=False, here=tmp_path / "docs") == f"{tmp_path}/scripts/run"


@pytest.mark.parametrize("home", ["/opt/nakari/.venv", "/opt/nakari/current/.venv", "/usr/lib/nakari/venv"])
def test_installed_it_wants_root(home: str) -> None:
    program = Path(home) / "bin" / "nakari"
    assert command(program, is_root=False, here=Path("/")) == "sudo nakari"
    assert command(program, is_root=True, here=Path("/")) == "nakari"


def test_anywhere_else_it_is_on_the_path() -> None:
    assert command(Path("/usr/bin/nakari"), is_root=False, here=Path("/")) == "nakari"
    assert command(Path("nakari"), is_root=False, here=Path("/")) == "nakari"


def test_only_commands_are_rewritten() -> None:
    assert (
        typed_here("no nakari is running; `nakari run` starts one") == "no nakari is running; `nakari run` starts one"
    )


def test_what_is_answered_names_it_as_it_is_typed_here(tmp_path: Path) -> None:
    program = clone(tmp_path)
    program.parent.mkdir(parents=True)
    program.write_text("import sys\nfrom appliance.cli.main import main\nsys.exit(main())\n")
    run = [sys.executable, str(program), "config", "set", "voice.volume", "70"]
    given = environment(tmp_path, PYTHONPATH=str(ROOT))
    said = subprocess.run(run, cwd=tmp_path, env=given, capture_output=True, text=True, check=True).stdout
    assert (said.count("`scripts/run "), said.count("`nakari ")) == (1, 0), said


def test_what_is_missing_comes_as_the_program_came(tmp_path: Path) -> None:
    program = clone(tmp_path)
    (tmp_path / "scripts" / "setup").touch()
    assert set_up(program) == "run scripts/setup" == SET_UP
    assert set_up(Path("/usr/lib/nakari/venv/bin/nakari")).startswith("install the package nakari again")
    assert set_up(Path("/opt/nakari/current/.venv/bin/nakari")) == "run scripts/install in a clone"
    assert set_up(Path("/home/ada/.local/share/pipx/venvs/nakari/bin/nakari")).startswith("install nakari again with")


def test_a_sentence_names_it_as_it_is_done_here() -> None:
    told = typed_here("not installed: av; run scripts/setup", Path("/usr/lib/nakari/venv/bin/nakari"))
    assert told.startswith("not installed: av; install the package nakari again")
