"""The unit file: systemd understands every line, and the service is as closed as sound allows."""

import re
import subprocess
from pathlib import Path

import pytest

from agent.tools.confined.sandbox import INNER, LIMITS, SOCKET
from appliance.errors import Exit
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
    file.write_text(re.sub(r"(?m)^(Exec(?:Start|Reload))=.*", r"\1=/bin/true", UNIT))
    return file


@pytest.mark.shows("H2")
def test_systemd_finds_nothing_to_complain_of(unit: Path) -> None:
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    about_it = [line for line in done.stderr.splitlines() if "nakari" in line]
    assert (done.returncode, about_it) == (0, [])


def test_a_misspelt_line_would_be_found(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("ProtectHome=tmpfs", "ProtectHomes=tmpfs"))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert "ProtectHomes" in done.stderr


@pytest.mark.shows("H3")
def test_its_exposure_is_low(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    exposure = re.search(r"Overall exposure level for nakari.service: ([0-9.]+)", said)
    assert exposure
    assert float(exposure[1]) <= 2.0


@pytest.mark.shows("H10", "H3")
def test_the_unit_of_one_household_of_many_is_understood_and_as_closed(tmp_path: Path) -> None:
    text = (ROOT / "systemd/nakari@.service").read_text(encoding="utf-8")
    unit = tmp_path / "nakari@ada.service"
    unit.write_text(re.sub(r"(?m)^(Exec(?:Start|Reload))=.*", r"\1=/bin/true", text))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "nakari" in line] == []
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    exposure = re.search(r"Overall exposure level for nakari@ada.service: ([0-9.]+)", said)
    assert exposure
    assert float(exposure[1]) <= 2.0
    one = {
        line for line in UNIT.splitlines() if re.match("Protect|Restrict|SystemCall|NoNew|Capab|Lock|Watch|Kill", line)
    }
    assert one <= {*text.splitlines()}, "what closes the one closes each of many"


@pytest.mark.shows("G7")
def test_the_sandbox_of_code_is_understood_and_all_but_closed() -> None:
    socket, service = ROOT / "systemd/nakari-code.socket", ROOT / "systemd/nakari-code@.service"
    done = subprocess.run(["systemd-analyze", "verify", socket], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "nakari-code" in line] == []
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(service)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    exposure = re.search(r"Overall exposure level for nakari-code@.*: ([0-9.]+)", said)
    assert exposure
    assert float(exposure[1]) <= 0.8


def test_the_sandbox_of_the_unit_runs_what_bubblewraps_does() -> None:
    unit = (ROOT / "systemd/nakari-code@.service").read_text(encoding="utf-8")
    assert INNER.replace("\\0", "\\\\0").replace("%", "%%") in unit
    assert f"ListenStream={SOCKET}\n" in (ROOT / "systemd/nakari-code.socket").read_text(encoding="utf-8")
    limits = dict(re.findall(r"ulimit -([a-z]) ([0-9]+)", LIMITS))
    assert f"LimitAS={int(limits['v']) // 1024}M\n" in unit
    for name, letter in (("CPU", "t"), ("NPROC", "p"), ("NOFILE", "n")):
        assert f"Limit{name}={limits[letter]}\n" in unit


def test_a_wrong_configuration_is_not_tried_again() -> None:
    assert f"RestartPreventExitStatus={Exit.CONFIG.value}\n" in UNIT
