"""The small words of the offline model: lengths, times, persons, what a question is about, which moment is meant."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.intents.intent import Intent, Language, language_of
from agent.intents.language.questions import read_question
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import (
    behind_for,
    clock,
    date,
    is_length,
    length,
    length_timer,
    moment_told,
    spoken_length,
    to_second_person,
    told_length,
)
from agent.intents.subjects.days import next_moment
from agent.intents.subjects.facts import ENOUGH, Fact
from agent.tools.timers import duration

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "turned"),
    [
        ("my keys are in the drawer", "your keys are in the drawer"),
        ("I am allergic to nuts", "you are allergic to nuts"),
        ("I'm late and I was tired", "you're late and you were tired"),
        ("I parked where I've always parked", "you parked where you've always parked"),
        ("the red one is mine", "the red one is yours"),
        ("Anna gave me and my sister our tickets", "Anna gave you and your sister your tickets"),
        ("you are my friend", "I am your friend"),
        ("I love you", "you love me"),
        ("your name is nakari", "my name is nakari"),
        ("Amy is in Miami", "Amy is in Miami"),
    ],
)
def test_persons_are_turned(said: str, turned: str) -> None:
    assert to_second_person(said, "en") == turned


@pytest.mark.parametrize(
    ("said", "turned"),
    [("我的钥匙在抽屉里", "你的钥匙在抽屉里"), ("我们家的狗叫旺财", "你们家的狗叫旺财"), ("你是我朋友", "我是你朋友")],
)
def test_persons_are_turned_in_chinese(said: str, turned: str) -> None:
    assert to_second_person(said, "zh") == turned


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where are my keys?", ["key"]),
        ("Where’s my car?", ["car"]),
        ("What is my sister's name?", ["sister"]),
        ("What is my favorite color?", ["favorit", "color"]),
        ("Do you remember where I parked?", ["park"]),
        ("When does the plumber come?", ["plumber", "come"]),
        ("What do you know about me?", []),
        ("我的钥匙在哪？", ["钥匙"]),
        ("我妹妹叫什么名字", ["妹妹"]),
        ("我最喜欢什么颜色", ["喜欢"]),
        ("关于水管工我说过什么", ["水管工"]),
        ("WiFi的密码是多少", ["wifi", "密码"]),
        ("你知道吗", []),
    ],
)
def test_what_a_question_is_about(question: str, words: list[str]) -> None:
    assert [word for word, _ in read_question(question).words if word != "i"] == words


@pytest.mark.parametrize(
    ("question", "statement", "share"),
    [
        ("Where are my keys?", "my KEYS are here", 1.0),
        ("Where is my key?", "the keyboard is here", 0.0),
        ("Where did I park?", "I parked on level three", 1.0),
        ("Where is the spare key?", "my keys are here", 0.5),
        ("Where is the spare garage key?", "the garage keys are here", 2 / 3),
        ("备用钥匙在哪", "备用钥匙在门垫下面", 1.0),
        ("备用钥匙在哪", "钥匙在抽屉里", 1 / 3),
        ("你知道吗", "是的", 0.0),
    ],
)
def test_how_much_of_a_question_a_statement_answers(question: str, statement: str, share: float) -> None:
    fact = Fact(statement, was_to_be_kept=True, when="", nearness=0)
    assert fact.share_of(read_question(question)) == pytest.approx(share, abs=0.15)


def test_two_words_of_three_are_enough_and_one_of_two_is_not() -> None:
    assert 1 / 2 < ENOUGH < 2 / 3


@given(st.integers(1, 360_000), st.sampled_from(["en", "zh"]))
def test_a_length_is_known_as_one(seconds: int, language: Language) -> None:
    assert is_length(length(seconds, language))


@given(st.integers(1, 86_399))
def test_lengths_agree_with_those_of_the_timer_tools(seconds: int) -> None:
    assert length(seconds, "en") == duration(seconds)
    for language in ("en", "zh"):
        assert told_length(duration(seconds), language) == spoken_length(seconds, language)


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (1, "a second", "1秒"),
        (60, "a minute", "1分钟"),
        (120, "two minutes", "两分钟"),
        (1200, "20 minutes", "20分钟"),
        (1800, "half an hour", "半小时"),
        (3600, "an hour", "1小时"),
        (4800, "an hour and 20 minutes", "1小时20分钟"),
        (5400, "an hour and a half", "一个半小时"),
        (9000, "two and a half hours", "两个半小时"),
        (172_800, "two days", "两天"),
        (93_784, "a day, two hours, three minutes and four seconds", "1天两小时3分钟4秒"),
    ],
)
def test_a_length_is_said_as_a_person_would(seconds: int, english: str, chinese: str) -> None:
    assert (spoken_length(seconds, "en"), spoken_length(seconds, "zh")) == (english, chinese)


@pytest.mark.parametrize(
    ("length", "english"),
    [
        ("5 minutes", "five-minute timer"),
        ("1 hour 30 minutes", "timer of an hour and a half"),
        ("1 hour", "one-hour timer"),
    ],
)
def test_a_timer_is_called_by_its_length(length: str, english: str) -> None:
    assert length_timer(length, "en") == english


@pytest.mark.parametrize(
    ("label", "behind"),
    [("pasta", "the pasta"), ("the eggs", "the eggs"), ("your tea", "your tea"), ("call your mother", ""), ("eat", "")],
)
def test_a_thing_is_named_and_a_task_is_not(label: str, behind: str) -> None:
    assert behind_for(label) == behind


@pytest.mark.parametrize("text", ["", "pasta", "5 cups", "for 5 minutes", "煮面", "5分钟的面"])
def test_a_name_is_no_length(text: str) -> None:
    assert not is_length(text)


@pytest.mark.parametrize(
    ("hour", "minute", "english", "chinese"),
    [
        (0, 0, "midnight", "凌晨12点整"),
        (0, 5, "12:05 at night", "凌晨12点05分"),
        (4, 59, "4:59 at night", "凌晨4点59分"),
        (5, 0, "five o'clock in the morning", "上午5点整"),
        (11, 5, "11:05 in the morning", "上午11点05分"),
        (12, 0, "noon", "中午12点整"),
        (12, 30, "half past twelve in the afternoon", "中午12点半"),
        (0, 45, "a quarter to one at night", "凌晨12点45分"),
        (0, 30, "half past midnight", "凌晨12点半"),
        (11, 45, "a quarter to noon", "上午11点45分"),
        (12, 15, "a quarter past noon", "中午12点一刻"),
        (23, 45, "a quarter to midnight", "晚上11点45分"),
        (9, 30, "half past nine in the morning", "上午9点半"),
        (17, 48, "5:48 in the afternoon", "下午5点48分"),
        (18, 30, "half past six in the evening", "晚上6点半"),
        (22, 0, "ten o'clock at night", "晚上10点整"),
    ],
)
def test_a_time_is_said_with_its_part_of_the_day(hour: int, minute: int, english: str, chinese: str) -> None:
    moment = NOON.replace(hour=hour, minute=minute)
    assert (clock(moment, "en"), clock(moment, "zh")) == (english, chinese)


def test_a_date_is_said_with_its_weekday() -> None:
    assert date(NOON, "en") == "Saturday, the 21st of November 2026"
    assert date(NOON, "zh") == "2026年11月21日，星期六"
    assert date(NOON + timedelta(days=1), "zh") == "2026年11月22日，星期日"


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  bounds are naive
    st.integers(0, 24),
    st.integers(-20, 59),
    st.sampled_from(["", "morning", "noon", "evening", "night"]),
    st.booleans(),
)
def test_a_time_of_day_is_its_next_coming(now: datetime, hour: int, minute: int, period: str, wakes: bool) -> None:
    moment = next_moment(Intent("alarm", {"hour": hour, "minute": minute, "period": period, "wakes": int(wakes)}), now)
    assert moment is not None
    assert now < moment <= now + timedelta(days=2)
    assert moment.second == 0
    assert moment.minute == minute % 60


@given(st.integers(0, 23))
def test_a_named_day_is_kept(hour: int) -> None:
    moment = next_moment(Intent("alarm", {"hour": hour, "day": 1}), NOON)
    assert moment is not None
    assert moment.date() == NOON.date() + timedelta(days=1)


@given(st.datetimes(datetime(2026, 1, 1), datetime(2099, 1, 1)), st.integers(1, 31), st.integers(0, 12))  # noqa: DTZ001
def test_a_date_is_its_next_coming(now: datetime, number: int, month: int) -> None:
    moment = next_moment(Intent("alarm", {"hour": 9, "date": number, "month": month}), now)
    if moment is None:
        assert (number, month) in {(30, 2), (31, 2), (31, 4), (31, 6), (31, 9), (31, 11)}
    else:
        assert now < moment
        assert (moment.day, moment.month) == (number, month or moment.month)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-22 07:30:00 CET", datetime(2026, 11, 22, 7, 30)),  # noqa: DTZ001  local, as it was told
        ("2026-13-45 99:99", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_moment_that_a_tool_wrote(text: str, moment: datetime | None) -> None:
    assert moment_told(text) == moment


def test_a_phrase_without_its_gap_or_name_is_a_bug() -> None:
    with pytest.raises(KeyError):
        phrase("timer_set", "en")
    with pytest.raises(KeyError):
        phrase("no such phrase", "zh")


@pytest.mark.parametrize(
    ("words", "language"), [("hello", "en"), ("你好", "zh"), ("Anna 的钥匙", "zh"), ("", "en"), ("Schlüssel", "en")]
)
def test_the_language_of_words(words: str, language: Language) -> None:
    assert language_of(words) == language
