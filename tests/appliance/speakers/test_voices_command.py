"""`nakari voices` and the doctor's line, on the file of a state folder."""

import json
from pathlib import Path

import pytest

from appliance.config.load import load
from appliance.doctor.examine import Verdict
from appliance.errors import Exit
from appliance.speakers.check import speakers
from appliance.speakers.store import FILE, Sample, VoiceStore
from tests.appliance.command import nakari, state_folder
from tests.appliance.speakers.people import ANNA, BEN


@pytest.mark.shows("V27")
def test_voices_are_listed_and_forgotten_by_name(tmp_path: Path) -> None:
    folder = state_folder(tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    store = VoiceStore(folder)
    store.add("Anna", Sample("1", ANNA), Sample("2", ANNA))
    store.add("Ben", Sample("3", BEN))
    listed = nakari(tmp_path, "voices", "list", "--json")
    assert json.loads(listed.stdout) == {"Anna": 2, "Ben": 1}
    gone = nakari(tmp_path, "voices", "forget", "anna")
    assert (gone.returncode, gone.stdout) == (Exit.OK, "anna's voice is forgotten\n")
    assert [*store.known()] == ["Ben"]
    unknown = nakari(tmp_path, "voices", "forget", "Dora")
    assert unknown.returncode == Exit.NO_INPUT
    assert "no voice is known as Dora; `nakari voices list` tells whose are" in unknown.stderr


def line(tmp_path: Path, **settings: object) -> tuple[Verdict, str]:
    file = tmp_path / "nakari.toml"
    told = "\n".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    file.write_text(f'[state]\nfolder = "{tmp_path}"\n[ears]\n{told}\n')
    found = speakers(load(file, {"HOME": str(tmp_path)}))
    return found.verdict, f"{found.what}; {found.fix}"


@pytest.mark.shows("V27")
def test_the_doctor_tells_whose_voices_are_kept_and_what_is_wrong_with_the_file(tmp_path: Path) -> None:
    assert line(tmp_path) == (Verdict.OK, "nobody is known by voice yet; ")
    assert line(tmp_path, speakers=False)[0] == Verdict.OK
    VoiceStore(tmp_path).add("Anna", Sample("1", ANNA))
    assert line(tmp_path) == (Verdict.OK, "known by voice: Anna; ")
    (tmp_path / FILE).chmod(0o644)
    verdict, told = line(tmp_path)
    assert verdict == Verdict.FAULT
    assert "chmod 600" in told
    (tmp_path / FILE).write_text("{")
    assert line(tmp_path)[0] == Verdict.FAULT
