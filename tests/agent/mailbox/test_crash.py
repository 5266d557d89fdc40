"""kill -9 at real processes: nothing acknowledged is lost, one event at most is in hand, the order stays."""

import random
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path

import pytest

from agent.mailbox import Mailbox, State
from tests.agent.mailboxes import SqliteRig, handled
from tests.processes import child

STEPS = (
    *("enqueued a", "enqueued b", "took b", "charged b", "completed b"),
    *("took a", "charged a", "enqueued c", "suspended a", "took c", "failed c"),
)
"""What `mailbox_process.life` says, one line a write."""

POINTS = random.Random(20261121).sample(list(product(range(1, len(STEPS) + 1), ("before", "inside", "after"))), 9)
"""A seeded sample of all points; inside and before a commit the step must be undone, after it it must be there."""

AT_THE_END: dict[str, State] = {"a": "suspended", "b": "completed", "c": "dead"}


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[SqliteRig]:
    """The mailbox of the killed process; started by the test, after the kill."""
    rig = SqliteRig(tmp_path / "nakari.db")
    yield rig
    await rig.stop()


@pytest.mark.shows("A24", "A14", "A4")
@pytest.mark.parametrize(("at", "point"), POINTS)
async def test_a_step_is_whole_or_was_never_taken(rig: SqliteRig, tmp_path: Path, at: int, point: str) -> None:
    async with child("tests.agent.mailbox_process", str(tmp_path / "nakari.db"), str(at), point) as process:
        assert tuple(await process.lines()) == STEPS[: at - 1]
    await rig.start()
    done = STEPS[: at if point == "after" else at - 1]
    states = {name: await state(rig.mailbox, name) for name in "abc"}
    assert states == {name: expected(name, done) for name in "abc"}

    in_hand = [name for name, state in states.items() if state == "in_hand"]
    assert [hand.event.id for hand in await rig.mailbox.recover()] == in_hand
    rig.clock.advance(1)
    waiting = [name for name, state in states.items() if state in ("pending", "suspended", "in_hand")]
    order = sorted(waiting, key=lambda name: (name != "b", name not in in_hand, name))
    assert await handled(rig) == order
    assert {await state(rig.mailbox, name) for name in order} <= {"completed"}


async def state(mailbox: Mailbox, name: str) -> State | None:
    found = await mailbox.find(name)
    return None if found is None else found.state


def expected(name: str, done: tuple[str, ...]) -> State | None:
    """Return the state that the steps done leave an event in."""
    verbs = [step.removesuffix(f" {name}") for step in done if step.endswith(f" {name}")]
    after: dict[str, State] = {"enqueued": "pending", "took": "in_hand", "charged": "in_hand"}
    return after.get(verbs[-1], AT_THE_END[name]) if verbs else None


async def test_a_process_that_nobody_kills_takes_every_step(tmp_path: Path) -> None:
    async with child("tests.agent.mailbox_process", str(tmp_path / "nakari.db"), "0", "") as process:
        assert tuple(await process.lines()) == STEPS


@pytest.mark.shows("A24")
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_flood_cut_anywhere_loses_nothing_acknowledged(rig: SqliteRig, tmp_path: Path, seed: int) -> None:
    async with child("tests.agent.mailbox_process", str(tmp_path / "nakari.db"), "0", "flood") as process:
        said = [await process.line() for _ in range(random.Random(seed).randrange(20, 200))]
        await process.kill()
        said += await process.lines()
    await rig.start()
    enqueued = {line.removeprefix("enqueued ") for line in said if line.startswith("enqueued ")}
    completed = {line.removeprefix("completed ") for line in said if line.startswith("completed ")}
    assert enqueued
    assert {await state(rig.mailbox, name) for name in completed} <= {"completed"}
    assert None not in {await state(rig.mailbox, name) for name in enqueued}
    assert len(await rig.mailbox.recover()) <= 1
    left = await handled(rig)
    assert completed.isdisjoint(left)
    by_arrival = [name for name in left if name.startswith("3.")]
    assert by_arrival == sorted(by_arrival, key=lambda name: int(name[2:]))
    assert (await rig.mailbox.counts())["completed"] >= len(enqueued)
