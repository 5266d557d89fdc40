"""Ears and mind in two network namespaces: a way that loses and delays, and is cut in the middle of a reply."""

import asyncio
from pathlib import Path

import pytest

from tests.engine_servers import nats_program
from tests.machines.namespaces import joined, why_not
from tests.machines.two_machines import two_machines

SECONDS = 120
"""The most that it may take on a loaded machine."""


@pytest.mark.shows("H10")
async def test_a_reply_that_is_cut_in_the_middle_is_spoken_whole_in_order_and_once(tmp_path: Path) -> None:
    if reason := why_not() or (None if nats_program() else "no nats-server that is new enough (scripts/nats fetch)"):
        pytest.skip(reason)
    with joined(seed=18) as places:
        wire = places.wire
        wire.delay, wire.jitter, wire.loss = 0.04, 0.01, 0.02
        async with asyncio.timeout(SECONDS), two_machines(tmp_path, places) as talk:
            await talk.says(1)
            assert [spoken.number for spoken in await talk.hears()] == [1]
            await talk.says(12)
            reply = await talk.hears(3)
            wire.is_cut = True
            await talk.says(1)
            await wire.until_cut_off(4)
            wire.is_cut = False
            reply += await talk.hears(10)
    assert [spoken.number for spoken in reply] == [*range(1, 13), 1], "what was said meanwhile is answered after it"
    assert len({spoken.event_id for spoken in reply}) == 2
