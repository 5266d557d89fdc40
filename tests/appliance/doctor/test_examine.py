"""The doctor: each line true, each fault with its fix, none waiting for another; the machine's own part."""

import errno
import json
import re
import threading
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from agent.event import Event
from appliance.config.agent.models import ModelSettings
from appliance.config.load import Config, Secret, load
from appliance.doctor import machine as checks_machine
from appliance.doctor.examine import Line, Verdict, examine, summary
from appliance.doctor.machine import (
    BUILT,
    JUMP_SECONDS,
    extras_of,
    has_default_route,
    judge_clock,
    judge_space,
    judge_unwritable,
    judge_zone,
    missing_of,
    set_back,
)
from appliance.errors import ConfigError
from appliance.wiring.memory.state import open_state
from tests.appliance.command import ROOT, nakari


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


def fine(config: Config) -> Line:
    return Line("fine", Verdict.OK, str(config.state_folder))


def broken(config: Config) -> Line:
    raise ConfigError("this is wrong; fix it")


def buggy(config: Config) -> Line:
    raise KeyError("what")


def stuck(config: Config) -> Line:
    threading.Event().wait()
    return fine(config)


@pytest.mark.shows("H5")
def test_every_check_has_its_line_in_order_whatever_the_others_do(config: Config) -> None:
    lines = list(examine(config, [stuck, broken, buggy, fine], seconds=0.3))
    assert [(line.name, line.verdict) for line in lines] == [
        ("stuck", Verdict.FAULT),
        ("broken", Verdict.FAULT),
        ("buggy", Verdict.FAULT),
        ("fine", Verdict.OK),
    ]
    assert lines[0].what == "did not answer within 0.3 s"
    assert lines[1].what == "this is wrong; fix it"
    assert lines[2].what == "the check itself failed (KeyError: 'what')"
    assert lines[3].what == str(config.state_folder)


def test_checks_do_not_wait_for_each_other(config: Config) -> None:
    meeting = threading.Barrier(3, timeout=5)

    def meets(config: Config) -> Line:
        meeting.wait()
        return fine(config)

    assert {line.verdict for line in examine(config, [meets] * 3)} == {Verdict.OK}


def test_a_line_for_people_and_one_for_programs() -> None:
    line = Line("disk", Verdict.WARNING, "0.9 GB\nfree", "make room soon")
    assert str(line) == "warning disk       0.9 GB free; make room soon"
    assert json.loads(line.to_json()) == {
        "name": "disk",
        "state": "warning",
        "what": "0.9 GB\nfree",
        "fix": "make room soon",
    }


def test_the_packages_are_looked_for(config: Config) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert missing_of(project["dependencies"]) == []
    assert missing_of(["no-such.thing>=1,<2", "pytest!=3", "absent ; extra == 'x'"]) == ["no-such.thing"]
    assert checks_machine.program(config).verdict is not Verdict.FAULT


def test_an_extra_is_here_when_all_that_it_brings_is() -> None:
    lines = ["numpy>=1", "pytest>=3; extra == 'x'", 'absent; extra == "y-z"', "pytest; extra == 'y-z'"]
    assert extras_of(lines) == {"x": True, "y-z": False}


def test_a_key_that_is_named_and_missing_is_a_fault(config: Config) -> None:
    named = replace(config, model=ModelSettings(api_key_env="HOUSE_KEY"))
    line = checks_machine.settings(named)
    assert line.verdict is Verdict.FAULT
    assert "HOUSE_KEY" in line.what
    assert "LoadCredential=HOUSE_KEY" in line.fix
    assert checks_machine.settings(replace(named, secrets={"HOUSE_KEY": Secret("x")})).verdict is Verdict.OK


def test_the_file_that_is_used_is_named(config: Config, tmp_path: Path) -> None:
    assert checks_machine.settings(config).what == "no file, all is default"
    assert checks_machine.settings(replace(config, file=tmp_path / "x.toml")).what == f"{tmp_path}/x.toml"


def test_looking_at_the_state_folder_makes_none(config: Config, tmp_path: Path) -> None:
    line = checks_machine.state(config)
    assert (line.verdict, line.what) == (Verdict.OK, f"{config.state_folder}, will be made")
    assert list(tmp_path.iterdir()) == []
    config.state_folder.mkdir(parents=True)
    assert checks_machine.state(config).what == f"{config.state_folder}, writable"
    assert list(config.state_folder.iterdir()) == []


@pytest.mark.parametrize("place", ["file", "file/state", "file/deep/state"])
def test_a_state_folder_that_cannot_be_is_a_fault(config: Config, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    line = checks_machine.state(replace(config, state_folder=tmp_path / place))
    assert line.verdict is Verdict.FAULT
    assert "cannot be written" in line.what
    assert "[state] folder" in line.fix


@pytest.mark.parametrize(
    ("free", "verdict", "what"),
    [
        (80 * 10**9, Verdict.OK, "80.0 GB free"),
        (10**9 - 1, Verdict.WARNING, "1.0 GB free"),
        (2 * 10**8 - 1, Verdict.FAULT, "0.2 GB free"),
        (0, Verdict.FAULT, "0.0 GB free"),
    ],
)
def test_space(free: int, verdict: Verdict, what: str) -> None:
    line = judge_space(free)
    assert (line.verdict, line.what) == (verdict, what)
    assert bool(line.fix) == (verdict is not Verdict.OK)


def test_space_for_no_file() -> None:
    line = judge_space(80 * 10**9, takes_no_file=True)
    assert (line.verdict, line.fix) == (Verdict.FAULT, "remove files, or move [state] folder")


@pytest.mark.parametrize(
    ("number", "what", "fix"),
    [
        (errno.ENOSPC, "the disk of /state is full", "free some disk space"),
        (errno.EROFS, "the disk of /state is read-only", "mount it for writing"),
        (errno.EIO, "the disk of /state fails", "dmesg"),
        (errno.EACCES, "/state cannot be written: no leave", "make it writable for this user"),
        (errno.ENOTDIR, "/state cannot be written: no leave", "move what lies there away"),
    ],
)
def test_a_state_folder_that_takes_nothing_is_told_by_what_is_wrong_with_its_disk(
    number: int, what: str, fix: str
) -> None:
    line = judge_unwritable(Path("/state"), OSError(number, "no leave"))
    assert line.verdict is Verdict.FAULT
    assert (line.what.startswith(what), fix in line.fix) == (True, True)


def test_a_state_folder_that_is_a_link_to_nothing_is_a_fault(config: Config, tmp_path: Path) -> None:
    (tmp_path / "state").symlink_to(tmp_path / "gone")
    line = checks_machine.state(replace(config, state_folder=tmp_path / "state"))
    assert (line.verdict, "is a link to nothing" in line.what, "move what lies" in line.fix) == (
        Verdict.FAULT,
        True,
        True,
    )


def test_space_is_looked_up_where_the_state_will_be(config: Config) -> None:
    assert checks_machine.disk(config).what.endswith(" GB free")


def test_time() -> None:
    now = datetime(2026, 12, 24, 18, 0, tzinfo=UTC)
    home = ZoneInfo("Asia/Shanghai")
    assert judge_clock(now, home, is_synchronised=True) == Line("clock", Verdict.OK, "2026-12-25 02:00, Asia/Shanghai")
    assert judge_clock(now, home, is_synchronised=False).verdict is Verdict.WARNING
    past = judge_clock(datetime(1970, 1, 1, tzinfo=UTC), UTC, is_synchronised=True)
    assert past.verdict is Verdict.FAULT
    assert "in the past" in past.what
    assert judge_clock(BUILT, UTC, is_synchronised=True).verdict is Verdict.OK


def test_a_zone_that_was_changed_since_the_start_is_told() -> None:
    here, line = ZoneInfo("Europe/Berlin"), Line("clock", Verdict.OK, "2026-12-24 19:00, Europe/Berlin")
    assert judge_zone(line, here, "") == judge_zone(line, here, "Europe/Berlin") == line
    told = judge_zone(line, here, "Europe/London")
    assert told.verdict is Verdict.WARNING
    assert "the running nakari goes by Europe/London" in told.what
    assert "restart" in told.fix


@pytest.mark.shows("H5")
async def test_a_clock_that_was_set_back_is_told(config: Config) -> None:
    now, file = datetime.now(UTC), config.state_folder / "nakari.db"
    async with open_state(config.state_folder) as state:
        for seconds in (-300, -200, -204, -100):
            await state.bus.publish(Event("a.step", created_at=now + timedelta(seconds=seconds)))
        assert 0.0 < set_back(file, now) < JUMP_SECONDS, "what is written some seconds after its moment"
        await state.bus.publish(Event("a.step", created_at=now + timedelta(hours=2)))
        assert set_back(file, now) == pytest.approx(7200)
        await state.bus.publish(Event("a.step", created_at=now))
        assert set_back(file, now + timedelta(hours=3)) == pytest.approx(7200)
    line = judge_clock(now, UTC, is_synchronised=True, was_set_back=7200.4)
    assert line.verdict is Verdict.WARNING
    assert line.what.endswith(", set back by 2:00:00 within the newest of the journal")
    assert line.fix
    assert checks_machine.clock(config).verdict is Verdict.WARNING


def test_a_journal_that_is_not_there_or_damaged_says_nothing_of_the_clock(tmp_path: Path) -> None:
    assert set_back(tmp_path / "none", datetime.now(UTC)) == 0.0
    (tmp_path / "bad").write_bytes(b"x" * 5000)
    assert set_back(tmp_path / "bad", datetime.now(UTC)) == 0.0


def test_this_machine_s_clock_is_read(config: Config) -> None:
    assert checks_machine.clock(config).verdict in (Verdict.OK, Verdict.WARNING)


IPV4 = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
ZEROS = "0" * 32


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ("", False),
        (IPV4, False),
        (f"{IPV4}eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", True),
        (f"{IPV4}eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", False),
        (f"{IPV4}eth0\t00000000\t010200C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n", False),
        (f"{IPV4}tun0\t00000000\t010200C0\t0003\t0\t0\t0\t00000080\t0\t0\t0\n", False),
        (f"{ZEROS} 00 {ZEROS} 00 fd{ZEROS[2:]} 00000400 00000002 00000000 00000003     eth0\n", True),
        (f"{ZEROS} 00 {ZEROS} 00 {ZEROS} ffffffff 00000001 00000000 00200200       lo\n", False),
        (f"{ZEROS} 40 {ZEROS} 00 {ZEROS} 00000100 00000001 00000000 00000001     eth0\n", False),
    ],
)
def test_a_way_out_is_a_default_route_that_is_up(table: str, found: bool) -> None:
    assert has_default_route(table) is found


WRONG = """
[voice]
engine = 'espeak'
volume = 150

[ears]
modle = 'tiny'
download = false

[kitchen]

[log]
file = '/proc/x.log'
"""


@pytest.mark.shows("H5")
def test_the_doctor_needs_no_other_part_to_say_what_is_wrong(tmp_path: Path) -> None:
    """Run it where no program can be found, the state folder is a file and the configuration is wrong.

    What is wrong in the configuration comes first, what is right in it holds, and it names the rest and ends with 1.
    """
    (tmp_path / "state").touch()
    file = tmp_path / "box.toml"
    file.write_text(f"[state]\nfolder = '{tmp_path}/state'\n{WRONG}", encoding="utf-8")
    done = nakari(tmp_path, "--config", "box.toml", "doctor", PATH=str(tmp_path))
    told = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1, "")
    fix = "; correct it: nakari does not start like this; below, the default stands in its place"
    assert told[:4] == [
        f"fault   settings   {file}, line 9: [ears] has no key modle; did you mean model?{fix}",
        f"fault   settings   {file}, line 12: there is no section [kitchen]{fix}",
        f"fault   settings   {file}, line 6: [voice] volume should be at most 100; it is 150{fix}",
        "fault   settings   the log file /proc/x.log cannot be written: No such file or directory; "
        f"correct [log] file{fix}",
    ]
    lines = {line.split()[1]: line for line in told[4:]}
    assert "settings" not in lines
    assert len(lines) > 15
    assert lines["privacy"] == "ok      privacy    nothing leaves this machine"
    assert lines["state"].startswith("fault   state      ")
    assert lines["voices"].startswith("fault   voices     espeak-ng cannot be started (No such file or directory); ")
    assert re.fullmatch(r"\d+ faults, \d+ warnings?", told[-1])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[ears", "is not valid TOML"),
        ("[state]\nfolder = '~nobody-of-that-name/x'", "names a user that this machine does not know"),
        ("models = 3", "models is a catalog"),
        ("[models.tiny]\nprovider = 'x'", "[models.tiny] provider should be"),
    ],
)
def test_whatever_is_wrong_in_the_file_the_defaults_stand_in(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "box.toml"
    file.write_text(text, encoding="utf-8")
    wrong: list[ConfigError] = []
    config = load(file, {"HOME": str(tmp_path)}, wrong)
    assert what in "; ".join(map(str, wrong))
    usual = load(environ={"HOME": str(tmp_path)})
    looks = {"secret": usual.secret, "zone_now": usual.zone_now}
    assert replace(config, file=None, models={}, tools_folder=usual.tools_folder, **looks) == usual


def test_a_key_that_can_be_none_is_left_out_and_told(tmp_path: Path) -> None:
    wrong: list[ConfigError] = []
    keys = {"HOME": str(tmp_path), "OPENAI_API_KEY": "sk-\u201dcurly", "GEMINI_API_KEY": "fine"}
    assert set(load(environ=keys, wrong=wrong).secrets) == {"GEMINI_API_KEY"}
    assert [str(error) for error in wrong] == [
        "OPENAI_API_KEY holds a character that no key has, such as a curly quote; set it anew"
    ]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([Verdict.OK], "all well"),
        ([Verdict.OK, Verdict.WARNING], "1 warning"),
        ([Verdict.WARNING, Verdict.FAULT, Verdict.WARNING, Verdict.WARNING], "1 fault, 3 warnings"),
        ([Verdict.FAULT, Verdict.FAULT], "2 faults"),
    ],
)
def test_the_end_sums_it_up(found: list[Verdict], said: str) -> None:
    assert summary(found) == said
