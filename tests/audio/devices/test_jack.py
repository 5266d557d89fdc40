"""A sound system that does not answer, and the two things it may hang in."""

import asyncio
import threading
from pathlib import Path

import pytest

from appliance.doctor.child import Broken, Culprit, printed
from appliance.doctor.examine import Verdict
from audio.devices.portaudio import SoundThread, what_fixes_silence
from audio.errors import DeviceUnavailable
from tests.audio.devices.jack_database import database_in, database_open

RESTART = "restart the sound server"


def mended_by(database: Path) -> str:
    return f"a killed program left JACK's lock: `rm -r {database}`, and start nakari again"


async def test_a_call_that_hangs_in_jack_is_told_with_what_frees_it(tmp_path: Path) -> None:
    database, thread, frozen = database_in(tmp_path), SoundThread(), threading.Event()
    with database_open(database), pytest.raises(DeviceUnavailable) as told:
        await asyncio.to_thread(thread.call, frozen.wait, 0.01)
    assert str(told.value) == f"the sound system does not answer; {mended_by(database)}"
    with pytest.raises(DeviceUnavailable, match=RESTART):  # a database that lies there is no sign: it always does
        await asyncio.to_thread(thread.call, frozen.wait, 0.01)
    frozen.set()


def test_while_a_server_runs_its_database_is_none_that_somebody_left(tmp_path: Path) -> None:
    database, processes = database_in(tmp_path), tmp_path / "proc"
    for name, number in (("bash", 12), ("jackd", 34)):
        (processes / str(number)).mkdir(parents=True)
        (processes / str(number) / "comm").write_text(f"{name}\n")
        (processes / str(number) / "maps").write_text(f"7f00-7f01 rw-s 00000000 00:1a 7    {database}/__db.001\n")
    assert what_fixes_silence(12, processes) == RESTART
    (processes / "34" / "comm").unlink()
    assert what_fixes_silence(12, processes) == mended_by(database)
    assert what_fixes_silence(99, processes) == RESTART


def test_the_doctor_looks_at_what_its_own_program_hangs_in(tmp_path: Path) -> None:
    database = database_in(tmp_path)
    culprit = Culprit("PortAudio", "", what_fixes_silence)
    with pytest.raises(Broken) as broken:
        printed("sound", culprit, "tests.audio.devices.holding_jack", str(database), patience=3.0)
    line = broken.value.line
    assert (line.verdict, line.what) == (Verdict.FAULT, "PortAudio did not answer within 3 s")
    assert line.fix == mended_by(database)
