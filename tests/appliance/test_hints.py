"""Hints name the command as it is typed where the person sits."""

from pathlib import Path

from appliance.hints import command, typed_here


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


def test_installed_it_wants_root() -> None:
    program = Path("/opt/nakari/.venv/bin/nakari")
    assert command(program, is_root=False, here=Path("/")) == "sudo nakari"
    assert command(program, is_root=True, here=Path("/")) == "nakari"


def test_anywhere_else_it_is_on_the_path() -> None:
    assert command(Path("/usr/bin/nakari"), is_root=False, here=Path("/")) == "nakari"
    assert command(Path("nakari"), is_root=False, here=Path("/")) == "nakari"


def test_only_commands_are_rewritten() -> None:
    assert (
        typed_here("no nakari is running; `nakari run` starts one") == "no nakari is running; `nakari run` starts one"
    )
