"""What is put right of what was just set to ring: one time denied and another told; a day left out of what repeats."""

from pathlib import Path

import pytest

from tests.agent.intents.kitchen import a_kitchen


@pytest.mark.shows("V30", "D4")
@pytest.mark.parametrize(
    ("set_", "words", "rings"),
    [
        ("wake me at seven", "I don't want it at seven, I want it at eight", "2026-11-22 08:00"),
        ("wake me at seven", "I don't want it at seven but at eight", "2026-11-22 08:00"),
        ("wake me at seven", "not at seven, at eight", "2026-11-22 08:00"),
        ("wake me at seven", "I said eight, not seven", "2026-11-22 08:00"),
        ("wake me at seven", "it shouldn't be seven, it should be half past seven", "2026-11-22 07:30"),
        ("wake me at seven", "don't wake me at seven, wake me at eight", "2026-11-22 08:00"),
        ("set a timer for ten minutes", "I don't want ten minutes, I want twelve", "2026-11-21 11:12 12 minutes"),
        (
            "remind me to call mum on Tuesday at five",
            "I don't want it on Tuesday, I want it on Wednesday",
            "2026-11-25 17:00 call mum",
        ),
        ("七点叫我", "我不要七点，我要八点", "2026-11-22 08:00"),
        ("七点叫我", "我没说七点，我说的是八点", "2026-11-22 08:00"),
        ("七点叫我", "我要的是八点，不是七点", "2026-11-22 08:00"),
        ("七点叫我", "别七点叫我，八点叫我", "2026-11-22 08:00"),
        ("七点叫我", "不对，我说的是八点", "2026-11-22 08:00"),
        ("定个十分钟的计时器", "我不要十分钟，我要十二分钟", "2026-11-21 11:12 12分钟"),
        ("周二五点提醒我给妈妈打电话", "我不想周二，我想周三", "2026-11-25 17:00 给妈妈打电话"),
    ],
)
async def test_a_time_that_is_denied_gives_way_to_the_one_told(
    tmp_path: Path, set_: str, words: str, rings: str
) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(set_)
        await kitchen.hear(words)
        assert await kitchen.rings() == [rings]


@pytest.mark.parametrize(
    ("set_", "words"),
    [
        ("wake me at seven", "I don't want a coffee, I want two eggs"),
        ("wake me at seven", "I don't want an alarm, I want a biscuit"),
        ("七点叫我", "我不要咖啡，我要两个鸡蛋"),
    ],
)
async def test_what_else_is_not_wanted_moves_nothing(tmp_path: Path, set_: str, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(set_)
        await kitchen.hear(words)
        assert await kitchen.rings() == ["2026-11-22 07:00"]


DAILY = "2026-11-22 07:00 FREQ=DAILY"
BUT_SATURDAYS = "2026-11-22 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SU"
NEXT_ALONE = "All right, on Saturday, the 28th of November 2026 it does not ring at seven o'clock in the morning; "


@pytest.mark.shows("V30", "V23")
@pytest.mark.parametrize(
    ("set_", "words", "told", "rings"),
    [
        ("set an alarm for seven every day", "not on Saturday", NEXT_ALONE, [DAILY]),
        ("set an alarm for seven every day", "not this Saturday, I sleep in", NEXT_ALONE, [DAILY]),
        ("set an alarm for seven every day", "not on Saturdays", "All right. The alarm is set", [BUT_SATURDAYS]),
        ("set an alarm for seven every day", "but not on Saturday", "All right. The alarm is set", [BUT_SATURDAYS]),
        ("每天七点叫我", "周六不用叫我了", "好的，2026年11月28日，星期六上午7点整不响，之后照常。", [DAILY]),
        ("每天七点叫我", "每周六不用叫我了", "好的，闹钟已设在除了周六每天上午7点整。", [BUT_SATURDAYS]),
        (
            *("set an alarm for seven every weekday", "not on Sunday"),
            "No alarm is set for tomorrow.",
            ["2026-11-23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"],
        ),
        (
            *("set an alarm for seven every Saturday", "not on Saturday", NEXT_ALONE),
            ["2026-12-05 07:00 FREQ=WEEKLY;BYDAY=SA"],
        ),
    ],
)
async def test_one_day_is_left_out_once_unless_it_is_all_of_them(
    tmp_path: Path, set_: str, words: str, told: str, rings: list[str]
) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(set_)
        assert (await kitchen.hear(words)).startswith(told)
        assert await kitchen.rings() == rings
