"""A machine that only follows has no door; what is asked there says that it lives, and who leads."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory.lock import unlock
from memory.state.database import locked
from memory.state.replica.position import Position, note
from tests.appliance.command import nakari

pytestmark = pytest.mark.shows("H10")


@pytest.fixture
def attic(tmp_path: Path) -> Path:
    """Return the home of a machine whose state is a copy of what study wrote."""
    state = tmp_path / "state"
    state.mkdir()
    with closing(sqlite3.connect(state / "nakari.db")) as connection, connection:
        note(connection, Position("home", 3, "digest", 2, "study"))
    settings = f'[state]\nfolder = "{state}"\n[machines]\nurl = "nats://127.0.0.1:1"\nname = "attic"\nrole = "mind"\n'
    (tmp_path / "nakari.toml").write_text(settings)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "code"), [(("status",), 0), (("status", "--json"), 0), (("ask", "hello"), 69), (("mailbox",), 69)]
)
def test_it_is_told_that_it_follows_and_whom(attic: Path, command: tuple[str, ...], code: int) -> None:
    held = locked(attic / "state" / "nakari.db")
    try:
        done = nakari(attic, "--config", attic / "nakari.toml", *command)
    finally:
        unlock(held)
    assert (done.returncode, "attic follows study, which leads the household" in done.stdout + done.stderr) == (
        code,
        True,
    ), done
    ended = nakari(attic, "--config", attic / "nakari.toml", "status")
    assert (ended.returncode, "no nakari is running" in ended.stderr) == (69, True), "its number is of one that lives"
