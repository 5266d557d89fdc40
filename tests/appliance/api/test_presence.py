"""A nakari that starts or ends has the state and does not answer: who asks it waits a moment, and so does the next."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from appliance.admin.exchange import DATABASE
from appliance.admin.local import open_admin
from appliance.api.client import service_of
from appliance.cli.telling import asked
from appliance.config.load import Config, load
from appliance.errors import ServiceNotRunning
from appliance.wiring.memory.state import open_state
from memory.json_value import Json
from memory.state.database import StateInUse
from tests.appliance.door_fakes import ScriptedHandler, serving
from tests.processes import Child, child

TOO_SHORT = 0.3
"""Seconds of patience where nothing is to come."""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "state").mkdir()
    (tmp_path / "nakari.toml").write_text(f'[state]\nfolder = "{tmp_path}/state"\n')
    return load(tmp_path / "nakari.toml", environ={"HOME": str(tmp_path)})


@asynccontextmanager
async def in_use(config: Config) -> AsyncIterator[Child]:
    """Have another process that has the state open and answers nobody."""
    async with child("tests.memory.holder", str(config.state_folder / DATABASE)) as process:
        assert await process.line() == "open"
        yield process


async def test_a_service_that_starts_is_asked_once_it_answers(config: Config) -> None:
    async def alone() -> dict[str, Json]:
        raise AssertionError("the service has the state")

    async with in_use(config), asyncio.TaskGroup() as group:
        telling = group.create_task(asyncio.to_thread(asked, config, {"do": "status"}, alone))
        await asyncio.wait([telling], timeout=TOO_SHORT)
        assert not telling.done()
        async with serving(config.socket, ScriptedHandler()):
            assert (await telling)["state"] == "listening"


async def test_a_service_that_took_the_state_meanwhile_is_asked(config: Config) -> None:
    not_yet = config.state_folder / "not-yet.sock"

    async def alone() -> dict[str, Json]:
        not_yet.rename(config.socket)
        raise StateInUse("it was quicker")

    async with serving(config.socket, ScriptedHandler()):
        config.socket.rename(not_yet)
        assert (await asyncio.to_thread(asked, config, {"do": "status"}, alone))["state"] == "listening"


async def test_a_state_without_an_answer_is_no_service(config: Config) -> None:
    async with in_use(config):
        with pytest.raises(ServiceNotRunning):
            await service_of(config, TOO_SHORT)


async def test_who_waits_for_a_service_is_in_no_thread_that_ctrl_c_would_have_to_wait_for(config: Config) -> None:
    async with in_use(config):
        before = threading.enumerate()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(TOO_SHORT), open_admin(config):
                raise AssertionError("another process has the state")
        assert [thread.name for thread in threading.enumerate() if thread not in before] == []


async def test_a_command_that_is_at_the_state_is_waited_for(config: Config) -> None:
    async def opens() -> None:
        async with open_state(config.state_folder):
            pass

    async with in_use(config) as process, asyncio.TaskGroup() as group:
        opening = group.create_task(opens())
        await asyncio.wait([opening], timeout=TOO_SHORT)
        assert not opening.done()
        await process.kill()
