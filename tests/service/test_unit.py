"""The unit file: systemd understands every line, and the service is as closed as sound allows."""

import re
import subprocess
from pathlib import Path

import pytest

from appliance.exits import Exit
from tests.architecture.source import ROOT
from tests.needs import missing_programs

UNIT = (ROOT / "systemd/nakari.service").read_text(encoding="utf-8")
pytestmark = pytest.mark.skipif(
    bool(missing_programs("systemd-analyze")), reason="not installed: systemd-analyze (Debian's systemd has it)"
)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that exists on every machine, which is all that verifying needs."""
    file = tmp_path / "nakari.service"
    file.write_text(re.sub(r"(?m)^ExecStart=.*", "ExecStart=/bin/true", UNIT))
    return file


@pytest.mark.shows("H2")
def test_systemd_finds_nothing_to_complain_of(unit: Path) -> None:
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    about_it = [line for line in done.stderr.splitlines() if "nakari" in line]
    assert (done.returncode, about_it) == (0, [])


def test_a_misspelt_line_would_be_found(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("ProtectHome=yes", "ProtectHomes=yes"))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert "ProtectHomes" in done.stderr


@pytest.mark.shows("H3")
def test_its_exposure_is_low(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    exposure = re.search(r"Overall exposure level for nakari.service: ([0-9.]+)", said)
    assert exposure
    assert float(exposure[1]) <= 2.0


def test_a_wrong_configuration_is_not_tried_again() -> None:
    assert f"RestartPreventExitStatus={Exit.CONFIG.value}\n" in UNIT
