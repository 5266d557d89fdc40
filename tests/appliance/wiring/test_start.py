"""What a box loads first: the ears; and when it may give back what only loading needed."""

import asyncio
import threading
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.service import serve
from appliance.wiring.box import open_box
from appliance.wiring.memory.managed_graph import STORE_LOOP
from tests.appliance.wiring.test_box import Room
from tests.service.process import Household


@pytest.mark.shows("H9")
async def test_of_the_graph_only_its_process_starts_before_words_can_be_understood(tmp_path: Path) -> None:
    config = load(Household(tmp_path, {"memory": {"enabled": True}}).write(), {"HOME": str(tmp_path)})
    async with open_box(config, RunOptions(), Room().environment()) as box:
        ears = box.input.ears
        assert ears is not None
        graph = {name: loop for name, loop in box.loops().items() if name.startswith("graph: ")}
        later = {name for name, loop in graph.items() if isinstance(loop, partial) and loop.func == ears.once_ready}
        assert {*graph} - later == {STORE_LOOP}

        ran = asyncio.Event()

        async def loop() -> None:
            ran.set()

        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            group.create_task(ears.once_ready(loop), name="what is to wait")
            await asyncio.sleep(0)
            assert not ran.is_set()
            ears.listener.ready.set()
        assert ran.is_set()


@pytest.mark.shows("H9")
async def test_a_box_says_once_that_all_is_loaded_that_is_loaded_ahead(tmp_path: Path) -> None:
    config = load(Household(tmp_path).write(), {"HOME": str(tmp_path)})
    loaded, times = threading.Event(), list[str]()

    def note() -> None:
        times.append(threading.current_thread().name)
        loaded.set()

    async def until_over() -> None:
        assert await asyncio.to_thread(loaded.wait, 20)

    environment = replace(Room().environment(), once_loaded=(note,))
    async with asyncio.timeout(120), open_box(config, RunOptions(), environment) as box:
        assert times == []
        await serve(box, until_over)
        assert box.input.ears is not None
        assert box.input.ears.listener.ready.is_set()
    assert len(times) == 1
    assert times != [threading.main_thread().name]
