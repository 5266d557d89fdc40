"""The real program on a household's engine: another machine sees what it does, and it logs what others do."""

import asyncio
from pathlib import Path

import pytest

from agent.bus import Bus
from agent.event import USER_TEXT, Event
from agent.record import step
from agent.transport import EngineTransport
from appliance.api.client import tell
from memory.engine.access import Login, engine_at
from tests.agent.buses import Keeper
from tests.engine_servers import nats_program, nats_server
from tests.service.process import SECONDS, Household


@pytest.mark.shows("E11", "H10")
async def test_machines_see_what_the_program_does_and_its_log_has_what_they_do(tmp_path: Path) -> None:
    if nats_program() is None:
        pytest.skip("no nats-server that is new enough (scripts/nats fetch)")
    server = nats_server(tmp_path / "nats")
    server.start()
    engine = engine_at(server.url, "home", Login())
    household = Household(tmp_path / "kitchen", settings={"machines": {"url": server.url, "name": "kitchen"}})
    way = EngineTransport(engine.topics, "attic")
    bus = Bus(Keeper(), way)
    try:
        with household.running("run") as running:
            async with asyncio.TaskGroup() as group:
                carrying = group.create_task(way.run(bus))
                seen = bus.observe("runs.new", everywhere=True).by_machine()
                await asyncio.to_thread(running.until, "service_started")
                await tell(
                    household.folder / "door.sock", {"do": "enqueue", "type": USER_TEXT, "content": "hello"}, SECONDS
                )
                async with asyncio.timeout(SECONDS):
                    machine, began = await anext(seen)
                own = await asyncio.to_thread(running.until, "run_started")
                assert (machine, began.metadata["run_id"]) == ("kitchen", own["run_id"])
                assert "machine" not in own
                await bus.publish(step("runs.new", Event(USER_TEXT, "there"), "a-run", {"source": "cli"}))
                others = await asyncio.to_thread(running.until, "run_started")
                assert (others["machine"], others["run_id"]) == ("attic", "a-run")
                carrying.cancel()
            assert running.stop() == 0
    finally:
        await engine.close()
        server.kill()
