"""Whom it wakes, and what takes as long as a timer runs: the one name among the words."""

from pathlib import Path

import pytest

from tests.agent.intents.kitchen import a_kitchen


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        ("wake tom at seven", "22 07:00 wake tom"),
        ("wake up tom at seven", "22 07:00 wake tom"),
        ("wake the children at half past seven", "22 07:30 wake the children"),
        ("could you wake my wife up at six tomorrow", "22 06:00 wake my wife"),
        ("wake tom and anna at seven", "22 07:00 wake tom and anna"),
        ("I have to wake him at eight", "22 08:00 wake him"),
        ("every day wake tom at seven", "22 07:00 FREQ=DAILY wake tom"),
        ("please wake the baby in half an hour", "21 11:30 wake the baby"),
        ("wake us at eight", "22 08:00"),
        ("if you don't mind wake me up tomorrow at ten past six", "22 06:10"),
        ("wake up at six tomorrow", "22 06:00"),
        ("你七点叫我", "22 07:00"),
        ("你今天八点叫我吃药", "21 20:00 吃药"),
        ("我怕起不来，六点叫我", "22 06:00 怕起不来"),
        ("wake me at three", "21 15:00"),
        ("wake me at three tomorrow", "22 03:00"),
    ],
)
async def test_who_is_woken_is_named_and_when_people_wake(tmp_path: Path, words: str, set_: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert await kitchen.rings() == [f"2026-11-{set_}"]


async def test_when_somebody_is_woken_is_asked(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        assert (await kitchen.hear("wake up the kids")).startswith("When?")
        await kitchen.hear("at seven")
        assert await kitchen.rings() == ["2026-11-22 07:00 wake the kids"]


@pytest.mark.parametrize("words", ["did you wake tom at seven", "don't wake tom at seven", "why did you wake tom"])
async def test_who_asks_or_forbids_it_has_nobody_woken(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert await kitchen.rings() == []


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        ("the pasta needs ten minutes, set a timer", "11:10 the pasta"),
        ("pasta takes ten minutes so start a timer please", "11:10 pasta"),
        ("set a timer, the pasta needs ten minutes", "11:10 the pasta"),
        ("the eggs have to boil for six minutes, can you set a timer", "11:06 the eggs"),
        ("the roast has to be in for two hours, timer please", "13:00 the roast"),
        ("this needs twenty minutes, set a timer", "11:20 20 minutes"),
        ("pretty please set a timer for ten minutes", "11:10 10 minutes"),
        ("面条要煮八分钟，帮我计个时", "11:08 面条"),
        ("鸡蛋要煮六分钟，定个时", "11:06 鸡蛋"),
        ("if you don't mind set a timer for ten minutes please", "11:10 10 minutes"),
    ],
)
async def test_a_timer_is_for_what_takes_so_long(tmp_path: Path, words: str, set_: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert await kitchen.rings() == [f"2026-11-21 {set_}"]
