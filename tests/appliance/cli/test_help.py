"""The list of commands in sections, help about one of them, completion, and names from before."""

import subprocess
import sys
from pathlib import Path

import pytest

from appliance.cli import nakari as commands
from appliance.cli.root import SECTIONS
from appliance.errors import Exit
from tests.appliance.command import ROOT, environment, nakari


def test_each_command_stands_in_one_section() -> None:
    placed = [name for section in SECTIONS.values() for name in section]
    assert sorted(placed) == sorted(name for name, each in commands.commands.items() if not each.hidden)


def test_help_about_a_command_is_its_help(tmp_path: Path) -> None:
    for command in (("say",), ("timers", "cancel")):
        assert nakari(tmp_path, "help", *command).stdout == nakari(tmp_path, *command, "--help").stdout
    assert nakari(tmp_path, "help").stdout == nakari(tmp_path, "--help").stdout
    assert nakari(tmp_path, "help", "dance").stderr == "nakari: there is no command 'dance' (see `nakari --help`)\n"


def test_help_fits_a_narrow_terminal_whole(tmp_path: Path) -> None:
    for command in (("--help",), ("help", "say"), ("timers", "--help")):
        told = nakari(tmp_path, *command, COLUMNS="40").stdout
        assert max(map(len, told.splitlines())) <= 40, told
    whole = " ".join(nakari(tmp_path, "--help", COLUMNS="40").stdout.split())
    assert "Make this machine one of a household's several." in whole
    assert "whoever read the output is gone" in whole


@pytest.mark.shows("G19")
def test_a_file_of_the_person_s_own_is_a_command(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "nakari" / "tools"
    folder.mkdir(parents=True)
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    for name, text in (
        ("hello.py", page[page.index('"""hello.py') : page.rindex("```")]),
        ("broken.py", "import nothing_like_it\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o644)
    done = nakari(tmp_path, "hello", "Ada")
    assert (done.stdout, done.stderr, done.returncode) == ("hello Ada\n", "", 0)
    told = nakari(tmp_path, "broken")
    assert "broken.py: line 1: ModuleNotFoundError" in told.stderr
    assert told.returncode == Exit.CONFIG


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(tmp_path: Path, shell: str) -> None:
    assert "_NAKARI_COMPLETE" in nakari(tmp_path, "completion", shell).stdout


def test_bash_completes_commands(tmp_path: Path) -> None:
    asked = environment(tmp_path, _NAKARI_COMPLETE="bash_complete", COMP_WORDS="nakari ti", COMP_CWORD="1")
    done = subprocess.run(
        [sys.executable, "-m", "appliance"], env=asked, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout == "plain,timers\n"


def test_the_old_name_of_stop_still_works() -> None:
    assert commands.commands["hush"].hidden
    assert "hush" not in commands.get_help(commands.make_context("nakari", ["version"]))
