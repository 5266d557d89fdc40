"""What the watchdog watches in the real box: a mind and ears that hang starve it, at rest they do not."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.notify import HeartBeat, Notifier, Watchdog
from appliance.wiring.box import Box
from tests.agent.mcp_house import a_tool, bare
from tests.appliance.test_notify import AtOnce, received
from tests.appliance.wiring.test_box import Room, a_box, passing, taken_up
from tests.fakes import ScriptedModel, calls


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        yield receiver


def watchdog_of(box: Box, folder: Path, impatient: str) -> Watchdog:
    """Return the box's watchdog, for which this part is stuck as soon as it owes a beat at all."""
    for beat in box.beats:
        beat.max_age = 0.0 if beat.name == impatient else beat.max_age
    return Watchdog(Notifier(str(folder / "notify"), AtOnce()), 30.0, box.beats)


async def until_owed(beat: HeartBeat) -> None:
    async with asyncio.timeout(120):
        while beat.age == 0.0:
            await passing()


@pytest.mark.shows("H2", "F32")
async def test_a_mind_with_a_tool_that_hangs_starves_the_watchdog_and_an_idle_one_does_not(
    tmp_path: Path, systemd: socket.socket
) -> None:
    hung = bare(tmp_path / "window", a_tool("look"), kind="hung", name="window")
    room = Room(model=ScriptedModel(calls(("window_look", "{}"))))
    tools: dict[str, object] = {"command": [*hung.command], "timeout_seconds": 240}
    async with a_box(tmp_path, room, **{"mcp.window": tools}) as box:
        await box.agent.servers.owners["window"].until("connected")
        watchdog = watchdog_of(box, tmp_path, "mind")
        watchdog.look()
        assert received(systemd) == ["WATCHDOG=1"], "an empty mailbox may wait as long as it likes"
        await room.says("what do you see out there")
        async with asyncio.timeout(120):
            while not (tmp_path / "window" / "called").exists():
                await passing()
        await until_owed(box.agent.beat)
        watchdog.look()
        assert received(systemd) == ["STATUS=stuck: mind"]


@pytest.mark.shows("H2", "F32", "V5")
async def test_ears_whose_sound_stops_starve_the_watchdog(tmp_path: Path, systemd: socket.socket) -> None:
    room = Room(model=ScriptedModel(calls(("reply", '{"text": "Yes."}'))))
    async with a_box(tmp_path, room) as box:
        assert box.input.ears is not None
        watchdog = watchdog_of(box, tmp_path, "ears")
        watchdog.look()
        assert received(systemd) == ["WATCHDOG=1"], "before the first chunk nothing is owed"
        await room.says("are you there")
        await taken_up(box, 1)
        await until_owed(box.input.ears.beat)
        watchdog.look()
        assert received(systemd) == ["STATUS=stuck: ears"]
