"""What `scripts/check-arm64 --emulate` runs in an emulated Debian, here: on this machine's own processor."""

from pathlib import Path

import pytest

from tests.service.arm64 import compile_here
from tests.service.arm64_parts import main

pytestmark = pytest.mark.shows("X20")

FLAGS = slice(4, 8)
"""Where a file of bytecode says whether its source is looked at: 1 is by hash, and never."""


@pytest.mark.parametrize("part", ["hear", "remember"])
def test_each_part_is_right_on_this_machine(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([part]) == 0, capsys.readouterr().out


def test_what_is_compiled_here_is_taken_without_a_look_at_its_source(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text("ANSWER = 42\n", encoding="ascii")
    (tmp_path / "template.py").write_text("{{ no Python }}\n", encoding="ascii")
    if not compile_here([tmp_path]):
        pytest.skip("there is no Python 3.11, which the arm64 tree has")
    (made,) = (tmp_path / "__pycache__").iterdir()
    assert made.name == "right.cpython-311.pyc"
    assert int.from_bytes(made.read_bytes()[FLAGS], "little") == 1
