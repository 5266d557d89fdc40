"""What names only a part of the day, leaves the weekend out, or is the earlier of two, after something was set."""

import pytest

from tests.agent.offline_talk import Talk, a_timer, at

SEVEN = a_timer("", "10 hours", "2026-11-21 19:00:00 CET")
DAILY = a_timer("", "22 hours", "2026-11-22 07:00:00 CET") | {"repeats": "FREQ=DAILY"}


@pytest.mark.parametrize(
    ("before", "words", "due"),
    [
        ("set an alarm for seven", "in the morning", "2026-11-22T07:00"),
        ("set an alarm for seven", "I meant in the morning.", "2026-11-22T07:00"),
        ("set an alarm for seven", "no, not tonight, in the morning", "2026-11-22T07:00"),
        ("set an alarm for seven", "in the evening", "2026-11-21T19:00"),
        ("定七点的闹钟", "早上", "2026-11-22T07:00"),
        ("定七点的闹钟", "我说的是早上", "2026-11-22T07:00"),
        ("定七点的闹钟", "不对，早上的", "2026-11-22T07:00"),
    ],
)
async def test_a_part_of_the_day_is_that_of_the_alarm(talk: Talk, before: str, words: str, due: str) -> None:
    talk.hear(before, at=at(8))
    await talk.calls(SEVEN)
    await talk.says()
    talk.hear(words, at=at(8))
    assert await talk.calls([SEVEN]) == [("list_timers", {})]
    assert await talk.calls(SEVEN | {"id": "t2"}) == [("set_alarm", {"at": due, "label": ""})]


@pytest.mark.parametrize("words", ["in the morning", "早上"])
async def test_a_timer_has_no_part_of_the_day(talk: Talk, words: str) -> None:
    talk.hear("set a timer for seven minutes", at=at(8))
    await talk.calls(a_timer("7 minutes", "7 minutes"))
    await talk.says()
    talk.hear(words, at=at(8))
    assert "set_alarm" not in {name for name, _ in await talk.answer()}


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("not on weekends", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("but not at the weekend please", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("周末不用", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("周末不用叫我", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("星期五除外", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,SA,SU"),
    ],
)
async def test_days_are_left_out_afterwards(talk: Talk, words: str, rule: str) -> None:
    talk.hear("wake me every day at seven", at=at(8))
    await talk.calls(DAILY)
    await talk.says()
    talk.hear(words, at=at(8))
    await talk.calls([DAILY])
    [(name, arguments)] = await talk.calls(DAILY | {"repeats": rule})
    assert (name, arguments["repeat"]) == ("set_alarm", rule)


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ("cancel the earlier one", "t1"),
        ("cancel the later one", "t2"),
        ("cancel the evening one", "t2"),
        ("cancel the morning one", "t1"),
        ("取消早的那个", "t1"),
        ("取消晚的那个", "t2"),
        ("晚一点的那个取消", "t2"),
    ],
)
async def test_one_of_two_is_named_by_its_order_or_its_part_of_the_day(talk: Talk, words: str, which: str) -> None:
    two = [a_timer("", "1 day", "2026-11-22 07:00:00 CET", "t1"), a_timer("", "1 day", "2026-11-22 19:00:00 CET", "t2")]
    talk.hear(words, at=at(8))
    asked = await talk.answer()
    if asked[0][0] == "cancel_timer":
        talk.result("error: there is no timer 'one'")
        asked = await talk.answer()
    assert [name for name, _ in asked] == ["list_timers"]
    talk.result(two)
    assert await talk.answer() == [("cancel_timer", {"which": which})]


async def test_the_later_of_three_is_none(talk: Talk) -> None:
    three = [a_timer("", "1 day", f"2026-11-22 0{hour}:00:00 CET", f"t{hour}") for hour in (7, 8, 9)]
    talk.hear("cancel the later one", at=at(8))
    await talk.calls("error: there is no timer 'one'")
    await talk.calls(three)
    assert await talk.says() == "I find no such timer."


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("cancel the first two", ["t7", "t8"]),
        ("cancel the last two alarms", ["t8", "t9"]),
        ("取消前两个", ["t7", "t8"]),
        ("把前两个闹钟取消", ["t7", "t8"]),
        ("取消最后两个闹钟", ["t8", "t9"]),
        ("cancel the first four", []),
    ],
)
async def test_so_many_of_several_are_cancelled(talk: Talk, words: str, gone: list[str]) -> None:
    three = [a_timer("", "1 day", f"2026-11-22 0{hour}:00:00 CET", f"t{hour}") for hour in (7, 8, 9)]
    talk.hear(words, at=at(8))
    assert await talk.calls(three) == [("list_timers", {})]
    calls = await talk.answer()
    assert [each["which"] for name, each in calls if name == "cancel_timer"] == gone
