"""It never loses its place: random stories, killed at random steps, end as if nothing had been."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.crash.body import sounded
from tests.crash.deaths import after_effect, noted
from tests.crash.script import MENDING, RINGING
from tests.crash.story import Nursery, boundaries, deaths, nursery, told
from tests.crash.verdict import complaints, remains
from tests.sample import sample

RUNS = 2
"""Of each story; `benchmarks.appliance.crashes` takes more of more."""

STORIES = 2
"""Of five, and of the four ways to kill one about mended calls; others after each commit."""

DEATHS = 6
"""Places at which a story about mended calls is killed."""

EFFECTS = 3
"""Of a story about a bell, after each of which the power goes."""


@pytest.fixture(scope="module")
def lives() -> Iterator[Nursery]:
    with nursery() as running:
        yield running


@pytest.mark.shows("A24", "A14", "A4", "B1", "B24", "D1")
async def test_a_story_that_is_killed_anywhere_ends_as_it_should(
    lives: Nursery, tmp_path: Path, every_step: bool
) -> None:
    for seed in sample(range(5), STORIES, whole=every_step):
        story = tmp_path / str(seed)
        most = boundaries(lives, story / "whole", seed)
        assert complaints(await remains(story / "whole"), seed) == [], f"seed {seed}"
        for place in range(RUNS):
            folder = story / str(place)
            met = told(lives, folder, seed, deaths(seed, place, most))
            assert complaints(await remains(folder), seed) == [], f"seed {seed}, after deaths at {met}"


@pytest.mark.shows("A24", "B3")
async def test_a_call_that_was_mended_is_done_once_wherever_it_is_killed(
    lives: Nursery, tmp_path: Path, every_step: bool
) -> None:
    for seed, way in sample([*product((MENDING, MENDING + 1), (1, -1))], STORIES, whole=every_step):
        story = tmp_path / f"{seed}_{way}"
        most = boundaries(lives, story / "whole", seed)
        assert complaints(await remains(story / "whole"), seed) == [], f"seed {seed}"
        assert noted(story / "whole" / "ledger", "rung"), "it is about a bell"
        for place in range(2 + seed % 3 + way, most + 1, max(1, most // DEATHS)):
            folder = story / str(place)
            told(lives, folder, seed, [way * place])
            assert complaints(await remains(folder), seed) == [], f"seed {seed}, after a death at {way * place}"


@pytest.mark.shows("A24")
@pytest.mark.parametrize("seed", [RINGING + 3, RINGING + 4])
async def test_what_cannot_be_taken_back_is_done_once_although_the_power_goes_right_after_it(
    lives: Nursery, tmp_path: Path, seed: int
) -> None:
    boundaries(lives, tmp_path / "whole", seed)
    effects = len(noted(tmp_path / "whole" / "ledger", "rung"))
    assert effects >= EFFECTS, "it is about a bell"
    for number in range(1, EFFECTS + 1):
        folder = tmp_path / str(number)
        told(lives, folder, seed, [after_effect(number)])
        assert complaints(await remains(folder), seed) == [], f"after a cut right after effect {number}"


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
    assert "the effect of twice happened, and the journal knows of no such call" in found
