"""Sums and units: numbers in words or digits, in English and Chinese, rounded as one would say it."""

import pytest

from agent.intents.saying.spoken import spoken_number
from agent.intents.subjects.sums.answer import answer_clause, answer_sum
from tests.agent.offline_talk import NOTHING_SAID, Talk


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("What is 17 times 23?", "That is 391."),
        ("what is seventeen times twenty three", "That is 391."),
        ("How much is 15 percent of 80?", "That is 12."),
        ("what is 20% of 45", "That is 9."),
        ("What is the square root of 144?", "That is 12."),
        ("square root of two", "That is about 1.41."),
        ("Half of 30?", "That is 15."),
        ("a third of ninety", "That is 30."),
        ("three quarters of eighty", "That is 60."),
        ("What is two and a half times four?", "That is 10."),
        ("How much is a hundred divided by eight?", "That is 12.5."),
        ("what is a dozen times three", "That is 36."),
        ("10 to the power of 6", "That is 1,000,000."),
        ("What is 1,234 plus 5,678?", "That is 6912."),
        ("2 divided by 3", "That is about 0.667."),
        ("three minus five", "That is -2."),
        ("What's twelve divided by zero?", "Nothing can be divided by zero."),
        ("十七乘以二十三等于多少？", "等于391。"),
        ("八十的百分之十五是多少？", "等于12。"),
        ("一百二十除以五", "等于24。"),
        ("一万加两千三百", "等于12,300。"),
        ("一百二加三百五", "等于470。"),
        ("一百零二加一", "等于103。"),
        ("一万二除以四", "等于3000。"),
        ("二零二六减一九九零", "等于36。"),
        ("三百六十的三分之一是多少", "等于120。"),
        ("三百打八折是多少", "等于240。"),
        ("五百块四个人平分，每人多少", "等于125。"),
        ("四分之三乘以八十", "等于60。"),
        ("八十加二十再除以五", "等于20。"),
        ("三块五乘六", "等于21。"),
        ("二百四的八折是多少", "等于192。"),
    ],
)
def test_a_sum_is_worked_out(words: str, said: str) -> None:
    assert answer_sum(words) == said


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("What's 5 miles in kilometres?", "That is about 8.05 kilometres."),
        ("Convert ten miles to kilometers.", "That is about 16.09 kilometers."),
        ("convert 350 degrees Fahrenheit into Celsius", "That is about 177 degrees Celsius."),
        ("How many grams are in two pounds?", "That is about 907 grams."),
        ("how many ounces in 500 grams", "That is about 17.64 ounces."),
        ("How many feet are in a metre?", "That is about 3.28 feet."),
        ("how many minutes are in an hour", "That is 60 minutes."),
        ("half a mile in metres", "That is about 805 metres."),
        ("100 kilometres per hour in miles per hour", "That is about 62.14 miles per hour."),
        ("五英里是多少公里？", "大约是8.05公里。"),
        ("三斤是多少公斤", "是1.5公斤。"),
        ("一公斤是多少斤", "是2斤。"),
        ("两斤半是多少克", "是1250克。"),
        ("半斤有多少克", "是250克。"),
        ("一斤三两是多少克", "是650克。"),
        ("三两是多少克", "是150克。"),
        ("三公里半是多少米", "是3500米。"),
        ("一米七五是多少厘米", "是175厘米。"),
        ("一个半小时是多少分钟", "是90分钟。"),
        ("半个小时是多少分钟", "是30分钟。"),
        ("三十八度五是多少华氏度", "大约是101华氏度。"),
        ("零下五度是多少华氏度", "是23华氏度。"),
        ("一刻钟多少秒", "是900秒。"),
        ("一尺是多少厘米", "大约是33.33厘米。"),
        ("一亩是多少平方米", "大约是667平方米。"),
        ("一个星期有多少小时", "是168小时。"),
        ("一百华氏度是多少摄氏度", "大约是37.78摄氏度。"),
    ],
)
def test_a_unit_is_converted(words: str, said: str) -> None:
    assert answer_sum(words) == said


@pytest.mark.parametrize(
    "words",
    [
        "What is the capital of France?",
        "How many people are in a family?",
        "what is 5 pounds in dollars",
        "5 miles in kilograms",
        "Set a timer for five minutes.",
        "How tall is Mount Everest in feet?",
        "9**9**9**9",
        "what is 2 to the power of 99999999999",
        "7",
        "",
        "__import__('os') + 1",
        "我有三只猫",
        "1 + " * 500,
    ],
)
def test_what_is_no_sum_is_left_to_others(words: str) -> None:
    assert answer_sum(words) == ""


def test_a_number_is_said_rounded_and_says_so() -> None:
    assert spoken_number(12.0) == ("12", False)
    assert spoken_number(1 / 3) == ("0.333", True)
    assert spoken_number(176.67, is_measure=True) == ("177", True)
    assert spoken_number(1234567.0) == ("1,234,567", False)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("三十七的一半", "等于18.5。"),
        ("四个人分十八块", "等于4.5。"),
        ("十八块四个人分", "等于4.5。"),
        ("五英尺十一英寸是多少厘米", "大约是180厘米。"),
        ("三尺五寸是多少厘米", "大约是117厘米。"),
        ("一半", ""),
    ],
)
def test_halves_shares_and_feet_are_reckoned_in_chinese(words: str, told: str) -> None:
    assert answer_sum(words) == told


async def _told(talk: Talk, words: str) -> str:
    """Return what is said to words, of which nothing was told before."""
    talk.hear(words)
    calls = await talk.answer()
    while calls[0][0] != "reply":
        talk.result(*({"recall": NOTHING_SAID}.get(name, []) for name, _ in calls))
        calls = await talk.answer()
    talk.result("delivered", "completed")
    return str(calls[0][1]["text"])


@pytest.mark.parametrize(
    ("before", "words", "told"),
    [
        ("八十五的百分之二十", "百分之十五呢", "等于12.75。"),
        ("20 percent of 85", "and fifteen percent", "That is 12.75."),
        ("十英里是多少公里", "一百呢", "大约是161公里。"),
        ("五公斤是多少磅", "十公斤呢", "大约是22.05磅。"),
        ("convert 10 miles to km", "what about 20", "That is about 32.19 km."),
        ("convert ten miles to km", "and a hundred", "That is about 161 km."),
    ],
)
async def test_the_same_is_asked_of_another_number(talk: Talk, before: str, words: str, told: str) -> None:
    await _told(talk, before)
    assert await _told(talk, words) == told


async def test_a_number_alone_is_asked_of_no_sum(talk: Talk) -> None:
    assert await _told(talk, "二加三") == "等于5。"
    assert "等于" not in await _told(talk, "一百呢")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("what's nine times seven and then take away three", "That is 60."),
        ("what's nine times seven, then take away three", "That is 60."),
        ("two plus three, then multiply it by four", "That is 20."),
        ("how many tablespoons in a quarter cup", "That is 4 tablespoons."),
        ("how many tablespoons are in a quarter of a cup", "That is 4 tablespoons."),
        ("a quarter of 80", "That is 20."),
    ],
)
def test_a_sum_goes_on_and_a_quarter_is_a_measure(words: str, said: str) -> None:
    assert answer_sum(words) == said


@pytest.mark.parametrize("words", ["what's nine times seven, then frobnicate it", "九乘以七等于多少，然后再翻个跟头"])
def test_half_of_a_sum_is_no_answer(words: str) -> None:
    assert answer_clause(words) == ""
