"""The clock and the calendar sheet without a model: elsewhere, days to come, weeks; and chance."""

from datetime import datetime

import pytest

from agent.intents.subjects.almanac import zone_of
from tests.agent.offline_talk import Talk, at

CHRISTMAS = "In 34 days, on Friday, the 25th of December 2026."


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("What time is it in Tokyo?", "It is five o'clock in the afternoon there."),
        ("What's the time in New York right now?", "It is three o'clock at night there."),
        ("what time is it in japan", "It is five o'clock in the afternoon there."),
        ("东京现在几点？", "那里现在是下午5点整。"),
        ("How many days until Christmas?", CHRISTMAS),
        ("how long is it until christmas", CHRISTMAS),
        ("离圣诞节还有几天？", "还有34天，2026年12月25日，星期五。"),
        ("How many days until Friday?", "In 6 days, on Friday, the 27th of November 2026."),
        ("How long until tomorrow?", "That is tomorrow, Sunday, the 22nd of November 2026."),
        ("How many days until the twenty first of November?", "That is today."),
        ("What day is the third of May?", "That is Monday, the 3rd of May 2027."),
        ("What day is the thirtieth of February?", "There is no such day."),
        ("What day is it in ten days?", "That is Tuesday, the 1st of December 2026."),
        ("下周三是几号？", "那天是2026年11月25日，星期三。"),
        ("What was yesterday's date?", "Yesterday was Friday, the 20th of November 2026."),
        ("Which week is it?", "It is week 47."),
        ("今天第几周了？", "现在是第47周。"),
        ("今天几号，星期几啊", "今天是2026年11月21日，星期六。"),
        ("那元旦是星期几", "那天是2027年1月1日，星期五。"),
        ("大后天几号", "那天是2026年11月24日，星期二。"),
        ("前天星期几来着", "那天是2026年11月19日，星期四。"),
        ("还有多少天过国庆节", "还有314天，2027年10月1日，星期五。"),
        ("离圣诞节还有几个星期", "还有4周零6天，2026年12月25日，星期五。"),
        ("离十点半还有多久", "还有一个半小时。"),
        ("还有多久到十点", "还有1小时。"),
        ("上周五是几号", "那天是2026年11月13日，星期五。"),
        ("这个月十五号是礼拜几", "那天是2026年11月15日，星期日。"),
        ("下个月一号是星期几", "那天是2026年12月1日，星期二。"),
        ("下个月三十一号是星期几", "那天是2026年12月31日，星期四。"),
        ("这个月三十一号是星期几", "没有这一天。"),
        ("三天前是几号", "那天是2026年11月18日，星期三。"),
        ("一百天以后是星期几", "那天是2027年3月1日，星期一。"),
        ("再过两周是几号", "那天是2026年12月5日，星期六。"),
        ("今年还剩多少天", "还有40天，2026年12月31日，星期四。"),
    ],
)
async def test_time_and_days_are_told(talk: Talk, words: str, said: str) -> None:
    talk.hear(words, at=at(8))
    assert await talk.says() == said


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        (at(17), "It is two o'clock at night there, and already tomorrow."),
        (at(8), "It is five o'clock in the afternoon there."),
    ],
)
async def test_another_day_elsewhere_is_told(talk: Talk, moment: datetime, said: str) -> None:
    talk.hear("What time is it in Tokyo?", at=moment)
    assert await talk.says() == said


async def test_a_place_that_nobody_knows_needs_a_model(talk: Talk) -> None:
    talk.hear("What time is it in Springfield?", at=at(8))
    assert "I need a model" in await talk.says()


def test_a_city_is_found_however_it_is_written() -> None:
    assert str(zone_of("Los Angeles")) == "America/Los_Angeles"
    assert str(zone_of("são paulo".replace("ã", "a"))) == "America/Sao_Paulo"
    assert zone_of("") is None


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        ("Flip a coin.", {"Heads.", "Tails."}),
        ("抛硬币", {"正面。", "反面。"}),
        ("Roll a dice.", {f"{number}." for number in range(1, 7)}),
        ("Pick a number between 10 and 12.", {"10.", "11.", "12."}),
    ],
)
async def test_chance_stays_within_its_bounds(talk: Talk, words: str, answers: set[str]) -> None:
    talk.hear(words, at=at(8))
    assert await talk.says() in answers
