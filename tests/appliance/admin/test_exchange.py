"""Killed before any step of an exchange, a box is what it was or, at its next start, what it was to become."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.admin import exchange
from memory.errors import StateUnusable

ROOT = Path(__file__).parents[3]
STAYS = {"models/large": "fetched", "logs/today": "line"}
OLD = {"nakari.db": "old", "nakari.db-wal": "old", "audit/1": "old", "snapshots/a": "old", "switches.json": "old"}
NEW = {"nakari.db": "new", "audit/1": "new", "audit/2": "new", "identities/ada": "new"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def read(folder: Path) -> dict[str, str]:
    found = {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}
    return {name: text for name, text in found.items() if not name.endswith(".lock")}


def a_box(state: Path) -> None:
    """Make a state, and another one that is to take its place."""
    write(state, OLD | STAYS | {"before-earlier/nakari.db": "older"})
    write(state / "restoring", NEW | {"models/large": "of another", exchange.MANIFEST: "{}"})


@contextmanager
def killing(program: str) -> Iterator[Callable[[int, Path], bool]]:
    """Yield what has a program work on a state until a step kills it; it says whether it came to that."""
    command, pipe = [sys.executable, "-m", f"tests.appliance.admin.{program}"], subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, told = process.stdin, process.stdout

        def killed_before(step: int, state: Path) -> bool:
            print(step, state, file=asked, flush=True)
            code = int(told.readline())
            assert code in (0, -signal.SIGKILL)
            return code != 0

        yield killed_before


def looks(state: Path) -> str:
    """Say whether a state is the old one or the new one, whole; anything else is returned as it is."""
    found = read(state)
    aside = {name.partition("/")[2]: text for name, text in found.items() if name.startswith("before-2")}
    plain = {name: text for name, text in found.items() if not name.startswith(("before-", "restoring"))}
    assert found["before-earlier/nakari.db"] == "older"
    if plain == OLD | STAYS and not aside:
        return "old"
    return "new" if (plain, aside) == (NEW | STAYS, OLD) else f"half: {plain}, aside {aside}"


@pytest.mark.shows("H7", "A24")
def test_killed_before_any_step_it_is_the_old_or_becomes_the_new(tmp_path: Path) -> None:
    became: list[str] = []
    is_cut_off = True
    with killing("exchange_program") as killed_before:
        while is_cut_off:
            state = tmp_path / str(len(became))
            a_box(state)
            is_cut_off = killed_before(len(became) + 1, state)
            exchange.finish(state)
            became.append(looks(state))
            exchange.finish(state)
            assert looks(state) == became[-1]
    assert became[0] == "old"
    assert set(became[1:]) == {"new"}
    assert len(became) > len(OLD.keys() | NEW.keys())


def test_where_none_was_begun_nothing_happens(tmp_path: Path) -> None:
    exchange.finish(tmp_path / "not there")
    a_box(tmp_path)
    exchange.finish(tmp_path)
    assert looks(tmp_path) == "old"
    assert (tmp_path / "restoring").is_dir()


@pytest.mark.shows("H7")
def test_what_a_library_made_in_between_is_in_nobodys_way(tmp_path: Path) -> None:
    """PulseAudio's client makes a folder in the home of the service whenever it is loaded."""
    a_box(tmp_path)
    write(tmp_path, {".config/pulse/cookie": "of the house"})
    write(tmp_path / "restoring", {".config/pulse/cookie": "of before"})
    exchange.begin(tmp_path, tmp_path / "restoring")
    write(tmp_path, {"identities/torn": "made while nothing was in its place"})
    for coming in tmp_path.glob(f"{exchange.COMING}*"):  # as far as a start comes before it is killed
        coming.rename(tmp_path / coming.name.replace(exchange.COMING, exchange.ARRIVING))
    for name in OLD:
        aside = tmp_path / next(tmp_path.glob(f"{exchange.ARRIVING}*")).name.replace(exchange.ARRIVING, exchange.ASIDE)
        (aside / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).rename(aside / name)
    exchange.finish(tmp_path)
    assert read(tmp_path / ".config") == {"pulse/cookie": "of the house"}
    assert read(tmp_path / "identities") == {"ada": "new"}
    assert (tmp_path / "nakari.db").read_text() == "new"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    a_box(tmp_path)
    exchange.begin(tmp_path, tmp_path / "restoring")
    (tmp_path / "nakari.db.lock").mkdir()
    with pytest.raises(StateUnusable, match="cannot be put in place"):
        exchange.finish(tmp_path)
