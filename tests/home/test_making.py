"""What is said where no Home Assistant can be had."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.architecture.source import ROOT


def ran(*words: str, cache: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NAKARI_TEST_CACHE": str(cache)} | ({"PATH": path} if path else {})
    script = ROOT / "scripts/home-assistant"
    return subprocess.run([script, *words], env=environment, capture_output=True, text=True, check=False)


def test_where_none_was_made_one_sentence_says_how(tmp_path: Path) -> None:
    told = ran("start", str(tmp_path / "home"), cache=tmp_path)
    assert (told.returncode, len(told.stderr.splitlines())) == (69, 1)
    assert "scripts/home-assistant make" in told.stderr
    assert not (tmp_path / "home").exists()


def test_making_needs_debootstrap_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(sys.executable)
    (tmp_path / "dirname").symlink_to(shutil.which("dirname") or "")
    told = ran("make", cache=tmp_path / "cache", path=str(tmp_path))
    assert (told.returncode, len(told.stderr.splitlines())) == (69, 1)
    assert "debootstrap" in told.stderr if os.geteuid() == 0 else "root" in told.stderr


def test_an_unknown_command_is_answered_by_the_usage(tmp_path: Path) -> None:
    told = ran("play", cache=tmp_path)
    assert (told.returncode, told.stderr.splitlines()) == (2, [told.stderr.strip()])
