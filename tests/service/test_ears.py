"""`nakari run --role ears` as a process, a real server between it and a mind: killed and cut off on the way."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from appliance.machines.wire import ANSWERED
from memory.engine.access import Login, engine_at
from tests.appliance.machines.ears_box import RemoteMind
from tests.engine_servers import Server, nats_program, nats_server, redis_program, redis_server
from tests.room.virtual_time import passed
from tests.service.process import Household, speak

STORY = [f"This is part {word} of it." for word in ("one", "two", "three", "four")]

pytestmark = pytest.mark.skipif(
    None in {nats_program(), redis_program()},
    reason="no nats-server or redis-server here: scripts/nats fetches one",
)


@asynccontextmanager
async def mind_at(server: Server) -> AsyncIterator[RemoteMind]:
    """A mind on its own connection, which tells a story."""
    engine = engine_at(server.url, "home", Login())
    mind = RemoteMind(engine, lambda event: STORY)
    try:
        async with asyncio.TaskGroup() as group:
            living = group.create_task(mind.live(), name="the mind")
            yield mind
            living.cancel()
    finally:
        await engine.close()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(90):
        while not condition():
            await passed(0.05)


@pytest.mark.shows("H10")
async def test_ears_that_are_killed_in_a_reply_say_the_rest_and_nothing_twice(tmp_path: Path) -> None:
    """Over Redis; over NATS: tests/service/test_ears_and_mind.py."""
    server = redis_server(tmp_path / "engine")
    await asyncio.to_thread(server.start)
    machines: dict[str, object] = {"url": server.url, "role": "ears", "name": "kitchen"}
    home = Household(tmp_path / "ears", {"machines": machines})
    question = await asyncio.to_thread(speak, "Hello there.", tmp_path / "question.wav")
    try:
        async with mind_at(server) as mind:
            first = ("run", "--input", str(question), "--output", str(tmp_path / "first.wav"))
            with home.running(*first) as service:
                await until(lambda: any(report.number == 2 and report.state == "started" for report in mind.reports))
                service.kill()
            assert [turn.content for turn in mind.turns] == ["Hello there."]
            with home.running("run", "--role", "ears", "--output", str(tmp_path / "second.wav")) as service:
                event = mind.turns[0]
                await until(lambda: mind.heard.get(event.id, [""])[-1] == STORY[-1])
                status = await asyncio.to_thread(home.run, "status")
                assert await asyncio.to_thread(service.stop) == 0
            assert home.spoken() == STORY
            assert len(mind.turns) == 1
            assert "ears kitchen, the mind is there (server)" in status.stdout
    finally:
        server.kill()


@pytest.mark.shows("H10")
async def test_ears_without_their_server_answer_what_they_can_and_tell_it_later(tmp_path: Path) -> None:
    server = nats_server(tmp_path / "nats")
    machines: dict[str, object] = {"url": server.url, "role": "ears", "name": "kitchen"}
    home = Household(tmp_path / "ears", {"machines": machines})
    question = await asyncio.to_thread(speak, "What time is it?", tmp_path / "question.wav")
    try:
        with home.running("run", "--input", str(question), "--output", str(tmp_path / "answer.wav")) as service:
            await asyncio.to_thread(service.until, "run_finished")
            said = home.spoken()
            assert len(said) == 1, said
            await asyncio.to_thread(server.start)
            async with mind_at(server) as mind:
                await until(lambda: mind.turns)
                assert mind.turns[0].metadata[ANSWERED] == said[0]
                assert await asyncio.to_thread(service.stop) == 0
        assert home.spoken() == said
    finally:
        server.kill()
