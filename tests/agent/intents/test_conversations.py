"""Conversations as households hold them, in the real loop's order: each line leans on those before it."""

from pathlib import Path

import pytest

from agent.context.block import Block
from agent.intents.dialog_state import Turn
from agent.intents.follow_up.of_lists import of_listed
from agent.intents.reading.understanding import load_understanding
from agent.intents.saying.spoken import every
from agent.intents.subjects.days import but_for
from agent.intents.subjects.listed_things import core_of, instead_of, things
from agent.intents.subjects.sums.answer import answer_sum
from tests.agent.intents.household import a_home
from tests.agent.offline_talk import Talk, a_timer, at

UNDERSTAND = load_understanding()

LISTS = [
    [
        ("make me a packing list for Leeds", "The packing list is ready. Tell me what goes on it."),
        (
            "passport, charger, black shoes, the good umbrella",
            "On the packing list now: passport, charger, black shoes, good umbrella.",
        ),
        ("don't need the passport, scrap that", "Off the packing list now: passport."),
        ("what's still on the packing list", "On the packing list there is: charger, black shoes, good umbrella."),
    ],
    [
        (
            "put nappies on the list, size three, and wipes",
            "On the shopping list now: nappies size three, wipes.",
        ),
        (
            "actually size four, she's getting big",
            "On the shopping list now, instead of nappies size three: nappies size four.",
        ),
        ("what is in the list now", "On the shopping list there is: wipes, nappies size four."),
    ],
    [
        (
            "I'll be needing a bag of calf nuts and a bit of twine, stick them on a list for the co-op",
            "On the co-op list now: a bag of calf nuts, a bit of twine.",
        ),
        ("and put wellies for Cian on it as well, size two", "On the co-op list now: wellies for Cian size two."),
        ("good woman, knock off the twine, I found some", "Off the co-op list now: a bit of twine."),
    ],
    [
        ("老婆让我买点菜,帮我记一下,西红柿、鸡蛋、还有一把小葱", "购物清单上加了：西红柿、鸡蛋、一把小葱。"),
        ("鸡蛋不用了,冰箱里还有", "购物清单上去掉了：鸡蛋。"),
        ("那现在单子上都有啥", "购物清单上有：西红柿、一把小葱。"),
    ],
    [
        ("可乐两箱、矿泉水五箱,记到进货单里", "进货清单上加了：可乐两箱、矿泉水五箱。"),
        ("今天星期几", "今天是"),
        ("矿泉水改成八箱", "进货清单上，矿泉水五箱改成了矿泉水八箱。"),
        ("酸菜也要,三十斤", "进货清单上加了：三十斤酸菜。"),
        ("酸菜别三十了,二十就够", "进货清单上，三十斤酸菜改成了二十斤酸菜。"),
        ("单子给我念念", "进货清单上有：可乐两箱、矿泉水八箱、二十斤酸菜。"),
    ],
    [
        ("put sage and bread on the list", "On the shopping list now: sage, bread."),
        ("take the sage off, Donna's bringing some", "Off the shopping list now: sage."),
        ("no wait put it back she won't remember", "On the shopping list now: sage."),
        ("Ah ah, I did not say remove the bread, or did I", "I "),
    ],
]


LISTS += [
    [
        (
            "okay put on the order list, six boxes of cola, four of ginger beer, two of the mango one",
            "On the order list now: six boxes of cola, four of ginger beer, two of the mango one.",
        ),
        (
            "change the mango to three",
            "On the order list now, instead of two of the mango one: three of the mango one.",
        ),
        ("put four balls of the sage green on my wool list", "On the wool list now: four balls of the sage green."),
        (
            "better say five, I always run short",
            "On the wool list now, instead of four balls of the sage green: five balls of the sage green.",
        ),
        ("and bin bags, it's my turn apparently", "On the wool list now: bin bags."),
    ],
    [
        ("面线、蚵仔跟香菜加到清单,再加一包太白粉", "购物清单上加了：面线、蚵仔、香菜"),
        ("香菜划掉,我儿子不吃", "购物清单上去掉了：香菜。"),
    ],
    [
        (
            "put flux, two fifteen mil elbows and a roll of PTFE on the list",
            "On the shopping list now: flux, two fifteen mil elbows, a roll of PTFE.",
        ),
        (
            "actually make that four elbows",
            "On the shopping list now, instead of two fifteen mil elbows: four fifteen mil elbows.",
        ),
    ],
    [
        (
            "add palm oil, crayfish and ground pepper to my market list",
            "On the market list now: palm oil, crayfish, ground pepper.",
        ),
        ("the pepper, let it be two cups", "On the market list now, instead of ground pepper: two cups ground pepper."),
        ("ah, and stockfish, I almost forgot", "On the market list now: stockfish."),
        (
            "so what am I buying?",
            "On the market list there is: palm oil, crayfish, two cups ground pepper, stockfish.",
        ),
    ],
]


@pytest.mark.parametrize("said", LISTS, ids=lambda said: said[0][0][:20])
async def test_a_list_is_spoken_of_as_people_do(tmp_path: Path, said: list[tuple[str, str]]) -> None:
    async with a_home(tmp_path) as home:
        answers = [await home.hear(words, follows=True) for words, _ in said]
    assert [answer[: len(told)] for answer, (_, told) in zip(answers, said, strict=True)] == [told for _, told in said]


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        (
            "Sophie's birthday is the ninth of January, will you remember that for me",
            "how many weeks away is that",
            "In seven weeks, on Saturday, the 9th of January 2027.",
        ),
        (
            "The boiler was last serviced on the third of March, make a note of that",
            "How many days ago was that",
            "263 days ago, on Tuesday, the 3rd of March 2026.",
        ),
        ("我们结婚纪念日是十二月十二号,你记着", "还有多少天啊", "还有21天，2026年12月12日，星期六。"),
    ],
)
async def test_a_day_that_was_told_is_counted_to(tmp_path: Path, told: str, asked: str, answer: str) -> None:
    async with a_home(tmp_path) as home:
        await home.hear(told)
        assert await home.hear(asked, follows=True) == answer


async def test_a_sum_goes_on_in_words_of_its_own(tmp_path: Path) -> None:
    said = [
        ("what's fifteen percent off three hundred and eighty nine dollars", "That is 330.65."),
        ("plus eight and a quarter percent tax on that", "That is about 357.93."),
        ("what is 20 times 40", "That is 800."),
        ("right and take forty off that", "That is 760."),
        ("how many is that times three", "That is 2280."),
        ("half of that", "That is 1140."),
        ("can you say that again, he was talking", "That is 1140."),
    ]
    async with a_home(tmp_path) as home:
        assert [await home.hear(words, follows=True) for words, _ in said] == [told for _, told in said]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("what's two foot seven and a half in millimetres", "about 800 millimetres"),
        ("what's eighteen out of twenty five as a percentage", "72"),
        ("what's eighteen hundred litres at forty three pence a litre", "774"),
        ("the wholesaler's box is twenty four cans for eleven pounds forty, how much for one can", "0.475"),
        ("How much is two and a half lakhs divided by twelve", "about 20,833.33"),
        ("what's eighty four sixty split five ways", "16.92"),
        ("three fifty Fahrenheit is what in Celsius", "about 177 degrees Celsius"),
        ("turkey's nineteen and a half pounds, at thirteen minutes a pound how long is that", "253.5"),
    ],
)
def test_a_sum_is_said_in_many_ways(words: str, value: str) -> None:
    assert answer_sum(words) == f"That is {value}."


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("五花肉十四块八一斤,二十斤多少钱", "296"),
        ("体重62公斤,每公斤15毫克,一共多少毫克", "930"),
        ("昨天跑了四十三单,一单四块八,一共多少钱", "206.4"),
        ("打折那个键盘原价六百九十九，打七五折多少钱", "524.25"),
        ("我们班二十六个小朋友,一人三张彩纸,总共要几张", "78"),
        ("帮我算一千二百块的百分之六是多少", "72"),
    ],
)
def test_so_many_at_so_much_is_a_sum_in_chinese(words: str, value: str) -> None:
    assert answer_sum(words) == f"等于{value}。"


async def test_a_measure_that_was_told_is_read_to_its_first_word(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        assert await home.hear("I did eighty seven kilometres on Sunday, what's that in miles") == (
            "That is about 54.06 miles."
        )
        assert await home.hear("it says four hundred and fifty yards of wool, what is that in metres dear") == (
            "That is about 411 metres."
        )


@pytest.mark.parametrize(
    ("told", "righted", "asked", "answer"),
    [
        (
            "remember that the cake is for Tom",
            "not Tom, it's Tim",
            "who is the cake for",
            "You told me: the cake is for Tim.",
        ),
        (
            "王老板订了两斤铁观音,礼拜四来拿,记下来",
            "哦不是铁观音,是大红袍",
            "王老板订的啥",
            "你告诉过我：王老板订了两斤大红袍，礼拜四来拿。",
        ),
    ],
)
async def test_one_thing_is_put_in_place_of_another(
    tmp_path: Path, told: str, righted: str, asked: str, answer: str
) -> None:
    async with a_home(tmp_path) as home:
        await home.hear(told)
        assert (await home.hear(righted, follows=True)).startswith(("I have put it right", "我改过来了"))
        assert await home.hear(asked, follows=True) == answer


async def test_a_sum_is_found_in_its_clause(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        assert await home.hear("爷爷考考你，十七加二十六等于多少") == "等于43。"
        assert await home.hear("再减九呢", follows=True) == "等于34。"
        assert await home.hear(
            "Tell me one thing, what is eighteen percent GST on forty two thousand five hundred"
        ) == ("That is 7650.")


async def test_two_dice_are_rolled_and_rolled_again(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        for words in ("roll two dice for me", "and again for my brother"):
            first, second = (await home.hear(words, follows=True)).removesuffix(".").split(", ")
            assert {first, second} <= set("123456")


async def test_a_die_is_rolled_for_what_it_decides(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        assert await home.hear("帮我掷个骰子，看今天谁洗碗") in {f"{number}。" for number in range(1, 7)}
        assert await home.hear("再来一次，轮到我老公", follows=True) in {f"{number}。" for number in range(1, 7)}


async def test_a_coin_is_tossed_again_and_nothing_is_forgotten(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        await home.hear("好啦,那丟個硬幣,正面我就出門")
        assert await home.hear("再丟一次,剛剛那個不算", follows=True) in {"正面。", "反面。"}


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("remind me on the first of February to ring the boiler people", {"at": "2027-02-01T09:00"}),
        ("like remind me Sunday night though, so I can study", {"at": "2026-11-22T20:00"}),
        (
            "remind me Thursday after lunch to actually start it",
            {"at": "2026-11-26T14:00", "label": "actually start it"},
        ),
        ("Amma's BP medicine is at nine night, daily, you please remind", {"at": "2026-11-21T21:00"}),
        (
            "Morning, I've just got in off my round, give us a shout at quarter past one would you",
            {"at": "2026-11-21T13:15"},
        ),
        ("remind me tonight to call mum", {"at": "2026-11-21T20:00", "label": "call mum"}),
        ("remind me tomorrow afternoon to call mum", {"at": "2026-11-22T15:00", "label": "call mum"}),
        ("每个月5号提醒我交房租", {"at": "2026-12-05T09:00", "repeat": "FREQ=MONTHLY;BYMONTHDAY=5"}),
        ("remind me to clean the chain tonight, sevenish", {"at": "2026-11-21T19:00", "label": "clean the chain"}),
        ("and the vet's coming Thursday at quarter past two, remind me an hour before", {"at": "2026-11-26T13:15"}),
        ("remind me tomorrow to call the bank", {"at": "2026-11-22T09:00", "label": "call the bank"}),
        ("明天提醒我买面包", {"at": "2026-11-22T09:00", "label": "买面包"}),
        ("remind me monday to thursday at nine to clock in", {"repeat": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH"}),
        ("周五到周一上午九点提醒我打卡", {"repeat": "FREQ=WEEKLY;BYDAY=MO,FR,SA,SU"}),
        (
            "垃圾車禮拜二跟禮拜五晚上七點來,到時候提醒我一下",
            {"label": "垃圾车来", "repeat": "FREQ=WEEKLY;BYDAY=TU,FR"},
        ),
        ("明天要带彩笔和剪刀,晚上八点提醒我", {"at": "2026-11-21T20:00", "label": "明天要带彩笔和剪刀"}),
        (
            "remind us both on the first of every month that it's due",
            {"at": "2026-12-01T09:00", "label": "it's due", "repeat": "FREQ=MONTHLY;BYMONTHDAY=1"},
        ),
        ("每个月五号提醒我转账给房东", {"at": "2026-12-05T09:00", "repeat": "FREQ=MONTHLY;BYMONTHDAY=5"}),
        ("remind me every friday to water the plants", {"at": "2026-11-21T09:00", "repeat": "FREQ=WEEKLY;BYDAY=FR"}),
        (
            "so remind me Wednesday nights to put the bins out, about eight",
            {"at": "2026-11-25T20:00", "label": "put the bins out", "repeat": "FREQ=WEEKLY;BYDAY=WE"},
        ),
        (
            "remind me on Monday to bring the permission slips, before I leave, so like six thirty",
            {"at": "2026-11-23T06:30", "label": "bring the permission slips, before I leave"},
        ),
        ("老刘说下午三点送货，到点前十分钟提醒我一下", {"at": "2026-11-21T14:50"}),
        ("I've got a call at eleven, nudge me five minutes before", {"at": "2026-11-21T10:55", "label": "a call"}),
    ],
)
async def test_a_reminder_of_a_day_is_set(talk: Talk, words: str, call: dict[str, object]) -> None:
    talk.hear(words, at=at(7))
    [(name, arguments)] = await talk.calls(a_timer("", "1 hour"))
    assert (name, arguments) == ("set_alarm", arguments | call)


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("also can you do that every Tuesday", "FREQ=WEEKLY;BYDAY=TU"),
        ("not on Wednesdays though", "FREQ=WEEKLY;BYDAY=MO,TU,TH,FR"),
    ],
)
async def test_how_often_it_rings_is_changed_afterwards(talk: Talk, words: str, rule: str) -> None:
    bins = a_timer("bins", "1 day", "2026-11-23 21:00:00 CET") | {"repeats": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"}
    talk.hear("remind me every weekday at nine in the evening of the bins", at=at(7))
    await talk.calls(bins)
    await talk.says()
    talk.hear(words, at=at(7, 1))
    await talk.calls([bins])
    [(name, arguments)] = await talk.calls(bins | {"repeats": rule, "id": "t2"})
    assert (name, arguments["repeat"], str(arguments["at"])[11:]) == ("set_alarm", rule, "21:00")


def test_a_rule_without_one_of_its_days() -> None:
    assert but_for("FREQ=DAILY", 2) == "FREQ=WEEKLY;BYDAY=MO,TU,TH,FR,SA,SU"
    assert but_for("FREQ=WEEKLY;BYDAY=WE", 2) == "FREQ=WEEKLY;BYDAY=WE"
    for of_a_model in ("FREQ=SECONDLY;INTERVAL=600", "FREQ=MONTHLY;BYDAY=1WE", "FREQ=DAILY;INTERVAL=2"):
        assert but_for(of_a_model, 2) == of_a_model


@pytest.mark.parametrize(
    ("rule", "english", "chinese"),
    [
        ("FREQ=MONTHLY;BYMONTHDAY=22", "on the 22nd of every month", "每个月22号"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,TH", "every Monday, Tuesday and Thursday", "每周一、二、四"),
        ("FREQ=SECONDLY;INTERVAL=600", "", ""),
        ("FREQ=MONTHLY;BYDAY=1MO", "", ""),
        ("FREQ=MONTHLY;BYMONTHDAY=1,15", "", ""),
    ],
)
def test_a_rule_is_said_where_it_is_one_of_the_box_s_own(rule: str, english: str, chinese: str) -> None:
    assert (every(rule, "en"), every(rule, "zh")) == (english, chinese)


async def test_what_a_model_made_to_repeat_is_changed_without_its_rule_said(talk: Talk) -> None:
    rent = a_timer("rent", "2 days", "2026-11-23 09:00:00 CET") | {"repeats": "FREQ=MONTHLY;BYDAY=1MO"}
    talk.hear("change the rent reminder to ten", at=at(7))
    await talk.calls([rent])
    await talk.calls(rent | {"due": "2026-11-23 10:00:00 CET", "id": "t2"})
    await talk.calls({"cancelled": rent, "still_set": 1})
    assert "rent" in await talk.says()


async def test_a_timer_is_no_thing_on_a_list_of_the_same_name(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        await home.hear("put pasta and milk on the shopping list")
        assert "Off the" not in await home.hear("leave the milk by the door", follows=True)
        assert await home.hear("what's on it", follows=True) == "On the shopping list there is: pasta, milk."
    told = Turn(Block("", "user_text", "", "x", is_human=True, budget=0), (), ("On the shopping list now: pasta.",))
    assert [*of_listed("scrap the pasta timer", [told])] == []


@pytest.mark.parametrize(
    "words", ["about eight o'clock", "say eight o'clock", "like eight", "not six, I'm out then, make it eight"]
)
async def test_the_hour_of_a_day_may_be_said_afterwards(talk: Talk, words: str) -> None:
    stole = a_timer("iron the stole", "11 hours", "2026-11-21 18:00:00 CET")
    talk.hear("remind me Saturday evening to iron the stole", at=at(6))
    [(name, arguments)] = await talk.calls(stole)
    assert (name, arguments["at"]) == ("set_alarm", "2026-11-21T18:00")
    await talk.says()
    talk.hear(words, at=at(6))
    await talk.calls([stole])
    [(name, arguments)] = await talk.answer()
    assert (name, arguments["at"]) == ("set_alarm", "2026-11-21T20:00")


async def test_a_no_to_what_was_asked_back_moves_nothing_that_rings(talk: Talk) -> None:
    tablet = a_timer("take my water tablet", "1 day", "2026-11-22 08:00:00 CET") | {"repeats": "FREQ=DAILY"}
    talk.hear("remind me to take my water tablet every morning at eight", at=at(9))
    await talk.calls(tablet)
    await talk.says()
    talk.hear("and the wee white one at night, say ten o'clock", at=at(9))
    assert (await talk.says()).startswith("Did you mean")
    talk.hear("no, half past nine, I'm in my bed by ten", at=at(9))
    calls = [name for name, _ in await talk.answer()]
    assert not {"set_alarm", "set_timer", "cancel_timer"} & {*calls}


async def test_another_hour_of_an_alarm_may_tell_why(talk: Talk) -> None:
    mummy = a_timer("call Mummy", "8 hours 39 minutes", "2026-11-21 19:00:00 CET")
    talk.hear("remind me to call Mummy this evening by seven", at=at(9))
    await talk.calls(mummy)
    await talk.says()
    talk.hear("make it eight, she goes for vespers on Tuesdays", at=at(9))
    await talk.calls([mummy])
    [(name, arguments)] = await talk.answer()
    assert (name, arguments["at"]) == ("set_alarm", "2026-11-21T20:00")


async def test_more_time_is_for_what_counts_down(talk: Talk) -> None:
    bread = a_timer("bread", "10 minutes", "2026-11-21 08:10:00 CET", "t1")
    talk.hear("set a timer for ten minutes for bread", at=at(7))
    await talk.calls(bread)
    await talk.says()
    starter = a_timer("feed the starter", "13 hours", "2026-11-21 21:00:00 CET", "t2") | {"repeats": "FREQ=DAILY"}
    talk.hear("remind me every night at nine to feed the starter", at=at(7))
    await talk.calls(starter)
    await talk.says()
    talk.hear("what time is it", at=at(7, 1))
    await talk.says()
    talk.hear("give it five more minutes", at=at(7, 1))
    await talk.calls([bread, starter])
    [(name, arguments)] = await talk.calls(bread)
    assert (name, arguments["label"]) == ("set_timer", "bread")


@pytest.mark.parametrize(
    ("words", "pause", "go_on", "told"),
    [
        (
            "set a 25 minute thing for homework",
            "pause it im getting a snack",
            "ok go",
            "24 minutes and 56 seconds left: homework",
        ),
        ("定个二十五分钟的计时器写作业用", "先暂停一下", "继续", "24分钟56秒：写作业"),
    ],
)
async def test_a_timer_is_paused_and_runs_on(talk: Talk, words: str, pause: str, go_on: str, told: str) -> None:
    label = "写作业" if "：" in told else "homework"
    timer = a_timer(label, "24 minutes 56 seconds", id="t1")
    talk.hear(words, at=at(7))
    await talk.calls(timer)
    await talk.says()
    talk.hear(pause, at=at(7))
    await talk.calls([timer])
    assert await talk.calls({"cancelled": timer, "still_set": 0}) == [("cancel_timer", {"which": "t1"})]
    assert told in await talk.says()
    talk.hear(go_on, at=at(7, 1))
    assert await talk.calls(timer) == [("set_timer", {"seconds": 24 * 60 + 56, "label": label})]
    assert (await talk.says()).startswith(("It runs on", "接着走"))
    talk.hear("resume the timer" if label == "homework" else "继续计时", at=at(7, 2))
    assert await talk.says() in {"No timer is paused.", "没有暂停的计时器。"}


async def test_one_more_alarm_is_of_the_same_half_of_the_day(talk: Talk) -> None:
    talk.hear("I'm on nights this week, wake me up at half five this afternoon", at=at(9))
    await talk.calls(a_timer("", "7 hours", "2026-11-21 17:30:00 CET"))
    await talk.says()
    talk.hear("and again at ten to six in case I sleep through", at=at(9))
    [(name, arguments)] = await talk.calls(a_timer("", "7 hours", "2026-11-21 17:50:00 CET", "t2"))
    assert (name, arguments["at"], arguments.get("label", "")) == ("set_alarm", "2026-11-21T17:50", "")


@pytest.mark.parametrize(
    ("words", "name", "label"),
    [
        ("How many days since the fourth of September", "days_until", ""),
        ("my exam is on the twelfth of December, how many days is that", "days_until", ""),
        ("how long till school finishes up, it's the sixteenth of December", "days_until", ""),
        ("and make it loud, I'll probably be dead asleep", "volume_up", ""),
        ("not so loud, please", "volume_down", ""),
        ("Why aye, right, stick the kettle timer on, four minutes", "timer_start", "kettle"),
        ("our lass wants bread buns, ham and pease pudding on the shopping", "list_add", ""),
        ("how many days since the operation, it was on the twelfth", "days_until", ""),
        ("what day does the fourteenth of February fall on next year", "date", ""),
        ("I've got bread proving, nudge me in an hour and ten", "timer_start", "bread proving"),
        ("咱孙子十二月六号过来,还有几天啊", "days_until", ""),
        ("我那个出门的提醒是几点", "timer_status", "出门"),
        ("买菜记上,排骨、山药,还有一把小葱", "list_add", ""),
        ("I need to leave at ten to eleven, how many minutes is that", "time_until", ""),
        ("how long have I got till that phone call", "timer_status", "phone call"),
        ("put saffron on the order list and, uh, shallots, five kilos", "list_add", ""),
        ("那算了，她的尾号是多少，你再说一遍", "recall", ""),
        ("十二月十九号考研，还有几天", "days_until", ""),
        ("是不是定了七点的闹钟", "unknown", ""),
        ("I'm out of vanilla, put that down, and brown sugar", "list_add", ""),
        ("okay, timer for thirty five minutes, call it sourdough", "timer_start", "sourdough"),
        ("cancel the nuggets one, they're done already", "timer_cancel", "nuggets"),
        ("how many days till winter break, it starts december eighteenth", "days_until", ""),
        ("那離過年還有幾天,明年過年是二月六號", "days_until", ""),
        ("今天是农历几号啊", "outside", ""),
        ("再说一遍,没听清", "repeat", ""),
        ("我写作业写到十一点,还有多久", "time_until", ""),
        ("幫我設一個二十分鐘的計時器,我在滷肉", "timer_start", "卤肉"),
        ("那帮我定个二十分钟的闹钟,先写语文", "timer_start", "写语文"),
        ("闹钟也挪到后天", "timer_change", ""),
        ("明天的就不要响了", "timer_cancel", ""),
    ],
)
def test_a_line_means_what_its_speaker_wanted(words: str, name: str, label: str) -> None:
    found = UNDERSTAND(words)
    assert (found.name, found.text("label")) == (name, label)


def test_what_is_taken_back_in_an_enumeration_stands_on_no_list() -> None:
    assert things("glue and a box of fifty mil screws, no hang on, sixty mil") == ["glue", "a box of sixty mil screws"]
    assert things("bread, no wait, rolls") == ["rolls"]


def test_a_thing_is_known_without_how_much_of_it() -> None:
    assert [core_of(item, "en") for item in ("eighty chairs", "a bit of baling twine")] == ["chairs", "baling twine"]
    assert [core_of(item, "zh") for item in ("一把小葱", "矿泉水五箱")] == ["小葱", "矿泉水"]
    assert instead_of("nappies size three", "size four") == "nappies size four"
    assert instead_of("bread", "size four") == ""


async def test_a_day_that_was_hard_to_hear_is_asked_back(talk: Talk) -> None:
    talk.hear("remind me tomorrow to call the bank", at=at(7), confidence="low")
    assert await talk.says() == "Did you say: remind me tomorrow to call the bank?"
