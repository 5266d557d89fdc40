"""A kill at any moment between wanting to say something and having said it loses nothing and repeats nothing."""

import os
from itertools import count
from pathlib import Path

import pytest

from memory.state.database import Database
from tests.appliance.output.parlour import Parlour, Scene, own, parlour
from tests.crash.body import sounded
from tests.crash.deaths import DyingDatabase, Steps, noted
from tests.room.virtual_time import passed, run_virtually
from tests.sample import sample

WORDS = ("The wash is done. It is still wet.", "The roses are dry.")
SENTENCES = ["The roses are dry.", "The wash is done.", "It is still wet."]


EVERY = 3
"""Of so many boundaries at one, at another one after each commit."""


def life(folder: Path, dies_at: int) -> None:
    """Want to say what is not filed yet, and say what waits; die at a boundary, or exit in peace with its number."""
    steps = Steps(dies_at)

    def database(path: Path) -> Database:
        return DyingDatabase(path, steps)

    async def story() -> None:
        async with parlour(folder, Scene(database=database, steps=steps)) as room:
            for words in WORDS:  # as the loop, which handles an event again until it is put away
                await room.wants_to_say(words, own(words))
            await room.somebody_says()
            await passed(60.0)
            await _note_end(room)

    run_virtually(story())


async def _note_end(room: Parlour) -> None:
    over = [fate.id for fate in room.announcements.past if fate.outcome == "said"]
    (room.folder / "ledger").write_text(f"left {await room.waiting()}\nover {len(over)}\nkinds {len(set(over))}\n")


def lived(folder: Path, dies_at: int) -> bool:
    """Live in a process of its own; return whether it was killed."""
    if (child := os.fork()) == 0:
        try:
            life(folder, dies_at)
        finally:
            os._exit(0 if (folder / "ledger").exists() else 1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a life failed"
    return os.WIFSIGNALED(status)


@pytest.mark.shows("V24")
def test_a_kill_at_any_boundary_loses_nothing_and_repeats_nothing(tmp_path: Path, every_step: bool) -> None:
    kept = {*sample(range(EVERY), 1, whole=every_step)}
    dies_at, deaths = 1, 0
    while True:
        folder = tmp_path / str(dies_at)
        folder.mkdir()
        was_killed = lived(folder, dies_at)
        deaths += was_killed
        if was_killed:
            assert not lived(folder, 0)
        ledger = folder / "ledger"
        assert [noted(ledger, verb) for verb in ("left", "over", "kinds")] == [["0"], ["2"], ["2"]]
        begun = [
            next(each for each in SENTENCES if each.startswith(one[:6])) for one in sounded(folder / "sound") if one
        ]
        assert len(begun) == len(set(begun)), f"said twice after a kill at {dies_at}: {begun}"
        assert len(begun) >= len(SENTENCES) - was_killed, f"lost after a kill at {dies_at}: {begun}"
        if not was_killed:
            break
        dies_at += next(step for step in count(1) if (dies_at + step) % EVERY in kept)
    assert deaths > 20 * len(kept) / EVERY
