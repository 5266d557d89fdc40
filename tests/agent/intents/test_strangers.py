"""What strangers said that was taken for something else: counted to, forgotten, asked for, and cried for help."""

from pathlib import Path

import pytest

from agent.intents.intent import Intent
from agent.intents.reading.understanding import load_understanding
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.sums.answer import answer_sum
from tests.agent.intents.household import a_home
from tests.agent.intents.kitchen import a_kitchen
from tests.agent.offline_talk import Talk

UNDERSTAND = load_understanding()


@pytest.mark.parametrize(
    ("first", "then", "set_"),
    [
        ("ten to seven", "actually make that quarter to", "22 06:45"),
        ("half past six", "no, quarter to", "22 06:45"),
        ("quarter past six", "make it quarter to", "22 05:45"),
        ("seven", "no, quarter to", "22 06:45"),
        ("ten to seven", "make that five past", "22 07:05"),
        ("quarter to seven", "actually make that quarter past", "22 07:15"),
        ("half past six", "no, quarter past", "22 06:15"),
        ("six", "make that half past", "22 06:30"),
    ],
)
async def test_minutes_without_an_hour_are_of_the_nearest(tmp_path: Path, first: str, then: str, set_: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear(f"wake me tomorrow at {first}")
        await kitchen.hear(then)
        assert await kitchen.rings() == [f"2026-11-{set_}"]


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


@pytest.mark.parametrize("words", ["double A ones", "twice the big ones", "the other ones"])
def test_ones_are_no_number(words: str) -> None:
    assert not answer_sum(words)


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


async def _heard(folder: Path, *said: str) -> str:
    """Return what is answered to the last of some sentences of one conversation about lists."""
    async with a_home(folder) as home:
        return [await home.hear(words, follows=bool(number)) for number, words in enumerate(said)][-1]


async def _set(folder: Path, *said: str) -> list[str]:
    """Return what rings after some sentences of one conversation; it is Saturday, eleven o'clock."""
    async with a_kitchen(folder) as kitchen:
        for words in said:
            await kitchen.hear(words)
        return [each.removeprefix("2026-11-") for each in await kitchen.rings()]


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("add cheese to the list", "put eggs on the list and take off the cheese"),
        ("add cheese to the list", "add eggs and remove the cheese"),
        ("add cheese to the list", "add eggs and take the cheese off"),
        ("add cheese to the list", "put eggs on the list, scratch the cheese"),
        ("add cheese to the list", "remove the cheese and add eggs"),
        ("add cheese to the list", "cross the cheese off and add eggs"),
        ("add cheese to the list", "get rid of the cheese off the list, and add eggs"),
        ("把奶酪加到清单上", "先把鸡蛋加到清单上，再把奶酪去掉"),
        ("把奶酪加到清单上", "把鸡蛋加到清单，把奶酪去掉"),
        ("把奶酪加到清单上", "清单上加鸡蛋，然后把奶酪划掉"),
    ],
)
async def test_one_thing_goes_on_a_list_and_another_comes_off(tmp_path: Path, before: str, words: str) -> None:
    told = {"On the shopping list there is: eggs.", "购物清单上有：鸡蛋。"}
    asked = "清单上有什么" if "清单" in words else "what's on the shopping list"
    assert await _heard(tmp_path, before, words, asked) in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("add salt and pepper to the list", "On the shopping list now: salt, pepper."),
        ("add eggs, not the brown ones", "On the shopping list now: eggs."),
        ("add bread, no not bread, rolls", "On the shopping list now: rolls."),
        ("put sugar on the list, oh wait we've still got some", "All right, I leave it."),
        ("购物清单加鸡蛋，不要啤酒", "购物清单上加了：鸡蛋。"),
        ("买两斤苹果和一箱牛奶，记到清单上", "购物清单上加了：两斤苹果、一箱牛奶。"),
        (
            "add wash the car and remove the stickers to the to-do list",
            "On the to-do list now: wash the car, remove the stickers.",
        ),
        (
            "add bin bags and take out the rubbish to the list",
            "On the shopping list now: bin bags, take out the rubbish.",
        ),
    ],
)
async def test_what_is_said_behind_a_thing_takes_nothing_else_off(tmp_path: Path, words: str, told: str) -> None:
    assert await _heard(tmp_path, words) == told


@pytest.mark.parametrize(
    "words", ["take my coat off and put the kettle on", "take my coat off and put my jacket on instead"]
)
async def test_what_is_taken_off_and_put_on_may_be_a_coat(tmp_path: Path, words: str) -> None:
    assert "list now" not in await _heard(tmp_path, words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("read me the first three things on the shopping list", "On the shopping list there is: milk, tea, jam."),
        ("what are the last two things on my shopping list", "On the shopping list there is: jam, rice."),
        ("what's the first thing on the list", "On the shopping list there is: milk."),
        ("what's the last thing I put on the list", "On the shopping list there is: rice."),
        ("do we need anything from the shop", "On the shopping list there is: milk, tea, jam, rice."),
    ],
)
async def test_a_part_of_a_list_is_told(tmp_path: Path, words: str, told: str) -> None:
    assert await _heard(tmp_path, "add milk, tea, jam and rice to the shopping list", words) == told


async def test_the_first_things_are_told_in_chinese(tmp_path: Path) -> None:
    assert await _heard(tmp_path, "购物清单加上苹果、面包和牛奶", "清单上前两样是什么") == "购物清单上有：苹果、面包。"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("洗洁精用完了", "购物清单上加了：洗洁精。"),
        ("面包没了，鸡蛋也快没了", "购物清单上加了：面包。 购物清单上加了：鸡蛋。"),
        ("家里酱油快用完了", "购物清单上加了：酱油。"),
        ("猫粮用完了", "你的意思是：把猫粮加到清单上，对吗？"),
    ],
)
async def test_what_is_used_up_is_put_on_the_list_or_asked_about(tmp_path: Path, words: str, told: str) -> None:
    assert await _heard(tmp_path, words) == told


@pytest.mark.parametrize("words", ["时间用完了", "手机没电了", "厕所用完了", "牛奶喝完了吗", "流量用完了"])
async def test_not_all_that_is_used_up_is_bought(tmp_path: Path, words: str) -> None:
    assert "清单" not in await _heard(tmp_path, words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("把苹果划掉，换成梨", "购物清单上，苹果改成了梨。"),
        ("苹果去掉，改成梨", "购物清单上，苹果改成了梨。"),
    ],
)
async def test_a_thing_is_taken_off_for_another(tmp_path: Path, words: str, told: str) -> None:
    assert await _heard(tmp_path, "购物清单加上苹果和面包", words) == told


async def test_another_thing_is_put_on_instead(tmp_path: Path) -> None:
    words = "take the milk off the list and put oat milk on instead"
    told = "Off the shopping list now: milk. On the shopping list now: oat milk."
    assert await _heard(tmp_path, "add milk to the list", words) == told


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        (
            "timer for the eggs six minutes and for the potatoes twenty",
            ["21 11:06 the eggs", "21 11:20 the potatoes"],
        ),
        ("set a timer for the eggs for six minutes and the rice twelve", ["21 11:06 the eggs", "21 11:12 the rice"]),
        ("timer for the pasta ten minutes, and dinner at eight", ["21 11:10 the pasta", "21 20:00 dinner"]),
        ("明天早上六点半叫我起床，然后八点提醒我吃药", ["22 06:30", "22 08:00 吃药"]),
        (
            "wake me tomorrow at six thirty and remind me at eight to take my pills",
            ["22 06:30", "22 08:00 take my pills"],
        ),
        ("wake me on Monday at six and remind me at seven to feed the cat", ["23 06:00", "23 07:00 feed the cat"]),
        ("wake me tomorrow at seven and then remind me at four to call mum", ["22 07:00", "22 16:00 call mum"]),
        ("六点半叫孩子起床，七点提醒我送他上学", ["22 06:30 叫孩子起床", "22 07:00 送他上学"]),
        (
            "remind me about the bins on Wednesday night and about the post on Thursday morning",
            ["25 20:00 the bins", "26 09:00 the post"],
        ),
        ("remind me tomorrow to check the list and cancel the timer", ["22 09:00 check the list and cancel the timer"]),
        ("remind me to buy fish and to cook it on Friday", ["27 09:00 buy fish and to cook it"]),
        ("let's say an alarm at five thirty pm so I don't forget to call mum", ["21 17:30 call mum"]),
        ("set an alarm for six so I can catch the train", ["21 18:00 catch the train"]),
        ("wake me at quarter to seven, actually make it ten to", ["22 06:50"]),
        (
            "set a timer for the rice for twelve minutes and one for the beans, twenty five",
            ["21 11:12 the rice", "21 11:25 the beans"],
        ),
        ("remind me at five to call mum, actually ten past", ["21 17:10 call mum"]),
        ("七点叫我，哦不，七点一刻", ["22 07:15"]),
        ("明天早上七点叫我，不对，八点叫我起床", ["22 08:00"]),
        ("明天七点叫我，不对，后天八点", ["23 08:00"]),
        ("定七点的闹钟，不对，定八点的", ["21 20:00"]),
        ("七点叫我，不是八点", []),
        ("每天早上七点叫我，但是明天八点叫", []),
        ("remember I lent Sam the drill, and remind me on Sunday to ask for it", ["22 09:00 ask for it"]),
        ("wake me up at six forty five no make that seven", ["22 07:00"]),
        ("set an alarm for six thirty, sorry, seven", ["21 19:00"]),
        (
            "remind me tonight to take out the bins and tomorrow to bring them in",
            ["21 20:00 take out the bins", "22 09:00 bring them in"],
        ),
        ("remind me tomorrow to call mum and dad", ["22 09:00 call mum and dad"]),
        ("I'm making soup, remind me to stir it every ten minutes for an hour", []),
        ("后天下午三点半到五点开会，提前十分钟提醒我", ["23 15:20 开会"]),
        ("过五分钟叫我，再过五分钟再叫我一次", []),
        ("每隔一周的周二早上八点提醒我倒垃圾", ["24 08:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=TU 倒垃圾"]),
        ("隔周的周五晚上八点提醒我倒垃圾", ["27 20:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=FR 倒垃圾"]),
        ("wake me every other Tuesday at seven", ["24 07:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"]),
        ("remind me on the first Monday of the month to pay the rent", []),
        ("remind me tomorrow about the weekly meeting", ["22 09:00 the weekly meeting"]),
        ("remind me at five to feed every cat", ["21 17:00 feed every cat"]),
        ("七点提醒我给每个人倒水", ["21 19:00 给每个人倒水"]),
    ],
)
async def test_what_one_breath_orders_rings(tmp_path: Path, words: str, set_: list[str]) -> None:
    assert [each.strip() for each in await _set(tmp_path, words)] == set_


@pytest.mark.parametrize(
    "words",
    ["and mum turned fifty", "and the film lasts ninety", "and the bus is at 7"],
)
async def test_a_number_that_is_only_told_sets_no_further_timer(tmp_path: Path, words: str) -> None:
    assert len(await _set(tmp_path, "set a timer for ten minutes", words)) == 1


@pytest.mark.parametrize(
    ("said", "set_"),
    [
        (
            ("set a pasta timer for ten minutes", "set a bread timer for 40 minutes"),
            {
                "stop the pasta timer but leave the one for the bread": "bread",
                "cancel the pasta, keep the bread": "bread",
            },
        ),
        (
            ("wake me tomorrow at seven", "wake me on Monday at eight"),
            {"turn off the alarm for tomorrow but leave the one on Monday": "23 08:00"},
        ),
        (
            ("wake me tomorrow at seven",),
            {"I don't need the alarm tomorrow but do wake me on Tuesday at six": "24 06:00"},
        ),
        (("明天七点叫我起床", "后天八点叫我起床"), {"取消明天的闹钟，后天的别动": "23 08:00"}),
    ],
)
async def test_what_is_named_to_stay_rings_on(tmp_path: Path, said: tuple[str, str], set_: dict[str, str]) -> None:
    for number, (words, left) in enumerate(set_.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert [left in each for each in await _set(folder, *said, words)] == [True]


async def test_one_day_of_every_day_is_left_out_though_today_is_called_so_too(tmp_path: Path) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("设一个每天早上九点的闹钟")
        assert await kitchen.hear("周六的闹钟不用响了") == "好的，2026年11月28日，星期六上午9点整不响，之后照常。"


@pytest.mark.parametrize(
    ("words", "day"),
    [("skip tomorrow's", 1), ("leave out tomorrow's one", 1), ("skip today's", 0), ("skip it tomorrow", 1)],
)
def test_a_day_s_alarm_is_left_out_by_the_day_alone(words: str, day: int) -> None:
    assert UNDERSTAND(words) == Intent("alarm_skip", {"on_day": day})


@pytest.mark.parametrize("words", ["skip tomorrow's meeting", "skip to tomorrow's weather", "skip this one"])
def test_what_else_is_left_out_is_no_alarm(words: str) -> None:
    assert UNDERSTAND(words).name != "alarm_skip"


@pytest.mark.parametrize("words", ["我今天有让你提醒我什么事吗", "我让你今天提醒我什么", "我刚才让你提醒我什么"])
async def test_who_asks_what_they_are_reminded_of_is_told(tmp_path: Path, words: str) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("今天下午三点提醒我吃药")
        assert await kitchen.hear(words) == "下午3点整：吃药。"


async def test_one_timer_is_paused_and_another_begun(tmp_path: Path) -> None:
    words = "pause the pizza timer and start one for the salad for three minutes"
    async with a_kitchen(tmp_path) as kitchen:
        await kitchen.hear("set a pizza timer for ten minutes")
        told = await kitchen.hear(words)
        assert told.startswith("Paused, with ten minutes left: pizza.")
        assert [each.rpartition(" ")[2] for each in await kitchen.rings()] == ["salad"]


@pytest.mark.parametrize(
    ("words", "slots"),
    [
        ("what's the day after tomorrow's date", {"day": 2}),
        ("the day after tomorrow's date", {"day": 2}),
        ("what's the date of the day after tomorrow", {"day": 2}),
        ("what's Sunday's date", {"weekday": 6}),
        ("tell me next Friday's date", {"weekday": 4}),
        ("后天的日期是多少", {"day": 2}),
    ],
)
def test_the_date_of_a_day_is_asked(words: str, slots: dict[str, int]) -> None:
    found = UNDERSTAND(words)
    assert (found.name, dict(found.slots)) == ("date", slots)


@pytest.mark.parametrize("words", ["what's mum's date", "what's the wedding's date"])
async def test_the_date_of_something_else_is_not_todays(tmp_path: Path, words: str) -> None:
    assert "2026" not in await _heard(tmp_path, words)


@pytest.mark.parametrize("words", ["tell me a fact", "帮我把购物清单念一遍然后清空"])
async def test_no_list_is_told_to_who_wants_something_else(tmp_path: Path, words: str) -> None:
    before = "购物清单加上苹果" if "清单" in words else "add milk to the list"
    told = await _heard(tmp_path, before, words)
    assert "milk" not in told
    assert "苹果" not in told
