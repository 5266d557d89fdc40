"""Ways of asking for what rings and for the lists there are, and words like them that ask for neither."""

import pytest

from agent.intents.reading.understanding import load_understanding


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    "words",
    [
        *("could we have a timer for ten minutes", "can i get a timer for ten minutes", "start me a ten minute timer"),
        *(
            "give us a timer for ten minutes",
            "can we get a ten minute timer",
            "could you start us a timer for ten minutes",
        ),
        *(
            "please can i have a ten-minute timer",
            "let's have a timer for ten minutes",
            "we need a timer for ten minutes",
        ),
    ],
)
def test_a_timer_that_is_asked_for_politely_has_no_name(words: str) -> None:
    intent = load_understanding()(words)
    assert (intent.name, intent.seconds(), intent.text("label")) == ("timer_start", 600, "")


@pytest.mark.parametrize(
    "words",
    [
        *("can i get a new alarm clock for christmas", "can i get a kitchen timer at ikea", "did you start me a timer"),
        *("give us a break", "could we have ten minutes' peace", "can i have an egg"),
    ],
)
def test_no_timer_is_started_by_words_like_these(words: str) -> None:
    assert load_understanding()(words).name not in {"timer_start", "alarm"}


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("words", "repeat", "period"),
    [
        ("每周二晚上提醒我倒垃圾", "FREQ=WEEKLY;BYDAY=TU", "night"),
        ("每个周二晚上提醒我倒垃圾", "FREQ=WEEKLY;BYDAY=TU", "night"),
        ("提醒我每周二晚上倒垃圾", "FREQ=WEEKLY;BYDAY=TU", "night"),
        ("每天早上叫我倒垃圾", "FREQ=DAILY", "morning"),
        ("每逢周三晚上提醒我倒垃圾", "FREQ=WEEKLY;BYDAY=WE", "night"),
        ("every Tuesday evening remind me to take the bins out", "FREQ=WEEKLY;BYDAY=TU", "evening"),
        ("remind me every Tuesday evening to take the bins out", "FREQ=WEEKLY;BYDAY=TU", "evening"),
        ("on Tuesday evenings remind me to take the bins out", "FREQ=WEEKLY;BYDAY=TU", "evening"),
        ("each morning remind me to take the bins out", "FREQ=DAILY", "morning"),
    ],
)
def test_a_part_of_a_day_that_comes_again(words: str, repeat: str, period: str) -> None:
    intent = load_understanding()(words)
    assert (intent.name, intent.text("repeat"), intent.text("period")) == ("ask_when", repeat, period)
    assert intent.text("label") in {"倒垃圾", "take the bins out"}


@pytest.mark.parametrize(
    "words",
    [
        "每周二晚上他都提醒我倒垃圾",
        "every Tuesday evening he reminds me",
        "每周二晚上我们吃饺子",
        "every evening is a gift",
    ],
)
def test_what_is_only_told_of_a_part_of_a_day(words: str) -> None:
    assert load_understanding()(words).name not in {"ask_when", "alarm", "timer_start"}


@pytest.mark.shows("V30", "D4")
@pytest.mark.parametrize(
    "words",
    [
        *(
            "which lists do I have",
            "what lists are there",
            "what are my lists",
            "what lists have I got going",
            "how many lists do we have",
        ),
        *(
            "我有哪些清单",
            "我现在都有什么清单",
            "我有几个清单",
            "你都记了哪些清单",
            "我们家有哪些清单",
            "列一下我所有的清单",
        ),
    ],
)
def test_the_lists_there_are_asked_for(words: str) -> None:
    assert load_understanding()(words).name == "list_names"


@pytest.mark.parametrize(
    "words",
    [
        "what's on the list",
        "清单上有什么",
        "list my timers",
        "which list is milk on",
        "我的清单上有哪些东西",
        "哪些清单是空的",
    ],
)
def test_what_stands_on_a_list_is_another_question(words: str) -> None:
    assert load_understanding()(words).name != "list_names"
