"""What people of many households said in words of their own, in the real loop's order: one test for each kind."""

from pathlib import Path

import pytest

from agent.intents.learned.network import network
from agent.intents.reading.understanding import load_understanding
from agent.intents.subjects.listed_things import things
from agent.intents.subjects.sums.answer import answer_sum
from tests.agent.intents.household import a_home
from tests.agent.offline_talk import Talk, a_timer, at

UNDERSTAND = load_understanding()


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (
            "remind us every wednesday night at eight thirty bins out",
            {"at": "2026-11-25T20:30", "label": "bins out", "repeat": "FREQ=WEEKLY;BYDAY=WE"},
        ),
        (
            "remind me every second wednesday at eight to put the recycling out",
            {"label": "put the recycling out", "repeat": "FREQ=WEEKLY;INTERVAL=2;BYDAY=WE"},
        ),
        ("i have a standup at 11:15, ping me five minutes before", {"at": "2026-11-21T11:10", "label": "a standup"}),
        ("right, vet's coming thursday about half eight, don't let me forget", {"label": "vet"}),
        ("隔天八点提醒我浇花", {"label": "浇花", "repeat": "FREQ=DAILY;INTERVAL=2"}),
        ("礼拜五中午以前要交报告，礼拜四晚上九点提醒我一下好不好", {"label": "礼拜五中午以前要交报告"}),
        ("哥们儿，我眯一会儿，十二点一刻叫我", {"label": "眯一会儿"}),
        ("锅包肉那桌十一点半来,十一点提醒我备料", {"at": "2026-11-21T11:00", "label": "备料"}),
        ("明天十一点半有客人，十一点提醒我备料", {"at": "2026-11-22T11:00", "label": "备料"}),
        (
            "I've a pupil at half past four today, tell me a quarter of an hour before.",
            {"at": "2026-11-21T16:15", "label": "I've a pupil"},
        ),
        (
            "Please be reminding me at twelve noon every day for prayers",
            {"at": "2026-11-21T12:00", "label": "prayers", "repeat": "FREQ=DAILY"},
        ),
    ],
)
async def test_a_reminder_is_set_as_it_was_said(talk: Talk, words: str, call: dict[str, object]) -> None:
    talk.hear(words, at=at(7))
    [(name, arguments)] = await talk.calls(a_timer("", "1 hour"))
    assert (name, arguments) == ("set_alarm", arguments | call)


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("pressure cooker is on, tell me in 7 mins", "pressure cooker"),
        ("我锅头炖的蹄花 两个钟头以后喊我一声", "锅头炖的蹄花"),
        ("煲汤定两个小时", "煲汤"),
        ("再定一个二十分钟的，蒸鱼用", "蒸鱼"),
    ],
)
def test_a_timer_is_called_what_it_is_for(words: str, label: str) -> None:
    found = UNDERSTAND(words)
    assert (found.name, found.text("label")) == ("timer_start", label)


async def test_how_a_rule_of_every_other_week_is_said(talk: Talk) -> None:
    talk.hear("remind me every other tuesday at nine in the morning to water the plants", at=at(7))
    await talk.calls(a_timer("", "1 hour"))
    assert await talk.says() == (
        "I will remind you every other Tuesday at nine o'clock in the morning: water the plants."
    )


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("and another one ten minutes after in case I sleep through it", "T17:10"),
        ("and one five minutes before", "T16:55"),
    ],
)
async def test_one_more_hangs_on_the_alarm_just_set(talk: Talk, words: str, moment: str) -> None:
    talk.hear("I need to be up at five pm", at=at(7))
    await talk.calls(a_timer("", "10 hours", "2026-11-21 17:00:00 CET", "t1"))
    await talk.says()
    talk.hear(words, at=at(7))
    [(name, arguments)] = await talk.calls(a_timer("", "10 hours", f"2026-11-21 {moment[1:]}:00 CET", "t2"))
    assert (name, str(arguments["at"])[10:]) == ("set_alarm", moment)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("三分钟的泡面计时器", "算了我喜欢软一点，四分钟好了"),
        ("set a timer for ten minutes", "no, I'm slow, make it four minutes"),
    ],
)
async def test_a_correction_may_tell_why(talk: Talk, before: str, words: str) -> None:
    talk.hear(before, at=at(7))
    await talk.calls(a_timer("泡面", "3 minutes"))
    await talk.says()
    talk.hear(words, at=at(7))
    assert await talk.calls([a_timer("泡面", "3 minutes")]) == [("list_timers", {})]
    [(name, arguments)] = await talk.answer()
    assert (name, arguments["seconds"]) == ("set_timer", 240)


@pytest.mark.parametrize(
    "words",
    ["no that was tuesday not monday", "不是十二号，我看错了，是二十一号", "no it was the tenth not the twelfth"],
)
def test_a_date_that_is_put_right_is_nobody_s_voice(words: str) -> None:
    assert UNDERSTAND(words).name != "voice_correct"


def test_a_person_that_is_put_right_still_is() -> None:
    assert UNDERSTAND("no it was Anna not Tom").name == "voice_correct"


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("猫砂没了", ["猫砂"]),
        ("燕麦奶两盒，哦对，厨房纸也要", ["燕麦奶两盒", "厨房纸"]),
        ("milk, weetbix, and eggs", ["milk", "weetbix", "eggs"]),
    ],
)
def test_what_is_said_around_things_stands_on_no_list(said: str, there: list[str]) -> None:
    assert things(said) == there


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("twelve bags of nuts at nine pound forty, what's that come to", "112.8"),
        ("three coffees at four dollars fifty each", "13.5"),
        ("18 percent gst on 42,500 how much", "7650"),
        ("how many tablespoons in three quarters of a cup", "12 tablespoons"),
    ],
)
def test_so_many_at_so_much_is_a_sum(words: str, value: str) -> None:
    assert answer_sum(words) == f"That is {value}."


@pytest.mark.parametrize("words", ["two people at nine", "4 of us at 7", "23 percent"])
def test_what_is_no_sum_has_no_value(words: str) -> None:
    assert answer_sum(words) == ""


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("are you always listening to us", "privacy"),
        ("do you send what I say to google", "privacy"),
        ("你是不是一直在听我们说话", "privacy"),
        ("what's still cooking", "timer_status"),
        ("what's that list looking like", "list_tell"),
        ("add curry leaves to bigbasket list", "list_add"),
        ("how many hours between now and half past seven tonight", "time_until"),
        ("okay set an alarm for then", "ask_when"),
        ("my cousin is asking, what's that guest password", "recall"),
        ("cheers pal", "thanks"),
        ("my duty number is 2317, hang on to that for me", "remember"),
        ("which one's gonna go off first", "timer_status"),
        ("what have I got set for the morning", "timer_status"),
        ("bring it down to about a third", "volume_set"),
        ("flip a coin for who does the dishes, heads is me", "coin"),
        ("bloody hell. say that again slower", "repeat"),
        ("进货单上加五十斤土豆,二十斤五花肉", "list_add"),
        ("单子给我念念", "list_tell"),
        ("现在到五点半还有多久", "time_until"),
        ("算了别说话了,我要开会", "stop"),
        ("帮我记个事,药放在电视柜第二个抽屉里", "remember"),
        ("leave it at twelve then", "no"),
        ("提醒我明早出门看看天", "ask_when"),
        ("室友阿哲欠我三百五，帮我记著", "remember"),
    ],
)
def test_it_is_meant_however_it_is_put(words: str, name: str) -> None:
    assert UNDERSTAND(words).name == name


async def test_a_coin_is_tossed_anew_and_leaves_no_question_open(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        for words in ("今晚谁洗碗，抛个硬币，正面他洗", "哈哈不算不算，再来一次"):
            assert await home.hear(words, follows=True) in {"正面。", "反面。"}


async def test_what_was_taken_off_a_list_is_put_back(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        await home.hear("put diesel on the shopping list")
        await home.hear("take the diesel off, Martin's fetching it", follows=True)
        assert (
            await home.hear("no put the diesel back, he's forgotten", follows=True)
            == "On the shopping list now: diesel."
        )


def test_things_that_no_network_knows_stay_in_an_enumeration() -> None:
    reading = network("en").read("woolies list, milk, weetbix, nappies size four, and sunscreen")
    assert reading is not None
    assert ("item", "milk, weetbix, nappies size four, and sunscreen") in reading.slots
