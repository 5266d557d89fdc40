"""The recipe for a Raspberry Pi's first start: what can be seen of it without one."""

import re
import shutil
import subprocess

import pytest

from tests.architecture.documents import shown_commands
from tests.architecture.source import ROOT

RECIPE = ROOT / "systemd/raspberry-pi/user-data"


def test_cloud_init_takes_it() -> None:
    program = shutil.which("cloud-init")
    if program is None:
        pytest.skip("cloud-init is not installed: apt-get install cloud-init")
    done = subprocess.run(
        [program, "schema", "--config-file", RECIPE], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_begins_as_cloud_init_knows_it_and_ends_speaking() -> None:
    text = RECIPE.read_text(encoding="utf-8")
    assert text.startswith("#cloud-config\n")
    assert "[nakari, say," in text.splitlines()[-1]


def test_its_commands_are_there() -> None:
    text = RECIPE.read_text(encoding="utf-8").partition("runcmd:")[2]
    named = set(re.findall(r"\bnakari,? (status|doctor|say|[a-z]+)\b", re.sub(r"#.*", "", text)))
    assert {"status", "doctor", "say"} <= named <= shown_commands()
