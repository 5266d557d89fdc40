"""A number in figures is read whole: no date is a day and an hour, and no part of a time that there is not is one."""

import pytest

from agent.intents.intent import Intent
from agent.intents.reading.understanding import Understanding, load_understanding


@pytest.fixture(scope="module")
def understand() -> Understanding:
    return load_understanding()


@pytest.mark.parametrize(
    ("words", "slots"),
    [
        ("remind me on June 15 to pay the rent", {"month": 6, "date": 15, "label": "pay the rent"}),
        ("Remind me to call Mum on December 12", {"month": 12, "date": 12, "label": "call Mum"}),
        ("wake me on June 15", {"month": 6, "date": 15}),
        ("remind me to pay on June 31", {"month": 6, "date": 31, "label": "pay"}),
        ("6月15号提醒我交房租", {"month": 6, "date": 15, "label": "交房租"}),
    ],
)
def test_a_date_without_an_hour_is_no_day_and_an_hour(
    understand: Understanding, words: str, slots: dict[str, int | str]
) -> None:
    assert understand(words) == Intent("ask_when", slots)


def test_a_date_keeps_the_hour_that_is_said_behind_it(understand: Understanding) -> None:
    meaning = Intent("alarm", {"month": 6, "date": 15, "hour": 7, "period": "morning", "wakes": 1})
    assert understand("wake me on June 15 7 am") == meaning


@pytest.mark.parametrize("words", ["wake me at 25:00", "wake me at 7:60", "7:60叫我起床"])
def test_a_part_of_a_time_that_no_day_has_is_none(understand: Understanding, words: str) -> None:
    assert understand(words).name == "unknown"


@pytest.mark.parametrize("words", ["set an alarm for 99", "set an alarm at 45"])
def test_an_alarm_for_a_number_that_is_no_hour_changes_none_that_is_set(understand: Understanding, words: str) -> None:
    assert understand(words).name != "timer_change"


def test_numbers_beside_a_time_stay_what_they_are(understand: Understanding) -> None:
    meaning = understand("remind me at 9.15 to pay 3.50 euros")
    assert meaning == Intent("alarm", {"hour": 9, "minute": 15, "label": "pay 3.50 euros"})
