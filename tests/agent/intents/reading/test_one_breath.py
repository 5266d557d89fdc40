"""What people say in one breath: a reason behind it, a list with its name, all that was counted, days said before."""

from pathlib import Path

import pytest

from agent.intents.language.wording import mended
from agent.intents.reading.understanding import load_understanding
from agent.intents.subjects.sums.answer import answer_sum
from tests.agent.intents.household import a_home
from tests.agent.offline_talk import Talk, a_timer, at

UNDERSTAND = load_understanding()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "Make a list called Saturday, and put shin of beef on it, pearl barley and candles.",
            "On the saturday list now: shin of beef, pearl barley, candles.",
        ),
        (
            "Start a list for presents. The good glass cutter, socks with herons, and a go on the climbing wall.",
            "On the presents list now: good glass cutter, socks with herons, a go on the climbing wall.",
        ),
        (
            "Put on a list for the boat: passports, the hi vis things, Grandad's cushion.",
            "On the boat list now: passports, hi vis things, Grandad's cushion.",
        ),
        (
            "Orla says we're out of oat milk and something for the dog's ears, stick those on too.",
            "On the shopping list now: oat milk, something for the dog's ears.",
        ),
        (
            "And the broad beans go in this week, put that on the garden list with the fleece and the new riddle.",
            "On the garden list now: broad beans, fleece, new riddle.",
        ),
        ("加上荞麦粉、两块老豆腐,还有一把小葱。", "购物清单上加了：荞麦粉、两块老豆腐、一把小葱。"),
    ],
)
async def test_a_list_is_named_and_filled(tmp_path: Path, words: str, told: str) -> None:
    async with a_home(tmp_path) as home:
        assert await home.hear(words) == told


async def test_what_was_asked_after_goes_on_the_list(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        await home.hear("Put on a list for the boat: passports, cushion.")
        told = await home.hear("Did I say the dog's tablets? Add those, he has to have one a day before.", follows=True)
    assert told == "On the boat list now: dog's tablets."


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        (
            "So remind me Sunday at half nine to lift his bowl, and Monday at eleven to get him in the van.",
            [("2026-11-22T09:30", "lift his bowl"), ("2026-11-23T11:00", "get him in the van")],
        ),
        (
            "Give me a shout at three, would you, and again at half past in case I'm on the phone.",
            [("2026-11-21T15:00", ""), ("2026-11-21T15:30", "")],
        ),
        (
            "So remind me at eleven in the morning and eleven at night until Sunday.",
            [("2026-11-21T11:00", ""), ("2026-11-21T23:00", "")],
        ),
    ],
)
async def test_two_reminders_are_two(talk: Talk, words: str, calls: list[tuple[str, str]]) -> None:
    talk.hear(words, at=at(9))
    set_: list[tuple[str, str]] = []
    while len(set_) < len(calls):
        for tool, arguments in await talk.calls(*[a_timer("", "")] if not set_ else ["delivered", a_timer("", "")]):
            set_ += [(arguments["at"], arguments["label"])] if tool == "set_alarm" else []
    assert set_ == calls


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (
            "Remind me Friday after work to bring up the folding chairs, I'm finished at six.",
            {"at": "2026-11-27T18:00", "label": "bring up the folding chairs"},
        ),
        (
            "Okay well I've fencing Tuesdays and Thursdays at quarter past five so can you tell me at half four "
            "on those days to pack my bag.",
            {"at": "2026-11-24T16:30", "label": "pack my bag", "repeat": "FREQ=WEEKLY;BYDAY=TU,TH"},
        ),
        (
            "Oh hang on, Dervla's got the boiler man coming at two, remind me at ten to that he's coming.",
            {"at": "2026-11-21T13:50", "label": "he's coming"},
        ),
        (
            "Alarm for ten past four tomorrow, I've got the first tram out.",
            {"at": "2026-11-22T04:10", "label": ""},
        ),
        (
            "remind me tomorrow at eight to pack for after school",
            {"at": "2026-11-22T08:00", "label": "pack for after school"},
        ),
        ("wake me at six tomorrow, I want to read before bed", {"at": "2026-11-22T06:00", "label": ""}),
        ("remind me at ten past four tomorrow to call", {"at": "2026-11-22T16:10", "label": "call"}),
        (
            "remind me a week on Saturday at eight to bring the rope",
            {"at": "2026-12-05T08:00", "label": "bring the rope"},
        ),
        ("set a reminder for Saturday week at eight", {"at": "2026-12-05T08:00", "label": ""}),
        ("还有一种药膏，睡前涂，就十一点提醒吧。", {"at": "2026-11-21T23:00", "label": "有一种药膏，睡前涂"}),
        (
            "从今晚开始每天七点半提醒她看书",
            {"at": "2026-11-21T19:30", "label": "她看书", "repeat": "FREQ=DAILY"},
        ),
    ],
)
async def test_a_time_is_read_as_it_was_meant(talk: Talk, words: str, call: dict[str, str]) -> None:
    talk.hear(words, at=at(9))
    assert await talk.calls(a_timer("", "")) == [("set_alarm", call)]


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("Cool, remind me Thursday to give coach the form, it's got to be in before four.", "2026-11-26T09:00"),
        ("And the left glove is in the hot press drying, remind me tonight or I'll forget it.", "2026-11-21T20:00"),
        ("家长会是下周五下午五点一刻,我那天上班,周四中午提醒我去问问老周。", "2026-11-26T12:00"),
    ],
)
async def test_a_reminder_of_a_day_is_found_beside_what_is_told(talk: Talk, words: str, day: str) -> None:
    talk.hear(words, at=at(9))
    [(tool, arguments)] = await talk.calls("[]")
    if tool == "list_timers":
        [(tool, arguments)] = await talk.calls(a_timer("", ""))
    assert (tool, arguments["at"]) == ("set_alarm", day)


@pytest.mark.parametrize(
    ("words", "seconds", "label"),
    [
        ("Also there's quail eggs on the hob, three minutes.", 180, "quail eggs"),
        ("And the washing's in, it's got an hour and ten left, tell me when it's done.", 4200, "washing"),
    ],
)
async def test_how_long_something_takes_sets_a_timer(talk: Talk, words: str, seconds: int, label: str) -> None:
    talk.hear(words, at=at(9))
    assert await talk.calls(a_timer("", "")) == [("set_timer", {"seconds": seconds, "label": label})]


@pytest.mark.parametrize(
    "words",
    [
        "Right, the barley's on, give me forty minutes for that and twelve for the eggs.",
        "Right, two timers, forty minutes for barley and twelve for the eggs.",
    ],
)
async def test_two_timers_are_two(talk: Talk, words: str) -> None:
    talk.hear(words, at=at(9))
    first = await talk.calls(a_timer("barley", "40 minutes"))
    [_, second] = await talk.calls("delivered", a_timer("eggs", "12 minutes"))
    assert [*first, second] == [
        ("set_timer", {"seconds": 2400, "label": "barley"}),
        ("set_timer", {"seconds": 720, "label": "the eggs"}),
    ]


async def test_the_day_of_a_month_is_changed(talk: Talk) -> None:
    talk.hear("每个月二十八号提醒我转房租。", at=at(9))
    repeating = a_timer("转房租", "6 days", "2026-11-28 09:00:00 CET") | {"repeats": "FREQ=MONTHLY;BYMONTHDAY=28"}
    await talk.calls(repeating)
    await talk.says()
    talk.hear("二十八号有时候是周末，改成二十六号吧。", at=at(9))
    await talk.calls([repeating])
    [(_, arguments)] = await talk.calls(a_timer("转房租", "4 days", "2026-11-26 09:00:00 CET"))
    assert arguments == {"at": "2026-11-26T09:00", "label": "转房租", "repeat": "FREQ=MONTHLY;BYMONTHDAY=26"}


async def test_what_somebody_is_called_names_no_timer(talk: Talk) -> None:
    talk.hear("周日早上九点提醒我去喂猫", at=at(9))
    await talk.calls(a_timer("去喂猫", "1 day", "2026-11-22 09:00:00 CET"))
    await talk.says()
    talk.hear("哎不对，钥匙是给他老婆了，叫希拉。", at=at(9))
    assert "希拉" not in await talk.says()


async def test_that_day_is_the_day_that_was_told(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        assert await home.hear("What's the date a week on Saturday?") == ("That is Saturday, the 5th of December 2026.")


async def test_thanks_may_go_before_an_order(talk: Talk) -> None:
    talk.hear("Lovely, he's outside, forget the two o'clock one.", at=at(9))
    assert await talk.calls("[]") == [("cancel_timer", {"which": "two o'clock"})]


async def test_what_is_split_after_no_sum_sets_nothing(talk: Talk) -> None:
    talk.hear("Take the deposit off that, a hundred and twenty.", at=at(9))
    while (calls := await talk.answer())[0][0] != "reply":
        talk.result(*("[]" for _ in calls))
    talk.result(*("done" for _ in calls))
    talk.hear("And split three ways?", at=at(9))
    tools = [name for name, _ in await talk.answer()]
    assert not {"set_alarm", "set_timer"} & {*tools}


@pytest.mark.parametrize(
    ("words", "name", "text"),
    [
        ("It's Dad's birthday the twelfth of December, what day does that fall on?", "date", ""),
        ("她生日是十二月三号,礼拜几?", "date", ""),
        ("I started it on the third of October, how many weeks has it been?", "days_until", ""),
        ("I want to do twenty five minutes of work and then five of break, can you do that?", "unknown", ""),
        ("列个单子，叫客房，写上被套、枕头、拖鞋。", "list_add", ""),
        ("再记一下，他家那只猫叫豆子。", "remember", "他家那只猫叫豆子"),
        ("小雨下周三考生物,还有几天?", "days_until", ""),
        ("老太太不能吃花生,千万记着。", "remember", "老太太不能吃花生"),
        ("白色的那个是降压的,早饭后一片,你记一下。", "remember", "白色的那个是降压的，早饭后一片"),
        ("买东西那个单子上现在有啥?", "list_tell", ""),
        ("好了,先别出声了。", "stop", ""),
    ],
)
def test_a_line_means_what_its_speaker_wanted(words: str, name: str, text: str) -> None:
    found = UNDERSTAND(words)
    assert (found.name, found.text("fact")) == (name, text)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("鹌鹑今天下了九个蛋,昨天七个,前天十一个,一共多少?", "等于27。"),
        ("大人四个,孩子两个,加上咱家五口,一共几个人?", "等于11。"),
        ("And a pint, in millilitres?", "That is about 473 millilitres."),
    ],
)
def test_what_was_counted_is_added_up(words: str, answer: str) -> None:
    assert answer_sum(mended(words, "zh" if "，" in answer or "等于" in answer else "en")) == answer
