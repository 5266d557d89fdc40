"""A mind whose state is in an engine's log loses nothing: it dies, its disk is gone, or the server dies along."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.story import Nursery, boundaries, deaths, nursery, told
from tests.crash.verdict import complaints, remains
from tests.engine_session import shared_server

RUNS = 2
"""Of each story; `benchmarks.appliance.crashes --engine` takes more of more."""


@pytest.fixture(scope="module")
def lives() -> Iterator[Nursery]:
    with nursery() as running:
        yield running


@pytest.mark.shows("A23", "H10", "A24")
@pytest.mark.parametrize(("scheme", "seed"), [("nats", 0), ("nats", 3), ("redis", 1)])
async def test_a_story_that_is_killed_anywhere_with_its_state_elsewhere_ends_as_it_should(
    lives: Nursery, tmp_path: Path, scheme: str, seed: int
) -> None:
    server = await shared_server(scheme)
    most = await asyncio.to_thread(boundaries, lives, tmp_path / "whole", seed, server)
    assert complaints(await remains(tmp_path / "whole"), seed) == []
    for place in range(RUNS):
        folder = tmp_path / str(place)
        met = await asyncio.to_thread(told, lives, folder, seed, deaths(seed, place, most), server)
        assert complaints(await remains(folder), seed) == [], f"after deaths at {met}"
