"""`nakari bench self`: a real process, whose model is a simple-minded agent behind a server of OpenAI's protocol."""

import asyncio
import signal
from pathlib import Path

import pytest

from appliance.errors import INTERRUPTED, Exit
from benchmarks.self.model import simple_server
from tests.agent.openai_server import Recorded, Scripted
from tests.service.process import Household

PATIENCE = 60.0


@pytest.mark.shows("G3", "D4")
async def test_a_life_is_lived_beside_the_household_s_and_leaves_nothing(tmp_path: Path) -> None:
    async with simple_server() as server:
        model = {"provider": "openai", "base_url": server.url, "name": "simple", "price_prompt": 2.0}
        memory = {"enabled": True, "embeddings": "off"}
        home = Household(tmp_path, {"models.simple": model, "memory": memory, "mind": {"timezone": "UTC"}})
        temporary = tmp_path / ("no socket's path may be as long as this" * 3)
        temporary.mkdir()
        life = ("bench", "self", "--model", "simple", "--weeks", "1", "--yes")
        done = await asyncio.to_thread(home.run, *life, TMPDIR=str(temporary))
    assert done.returncode == Exit.OK, done.stderr
    assert "calls      about " in done.stderr
    assert "US dollars at the configured prices" in done.stderr
    shown = {line.rsplit("  ", 2)[0].strip(): line.split()[-2] for line in done.stdout.splitlines() if "%" in line}
    assert shown == dict.fromkeys(shown, "100")
    assert {"what is so now", "what nobody said is not known"} <= set(shown)
    assert "model calls while nothing was to do: 0" in done.stdout
    assert not home.state.exists(), "the household's own state was not touched"
    assert list(temporary.iterdir()) == []


async def test_nothing_is_asked_of_a_model_before_the_cost_is_agreed_to(tmp_path: Path) -> None:
    async with simple_server() as server:
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "simple"}})
        done = await asyncio.to_thread(home.run, "bench", "self", "--weeks", "1")
        assert server.requests == []
    assert done.returncode == Exit.USAGE
    assert "no price of it is configured" in done.stderr
    assert "say --yes where nobody can be asked" in done.stderr


def test_the_model_has_to_be_one_that_thinks(tmp_path: Path) -> None:
    home = Household(tmp_path)
    assert "the offline model keeps nothing" in home.run("bench", "self").stderr
    named = home.run("bench", "self", "--model", "nobody")
    assert "there is no model 'nobody'; take one of: configured" in named.stderr
    assert named.returncode == Exit.USAGE


async def test_ctrl_c_ends_it_in_good_order(tmp_path: Path) -> None:
    under_way = asyncio.Event()
    async with simple_server() as server:
        answer = server.default
        assert answer is not None

        def answers(request: Recorded) -> Scripted:
            under_way.set()
            return answer(request)

        server.default = answers
        model: dict[str, object] = {"provider": "openai", "base_url": server.url, "name": "simple"}
        home = Household(tmp_path, {"model": model, "memory": {"enabled": True, "embeddings": "off"}})
        temporary = tmp_path / "tmp"
        temporary.mkdir()
        with home.running("bench", "self", "--weeks", "1", "--yes", environment={"TMPDIR": str(temporary)}) as running:
            async with asyncio.timeout(PATIENCE):  # it may have ended before it asked anything
                await under_way.wait()
            running.process.send_signal(signal.SIGINT)
            code = await asyncio.to_thread(running.process.wait, 60)
    assert code == INTERRUPTED
    assert list(temporary.iterdir()) == []
