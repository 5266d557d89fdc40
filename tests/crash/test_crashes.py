"""She never loses her place: random stories, killed at random steps, end as if nothing had been."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.body import sounded
from tests.crash.story import Nursery, boundaries, deaths, nursery, told
from tests.crash.verdict import complaints, remains

RUNS = 4
"""Of each story; `benchmarks.crashes` takes more of more."""


@pytest.fixture(scope="module")
def lives() -> Iterator[Nursery]:
    with nursery() as running:
        yield running


@pytest.mark.shows("A24", "A14", "A4", "B1", "B24", "D1")
@pytest.mark.parametrize("seed", range(5))
async def test_a_story_that_is_killed_anywhere_ends_as_it_should(lives: Nursery, tmp_path: Path, seed: int) -> None:
    most = boundaries(lives, tmp_path / "whole", seed)
    assert complaints(await remains(tmp_path / "whole"), seed) == []
    for place in range(RUNS):
        folder = tmp_path / str(place)
        met = told(lives, folder, seed, deaths(seed, place, most))
        assert complaints(await remains(folder), seed) == [], f"after deaths at {met}"


async def test_the_verdict_sees_what_went_wrong(lives: Nursery, tmp_path: Path) -> None:
    folder = tmp_path / "story"
    boundaries(lives, folder, 3)
    assert sounded(folder / "sound")
    (folder / "sound").write_bytes((folder / "sound").read_bytes() * 2)
    with (folder / "ledger").open("a") as ledger:
        ledger.write("accepted nobody\nrung twice\nrung twice\nillegal list\n")
    found = "; ".join(complaints(await remains(folder), 3))
    for wrong in ("sounded 2 times", "nobody was accepted and is lost", "effect of twice happened 2", "illegal: list"):
        assert wrong in found
