"""Two machines of a household as real processes on a real engine: one dies or stands still, the other goes on."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from benchmarks.machines.takeovers import figure_of, takeovers
from tests.agent.openai_server import OpenAiServer, reply
from tests.benchmarks.shape import is_a_figure
from tests.engine_servers import Server, nats_program, nats_server, redis_server
from tests.room.virtual_time import passed
from tests.service.process import Household, Running

COUNTED = "Number one is spoken first. Number two comes after it. Number three is the last of them."
SENTENCES = ["Number one is spoken first.", "Number two comes after it.", "Number three is the last of them."]

pytestmark = pytest.mark.shows("H10", "X18")


@contextmanager
def started(server: Server) -> Iterator[Server]:
    """Run a server in the block."""
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Server]:
    with started(redis_server(tmp_path / "redis")) as server:
        yield server


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[Server]:
    if nats_program() is None:
        pytest.skip("there is no nats-server of 2.10 or newer; scripts/nats fetch gets one")
    with started(nats_server(tmp_path / "nats")) as server:
        yield server


def machine(folder: Path, name: str, engine: Server, model: OpenAiServer) -> Household:
    """Return a machine of the household, which thinks by that server."""
    machines: dict[str, object] = {"url": engine.url, "name": name}
    thinks: dict[str, object] = {"provider": "openai", "base_url": model.url, "name": "m"}
    return Household(folder / name, {"machines": machines, "model": thinks})


@asynccontextmanager
async def two(folder: Path, engine: Server, model: OpenAiServer) -> AsyncIterator[list[tuple[Household, Running]]]:
    """Run two machines, of which the first leads and the second follows."""
    attic, cellar = (machine(folder, name, engine, model) for name in ("attic", "cellar"))
    with attic.running("run", "--output", str(folder / "attic.wav")) as first:
        await logged(first, "service_started")
        with cellar.running("run", "--output", str(folder / "cellar.wav")) as second:
            await logged(second, "following")
            yield [(attic, first), (cellar, second)]


async def logged(running: Running, *events: str) -> None:
    """Return when these were logged, in any order."""
    for event in events:
        await asyncio.to_thread(running.until, event)


async def completed(home: Household) -> None:
    """Return when the state of a machine has every event completed."""
    async with asyncio.timeout(120):
        while set(home.states()) != {"completed"}:
            await passed(0.1)


async def test_the_second_goes_on_with_the_reply_of_the_first(tmp_path: Path, redis: Server) -> None:
    async with OpenAiServer() as model:
        model.enqueue(reply(COUNTED))
        async with two(tmp_path, redis, model) as ((attic, first), (cellar, second)):
            await attic.hear("Count to three.")
            await logged(first, "sentence_started", "model_answered")
            listed = await asyncio.to_thread(attic.run, "machines", "--json")
            states = {each["machine"]: each["state"] for each in json.loads(listed.stdout)["machines"]}
            assert states == {"attic": "leads", "cellar": "follows"}, listed.stderr
            first.kill()
            await logged(second, "mind_taken_over", "service_started")
            await completed(cellar)
            told = await asyncio.to_thread(cellar.run, "status")
            assert "cellar leads, after attic" in " ".join(told.stdout.split()), told.stderr
            assert cellar.spoken() == SENTENCES
            assert len(model.requests) == 1, "it was asked once"


async def test_one_that_stood_still_comes_back_and_says_nothing(tmp_path: Path, nats: Server) -> None:
    async with OpenAiServer() as model:
        model.enqueue(reply(COUNTED))
        async with two(tmp_path, nats, model) as ((attic, first), (cellar, second)):
            await attic.hear("Count to three.")
            await logged(first, "sentence_started", "model_answered")
            first.process.send_signal(signal.SIGSTOP)
            await logged(second, "mind_taken_over", "service_started")
            await completed(cellar)
            first.process.send_signal(signal.SIGCONT)
            await logged(first, "mind_lost", "following")
            assert cellar.spoken() == SENTENCES
            assert [line["words"] for line in first.log if line.get("event") == "sentence_started"] == SENTENCES[:1]
            given = await asyncio.to_thread(attic.run, "handover")
            assert (given.returncode, given.stdout, given.stderr) == (0, "cellar has given the lead away\n", "")
            await logged(first, "mind_taken_over", "service_started")
            await logged(second, "following")
            await completed(attic)
            assert attic.spoken() == SENTENCES
            assert [process.poll() for process in (first.process, second.process)] == [None, None], "nobody left"


async def test_nothing_is_lost_or_done_twice_in_mid_write_and_mid_timer(tmp_path: Path) -> None:
    """A sample of the fifty of `benchmarks.machines.takeovers`, and the figure that it makes of them."""
    story, faults = await takeovers(tmp_path, ("mid-write", "mid-timer"))
    assert faults == []
    assert len(story.taken) == 2
    is_a_figure(figure_of(story, faults))
