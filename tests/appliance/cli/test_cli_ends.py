"""How the command ends: what it raises becomes a sentence and a code; and talking to a service that runs."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.errors import ModelUnavailable
from appliance.cli.main import conclude
from appliance.config.load import Config, Secret, load
from appliance.config.options import Invocation
from appliance.errors import INTERRUPTED, NOBODY_READS, Exit, Problem
from memory.state.database import StateInUse
from tests.appliance.command import environment, started, state_folder
from tests.appliance.door_fakes import ScriptedHandler, serving
from tests.audio.spoken import HOUSEHOLD_WHISPER
from tests.warm_started import WarmStarted

OFFLINE = """
[state]
folder = "{folder}"
[ears]
download = false
[voice]
engine = "espeak"
[model]
provider = "offline"
[memory]
enabled = false
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return replace(load(environ={"HOME": str(tmp_path)}), secrets={"K": Secret("planted-secret")})


def raising(error: BaseException) -> Callable[[], int]:
    def run() -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (Problem("no\n microphone; plug one in", Exit.UNAVAILABLE), Exit.UNAVAILABLE, "no microphone; plug one in"),
        (StateInUse("another one has it"), Exit.ALREADY_RUNNING, "another one has it"),
        (ExceptionGroup("tasks", [ModelUnavailable("no model")]), Exit.UNAVAILABLE, "no model"),
        (FileNotFoundError(2, "No such file or directory", "x.wav"), Exit.NO_INPUT, "x.wav: No such file or directory"),
        (OSError(24, "Too many open files", "x.py"), Exit.UNAVAILABLE, "Too many open files; let it open more"),
    ],
)
def test_a_failure_is_its_sentence(
    capsys: pytest.CaptureFixture[str], config: Config, error: Exception, code: Exit, said: str
) -> None:
    assert conclude(raising(error), Invocation(config=config)) == code
    printed = capsys.readouterr()
    assert printed.err.startswith(f"nakari: {said}")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.parametrize(
    "error",
    [KeyError("planted-secret"), ExceptionGroup("tasks", [KeyError("bug")]), asyncio.CancelledError("left over")],
)
def test_a_bug_is_kept_for_us_and_a_sentence_for_the_person(
    capsys: pytest.CaptureFixture[str], config: Config, error: BaseException
) -> None:
    assert conclude(raising(error), Invocation(config=config)) == Exit.INTERNAL
    said = capsys.readouterr().err
    assert said.startswith("nakari: internal error (")
    assert "test_cli_ends.py line" in said or isinstance(error, ExceptionGroup)
    assert said.endswith(f"logged in {config.state_folder}/last-crash.txt; please report it\n")
    assert said.count("\n") == 1
    kept = (config.state_folder / "last-crash.txt").read_text(encoding="utf-8")
    assert "Traceback" in kept
    assert "in run" in kept
    assert "planted-secret" not in kept + said


def test_a_bug_that_cannot_be_kept_is_told_all_the_same(
    capsys: pytest.CaptureFixture[str], config: Config, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    unwritable = replace(config, state_folder=tmp_path / "file/state")
    assert conclude(raising(KeyError("x")), Invocation(config=unwritable)) == Exit.INTERNAL
    assert "and it could not be logged" in capsys.readouterr().err


def test_a_bug_before_the_configuration_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert conclude(raising(ValueError("x")), Invocation()) == Exit.INTERNAL
    assert capsys.readouterr().err.endswith("before logging began; please report it\n")


def test_only_who_debugs_sees_a_traceback(capsys: pytest.CaptureFixture[str], config: Config) -> None:
    conclude(raising(ValueError("x")), Invocation(config=replace(config, debug=True)))
    assert "Traceback" in capsys.readouterr().err
    conclude(raising(ValueError("x")), Invocation(config=config))
    assert "Traceback" not in capsys.readouterr().err


def test_ctrl_c_is_quiet(capsys: pytest.CaptureFixture[str], config: Config) -> None:
    assert conclude(raising(KeyboardInterrupt()), Invocation(config=config)) == INTERRUPTED
    assert capsys.readouterr().err == ""


def test_an_exit_that_was_meant_passes() -> None:
    with pytest.raises(SystemExit, match="7"):
        conclude(raising(SystemExit(7)), Invocation())


async def told(process: WarmStarted) -> tuple[int | None, str, str]:
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.shows("A7", "F4")
async def test_ask_prints_the_answer_of_the_service_as_it_comes(tmp_path: Path) -> None:
    handler = ScriptedHandler(pieces=["It is ", "三点。"], hold=asyncio.Event())
    async with serving(state_folder(tmp_path) / "nakari.sock", handler):
        process = await started(tmp_path, "ask", "what time is it")
        assert await process.stdout.readexactly(6) == b"It is "
        assert handler.hold is not None
        handler.hold.set()
        assert await told(process) == (Exit.OK, "三点。\n", "")
    assert handler.asked == [("what time is it", "cli")]


@pytest.mark.shows("V30")
async def test_ask_thinks_by_itself_where_no_service_runs(tmp_path: Path) -> None:
    (tmp_path / "box.toml").write_text(OFFLINE.format(folder=tmp_path / "state"), encoding="utf-8")
    code, said, _ = await told(await started(tmp_path, "--config", "box.toml", "ask", "what time is it"))
    assert code == Exit.OK
    assert re.fullmatch(r"It is .*(morning|noon|afternoon|evening|night)\.\n", said), said
    again = await told(await started(tmp_path, "--config", "box.toml", "ask", "what day is it"))
    assert again[0] == Exit.OK, "the first one let go of everything"
    assert not (tmp_path / "state/nakari.sock").exists()


async def test_ask_says_why_there_is_no_answer(tmp_path: Path) -> None:
    handler = ScriptedHandler(pieces=["Well, "], error=ModelUnavailable("the model is overloaded; try again"))
    async with serving(state_folder(tmp_path) / "nakari.sock", handler):
        ended = await told(await started(tmp_path, "ask", "what time is it"))
    assert ended == (Exit.UNAVAILABLE, "Well, ", "nakari: the model is overloaded; try again\n")


async def test_ctrl_c_ends_ask_quietly_and_lets_go_of_the_service(tmp_path: Path) -> None:
    handler = ScriptedHandler(hold=asyncio.Event())
    async with serving(state_folder(tmp_path) / "nakari.sock", handler):
        process = await started(tmp_path, "ask", "think hard")
        assert await process.stdout.readexactly(6) == b"It is "
        process.send_signal(signal.SIGINT)
        assert await told(process) == (INTERRUPTED, "", "")


@pytest.mark.parametrize(
    ("ends", "before"), [(signal.SIGTERM, ""), (signal.SIGHUP, ""), (signal.SIGTERM, "trap '' INT; ")]
)
async def test_what_is_ended_from_outside_leaves_nothing_half_made(
    tmp_path: Path, ends: signal.Signals, before: str
) -> None:
    """Also where a shell has it ignore Ctrl-C, as a script does for what it starts in the background."""
    begun = asyncio.Event()

    async def never_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.readline():
            begun.set()
        await reader.read()
        writer.close()

    state_folder(tmp_path).mkdir(parents=True)
    async with await asyncio.start_unix_server(never_answers, state_folder(tmp_path) / "nakari.sock"):
        command = ["sh", "-c", f'{before}exec "$@"', "sh", sys.executable, "-m", "appliance", "backup", "all.nakari"]
        process = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, env=environment(tmp_path))
        await begun.wait()
        assert (tmp_path / "all.nakari.new").exists()
        process.send_signal(ends)
        assert await process.wait() == -ends
    assert not (tmp_path / "all.nakari.new").exists()


async def test_a_reader_that_leaves_ends_ask_quietly(tmp_path: Path) -> None:
    handler = ScriptedHandler(pieces=["and so on, "], endless=True)
    async with serving(state_folder(tmp_path) / "nakari.sock", handler):
        process = await started(tmp_path, "ask", "tell me everything")
        await process.stdout.readexactly(11)
        process.out.close()
        assert await process.stderr.read() == b""
        assert await process.wait() == NOBODY_READS
        await handler.closed.wait()


@pytest.mark.parametrize("arguments", [("ask", "what time is it"), ("hear", "question.wav")])
def test_nobody_who_reads_is_no_bug_of_a_command_that_works_by_itself(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "box.toml").write_text(OFFLINE.format(folder=tmp_path / "state"), encoding="utf-8")
    subprocess.run(["flite", "-voice", "slt", "-t", "What time is it?", "-o", tmp_path / "question.wav"], check=True)
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "appliance", "--config", "box.toml", *arguments],
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=nobody,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, b"internal error" in done.stderr) == (NOBODY_READS, False), done.stderr
    assert not (tmp_path / "state/last-crash.txt").exists()


async def test_status_shows_what_the_service_tells(tmp_path: Path) -> None:
    async with serving(state_folder(tmp_path) / "nakari.sock", ScriptedHandler()):
        on_a_screen = await told(await started(tmp_path, "status"))
        for_people = await told(await started(tmp_path, "status", "--verbose"))
        for_programs = await told(await started(tmp_path, "status", "--json"))
    assert (on_a_screen[0], on_a_screen[2]) == (Exit.OK, "")
    assert on_a_screen[1].startswith("nakari ")
    assert for_people == (Exit.OK, "state: listening\npending: 2\n", "")
    assert json.loads(for_programs[1]) == {"state": "listening", "pending": 2}


async def test_the_doctor_finds_the_service(tmp_path: Path) -> None:
    (tmp_path / "nakari.toml").write_text(f"[ears]\nmodel = '{HOUSEHOLD_WHISPER}'\n")  # is timed, and soon
    async with serving(state_folder(tmp_path) / "nakari.sock", ScriptedHandler()):
        _, shown, _ = await told(await started(tmp_path, "--config", "nakari.toml", "doctor"))
    assert "ok      service    running, answers at " in shown
