"""`nakari model use NAME` while it runs: the next event is another model's, after a restart too."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from appliance.errors import Exit
from tests.agent.openai_server import OpenAiServer, reply
from tests.service.process import Household, Running


def home_with(folder: Path, server: OpenAiServer) -> Household:
    served: dict[str, object] = {"provider": "openai", "base_url": server.url}
    return Household(folder, {"model": {**served, "name": "small-one"}, "models.big": {**served, "name": "big-one"}})


async def command(home: Household, *arguments: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(home.run, *arguments)


async def answered(home: Household, service: Running, words: str) -> None:
    """Ask through the door, and wait until the event is done with."""
    done = await command(home, "ask", words)
    assert (done.returncode, done.stdout.strip()) == (Exit.OK, "Yes."), done.stderr
    await asyncio.to_thread(service.until, "run_finished")


async def status(home: Household) -> dict[str, object]:
    shown = await command(home, "status", "--json")
    body: dict[str, dict[str, object]] = json.loads(shown.stdout)
    return body["models"]


@pytest.mark.shows("F3", "F2")
async def test_another_model_is_chosen_through_the_door_and_kept_over_a_restart(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        server.default = lambda _: reply("Yes.")
        home = home_with(tmp_path, server)
        with home.running("run", "--output", str(tmp_path / "1.wav")) as service:
            await asyncio.to_thread(service.until, "service_started")
            await answered(home, service, "Who are you?")
            unknown = await command(home, "model", "use", "bigger")
            used = await command(home, "model", "use", "big")
            await answered(home, service, "And now?")
            told = await status(home)
            assert await asyncio.to_thread(service.stop) == 0
        with home.running("run", "--output", str(tmp_path / "2.wav")) as service:
            await asyncio.to_thread(service.until, "service_started")
            await answered(home, service, "Still you?")
            assert await asyncio.to_thread(service.stop) == 0
        asked = [request.json["model"] for request in server.requests]
    assert (used.returncode, used.stdout) == (Exit.OK, "big thinks from the next event on.\n")
    assert str(told["thinks"]).endswith("/big-one")
    assert unknown.returncode == Exit.NO_INPUT
    assert "there is no model bigger, only configured, big, offline" in unknown.stderr
    assert unknown.stderr.count("\n") == 1
    assert asked == ["small-one", "big-one", "big-one"]
    opened = home.rows("SELECT body FROM journal WHERE topic = 'context.epoch' ORDER BY seq")
    models = [json.loads(str(body))["model"].rpartition("/")[2] for (body,) in opened]
    assert models == ["small-one", "big-one"], "one epoch each: the restart opens none"


@pytest.mark.shows("F3")
async def test_without_a_running_service_it_is_one_sentence(tmp_path: Path) -> None:
    done = await command(Household(tmp_path), "model", "use", "offline")
    assert done.returncode == Exit.UNAVAILABLE
    assert done.stderr.startswith("nakari: ")
    assert done.stderr.count("\n") == 1
