"""What strangers said that was taken for something else: counted to, forgotten, asked for, and cried for help."""

import pytest

from agent.intents.reading.understanding import load_understanding
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.sums.answer import answer_sum
from tests.agent.offline_talk import Talk

UNDERSTAND = load_understanding()


@pytest.mark.parametrize("words", ["can you count to ten", "count to twenty please", "你会数到十吗", "数到二十"])
async def test_who_is_to_count_sets_no_timer(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert not {name for name, _ in await talk.answer()} & {"set_timer", "set_alarm"}


@pytest.mark.parametrize("words", ["把我刚才说的忘掉", "把刚才那句话忘了吧", "忘掉我刚才说的"])
def test_what_was_just_said_is_no_name_of_a_thing(words: str) -> None:
    assert UNDERSTAND(words).name == "forget_last"


@pytest.mark.parametrize(
    "words",
    ["will you wake me tomorrow", "are you going to wake me up tomorrow", "明天早上会叫我吗", "你明天会叫我起床吗"],
)
def test_who_asks_whether_they_are_woken_sets_nothing(words: str) -> None:
    found = UNDERSTAND(words)
    assert (found.name, found.number("day")) == ("timer_status", 1)


@pytest.mark.parametrize(
    "words",
    [
        *("I've fallen and I can't get up", "help, I have fallen", "call an ambulance", "I can't breathe"),
        *("我摔倒了起不来", "救命啊", "快叫救护车"),
    ],
)
async def test_who_cries_for_help_is_told_that_nobody_is_called(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert await talk.says() in {phrase("distress", "en"), phrase("distress", "zh")}


@pytest.mark.parametrize("words", ["I fell down yesterday", "the leaves have fallen", "他昨天摔倒了"])
def test_who_only_tells_of_a_fall_cries_for_none(words: str) -> None:
    assert UNDERSTAND(words).name != "distress"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("split ninety six by three", "That is 32."),
        ("share 90 euros between four people", "That is 22.5."),
        ("how many feet is one metre eighty", "That is about 5.91 feet."),
        ("one metre sixty in inches", "That is about 62.99 inches."),
        ("华氏三百五十度是多少摄氏度", "大约是177摄氏度。"),
        ("三百克的四分之三是多少", "等于225。"),
        ("一杯是多少毫升", "大约是237毫升。"),
        ("两茶匙是多少毫升", "大约是9.86毫升。"),
    ],
)
def test_a_sum_of_measures_is_reckoned(words: str, answer: str) -> None:
    assert answer_sum(words) == answer


@pytest.mark.parametrize("words", ["一到六随便选一个数", "从1到100之间随机选个数字"])
def test_a_number_is_drawn_behind_its_range(words: str) -> None:
    assert UNDERSTAND(words).name == "draw"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("how do you spell rhythm", "Rhythm: R, H, Y, T, H, M."),
        ("spell Anna Lee", "Anna Lee: A, N, N, A; L, E, E."),
    ],
)
async def test_letters_need_no_model(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    assert await talk.says() == said


@pytest.mark.parametrize("words", ["spell it", "how do you spell your name"])
def test_what_is_no_word_is_not_spelled(words: str) -> None:
    assert UNDERSTAND(words).name != "spell"


def test_what_is_only_added_goes_on_the_list() -> None:
    found = UNDERSTAND("add quinoa tahini and sriracha")
    assert (found.name, found.text("item")) == ("list_add", "quinoa tahini and sriracha")


@pytest.mark.parametrize("words", ["add five and six", "add me to the call", "add salt to the soup", "add ten minutes"])
def test_what_is_added_to_something_else_is_on_no_list(words: str) -> None:
    assert UNDERSTAND(words).name != "list_add"
