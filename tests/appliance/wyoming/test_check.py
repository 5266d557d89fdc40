"""The doctor on Wyoming: where it is answered, and who comes in without a password."""

from pathlib import Path

import pytest

from appliance.config.load import load
from appliance.doctor.examine import Line, Verdict
from appliance.wyoming.check import wyoming

pytestmark = pytest.mark.shows("X13", "H5")


def examined(folder: Path, text: str = "") -> Line:
    file = folder / "nakari.toml"
    file.write_text(f'[state]\nfolder = "{folder / "state"}"\n[wyoming]\n{text}', encoding="utf-8")
    return wyoming(load(file, {"HOME": str(folder)}))


def test_it_is_off_until_somebody_wants_it(tmp_path: Path) -> None:
    assert (examined(tmp_path).verdict, examined(tmp_path).what) == (Verdict.OK, "off")


def test_on_this_machine_only_the_households_programs_come_in(tmp_path: Path) -> None:
    line = examined(tmp_path, "listen = '127.0.0.1:10300'")
    assert line.verdict is Verdict.OK
    assert line.what == (
        "speech-to-text, voice and agent at 127.0.0.1:10300; only programs of the household on this machine come in"
    )


def test_a_network_that_comes_in_without_a_password_is_told_plainly(tmp_path: Path) -> None:
    line = examined(tmp_path, "listen = '0.0.0.0:10300'\nnetworks = ['192.168.1.0/24']")
    assert line.verdict is Verdict.OK
    assert "whoever comes from 192.168.1.0/24 speaks for the household, without a password" in line.what
    assert "what is said goes unencrypted" in line.what


@pytest.mark.parametrize("network", ["0.0.0.0/0", "::/0", "8.8.8.0/24"])
def test_more_than_a_house_is_a_warning(tmp_path: Path, network: str) -> None:
    line = examined(tmp_path, f"listen = '0.0.0.0:10300'\nnetworks = ['192.168.1.5', '{network}']")
    assert line.verdict is Verdict.WARNING
    assert line.fix.startswith(f"{network} is more than a house")
