"""A file is put in the place of another whole, or not at all."""

import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from appliance.errors import problem_of
from memory.durable import replace_durably

MOST = 1000
"""Bytes that a file may have."""


@pytest.fixture
def no_room() -> Iterator[None]:
    """A disk that is full without being root to make one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    heeded = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, heeded)


@pytest.mark.usefixtures("no_room")
def test_a_full_disk_is_told_by_the_file_which_stays_what_it_was(tmp_path: Path) -> None:
    file = tmp_path / "told.json"
    replace_durably(file, [b"before"])
    with pytest.raises(OSError) as raised:  # noqa: PT011  which one the system chooses
        replace_durably(file, [b"x" * (MOST + 1)])
    told = problem_of(raised.value)
    assert told is not None
    assert str(file) in told.sentence
    assert file.read_bytes() == b"before"
    assert [*tmp_path.iterdir()] == [file]


def test_two_who_replace_a_file_at_once_do_so_one_after_the_other(tmp_path: Path) -> None:
    file = tmp_path / "told.json"
    others = [Thread(target=replace_durably, args=(file, [b"other"]))]

    def slowly() -> Iterator[bytes]:
        yield b"first " * MOST
        others[0].start()
        others[0].join(0.1)
        assert others[0].is_alive(), "it waits for its turn"
        yield b"last"

    replace_durably(file, slowly())
    others[0].join()
    assert file.read_bytes() == b"other"
    assert [*tmp_path.iterdir()] == [file]


def test_what_a_killed_process_left_beside_a_file_goes_with_the_next_one(tmp_path: Path) -> None:
    file = tmp_path / "told.json"
    (tmp_path / "told.json.new").write_bytes(b"half of what was to be forg")
    replace_durably(file, [b"whole"])
    assert [*tmp_path.iterdir()] == [file]


def test_what_others_are_to_read_is_theirs_to_read_whatever_the_umask_is(tmp_path: Path) -> None:
    file = tmp_path / "users.conf"
    replace_durably(file, [b"users = []"], 0o644)
    assert file.stat().st_mode & 0o777 == 0o644
    replace_durably(file, [b"secret"])
    assert file.stat().st_mode & 0o777 == 0o600
