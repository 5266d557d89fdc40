"""Under a supervisor, as systemd is one: ready when it listens, fed while it lives, stopped cleanly and in time."""

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.openai_server import OpenAiServer, reply
from tests.service.process import Household, speak

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
