"""kill -9 at random moments of writing: what was acknowledged is there; audit log, snapshots and graph agree."""

import random
from pathlib import Path

import pytest

from tests.memory.lives import live, verdict

LIVES = 4
"""Of the 100 that `python -m benchmarks.memory.graph_kills` ends."""


@pytest.mark.shows("C11", "C12", "C15")
async def test_killed_while_writing_nothing_acknowledged_is_lost_and_all_agree(tmp_path: Path) -> None:
    chance = random.Random(20261121)
    acknowledged: list[int] = []
    for number in range(LIVES):
        acknowledged += live(tmp_path, number * 1000, chance)
    found = await verdict(tmp_path, acknowledged)
    assert acknowledged
    assert found.missing == []
    assert found.agree
    assert found.records >= 2 * len(acknowledged)
