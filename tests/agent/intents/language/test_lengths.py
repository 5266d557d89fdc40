"""Lengths of time of a hundred minutes and more, in words and in figures, in both languages."""

import pytest

from agent.intents.language.lengths import readable_lengths
from agent.intents.reading.understanding import load_understanding


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("set a timer for a hundred and twenty minutes", 7200),
        ("set a timer for one hundred and five minutes", 6300),
        ("set a timer for one hundred and five", 6300),
        ("remind me in a hundred minutes to check the oven", 6000),
        ("set a 120-minute timer", 7200),
        ("timer, hundred and twenty minutes", 7200),
        ("timer for two hundred and fifteen seconds", 215),
        ("timer for 300 seconds", 300),
        ("set a timer for two and a half hours", 9000),
        ("timer for three and a half hours", 12_600),
        ("set a timer for an hour and ten for the beef", 4200),
        ("one hour fifteen for the wash", 4500),
        ("remind me in an hour and ten to move the car", 4200),
        ("设一个一百二十分钟的计时器", 7200),
        ("一百零五分钟后提醒我关火", 6300),
        ("定时一百二分钟", 7200),
        ("设一个120分钟的计时器", 7200),
        ("两百秒计时", 200),
        ("一个半钟头后提醒我", 5400),
        ("三个半钟头后叫我", 12_600),
        ("set a timer for ninety minutes", 5400),
        ("set a timer for a hundred and one minutes", 6060),
        ("一百一十五分钟后叫我", 6900),
        ("set a timer for 90s", 90),
        ("Set a 5m timer", 300),
        ("10m timer", 600),
        ("timer for 1h30", 5400),
        ("set a timer for 1h 5m 30s, please", 3930),
        ("remind me in 2 h to move the car", 7200),
    ],
)
def test_a_length_is_read(words: str, seconds: int) -> None:
    intent = load_understanding()(words)
    assert (intent.name, intent.seconds()) == ("timer_start", seconds)
    assert not {"a hundred", "一百"} & {intent.text("label")}


@pytest.mark.parametrize(
    "words",
    [
        *("remember the film takes 120 minutes", "how many hours is 120 minutes", "put a 120 minute tape on the list"),
        *(
            "买一盘120分钟的磁带",
            "记住电影一百二十分钟",
            "a hundred and twenty people",
            "room 101",
        ),
        "set a timer for 1234567890 minutes",
        *("convert 5 m to feet", "wake me at 7h30", "remind me to run 100m at 7"),
        *("set a timer for 30s 5m", "timer for 1s2"),
    ],
)
def test_other_numbers_stay_as_they_were_said(words: str) -> None:
    assert readable_lengths(words, "zh" if words[0] > "z" else "en") == words
