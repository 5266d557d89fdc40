from pathlib import Path

import pytest

from memory.recall import Question
from memory.recall.index import PAGE
from memory.recall.recall import BATCH
from tests.memory.recall.test_find import reply
from tests.memory.tier_fixtures import a_memory, task
from tests.processes import child

HOME = "household"
MANY = 3 * PAGE


@pytest.mark.shows("E16", "H7")
async def test_killed_while_it_takes_over_nothing_is_missing_and_nothing_is_twice(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        heard = [task(f"number {n}", f"e{n}") for n in range(MANY)]
        spoken = [reply(f"sentence {k} about {n}.", f"e{n}", k) for n in range(0, MANY, 10) for k in range(3)]
        await memory.journal.append(*heard, *spoken)
    for pages in (1, 2):
        async with child("tests.memory.recall.filling_program", str(tmp_path), str(pages)) as filling:
            for _ in range(pages):
                while await filling.line() != str(PAGE):
                    assert filling.last  # else it died by itself
            await filling.kill()
    async with a_memory(tmp_path) as memory:
        assert await memory.recall.fill() == MANY + len(spoken) - 3 * PAGE
        found = await memory.recall.find(Question(limit=1000), HOME)
        said = sorted(hit.words for hit in found.hits)
        assert said == sorted(
            [f"number {n}" for n in range(MANY)]
            + [" ".join(f"sentence {k} about {n}." for k in range(3)) for n in range(0, MANY, 10)]
        )


@pytest.mark.shows("E15", "E16")
async def test_killed_while_it_makes_vectors_it_goes_on_where_it_was(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.journal.append(*(task(f"tea number {n}", f"e{n}") for n in range(5 * BATCH)))
        await memory.recall.fill()
    async with child("tests.memory.recall.filling_program", str(tmp_path), "0") as filling:
        for _ in range(2):
            while await filling.line() != f"{BATCH} vectors":
                assert filling.last
        await filling.kill()
    async with a_memory(tmp_path) as memory:
        assert await memory.recall.embed() == 4 * BATCH
        assert (await memory.counts())["L4"] == 5 * BATCH
        assert await memory.recall.embed() == 0
