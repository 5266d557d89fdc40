"""Under a supervisor, as systemd is one: ready when it listens, fed while it lives, stopped cleanly and in time."""

import asyncio
import fcntl
import os
import signal
import socket
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.openai_server import OpenAiServer, reply
from tests.service.privacy import clean_environment
from tests.service.process import NAKARI, SECONDS, Household, speak

COUNTED = "Number one is spoken first. " + " ".join(f"Number {n} comes after all the others." for n in range(2, 9))


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
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
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


def ignored(pid: int, number: signal.Signals) -> bool:
    """Whether a process leaves a signal unheard, as proc(5) tells it."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigIgn:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


@pytest.mark.shows("F32", "B10")
async def test_a_stop_in_mid_reply_ends_in_time_and_the_rest_is_said_after_the_next_start(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        server.enqueue(reply(COUNTED))
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
        question = await asyncio.to_thread(speak, "What time is it?", tmp_path / "question.wav")
        sound = ["--input", str(question), "--output", str(tmp_path / "1.wav")]
        with home.running("run", *sound) as service:
            await asyncio.to_thread(service.until, "sentence_started")
            began = time.monotonic()
            assert await asyncio.to_thread(service.stop) == 0
            assert time.monotonic() - began < 10, "4 s for her sentence, and what a loaded machine takes to end"
        said = len(home.spoken())
        assert 1 <= said < 8
        with home.running("run", "--once", "--fast", "--output", str(tmp_path / "2.wav")) as again:
            assert await asyncio.to_thread(again.finish) == 0
        assert home.states() == ["completed"]
        assert " ".join(home.spoken()) == COUNTED
        assert len(server.requests) == 1
