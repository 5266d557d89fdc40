import asyncio
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from memory.recall import Question, keep_filled
from memory.state.importance import SUMMARY
from memory.state.retention import Keep, Retention
from memory.state.tiers import Remembered, TierSizes
from tests.memory.tier_fixtures import NOON, Memory, WordEmbedder, a_memory, hours, task
from tests.processes import child

HOME = "household"


def events(found: list[Remembered]) -> list[str]:
    return [each.event_id for each in found]


def numbered(first: int, after: int) -> list[str]:
    return [f"e{n}" for n in range(first, after)]


async def until(memory: Memory, tier: str, members: int) -> None:
    """Look until a tier has so many members."""
    while (await memory.counts())[tier] < members:
        pass


async def thousand(memory: Memory) -> None:
    """Journal 1,000 tasks of ten days: every tenth one is important, the newest 60 are of the last half hour."""
    tasks = []
    for n in range(1000):
        age = timedelta(seconds=30 * (1000 - n)) if n >= 940 else hours(240 * (940 - n) / 940) + hours(1)
        words = f"remember tea number {n}" if n % 10 == 0 else f"what is {n} and {n}"
        tasks.append(task(words, f"e{n}", at=NOON - age))
    await memory.journal.append(*tasks)


@pytest.mark.shows("E12", "E13", "E14", "E15", "E16")
async def test_a_thousand_events_fill_every_tier_without_being_asked(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await thousand(memory)
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            loop = group.create_task(keep_filled(memory.tiers, memory.recall))
            await until(memory, "L4", 1000)
            loop.cancel()
        await check_thousand(memory)
    async with a_memory(tmp_path) as again:  # the machine was off
        await check_thousand(again)
        assert await again.tiers.fill() == 0
        [found] = (await again.recall.find(Question("tea", limit=1), HOME)).hits
        assert "tea number" in found.words
        await again.recall.embed()
        assert not [each for each in again.embedder.asked if each.startswith(("remember", "what"))]  # nothing twice


async def check_thousand(memory: Memory) -> None:
    tiers = memory.tiers
    assert events((await tiers.views(HOME)).recent) == numbered(950, 1000)
    day = [f"e{n}" for n in range(0, 1000, 10) if n >= 940 or hours(240 * (940 - n) / 940) + hours(1) < hours(24)]
    assert events((await tiers.views(HOME)).important) == day
    week = [f"e{n}" for n in range(0, 940, 10) if hours(240 * (940 - n) / 940) + hours(1) < timedelta(days=7)]
    assert events((await tiers.views(HOME)).summaries) == [name for name in week if name not in day]
    assert await memory.counts() == {
        "L1": 50,
        "L2": len(day),
        "L3": len(week) - len(set(week) & set(day)),
        "L4": 1000,
    }


@pytest.mark.shows("E12")
async def test_the_recent_ones_are_whole_and_the_oldest_leaves_first(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        long = "so it went on " * 40
        for n in range(51):
            await memory.heard(f"{long}{n}", f"e{n}")
        await memory.fill()
        found = (await memory.tiers.views(HOME)).recent
        assert events(found) == numbered(1, 51)
        assert found[-1].words == f"{long}50"
        memory.now += hours(1)
        assert (await memory.tiers.views(HOME)).recent == []


@pytest.mark.shows("E13", "E14")
async def test_what_overflows_or_grows_old_is_a_summary(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        for n in range(52):
            await memory.heard(f"Remember number {n}. " + "And so on and on. " * 20, f"e{n}")
        await memory.fill()
        assert events((await memory.tiers.views(HOME)).important) == numbered(2, 52)
        [first, second] = (await memory.tiers.views(HOME)).summaries
        assert (first.event_id, second.event_id) == ("e0", "e1")
        assert first.words.startswith("Remember number 0.")
        assert len(first.words) <= SUMMARY
        memory.now += hours(24)
        assert (await memory.tiers.views(HOME)).important == []
        assert events((await memory.tiers.views(HOME)).summaries) == numbered(0, 52)
        memory.now += timedelta(days=6)
        assert (await memory.tiers.views(HOME)).summaries == []
        assert len(await memory.words_of("number", limit=100)) == 52  # L4 is for ever


@pytest.mark.shows("E14")
async def test_summaries_are_as_many_as_they_may_be(tmp_path: Path) -> None:
    sizes = TierSizes(important=2, summaries=3)
    async with a_memory(tmp_path, sizes=sizes) as memory:
        for n in range(10):
            await memory.heard(f"remember {n}", f"e{n}")
        await memory.fill()
        assert events((await memory.tiers.views(HOME)).summaries) == ["e5", "e6", "e7"]


@pytest.mark.shows("E13", "G12")
async def test_its_own_judgement_stands_before_the_rule_with_its_reason(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("the boiler rattles", "plain")
        await memory.heard("remember the milk", "ruled")
        await memory.fill()
        assert events((await memory.tiers.views(HOME)).important) == ["ruled"]
        await memory.marked("plain", 0.9, reason="it may break", summary="The boiler rattles since Monday.")
        await memory.marked("ruled", 0.1, reason="bought already")
        await memory.fill()
        [boiler] = (await memory.tiers.views(HOME)).important
        assert (boiler.event_id, boiler.importance, boiler.reason, boiler.marked_by) == (
            *("plain", 0.9, "it may break"),
            "agent",
        )
        by_rule = {each.event_id: each for each in (await memory.tiers.views(HOME)).recent}["ruled"]
        assert (by_rule.importance, by_rule.marked_by) == (0.1, "agent")
        memory.now += hours(25)
        [later] = (await memory.tiers.views(HOME)).summaries
        assert later.words == "The boiler rattles since Monday."


@pytest.mark.shows("E13", "F12")
async def test_nobody_else_s_judgement_changes_what_is_kept_of_an_event(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember the milk", "e")
        await memory.fill()
        before = (await memory.tiers.views(HOME)).recent
        found = await memory.words_of("milk")
        await memory.marked("e", 0.1, owner="another", reason="theirs", summary="Something else.")
        await memory.tiers.fill()
        assert (await memory.tiers.views(HOME)).recent == before
        assert await memory.words_of("milk") == found
        assert await memory.words_of("something else") == []
        memory.now += hours(25)
        [kept] = (await memory.tiers.views(HOME)).summaries
        assert kept.words == "remember the milk"


@pytest.mark.shows("E13")
async def test_what_nobody_marked_counts_a_half(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("what is the time", "e")
        await memory.fill()
        [found] = (await memory.tiers.views(HOME)).recent
        assert (found.importance, found.marked_by) == (0.5, "")


@pytest.mark.shows("G12")
async def test_the_reason_is_logged_without_a_word_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember the secret", "e")
        await memory.fill()
        [found] = (await memory.tiers.views(HOME)).recent
    assert (found.reason, found.marked_by) == ("asked to remember", "rule")
    assert "secret" not in caplog.text


async def test_an_event_that_comes_back_is_there_once(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember tea", "e")
        await memory.heard("remember tea", "e", attempt=2)
        await memory.journal.append(replace(task("", "own"), body={"source": "self", "content": "think of tea"}))
        await memory.journal.append(replace(task("", "empty"), body={"source": "self", "content": ""}))
        await memory.fill()
        found = (await memory.tiers.views(HOME)).recent
        assert [(each.event_id, each.words, each.who) for each in found] == [
            ("e", "remember tea", "mic"),
            ("own", "think of tea", "self"),
        ]


@pytest.mark.shows("F11")
async def test_what_the_journal_erases_is_gone_from_every_tier_and_from_the_file(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember the secret cabinet", "e")
        await memory.fill()
        [entry] = await memory.journal.entries(event_id="e")
        await memory.journal.erase(entry.id)
        assert await memory.counts() == {"L1": 0, "L2": 0, "L3": 0, "L4": 0}
        assert await memory.words_of("secret") == []
        await memory.fill()
        assert (await memory.tiers.views(HOME)).recent == []
    shutil.copytree(tmp_path, tmp_path / "copy")
    assert b"cabinet" not in b"".join(file.read_bytes() for file in (tmp_path / "copy").iterdir())


@pytest.mark.shows("E16", "H7")
async def test_killed_in_the_middle_nothing_is_missing_and_nothing_is_twice(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.journal.append(*(task(f"remember {n}", f"e{n}") for n in range(400)))
    for pages in (1, 3):
        async with child("tests.memory.tier_program", str(tmp_path)) as filling:
            for _ in range(pages):
                while await filling.line() != "20":
                    assert filling.last  # else it died by itself
            await filling.kill()
    async with a_memory(tmp_path, WordEmbedder(is_there=False)) as memory:
        left = await memory.tiers.fill()
        assert 0 < left <= 400 - 20 * 4
        memory.now += hours(25)
        assert events((await memory.tiers.views(HOME)).summaries) == numbered(0, 400)


@pytest.mark.shows("E16")
async def test_without_a_model_the_tiers_fill_and_the_vectors_come_later(tmp_path: Path) -> None:
    async with a_memory(tmp_path, WordEmbedder(is_there=False)) as memory:
        await memory.heard("remember tea", "e")
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            loop = group.create_task(keep_filled(memory.tiers, memory.recall, again=0.01))
            await until(memory, "L2", 1)
            memory.embedder.is_there = True
            await until(memory, "L4", 1)
            loop.cancel()


@pytest.mark.shows("E12", "E16")
async def test_half_a_character_of_a_broken_stream_stops_nobody(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember that I am called \ud83d Bo", "e1", source="a\udc00")
        await memory.marked("e1", 0.9, reason="a \ud83d name", summary="Bo \ud83d is the name")
        await memory.fill()
        views = await memory.tiers.views(HOME)
        for [one] in (views.recent, views.important):
            assert one.words.startswith("remember that I am called ")
        assert "Bo ? is the name" in await memory.words_of("name")


@pytest.mark.shows("D1", "E15")
async def test_what_the_journal_drops_for_its_age_is_gone_from_every_tier(tmp_path: Path) -> None:
    """Who sets how long words are kept means these too: most summaries are the very words."""
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember the secret tea", "old")
        memory.now = NOON + timedelta(days=8)
        await memory.heard("remember the train", "new")
        await memory.fill()
        await Retention(memory.database, Keep(words_days=7), is_busy=lambda: False, now=lambda: memory.now).once()
        counted = "SELECT (SELECT count(*) FROM tier_item) || (SELECT count(*) FROM recall_vector)"
        assert await memory.database.read(lambda c: c.execute(counted).fetchone()[0]) == "11"
        assert await memory.words_of("tea") == []
        assert await memory.words_of("train") == ["remember the train"]
