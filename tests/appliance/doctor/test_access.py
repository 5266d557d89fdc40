"""The doctor on access: real folders, files, sockets and ports that are open, closed or taken."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from appliance.config.load import Config, Secret, load
from appliance.config.sections import MemorySettings
from appliance.doctor import access as checks
from appliance.doctor.access import closed_card, listener_at, named, owner_of, ports, taken_socket
from appliance.doctor.examine import Line, Verdict
from memory.json_value import Json
from tests.appliance.door_fakes import ScriptedHandler, serving

HOLDS = """
import socket, sys
server = socket.create_server(("127.0.0.1", 0)) if sys.argv[1] == "tcp" else socket.socket(socket.AF_UNIX)
if sys.argv[1] != "tcp":
    server.bind(sys.argv[1])
    server.listen()
print(server.getsockname()[1] if sys.argv[1] == "tcp" else "ready", flush=True)
while True:
    connection, _ = server.accept()
    connection.close()
"""
"""A program of somebody else that listens."""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


def told(line: Line) -> tuple[Verdict, str]:
    return line.verdict, line.what


@pytest.mark.shows("H5")
def test_a_state_folder_that_others_may_look_into_is_told_with_its_fix(config: Config) -> None:
    config.state_folder.mkdir(mode=0o700, parents=True)
    config.state_folder.chmod(0o700)
    assert checks.access(config).verdict is Verdict.OK
    for mode in (0o750, 0o705):
        config.state_folder.chmod(mode)
        line = checks.access(config)
        assert line.verdict is Verdict.WARNING
        assert f"other users may look into {config.state_folder}" in line.what
        assert line.fix == f"chmod 700 {config.state_folder}"


@pytest.mark.shows("H5", "H4")
def test_a_configuration_with_a_secret_that_everybody_may_read_is_told(config: Config, tmp_path: Path) -> None:
    file = tmp_path / "nakari.toml"
    mine = replace(config, file=file, secrets={"HOUSE_KEY": Secret("hunter22-very-private")})
    for text, is_told in (
        ('[voice]\nlanguage = "en"\n', False),
        ('[mcp.house]\ncommand = ["x", "hunter22-very-private"]\n', True),
        ('[memory]\nuri = "neo4j://me:pass@house:7687"\n', True),
    ):
        file.write_text(text)
        file.chmod(0o644)
        line = checks.access(mine)
        assert (line.verdict is Verdict.WARNING) is is_told, text
        assert line.what.startswith("every user may read the key or password in") is is_told
        assert "hunter22" not in str(line)
        file.chmod(0o640)
        assert checks.access(mine).verdict is Verdict.OK


@pytest.mark.shows("H5")
def test_a_sound_card_of_a_group_that_this_user_is_not_in_is_told(tmp_path: Path) -> None:
    card, other = tmp_path / "pcmC0D0p", tmp_path / "pcmC0D0c"
    card.touch()
    assert list(closed_card({})) == []
    assert list(closed_card({card: True, other: False})) == []
    ((what, fix),) = closed_card({card: False})
    assert what == f"the sound card is for the group {card.group()}"
    assert fix == f"sudo usermod -aG {card.group()} $USER, then log in again"


@pytest.mark.shows("H5")
def test_who_has_the_store_s_port_is_named(config: Config) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS, "tcp"], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        port = int(holder.stdout.readline())
        taken = replace(config, memory=MemorySettings(bolt_port=port))
        line = ports(taken)
        elsewhere = ports(replace(config, memory=MemorySettings(bolt_port=port, uri="neo4j://127.0.0.1")))
        holder.kill()
    assert line.verdict is Verdict.FAULT
    assert line.what.startswith(f"port {port} of [memory] bolt_port is taken by python")
    assert line.what.endswith(f"(process {holder.pid})")
    assert "or to 0 for any free one" in line.fix
    assert elsewhere.verdict is Verdict.OK
    free = f"the door {config.socket}; the store's port {port} on loopback"
    assert told(ports(taken)) == (Verdict.OK, free)


class WithGraph(ScriptedHandler):
    """A running service with a store."""

    async def status(self, owner_key: str) -> Mapping[str, Json]:
        return {"state": {"disk": "has room"}, "graph": {"state": "ready"}}


@pytest.mark.shows("H5")
async def test_the_running_service_s_own_socket_and_port_are_no_fault(config: Config) -> None:
    with socket.create_server(("127.0.0.1", 0)) as store:
        mine = replace(config, memory=MemorySettings(bolt_port=store.getsockname()[1]))
        assert ports(mine).verdict is Verdict.FAULT
        async with serving(config.socket, WithGraph()):
            assert (await asyncio.to_thread(ports, mine)).verdict is Verdict.OK


@pytest.mark.shows("H5")
def test_who_has_the_door_and_is_no_nakari_is_named(config: Config) -> None:
    config.socket.parent.mkdir(parents=True)
    config.socket.touch()
    assert told(ports(config)) == (Verdict.FAULT, f"{config.socket} is there and is no socket")
    config.socket.unlink()
    command = [sys.executable, "-c", HOLDS, str(config.socket)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        ((what, _),) = taken_socket(config.socket, seconds=0.2)
        holder.kill()
    assert what.endswith(f"(process {holder.pid}), which does not answer as nakari")
    assert ports(config).verdict is Verdict.OK, "the remains of a dead process are taken over at the start"


def test_what_is_not_there_is_nobody_s() -> None:
    assert listener_at(1) == ""
    assert owner_of("0") == 0
    assert named(2**30) == f"process {2**30}"
    assert named(os.getpid()).endswith(f"(process {os.getpid()})")
