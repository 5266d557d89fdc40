"""Which nakari it is, told by version and commit."""

import subprocess
from pathlib import Path

from appliance.version import commit, named, version
from tests.architecture.source import ROOT


def test_a_clone_is_named_by_its_commit() -> None:
    asked = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    head = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    assert named() == f"{version()}, commit {head}"


def test_a_package_is_named_by_the_note_in_it(tmp_path: Path) -> None:
    note = tmp_path / "commit.txt"
    note.write_text("abc1234\n", encoding="ascii")
    assert commit(note, tmp_path) == "abc1234"


def test_without_either_no_commit_is_told(tmp_path: Path) -> None:
    assert commit(tmp_path / "commit.txt", tmp_path) == ""
    (tmp_path / ".git").touch()
    assert commit(tmp_path / "commit.txt", tmp_path) == "", "git knows of none"
