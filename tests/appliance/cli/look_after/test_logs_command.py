"""`nakari logs` as a person calls it: out of the log file, and out of the journal where there is one."""

import asyncio
import io
import json
import logging
import os
import re
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import structlog
from msgspec.structs import replace

from appliance.config.load import Config, Secret, load
from appliance.config.sections import LogSettings
from appliance.errors import Exit
from appliance.logs import configure as logs
from appliance.logs.show import Logged, Wanted, from_file, in_short, journal_line, moment
from tests.appliance.command import nakari, started
from tests.appliance.journalctl_program import asked, entry, install

SECRET = "hunter22-very-private"
NOW = datetime(2025, 11, 21, 10, 0, tzinfo=timezone(timedelta(hours=1)))
ALL = Wanted(None, "debug")


def a_line(event: str, at: datetime = NOW, level: str = "info", **values: object) -> str:
    return json.dumps({"event": event, "timestamp": at.isoformat(), "level": level, "logger": "agent.loop", **values})


def configured(home: Path, file: Path, **more: object) -> None:
    settings = home / ".config/nakari/nakari.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    values = {"file": str(file), **more}
    settings.write_text("\n".join(["[log]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]))


def no_journal(home: Path) -> str:
    """Return a PATH on which there is no journalctl."""
    (home / "bin").mkdir()
    return str(home / "bin")


def shown(home: Path, *options: str, **environment: str) -> list[str]:
    done = nakari(home, "logs", *options, TZ="UTC", **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.shows("F26", "H4")
def test_the_log_file_is_shown_in_short_lines(tmp_path: Path) -> None:
    file = tmp_path / "nakari.log"
    torn = '{"event": "torn", "timest'
    failed = a_line("run_failed", level="error", exception="Traceback …\n  File x\nValueError: no such voice")
    file.write_text("\n".join([a_line("heard", words="what\ntime is it", seconds=1.5), torn, failed, ""]))
    configured(tmp_path, file)
    assert (
        shown(tmp_path, PATH=no_journal(tmp_path))
        == [
            "Friday, 2025-11-21:",
            "09:00:00 info    heard words=what time is it seconds=1.5",
            "09:00:00 error   run_failed ValueError: no such voice",
        ]
        or datetime.now(UTC).date() == NOW.date()
    )


def test_times_are_read_and_told_in_the_households_zone_not_the_shells(tmp_path: Path) -> None:
    file = tmp_path / "nakari.log"
    file.write_text("".join(f"{a_line(f'n{n}', NOW + timedelta(hours=n))}\n" for n in range(4)))
    configured(tmp_path, file)
    with (tmp_path / ".config/nakari/nakari.toml").open("a") as settings:
        settings.write('\n[mind]\ntimezone = "Asia/Shanghai"\n')
    lines = shown(tmp_path, "--since", "2025-11-21T19:00", PATH=no_journal(tmp_path))
    assert [line for line in lines if not line.endswith(":")] == ["19:00:00 info    n2", "20:00:00 info    n3"]


def test_the_options_choose(tmp_path: Path) -> None:
    levels = ["debug", "info", "warning", "error"]
    lines = [a_line(f"n{n}", NOW + timedelta(hours=n), levels[n % 4]) for n in range(8)]
    file = tmp_path / "nakari.log"
    file.write_text("".join(f"{line}\n" for line in lines))
    configured(tmp_path, file)
    path = no_journal(tmp_path)

    def events(*options: str) -> list[str]:
        return re.findall(r"n\d", "\n".join(shown(tmp_path, *options, PATH=path)))

    assert events("-n", "3") == ["n5", "n6", "n7"]
    assert events("--level", "warning") == ["n2", "n3", "n6", "n7"]
    assert events("--level", "warning", "-n", "1") == ["n7"]
    assert events("--since", "2025-11-21T14:00") == ["n5", "n6", "n7"]
    assert events("--since", "2025-11-21T14:00", "-n", "2") == ["n6", "n7"]


def test_what_is_no_time_is_said(tmp_path: Path) -> None:
    done = nakari(tmp_path, "logs", "--since", "yesterday-ish")
    assert done.returncode == Exit.USAGE
    assert "'yesterday-ish' is no time; write 07:30" in done.stderr


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("90s", NOW - timedelta(seconds=90)),
        ("2h", NOW - timedelta(hours=2)),
        ("3 d", NOW - timedelta(days=3)),
        ("07:30", NOW.replace(hour=7, minute=30)),
        ("10:30", NOW.replace(day=20, hour=10, minute=30)),
        ("2025-11-20T12:00Z", datetime(2025, 11, 20, 12, 0, tzinfo=UTC)),
        ("yesterday", NOW.replace(day=20, hour=0)),
        ("today", NOW.replace(hour=0)),
        ("", None),
        ("2 weeks", None),
        ("999999d", None),
        ("25:00", None),
    ],
)
def test_since_is_a_time_of_day_a_moment_or_so_long_ago(text: str, meant: datetime | None) -> None:
    assert moment(text, NOW) == meant


def test_without_any_log_the_sentence_says_what_to_do(tmp_path: Path) -> None:
    path = no_journal(tmp_path)
    done = nakari(tmp_path, "logs", PATH=path)
    assert done.returncode == Exit.UNAVAILABLE
    assert done.stderr == "nakari: there is no systemd journal here; outside of systemd, set [log] file\n"
    configured(tmp_path, tmp_path / "none.log")
    done = nakari(tmp_path, "logs", PATH=path)
    assert done.returncode == Exit.UNAVAILABLE
    assert "none.log does not exist; start `nakari run`" in done.stderr
    assert not (tmp_path / "none.log").exists(), "looking makes no log"
    configured(tmp_path, tmp_path)
    done = nakari(tmp_path, "logs", PATH=path)
    assert done.returncode == Exit.NO_INPUT
    assert done.stderr.endswith("cannot be read (Is a directory); try sudo, or correct [log] file\n")
    os.mkfifo(tmp_path / "pipe")
    configured(tmp_path, tmp_path / "pipe")
    done = nakari(tmp_path, "logs", PATH=path)
    assert done.returncode == Exit.NO_INPUT
    assert done.stderr.endswith("is a pipe; correct [log] file\n")


def test_an_empty_journal_is_no_reason_not_to_look_into_the_file(tmp_path: Path) -> None:
    install(tmp_path / "bin", [])
    done = nakari(tmp_path, "logs", PATH=str(tmp_path / "bin"))
    assert "the journal holds nothing of the unit nakari that you may read (try sudo)" in done.stderr
    file = tmp_path / "nakari.log"
    file.write_text(a_line("in_the_file") + "\n")
    configured(tmp_path, file)
    assert shown(tmp_path, PATH=str(tmp_path / "bin"))[-1].endswith("in_the_file")


@pytest.mark.shows("F26", "H4")
def test_the_journal_is_shown_like_the_file_and_cleaned_again(tmp_path: Path) -> None:
    said = a_line("heard", words="my daughter is ill", key="x", note=f"with {SECRET}", padding="y" * 5000)
    install(
        tmp_path / "bin",
        [
            entry(NOW.timestamp(), "Started nakari.service - nakari, a voice assistant in a box."),
            entry(NOW.timestamp(), said),
            entry(NOW.timestamp() + 60, b"ALSA lib pcm.c: \xff\x1b[31m", 3),
        ],
    )
    configured(tmp_path, tmp_path / "unused.log", words=False)
    lines = shown(tmp_path, "--since", "2025-11-21T08:59Z", PATH=str(tmp_path / "bin"), OPENAI_API_KEY=SECRET)
    assert [line for line in lines if "2025" not in line] == [
        "09:00:00 info    Started nakari.service - nakari, a voice assistant in a box.",
        f"09:00:00 info    heard words=(not logged) key=x note=with *** padding={'y' * 5000}",
        "09:01:00 error   ALSA lib pcm.c: \ufffd [31m",
    ]
    assert asked(tmp_path / "bin")[-1][-3:] == ["--lines=all", "--priority=7", f"--since=@{int(NOW.timestamp()) - 60}"]


def test_the_journal_chooses_by_itself(tmp_path: Path) -> None:
    install(tmp_path / "bin", [entry(n, a_line(f"n{n}"), [6, 3][n % 2]) for n in range(6)])
    lines = shown(tmp_path, "-n", "2", "--level", "warning", PATH=str(tmp_path / "bin"))
    assert re.findall(r"n\d", "\n".join(lines)) == ["n3", "n5"]


@pytest.mark.parametrize("line", [b"", b"no json", b"[]", b'{"MESSAGE": "x"}', b'{"__REALTIME_TIMESTAMP": "soon"}'])
def test_what_is_no_entry_of_the_journal_is_left_out(line: bytes) -> None:
    assert journal_line(line) is None


def test_odd_entries_of_the_journal_are_lines_too() -> None:
    for message in (None, 3, {"a": 1}, [[1], "x", 300], '{"event": 1}', '{"timestamp": "x"}'):
        odd = entry(1.0, "") | {"MESSAGE": message, "PRIORITY": None}
        logged = journal_line(json.dumps(odd).encode())
        assert logged is not None
        assert " info " in list(in_short([logged], clean(), NOW))[-1]


def clean() -> logs.Redaction:
    return logs.Redaction((SECRET,), words=True)


def test_a_new_day_is_announced() -> None:
    days = [Logged(NOW + timedelta(days=n // 2), "info", {"event": f"n{n}"}) for n in range(4)]
    lines = list(in_short(days, clean(), NOW))
    assert [line[-2:] for line in lines if not line.endswith(":")] == ["n0", "n1", "n2", "n3"]
    assert [line for line in lines if line.endswith(":")] == ["Saturday, 2025-11-22:"]


@pytest.fixture
def file_config(tmp_path: Path) -> Iterator[Config]:
    """A configuration with a log file; what `configure` does to the process is undone."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    found = load(environ={"HOME": str(tmp_path)})
    yield replace(found, secrets={"K": Secret(SECRET)}, log=replace(LogSettings(), file=str(tmp_path / "nakari.log")))
    for handler in {*root.handlers} - {*before}:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


def steps(lines: list[Logged]) -> list[object]:
    return [line.values.get("number") for line in lines]


def grown(file: Path) -> None:
    """Add half a megabyte that is no line of ours: in one of ours every word would be looked at for secrets."""
    with file.open("a") as out:
        out.write(f"{'x' * 500_000}\n")


@pytest.mark.shows("F26")
def test_a_log_that_was_turned_over_is_one_log(file_config: Config) -> None:
    logs.configure(file_config, io.StringIO())
    log, file = structlog.get_logger("agent.loop"), Path(file_config.log.file)
    for number in range(26):
        log.info("step", number=number, key=SECRET)
        grown(file)
    assert sorted(path.name for path in file.parent.glob("nakari.log*")) == [
        "nakari.log",
        "nakari.log.1",
        "nakari.log.2",
    ]
    assert steps(list(from_file(file, ALL))) == list(range(26))
    assert steps(list(from_file(file, Wanted(20, "debug")))) == list(range(6, 26))


@pytest.mark.shows("F26")
def test_a_followed_log_goes_on_over_the_turn(file_config: Config) -> None:
    logs.configure(file_config, io.StringIO())
    log, file = structlog.get_logger("agent.loop"), Path(file_config.log.file)
    log.info("step", number=0)
    following = from_file(file, Wanted(1, "debug", is_followed=True))
    assert steps([next(following)]) == [0]
    with file.open("a") as out:
        out.write('{"event": "half')
        out.flush()
    for number in range(1, 13):
        log.info("step", number=number)
        grown(file)
    assert file.with_name("nakari.log.1").exists()
    assert steps([next(following) for _ in range(11)]) == list(range(2, 13)), "the first ended a torn line"
    following.close()


def test_two_processes_may_write_to_one_log(file_config: Config) -> None:
    """`nakari ask` logs beside the service: whoever turns the file over, the other goes on in the new one."""
    file = Path(file_config.log.file)
    one = logs._file_handler(file, clean())
    other = logs._file_handler(file, clean())
    for number in range(24):
        record = logging.LogRecord("agent.x", logging.INFO, "", 0, f"line {number}", (), None)
        (one if number % 3 else other).emit(record)
        grown(file)
    assert file.with_name("nakari.log.2").exists()
    assert [line.values["event"] for line in from_file(file, ALL)] == [f"line {n}" for n in range(24)]
    one.close()
    other.close()


@pytest.mark.shows("F26")
async def test_a_follower_sees_new_lines_until_ctrl_c(tmp_path: Path) -> None:
    file = tmp_path / "nakari.log"
    file.write_text(a_line("one") + "\n")
    configured(tmp_path, file)
    following = await started(tmp_path, "logs", "-f", PATH=no_journal(tmp_path))
    async with asyncio.timeout(120):
        while b"one" not in await following.stdout.readline():
            pass
        with file.open("a") as out:
            out.write(a_line("two") + "\n")
        assert (await following.stdout.readline()).endswith(b" info    two\n")
        following.send_signal(signal.SIGINT)
        _, errors = await following.communicate()
    assert (following.returncode, errors) == (130, b"")


@pytest.mark.shows("F26")
async def test_a_follower_of_the_journal_ends_its_program(tmp_path: Path) -> None:
    install(tmp_path / "bin", [entry(1, a_line("one"))])
    following = await started(tmp_path, "logs", "-f", PATH=str(tmp_path / "bin"))
    async with asyncio.timeout(120):
        while b"one" not in await following.stdout.readline():
            pass
        following.send_signal(signal.SIGINT)
        assert await following.wait() == 130
        assert await following.stdout.read() == b"", "nobody holds the pipe open any more"


@pytest.mark.shows("H5")
def test_a_wrong_key_keeps_nobody_from_the_log(tmp_path: Path) -> None:
    file = tmp_path / "box.log"
    file.write_text(a_line("service_started") + "\n", encoding="utf-8")
    configured(tmp_path, file, levle="debug")
    done = nakari(tmp_path, "logs", PATH=str(tmp_path))
    assert done.returncode == Exit.OK
    assert "service_started" in done.stdout
    assert "[log] has no key levle; did you mean level?; read as if that were not there" in done.stderr
    assert done.stderr.count("\n") == 1
