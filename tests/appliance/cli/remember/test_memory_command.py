"""`nakari memory`, as a person types it."""

import subprocess
import sys
from pathlib import Path

import pytest

from appliance.errors import Exit
from tests.appliance.command import environment, nakari


@pytest.mark.parametrize(
    "words",
    [("query", "RETURN 1 AS n", "--as-of", "1h"), ("diff", "--since", "1h"), ("replay", "--until", "1h")],
)
def test_a_configuration_that_can_be_read_once_is_enough_for_a_moment(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Of a pipe, such as a shell's `<(…)`, the second reading is empty: it would be another house's memory."""
    home, state = tmp_path / "home", tmp_path / "state"
    home.mkdir()
    subprocess.run(
        [sys.executable, "-m", "appliance", "--config", "/dev/stdin", "memory", *words],
        input=f'[state]\nfolder = "{state}"\n',
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert state.is_dir()
    assert not (home / ".local").exists()


def test_a_replay_replaces_no_file(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    done = nakari(tmp_path, "memory", "replay", "--to", "there")
    assert (done.returncode, done.stderr) == (Exit.CANNOT_CREATE, "nakari: there is there already; name a new file\n")
