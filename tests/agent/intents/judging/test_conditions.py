"""What is wanted in some case alone, or only asked about, and is not done."""

import pytest

from tests.agent.intents.judging.test_dropped import HARMLESS, done


@pytest.mark.parametrize(
    "words",
    [
        *(
            "wake me up at 6 if it's raining",
            "only wake me tomorrow if it's sunny at six",
            "wake me at six unless it snows",
        ),
        *("set a timer for ten minutes unless the oven is on", "set an alarm for seven provided it's a school day"),
        *("add milk to the list unless it's already there", "add milk to the list if we're out"),
        *("如果下雨明天六点叫我", "明天要是下雨就六点叫我", "下雪的话六点叫我", "除非下雨不然六点叫我"),
    ],
)
async def test_what_has_a_condition_is_not_done(words: str) -> None:
    called, said = await done(words)
    assert set(called) <= HARMLESS | {"home_say"}
    assert not said.startswith(("On the shopping list", "购物清单上"))


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("wake me at six if you can", "set_alarm"),
        ("if it's ok wake me at six", "set_alarm"),
        ("set a timer for ten minutes if you don't mind", "set_timer"),
        ("remind me at six to check if the door is locked", "set_alarm"),
        ("remind me at eight to take an umbrella if it's raining", "set_alarm"),
        ("可以的话明天六点叫我", "set_alarm"),
        ("方便的话十分钟后提醒我关火", "set_timer"),
    ],
)
async def test_a_courtesy_and_a_condition_of_what_one_is_reminded_of_are_none(words: str, tool: str) -> None:
    called, _ = await done(words)
    assert tool in called


@pytest.mark.parametrize(
    "words",
    [
        *("have i already put eggs on", "have i put eggs on already", "have you already put eggs on there"),
        *(
            "i've already put eggs on there haven't i",
            "has dad bought eggs already",
            "i haven't got eggs already have i",
        ),
        *("did anyone take eggs off", "we've got eggs already, haven't we?", "should i take eggs off"),
    ],
)
async def test_a_question_takes_nothing_off_a_list(words: str) -> None:
    _, said = await done(words, "put eggs on the list")
    assert not said.startswith(("Off the shopping list", "On the shopping list now"))


@pytest.mark.parametrize(
    "words", ["鸡蛋加没加", "我是不是已经加过鸡蛋了", "鸡蛋买了对吧", "鸡蛋要不要去掉", "鸡蛋买没买"]
)
async def test_a_chinese_question_takes_nothing_off_a_list(words: str) -> None:
    _, said = await done(words, "把鸡蛋加到购物清单")
    assert not said.startswith(("购物清单上去掉了", "购物清单上加了", "我记住了"))


@pytest.mark.parametrize("words", ["we should put milk on the list shouldn't we", "we need milk on the list don't we"])
async def test_a_question_at_the_end_puts_nothing_on(words: str) -> None:
    _, said = await done(words)
    assert not said.startswith("On the shopping list")


@pytest.mark.parametrize("words", ["我吃不吃香菜", "记住了吗", "你记住了吗", "我有没有说过密码", "他来没来"])
async def test_a_question_is_no_fact(words: str) -> None:
    called, said = await done(words, "我不吃香菜记住")
    assert "create_event" not in called
    assert not said.startswith("我记住了")


@pytest.mark.parametrize(
    "words", ["forget everything i said", "erase all i have said", "delete everything", "忘掉我说的所有话", "忘掉一切"]
)
async def test_all_that_was_said_is_not_the_last_sentence(words: str) -> None:
    called, _ = await done(words)
    assert "device" not in called


@pytest.mark.parametrize(
    "words", ["forget what i just said", "forget that", "forget everything i just said", "忘掉刚才说的话"]
)
async def test_what_was_just_said_is_forgotten(words: str) -> None:
    called, _ = await done(words)
    assert "device" in called


@pytest.mark.parametrize(
    "words",
    [
        "don't remind me about the door",
        "don't wake me",
        "don't ring",
        "don't remind me about the parcel",
        "never wake me at seven",
    ],
)
async def test_what_is_not_to_ring_is_no_question_and_sets_nothing(words: str) -> None:
    called, said = await done(words)
    assert "set_alarm" not in called
    assert not said.startswith(("I don't know", "When?"))


@pytest.mark.parametrize(
    "words", ["don't let me forget the milk", "don't let me forget to call bob", "do not let me forget about the bins"]
)
async def test_what_is_not_to_be_forgotten_is_asked_when(words: str) -> None:
    _, said = await done(words)
    assert said.startswith("When?")
