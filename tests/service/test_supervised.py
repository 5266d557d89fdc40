"""Under a supervisor, as systemd is one: ready when it listens, fed while it lives, stopped cleanly and in time."""

import asyncio
import fcntl
import os
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.mcp_house import a_tool, bare, gone, process_of
from tests.agent.openai_server import Gate, OpenAiServer, call, calls, reply
from tests.service.privacy import clean_environment
from tests.service.process import NAKARI, SECONDS, Household, Running, speak

COUNTED_SENTENCES = ["Number one is spoken first.", *(f"Number {n} comes after all the others." for n in range(2, 9))]
COUNTED = " ".join(COUNTED_SENTENCES)


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        receiver.settimeout(30)
        yield receiver


def told(supervisor: socket.socket, wanted: str) -> str:
    """Wait for a message that holds this assignment."""
    while True:
        message = supervisor.recv(4096).decode()
        if wanted in message.splitlines():
            return message


@pytest.mark.shows("H2", "F32")
def test_it_is_ready_fed_and_stopped(supervisor: socket.socket, tmp_path: Path) -> None:
    home = Household(tmp_path)
    environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "600000"}
    with home.running("run", environment=environment) as service:
        assert "STATUS=no microphone; the doors are open" in told(supervisor, "READY=1")
        for _ in range(3):
            told(supervisor, "WATCHDOG=1")
        assert service.stop() == 0
        told(supervisor, "STOPPING=1")


def _control_terminal() -> None:
    """Take the terminal, and hear that it was closed, which a suite that runs below nohup would not."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.shows("F32")
def test_a_terminal_that_is_closed_asks_for_the_same_stop(supervisor: socket.socket, tmp_path: Path) -> None:
    ours, terminal = os.openpty()
    command = [*NAKARI, "--config", str(Household(tmp_path).write()), "run"]
    environment = clean_environment(HOME=str(tmp_path), NOTIFY_SOCKET=str(tmp_path / "notify"))
    with subprocess.Popen(
        command,
        env=environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=_control_terminal,
    ) as service:
        os.close(terminal)
        told(supervisor, "READY=1")
        os.close(ours)  # the kernel sends SIGHUP, and nothing can be written there any more
        assert service.wait(SECONDS) == 0
    told(supervisor, "STOPPING=1")


@pytest.mark.shows("F32")
def test_below_nohup_it_outlives_the_terminal(supervisor: socket.socket, tmp_path: Path) -> None:
    command = ["nohup", *NAKARI, "--config", str(Household(tmp_path).write()), "run"]
    environment = clean_environment(HOME=str(tmp_path), NOTIFY_SOCKET=str(tmp_path / "notify"))
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdin=nowhere, stdout=nowhere, stderr=nowhere) as service:
        told(supervisor, "READY=1")
        assert ignored(service.pid, signal.SIGHUP)
        service.terminate()
        assert service.wait(SECONDS) == 0


def test_a_service_goes_on_after_what_other_services_are_told_things_by(tmp_path: Path) -> None:
    """After a hang-up it would end well, and systemd would not start it again."""
    with Household(tmp_path).running("run", by=["setsid"]) as service:
        service.until("service_started")
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            service.process.send_signal(number)
            told = service.until("signal_ignored")
            assert (told["signal"], "config reload" in str(told["fix"])) == (number.name, True)
        assert service.stop() == 0


def ignored(pid: int, number: signal.Signals) -> bool:
    """Whether a process leaves a signal unheard, as proc(5) tells it."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigIgn:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


STOPPED_WITHIN = 5.0
"""Seconds: the service's own bounds (a farewell of 3 s, 4.6 s altogether) see to it, whatever the machine does."""


def stopped(service: Running) -> None:
    """Ask for a stop, and see that it is clean and in time."""
    began = time.monotonic()
    assert service.stop() == 0
    assert time.monotonic() - began < STOPPED_WITHIN


def attempts(home: Household) -> list[object]:
    return [number for (number,) in home.rows("SELECT attempt FROM mailbox")]


@pytest.mark.shows("F32", "B10")
async def test_a_stop_in_mid_reply_ends_in_time_and_the_rest_is_said_after_the_next_start(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        server.enqueue(reply(COUNTED))
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
        question = await asyncio.to_thread(speak, "What time is it?", tmp_path / "question.wav")
        sound = ["--input", str(question), "--output", str(tmp_path / "1.wav")]
        with home.running("run", *sound) as service:
            await asyncio.to_thread(service.until, "sentence_started")
            await asyncio.to_thread(stopped, service)
        said = len(home.spoken())
        assert 1 <= said < 8
        assert (home.states(), attempts(home)) == (["suspended"], [1])
        await the_rest_is_said(home)
        assert len(server.requests) == 1


@pytest.mark.shows("F32", "B10")
async def test_a_stop_ends_in_time_while_a_model_never_ends_and_the_store_is_frozen(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        server.enqueue(reply(COUNTED[:60], Gate()), reply(COUNTED))
        settings = {"provider": "openai", "base_url": server.url, "name": "m"}
        home = Household(tmp_path, {"model": {**settings}, "memory": {"enabled": True, "embeddings": "off"}})
        question = await asyncio.to_thread(speak, "What time is it?", tmp_path / "question.wav")
        with home.running("run", "--input", str(question), "--output", str(tmp_path / "1.wav")) as service:
            store = (await asyncio.to_thread(service.until, "graph_store_started"))["pid"]
            await asyncio.to_thread(service.until, "sentence_started")
            os.kill(int(str(store)), signal.SIGSTOP)
            await asyncio.to_thread(stopped, service)
        await gone(int(str(store)))
        assert (home.states(), attempts(home)) == (["suspended"], [1])
        await the_rest_is_said(home)


@pytest.mark.shows("F32", "B13")
async def test_a_stop_ends_in_time_while_a_tool_hangs_and_the_question_is_answered_later(tmp_path: Path) -> None:
    hung = bare(tmp_path / "window", a_tool("look"), kind="hung", name="window")
    async with OpenAiServer() as server:
        server.enqueue(calls(call("window_look", {})), reply(COUNTED))
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
        home.settings["mcp.window"] = {"command": [*hung.command], "timeout_seconds": 240}
        with home.running("run", "--output", str(tmp_path / "1.wav")) as service:
            await asyncio.to_thread(service.until, "mcp_server_connected")
            await home.hear("What do you see?")
            await asyncio.to_thread(service.until, "tool_called")
            await asyncio.to_thread(stopped, service)
        assert (home.states(), attempts(home)) == (["suspended"], [1])
        await gone(process_of(tmp_path / "window"))
        await the_rest_is_said(home)
        assert "unknown: the machine stopped before this call had a result" in str(server.requests[1].messages[-1])


async def the_rest_is_said(home: Household) -> None:
    """Start again, and see that the event is finished and no sentence was said twice."""
    with home.running("run", "--once", "--fast", "--output", str(home.folder / "2.wav")) as again:
        assert await asyncio.to_thread(again.finish) == 0
    assert home.states() == ["completed"]
    assert [sentence for sentence in home.spoken() if sentence in COUNTED] == COUNTED_SENTENCES


@pytest.mark.shows("F32")
def test_a_call_that_hangs_in_a_thread_is_left_behind(tmp_path: Path) -> None:
    program = (
        "import threading; from appliance.errors import Exit; from appliance.service import end_within; "
        "end_within(0.2, Exit.OK); threading.Thread(target=threading.Event().wait).start()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0
    assert "stop_cut_short" in done.stdout + done.stderr
