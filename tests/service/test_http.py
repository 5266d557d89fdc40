"""HTTP of the real program: behind systemd's own activation, beside an address that is taken, and without any."""

import json
import shutil
import socket
import subprocess
import urllib.request
from pathlib import Path

import pytest

from appliance.errors import Exit
from tests.service.privacy import clean_environment
from tests.service.process import NAKARI, Household

pytestmark = [pytest.mark.process, pytest.mark.shows("F25")]

NO_DEVICE: dict[str, object] = {"device": "no such device"}


def box(folder: Path, **http: object) -> Household:
    settings: dict[str, dict[str, object]] = {"ears": NO_DEVICE, "voice": NO_DEVICE, "http": dict(http)}
    return Household(folder, settings)


def get(port: int, path: str) -> dict[str, object]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        told: dict[str, object] = json.loads(answer.read())
        return told


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.skipif(shutil.which("systemd-socket-activate") is None, reason="not installed: systemd-socket-activate")
def test_it_answers_at_the_socket_that_systemd_hands_over(tmp_path: Path) -> None:
    home, port = box(tmp_path, addresses=["127.0.0.1:1"]), free_port()
    command = ["systemd-socket-activate", f"--listen=127.0.0.1:{port}", *NAKARI, "--config", str(home.write()), "run"]
    environment = clean_environment(HOME=str(tmp_path))
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as program:
        try:
            assert program.stderr is not None
            assert "Listening on" in program.stderr.readline()
            assert get(port, "/ping")["pong"] is True
        finally:
            program.terminate()
    assert program.returncode == Exit.OK


def test_a_port_that_is_taken_stops_nothing_else(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        home = box(tmp_path, addresses=[f"127.0.0.1:{other.getsockname()[1]}"])
        with home.running("run") as running:
            told = running.until("http_address_unavailable")
            assert "Address already in use" in str(told["reason"])
            running.until("service_started")
            status = json.loads(home.run("status", "--json").stdout)
            assert "Address already in use" in status["http"]["addresses"][0]["problem"]
            assert running.stop() == Exit.OK


def test_it_does_not_start_open_to_others_without_protection(tmp_path: Path) -> None:
    done = box(tmp_path, addresses=["0.0.0.0:8420"]).run("run")
    assert done.returncode == Exit.CONFIG
    assert done.stderr.count("\n") == 1
    assert "which lets other machines in: give it a certificate and a key" in done.stderr
