"""The figures of the tiers: how much, how long, how important, each from both sides of its limit."""

from datetime import timedelta
from pathlib import Path

import pytest

from memory.state.importance import IMPORTANT, SUMMARY, UNSET, summary_of
from memory.state.tiers import SIZES
from tests.memory.tier_fixtures import Memory, a_memory, hours, task

HOME = "household"
MOMENT = timedelta(seconds=1)


async def members(memory: Memory) -> tuple[int, int, int]:
    """Return how many are in L1, L2 and L3."""
    counted = await memory.counts()
    return counted["L1"], counted["L2"], counted["L3"]


@pytest.mark.shows("E12", "E13", "E14")
async def test_each_tier_lets_go_at_its_age(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember tea", "e")
        await memory.fill()
        began = memory.now
        for age, held in (
            (hours(1) - MOMENT, (1, 1, 0)),
            (hours(1), (0, 1, 0)),
            (hours(24) - MOMENT, (0, 1, 0)),
            (hours(24), (0, 0, 1)),
            (timedelta(days=7) - MOMENT, (0, 0, 1)),
            (timedelta(days=7), (0, 0, 0)),
        ):
            memory.now = began + age
            assert await members(memory) == held, age


@pytest.mark.shows("E12", "E13", "E14")
async def test_each_tier_holds_so_many_and_lets_go_of_the_oldest(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.journal.append(*(task(f"remember number {n}", f"e{n}") for n in range(551)))
        await memory.tiers.fill()
        views = await memory.tiers.views(HOME)
        newest = [[each.event_id for each in view] for view in (views.recent, views.important)]
        assert newest == [[f"e{n}" for n in range(501, 551)]] * 2
        assert [each.event_id for each in views.summaries] == [f"e{n}" for n in range(1, 501)]
    assert (SIZES.recent, SIZES.important, SIZES.summaries) == (50, 50, 500)


@pytest.mark.shows("E13")
@pytest.mark.parametrize(
    ("importance", "matters"), [(0.6, False), (0.601, True), (0.59, False), (0.5, False), (1.0, True), (None, False)]
)
async def test_what_is_above_six_tenths_matters_and_what_nobody_set_is_a_half(
    tmp_path: Path, importance: float | None, matters: bool
) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("what is the time", "e")
        if importance is not None:
            await memory.marked("e", importance)
        await memory.fill()
        assert [each.event_id for each in (await memory.tiers.views(HOME)).important] == (["e"] if matters else [])
        assert (await memory.counts())["L4"] == 1  # what does not matter is found all the same
        [found] = (await memory.tiers.views(HOME)).recent
        assert found.importance == (0.5 if importance is None else importance)
    assert (IMPORTANT, UNSET) == (0.6, 0.5)


@pytest.mark.shows("E14")
async def test_a_summary_has_at_most_two_hundred_characters(tmp_path: Path) -> None:
    exact, longer = "remember " + "x" * 191, "remember " + "x" * 192
    async with a_memory(tmp_path) as memory:
        await memory.heard(exact, "exact")
        await memory.heard(longer, "longer")
        await memory.marked("longer", 0.9, summary="y" * 300)
        await memory.heard(longer, "cut")
        await memory.fill()
        memory.now += hours(24)
        found = {each.event_id: each.words for each in (await memory.tiers.views(HOME)).summaries}
    assert found["exact"] == exact
    assert {name: len(words) for name, words in found.items()} == {"exact": 200, "longer": 200, "cut": 200}
    assert SUMMARY == 200
    assert len(summary_of("word " * 100)) <= 200


@pytest.mark.shows("E13", "G12")
async def test_who_sets_an_importance_is_the_agent_before_the_sender_before_the_rule(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember tea", "rule")
        await memory.heard("remember tea", "sender", importance=0.3)
        await memory.heard("remember tea", "agent", importance=0.3)
        await memory.marked("agent", 0.7, reason="tea matters")
        await memory.heard("remember tea", "beyond", importance=7)
        await memory.heard("remember tea", "nonsense", importance=True)
        await memory.fill()
        recent = (await memory.tiers.views(HOME)).recent
    told = {each.event_id: (each.importance, each.marked_by, each.reason) for each in recent}
    assert told == {
        "rule": (0.95, "rule", "asked to remember"),
        "sender": (0.3, "sender", "stated by its sender"),
        "agent": (0.7, "agent", "tea matters"),
        "beyond": (1.0, "sender", "stated by its sender"),
        "nonsense": (0.95, "rule", "asked to remember"),
    }
