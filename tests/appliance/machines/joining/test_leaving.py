"""A copy of the household's state becomes a file of its own."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory.state.replica.position import Position, is_copy, note
from tests.service.process import Household


@pytest.mark.shows("H10")
def test_a_machine_that_leaves_has_its_state_for_itself(tmp_path: Path) -> None:
    home = Household(tmp_path)
    home.state.mkdir()
    with closing(sqlite3.connect(home.state / "nakari.db")) as connection:
        with connection:
            note(connection, Position("home", 3))
        for command in (("events",), ("timers",), ("settings",), ("backup", str(tmp_path / "backup.tar"))):
            refused = home.run(*command)
            assert refused.returncode == 73, command
            assert refused.stderr.count("\n") == 1
            assert "would not be one any more; start nakari with its [machines] url and ask that" in refused.stderr
        left = home.run("machines", "leave")
        assert left.returncode == 0, left.stderr
        assert not is_copy(connection)
    assert home.run("timers").returncode == 0
