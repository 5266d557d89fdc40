"""Several in a row of which only the first has the order, what they are for, and what is only said beside them."""

from pathlib import Path

import pytest

from agent.intents.reading.understanding import load_understanding
from tests.agent.intents.kitchen import a_kitchen


@pytest.mark.shows("V30", "D4")
@pytest.mark.parametrize(
    ("words", "rings"),
    [
        (
            "wake me at six, Ben at seven and the twins at eight",
            ["2026-11-22 06:00", "2026-11-22 07:00 wake Ben", "2026-11-22 08:00 wake the twins"],
        ),
        (
            "wake me tomorrow at six, Ben at half past six and the twins at eight",
            ["2026-11-22 06:00", "2026-11-22 06:30 wake Ben", "2026-11-22 08:00 wake the twins"],
        ),
        (
            "get me up at six and my husband at seven on Monday",
            ["2026-11-23 06:00", "2026-11-23 07:00 wake my husband"],
        ),
        (
            "set an alarm for six for me, seven for Ben and eight for the twins",
            ["2026-11-22 06:00", "2026-11-22 07:00 wake Ben", "2026-11-22 08:00 wake the twins"],
        ),
        (
            "remind me at three about the bins, four about the cat and five about the dog",
            ["2026-11-21 15:00 the bins", "2026-11-21 16:00 the cat", "2026-11-21 17:00 the dog"],
        ),
        (
            "set a timer for ten minutes for eggs, twelve for rice and twenty for chicken",
            ["2026-11-21 11:10 eggs", "2026-11-21 11:12 rice", "2026-11-21 11:20 chicken"],
        ),
        ("rice twelve minutes and fish eight minutes", ["2026-11-21 11:08 fish", "2026-11-21 11:12 rice"]),
        ("米饭十二分钟，鱼半小时", ["2026-11-21 11:12 米饭", "2026-11-21 11:30 鱼"]),
        ("the film takes two hours and the drive takes three hours", []),
        ("我跑步三十分钟，游泳二十分钟", []),
        (
            "六点叫我，七点叫小明，八点叫双胞胎",
            ["2026-11-22 06:00", "2026-11-22 07:00 叫小明起床", "2026-11-22 08:00 叫双胞胎起床"],
        ),
        ("明早叫我七点，叫孩子七点半", ["2026-11-22 07:00", "2026-11-22 07:30 叫孩子起床"]),
        ("明天六点半叫我和孩子他爸", ["2026-11-22 06:30"]),
        (
            "明天六点叫我，七点叫小明起床，再八点叫双胞胎",
            ["2026-11-22 06:00", "2026-11-22 07:00 叫小明起床", "2026-11-22 08:00 叫双胞胎起床"],
        ),
    ],
)
async def test_each_of_a_row_rings(tmp_path: Path, words: str, rings: list[str]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert await kitchen.rings() == rings


@pytest.mark.parametrize(
    "words",
    [
        "wake me at six, Ann at seven, Ben at eight, Tom at nine, Sue at ten, Joe at eleven, Kim at noon, Max at one "
        "and Zoe at two",
        "六点叫我，七点叫小明，八点叫小红，九点叫小刚，十点叫小丽，十一点叫小强，十二点叫小芳，一点叫小华，两点叫小军",
    ],
)
async def test_of_more_than_are_set_at_one_word_none_is(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        assert (await kitchen.hear(words)).startswith(("That is more than I set", "一次最多设八个"))
        assert await kitchen.rings() == []


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("wake me at seven to feed the cat", "feed the cat"),
        ("wake me up in twenty minutes to turn the roast", "turn the roast"),
        ("I need to be up at five on Monday to catch the train", "catch the train"),
        ("set an alarm for seven to feed the cat", "feed the cat"),
        ("set an alarm to feed the cat at seven", "feed the cat"),
        ("七点叫醒我喂猫", "喂猫"),
        ("设个闹钟叫小明七点起床", "叫小明起床"),
        ("提醒我接小明七点放学", "接小明放学"),
        ("设个闹钟叫李明明天七点起床", "叫李明起床"),
        ("wake me at seven to the radio", ""),
        ("wake me at five to seven", ""),
        ("七点叫醒我，今天累死了", ""),
    ],
)
def test_what_one_is_woken_for_is_kept(words: str, label: str) -> None:
    meant = load_understanding()(words)
    assert (meant.name in {"alarm", "timer_start"}, meant.text("label")) == (True, label)


@pytest.mark.parametrize(
    ("words", "rings", "told"),
    [
        (
            "明天一早六点一刻闹钟，周日那天照常",
            ["2026-11-22 06:15"],
            "闹钟已设在明天上午6点一刻。 另外这句我没听懂：周日那天照常。",
        ),
        (
            "三点和五点各提醒我喝水，晚上就不用了",
            ["2026-11-21 15:00 喝水", "2026-11-21 17:00 喝水"],
            "我会在下午3点整提醒你：喝水。 我会在下午5点整提醒你：喝水。 另外这句我没听懂：晚上就不用了。",
        ),
        (
            "wake me at quarter past six tomorrow, Sunday as usual",
            ["2026-11-22 06:15"],
            "The alarm is set for a quarter past six in the morning tomorrow. "
            "I did not understand the rest: Sunday as usual.",
        ),
        (
            "remind me at three and five to drink water, not in the evening",
            ["2026-11-21 15:00 drink water", "2026-11-21 17:00 drink water"],
            "I will remind you at three o'clock in the afternoon: drink water. "
            "I will remind you at five o'clock in the afternoon: drink water. "
            "I did not understand the rest: not in the evening.",
        ),
        (
            "remind me at eight to drink water, not in the evening",
            [],
            "I did not understand that well enough, so I did nothing. Please say it in other words.",
        ),
    ],
)
async def test_what_is_said_of_another_time_is_told_apart(
    tmp_path: Path, words: str, rings: list[str], told: str
) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        assert await kitchen.hear(words) == told
        assert await kitchen.rings() == rings


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        *(
            (words, {"22 09:00 FREQ=WEEKLY;BYDAY=SU", "23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA"})
            for words in (
                "every day at seven, on Sunday at nine",
                "wake me every day at seven but at nine on Sundays",
                "每天早上七点叫我，周日九点叫我",
                "每天早上七点，周日九点叫我",
            )
        ),
        *(
            (words, {"22 09:00 FREQ=WEEKLY;BYDAY=SA,SU", "23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"})
            for words in ("wake me at seven every day, and at nine at weekends", "每天早上七点叫我，周末九点")
        ),
        (
            "remind me daily at seven to take my pills, on Sunday at nine",
            {
                "22 09:00 FREQ=WEEKLY;BYDAY=SU take my pills",
                "23 07:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA take my pills",
            },
        ),
        ("每天六点叫我，七点叫孩子", {"22 06:00 FREQ=DAILY", "22 07:00 FREQ=DAILY 叫孩子起床"}),
        (
            "set three timers, five, ten and fifteen minutes",
            {"21 11:05 5 minutes", "21 11:10 10 minutes", "21 11:15 15 minutes"},
        ),
    ],
)
async def test_on_some_days_it_rings_at_another_time_alone(tmp_path: Path, words: str, set_: set[str]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(words)
        assert {each.removeprefix("2026-11-") for each in await kitchen.rings()} == set_
