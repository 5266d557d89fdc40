"""Which hour is meant: minutes to it in digits, and the half of the day that nobody said."""

import pytest

from agent.intents.intent import Intent
from agent.intents.reading.understanding import load_understanding
from tests.agent.offline_talk import Talk, a_timer, at

UNDERSTAND = load_understanding()


@pytest.mark.parametrize(
    ("words", "slots"),
    [
        ("remind me to call jane at 5 past 4", {"hour": 4, "minute": 5, "label": "call jane"}),
        ("remind me to feed the cat at 10 past 6", {"hour": 6, "minute": 10, "label": "feed the cat"}),
        ("remind me to leave at 20 to 8", {"hour": 8, "minute": -20, "label": "leave"}),
        ("set an alarm for 10 past 7", {"hour": 7, "minute": 10}),
        ("set an alarm for 12 minutes past 7", {"hour": 7, "minute": 12}),
        ("remind me to call bob at 3 minutes to 9", {"hour": 9, "minute": -3, "label": "call bob"}),
        ("wake me up at 25 past 6", {"hour": 6, "minute": 25, "wakes": 1}),
        ("wake me at 15 past six", {"hour": 6, "minute": 15, "wakes": 1}),
        ("set an alarm for 5 to 8 tomorrow", {"hour": 8, "minute": -5, "day": 1}),
        ("remind me at 5 to ring mum", {"hour": 5, "label": "ring mum"}),
        ("set an alarm for 0630", {"hour": 6, "minute": 30, "period": "morning"}),
        ("wake me at 07:15", {"hour": 7, "minute": 15, "period": "morning", "wakes": 1}),
        ("set an alarm for 6:30", {"hour": 6, "minute": 30}),
        ("set an alarm for 1830", {"hour": 18, "minute": 30}),
        ("06:30提醒我吃药", {"hour": 6, "minute": 30, "period": "morning", "label": "吃药"}),
        ("晚上06:30提醒我吃药", {"hour": 6, "minute": 30, "period": "night", "label": "吃药"}),
    ],
)
def test_minutes_in_digits_are_read_as_in_words(words: str, slots: dict[str, int | str]) -> None:
    assert UNDERSTAND(words) == Intent("alarm", slots)


@pytest.mark.parametrize("words", ["set a timer for 5 to 10 minutes", "put 5 to 8 eggs on the list"])
def test_from_one_number_to_another_is_no_time(words: str) -> None:
    assert UNDERSTAND(words).name != "alarm"


@pytest.mark.parametrize(
    ("words", "hour", "due"),
    [
        ("remind me at 4 to ring bob", 15, "2026-11-22T16:00"),
        ("remind me about the parcel at 4", 15, "2026-11-22T16:00"),
        ("remind me to ring bob at 5 past 4", 15, "2026-11-22T16:05"),
        ("四点提醒我打电话", 15, "2026-11-22T16:00"),
        ("remind me at 5 to ring bob", 15, "2026-11-21T17:00"),
        ("remind me at 4 in the morning to ring bob", 15, "2026-11-22T04:00"),
        ("remind me at 4 to ring bob", 22, "2026-11-22T04:00"),
        ("remind me at 7 to ring bob", 19, "2026-11-22T07:00"),
    ],
)
async def test_one_is_reminded_at_four_in_the_afternoon(talk: Talk, words: str, hour: int, due: str) -> None:
    talk.hear(words, at=at(hour, 20))  # Berlin is an hour ahead
    [(_, arguments)] = await talk.calls(a_timer("", ""))
    assert arguments["at"] == due


async def test_an_alarm_at_four_may_be_an_early_start(talk: Talk) -> None:
    talk.hear("set an alarm for 4", at=at(15, 20))
    assert await talk.calls(a_timer("", "")) == [("set_alarm", {"at": "2026-11-22T04:00", "label": ""})]


@pytest.mark.parametrize(
    ("rule", "words", "moved"),
    [
        ("FREQ=WEEKLY;BYDAY=TU", "change it to wednesday", "FREQ=WEEKLY;BYDAY=WE"),
        ("FREQ=WEEKLY;BYDAY=TU", "move it to friday", "FREQ=WEEKLY;BYDAY=FR"),
        ("FREQ=WEEKLY;BYDAY=TU", "改成周三", "FREQ=WEEKLY;BYDAY=WE"),
        ("FREQ=WEEKLY;BYDAY=TU", "改成星期五", "FREQ=WEEKLY;BYDAY=FR"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "move it to friday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
        ("FREQ=WEEKLY;BYDAY=TU", "make it nine", "FREQ=WEEKLY;BYDAY=TU"),
        ("FREQ=WEEKLY;BYDAY=TU,TH", "change it to wednesday", ""),
        ("FREQ=DAILY", "move it to wednesday", ""),
        ("FREQ=DAILY", "move it to tomorrow", ""),
    ],
)
async def test_another_day_is_another_day_of_the_rule(talk: Talk, rule: str, words: str, moved: str) -> None:
    bins = a_timer("bins", "3 days", "2026-11-24 20:00:00 CET") | {"repeats": rule}
    talk.hear("remind me every tuesday at eight in the evening of the bins", at=at(7))
    await talk.calls(bins)
    await talk.says()
    talk.hear(words, at=at(7, 1))
    await talk.calls([bins])
    if not moved:
        assert "did not understand" in await talk.says()
        return
    [(name, arguments)] = await talk.calls(bins | {"repeats": moved, "id": "t2"})
    assert (name, arguments["repeat"]) == ("set_alarm", moved)


@pytest.mark.parametrize("words", ["七点叫我起床然后把厨房收拾了", "remind me to get up at seven"])
async def test_who_gets_up_does_so_in_the_morning(talk: Talk, words: str) -> None:
    talk.hear(words)
    [(name, arguments)] = await talk.answer()
    assert (name, arguments["at"]) == ("set_alarm", "2026-11-22T07:00")
