"""What only tells of alarms and timers sets none, and an order behind it is done."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent.intents.kitchen import Kitchen, a_kitchen


@pytest.fixture
async def kitchen(tmp_path: Path) -> AsyncIterator[Kitchen]:
    async with a_kitchen(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    "words",
    [
        *("nobody wants an alarm at six", "no one needs to wake me at seven", "my sister set an alarm for six"),
        *("you forgot to wake me at seven", "you didn't wake me at seven", "you promised to wake me at six"),
        *("my brother put an alarm on for six", "everybody has an alarm at six", "they never wake me at six"),
        *("I told you not to wake me at seven", "you forgot to remind me at three to call mum"),
        *("my alarm at six is so loud", "the alarm at six drives me mad", "tom's alarm at six makes me grumpy"),
        *("my alarm at six should be louder", "that six o'clock alarm is way too early", "tom has an alarm at six"),
        *("could the alarm be any more annoying at six in the morning", "there was an alarm at six"),
        *("nobody wants an alarm at six, poor thing", "my brother put an alarm on for six, poor thing"),
        *("I wish I hadn't set an alarm for six", "it's not like I need an alarm at six", "I'll be up at six"),
        *("can you not wake me at six tomorrow", "I'm not going to set an alarm for six"),
        *("we usually put the timer on for eight minutes", "I'll wake up at six by myself, thanks"),
        *("我们平时定八分钟", "八点之前别叫我", "周末别七点叫我"),
        *("大家都不要六点的闹钟", "孩子们不要七点的闹钟", "我们家不用闹钟六点就起来了"),
        *(
            "没有人要六点的闹钟",
            "你忘了六点叫我",
            "你又忘了七点叫我",
            "你怎么六点叫我",
            "你为什么六点叫我",
            "你忘记提醒我三点开会了",
        ),
    ],
)
async def test_who_orders_nothing_or_what_was_done_sets_nothing(kitchen: Kitchen, words: str) -> None:
    assert "?" not in await kitchen.hear(words)
    assert await kitchen.rings() == []


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        ("nobody is at home tomorrow, so wake me at seven", "2026-11-22 07:00"),
        ("my shift was moved wake me at six", "2026-11-22 06:00"),
        ("you need to wake me at six", "2026-11-22 06:00"),
        ("set an alarm for six, mine is too loud", "2026-11-22 06:00"),
        ("an alarm at six is what I need", "2026-11-22 06:00"),
        ("the kids forgot their bags, alarm at seven please", "2026-11-22 07:00"),
        ("明天不用上班，八点叫我起床", "2026-11-22 08:00"),
        ("it's not raining wake me at six", "2026-11-22 06:00"),
        ("I'll need to wake up at six", "2026-11-22 06:00"),
        ("I'll have a timer for ten minutes please", "2026-11-21 11:10 10 minutes"),
        ("I have not slept, wake me at nine", "2026-11-22 09:00 I have not slept"),
        ("I can't hear the alarm so set one for six", "2026-11-22 06:00"),
        ("不是六点叫我是七点叫我", "2026-11-22 07:00"),
        ("最晚八点叫我", "2026-11-22 08:00"),
        ("没睡好，明天七点叫我起床", "2026-11-22 07:00"),
        ("没睡好明天七点叫我起床", "2026-11-22 07:00"),
        ("你明天七点叫我", "2026-11-22 07:00"),
        ("你能明天七点叫我吗", "2026-11-22 07:00"),
        ("不要忘了提醒我三点开会", "2026-11-21 15:00 开会"),
        ("千万别忘了明天七点叫我", "2026-11-22 07:00"),
        ("set a timer for uh um fifteen minutes", "2026-11-21 11:15 15 minutes"),
    ],
)
async def test_an_order_behind_what_is_told_or_hesitated_is_done(kitchen: Kitchen, words: str, set_: str) -> None:
    await kitchen.hear(words)
    assert await kitchen.rings() == [set_]
