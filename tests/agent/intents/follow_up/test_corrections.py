"""What is put right of what was just set to ring: one time denied and another told; a day left out of what repeats."""

from pathlib import Path

import pytest

from tests.agent.intents.kitchen import a_kitchen


async def rings_after(folder: Path, *said: str) -> list[str]:
    """Return what rings in a kitchen in which this was said."""
    async with a_kitchen(folder) as kitchen:
        for words in said:
            await kitchen.hear(words)
        return await kitchen.rings()


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
    assert await rings_after(tmp_path, set_, words) == [rings]


@pytest.mark.parametrize(
    ("set_", "words"),
    [
        ("wake me at seven", "I don't want a coffee, I want two eggs"),
        ("wake me at seven", "I don't want an alarm, I want a biscuit"),
        ("七点叫我", "我不要咖啡，我要两个鸡蛋"),
    ],
)
async def test_what_else_is_not_wanted_moves_nothing(tmp_path: Path, set_: str, words: str) -> None:
    assert await rings_after(tmp_path, set_, words) == ["2026-11-22 07:00"]


@pytest.mark.parametrize(
    ("set_", "words"),
    [
        ("wake me at seven", "oh don't bother waking me, I shall get up on my own"),
        ("wake me at seven", "no need to wake me"),
        ("wake me at seven", "don't wake me after all"),
        ("set a timer for ten minutes", "no need, it's done"),
        ("明天七点叫我", "不用叫了，我自己起"),
        ("明天七点叫我", "算了，不用叫我了"),
        ("明天七点叫我", "别叫了"),
    ],
)
async def test_what_was_just_set_and_is_not_needed_is_cancelled(tmp_path: Path, set_: str, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(set_)
        assert "cancelled" in (told := await kitchen.hear(words)) or "取消" in told
        assert await kitchen.rings() == []


@pytest.mark.parametrize("words", ["no", "don't", "no need for a coffee", "if it rains don't wake me"])
async def test_other_words_than_these_cancel_nothing(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("wake me at seven")
        await kitchen.hear(words)
        assert await kitchen.rings() == ["2026-11-22 07:00"]


async def test_no_need_of_another_cancels_nothing_more(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        for words in ("wake me at seven", "set a timer for ten minutes", "cancel the alarm", "no need"):
            await kitchen.hear(words)
        assert await kitchen.rings() == ["2026-11-21 11:10 10 minutes"]


@pytest.mark.parametrize(
    ("said", "rings"),
    [
        (
            ("set an alarm for three", "set an alarm for 0430 and another one for 0445", "lose the second one"),
            ["2026-11-21 15:00", "2026-11-22 04:30"],
        ),
        (("定个三点的闹钟", "六点和六点半叫我", "第二个不要了"), ["2026-11-21 15:00", "2026-11-22 06:00"]),
        (
            ("set an alarm for three", "wake me at six", "cancel the first one"),
            ["2026-11-22 06:00"],
        ),
    ],
)
async def test_the_second_is_that_of_the_breath_that_set_several(
    tmp_path: Path, said: tuple[str, ...], rings: list[str]
) -> None:
    assert await rings_after(tmp_path, *said) == rings


@pytest.mark.parametrize(
    ("said", "rings"),
    [
        (("wake me on Monday at seven", "cancel it", "no, make it eight"), ["2026-11-23 08:00"]),
        (("remind me at three to call mum", "cancel that", "no, at four"), ["2026-11-21 16:00 call mum"]),
        (("set a timer for ten minutes", "cancel it", "no, make it twelve"), ["2026-11-21 11:12 12 minutes"]),
        (("七点叫我", "不用叫了", "还是八点吧"), ["2026-11-22 08:00"]),
        (("定个十分钟的计时器", "取消", "还是十二分钟吧"), ["2026-11-21 11:12 12分钟"]),
    ],
)
async def test_what_was_just_cancelled_is_set_at_another_time(
    tmp_path: Path, said: tuple[str, ...], rings: list[str]
) -> None:
    assert await rings_after(tmp_path, *said) == rings


@pytest.mark.parametrize(
    ("set_", "words"),
    [("set an alarm for seven every day", "not seven"), ("每天七点叫我", "不要七点")],
)
async def test_a_time_that_is_denied_alone_is_not_set_again(tmp_path: Path, set_: str, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(set_)
        assert (await kitchen.hear(words)).startswith(("I heard you, but", "我听到了，但是"))


@pytest.mark.parametrize(
    "said",
    [
        ("set an alarm for seven every day", "not on Saturday", "not on Sunday either"),
        ("每天七点叫我", "周六不用叫我了", "周日也不用叫我"),
    ],
)
async def test_one_day_after_the_other_is_left_out(tmp_path: Path, said: tuple[str, ...]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        told = [await kitchen.hear(words) for words in said]
        assert told[-1].startswith(("All right, tomorrow it does not ring", "好的，明天上午7点整不响"))
        assert await kitchen.rings() == ["2026-11-23 07:00 FREQ=DAILY"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            ("set a timer for ten minutes", "oh never mind, she's awake"),
            "All right. Ten minutes left on your ten-minute timer.",
        ),
        (("七点叫我", "算了"), "好的。闹钟设在明天上午7点整。"),
        (("七点叫我", "算了吧"), "好的。闹钟设在明天上午7点整。"),
        (("never mind",), "All right."),
        (("set a timer for ten minutes", "cancel it", "never mind"), "All right."),
    ],
)
async def test_never_mind_tells_what_rings_all_the_same(tmp_path: Path, said: tuple[str, ...], told: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        answers = [await kitchen.hear(words) for words in said]
        assert answers[-1] == told


@pytest.mark.parametrize(
    ("said", "rings"),
    [
        (
            ("set an alarm for six", "cancel the one at six and remind me to turn the oven off", "in ten minutes"),
            ["2026-11-21 11:10 turn the oven off"],
        ),
        (("六点叫我", "取消六点的闹钟，再提醒我关火", "十分钟后"), ["2026-11-21 11:10 关火"]),
        (("remind me to turn the oven off", "in ten minutes"), ["2026-11-21 11:10 turn the oven off"]),
    ],
)
async def test_the_time_that_was_asked_for_is_of_the_wish_that_had_none(
    tmp_path: Path, said: tuple[str, ...], rings: list[str]
) -> None:
    assert await rings_after(tmp_path, *said) == rings


async def test_a_wait_before_a_change_names_nothing(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("明早六点四十提醒我带水彩笔")
        await kitchen.hear("等等，改成六点半吧")
        assert await kitchen.rings() == ["2026-11-22 06:30 带水彩笔"]


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
            *("wake me at seven on weekdays and at eight at the weekend", "not this Friday, I'm off"),
            "All right, on Friday, the 27th of November 2026 it does not ring at seven o'clock",
            ["2026-11-22 08:00 FREQ=WEEKLY;BYDAY=SA,SU", "2026-11-23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"],
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
