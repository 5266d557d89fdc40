"""A command that opens the state itself does not wait for a disk that does not answer."""

import os
from pathlib import Path

import pytest

from appliance.admin.disk import require_answer
from memory.errors import DiskSilent

HANGS = 'import sys; open(sys.argv[1] + "/answer").read()'
"""Waits, as for a frozen disk, until somebody writes into a pipe."""


def test_a_disk_that_does_not_answer_is_told_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "answer")
    with pytest.raises(DiskSilent, match=r"its disk does not answer\); see with dmesg"):
        require_answer(tmp_path, 0.1, HANGS)
    with (tmp_path / "answer").open("w"):  # returns once the child reads, which ends by that
        pass


def test_a_disk_that_takes_a_byte_or_refuses_it_answers(tmp_path: Path) -> None:
    require_answer(tmp_path)
    assert not [*tmp_path.iterdir()]
    require_answer(tmp_path / "not there")
    require_answer(Path("/proc"))
