"""What the tests start leaves nothing in the machine's temporary folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.processes import line_of, speaking
from tests.appliance.command import environment
from tests.service.process import Household


def test_a_benchmark_s_program_that_is_killed_leaves_nothing() -> None:
    program = [sys.executable, "-c", "import tempfile; print(tempfile.mkdtemp(), flush=True); input()"]
    with speaking(program) as process:
        left = Path(line_of(process))
        assert left.is_dir()
    assert not left.exists()


@pytest.mark.sound
@pytest.mark.parametrize("of", ["a user", "a household"])
def test_looking_for_a_sound_server_leaves_nothing(of: str, tmp_path: Path) -> None:
    """A home is told from others by a link in it to a folder in /tmp, which libpulse makes and nobody removes."""
    variables = environment(tmp_path) if of == "a user" else Household(tmp_path).variables()
    looked = subprocess.run(["pactl", "info"], env=variables, capture_output=True, text=True, check=False)
    assert "Connection" in looked.stderr, "nobody is there"
    assert [*tmp_path.glob(".config/pulse/*-runtime")] == []
