"""Lists over several sentences, with a real journal behind them."""

import re
from pathlib import Path

import pytest

from agent.intents.saying.phrases import phrase
from tests.agent.intents.household import a_home


async def last(folder: Path, *said: str) -> str:
    """Return the answer to the last sentence of a conversation."""
    async with a_home(folder) as home:
        answers = [await home.hear(words, follows=number > 0) for number, words in enumerate(said)]
    return answers[-1]


HEARD = "I heard you, but I need a model to answer that"


@pytest.mark.parametrize(
    ("said", "begins", "holds"),
    [
        (
            ("put milk and coffee on the list", "scrap the milk and do the thing with the coffee"),
            *("Off the shopping list now: milk. ", HEARD),
        ),
        (
            ("put milk and coffee on the list", "take the milk off and warm the coffee"),
            *("Off the shopping list now: milk. ", HEARD),
        ),
        (
            ("清单加牛奶和咖啡", "牛奶划掉，咖啡那个弄一下"),
            "购物清单上去掉了：牛奶。 ",
            "我听到了，但是回答这个需要模型",
        ),
        (
            ("put milk and coffee on the list", "scrap the milk and the coffee too"),
            "Off the shopping list now: ",
            "coffee",
        ),
        (("清单加牛奶和咖啡", "牛奶划掉，咖啡也划掉"), "购物清单上去掉了：牛奶", "咖啡"),
    ],
)
async def test_what_else_is_said_of_a_thing_takes_it_off_no_list(
    tmp_path: Path, said: tuple[str, ...], begins: str, holds: str
) -> None:
    told = await last(tmp_path, *said)
    assert told.startswith(begins)
    assert holds in told


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (("把牛奶和鸡蛋加到清单，鸡蛋要两盒",), "购物清单上加了：牛奶、鸡蛋两盒。"),
        (("把牛奶和面包加到清单，面包要全麦的",), "购物清单上加了：牛奶、全麦的面包。"),
        (("把牛奶和鸡蛋加到购物清单，等等，不要鸡蛋",), "购物清单上加了：牛奶。"),
        (("we're out of butter and nearly out of flour",), "On the shopping list now: butter, flour."),
        (("put down bin bags",), "On the shopping list now: bin bags."),
        (("put milk on the list", "what time is it", "note down bin bags"), "On the shopping list now: bin bags."),
        (("put milk on the list", "note down call mum"), "I will keep that: call mum."),
        (("add call mum to my to-do list", "note down ring dad"), "On the to-do list now: ring dad."),
        (("清单加牛奶", "记下垃圾袋"), "购物清单上加了：垃圾袋。"),
        (("put milk on the list", "put down that Anna likes tea"), "I will keep that: Anna likes tea."),
        (("put milk on the list", "note down my bin code is 4711"), "I will keep that: your bin code is 4711."),
        (("清单加牛奶", "记下小明喜欢喝茶"), "我记住了：小明喜欢喝茶。"),
        (("Add call mum to my to-do list and ring dad",), "On the to-do list now: call mum, ring dad."),
        (("add call mum to my to-do list and buy stamps",), "On the to-do list now: call mum, buy stamps."),
    ],
)
async def test_things_that_are_noted_stand_on_the_list_and_what_is_told_is_kept(
    tmp_path: Path, said: tuple[str, ...], answer: str
) -> None:
    assert await last(tmp_path, *said) == answer


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (("put bread milk and eggs on the list", "take the bread off"), "Off the shopping list now: bread."),
        (
            ("add milk eggs and cheese to the list", "remove everything except the milk"),
            "Off the shopping list now: eggs, cheese.",
        ),
        (("清单加牛奶鸡蛋和奶酪", "除了牛奶都删掉"), "购物清单上去掉了：鸡蛋、奶酪。"),
        (("建一个年货清单", "放上瓜子花生糖果"), "年货清单上加了：瓜子、花生、糖果。"),
        (("建一个年货清单", "放瓜子和花生"), "年货清单上加了：瓜子、花生。"),
        (("start a party list", "put on crisps and napkins"), "On the party list now: crisps, napkins."),
        (("put bread on the list", "have i already put bread on"), "Yes, bread is on the shopping list."),
        (("put bread on the list", "have you already put eggs on there"), "No, eggs is not on the shopping list."),
        (("put bread on the list", "what's left"), "On the shopping list there is: bread."),
        (
            ("put bread and jam on the list", "take the jam off", "what else is on it"),
            "On the shopping list there is: bread.",
        ),
        (("清单加葱和姜", "葱家里有不用买了"), "购物清单上去掉了：葱。"),
        (("清单加葱和姜", "现在有哪些"), "购物清单上有：葱、姜。"),
        (("清单加葱和姜", "还剩啥"), "购物清单上有：葱、姜。"),
        (("买牛奶和面包记一下", "面包不要了换成馒头"), "购物清单上，面包改成了馒头。"),
        (
            ("put butter and some of that cheese on the list", "we've got butter actually"),
            "Off the shopping list now: butter.",
        ),
        (("put some of that nice cheese on the list",), "On the shopping list now: some of that nice cheese."),
        (("i've bought the milk",), "No, milk is not on the shopping list."),
        (("把香菜加到购物清单", "香菜还在不在"), "是的，购物清单上有香菜。"),
        (("除了牛奶都删掉",), "没有，购物清单上没有牛奶。"),
        (("put milk on the list", "i picked up the milk"), "Off the shopping list now: milk."),
        (("put eggs on the list", "i have enough eggs"), "Off the shopping list now: eggs."),
        (("put eggs on the list", "have enough eggs already"), "Off the shopping list now: eggs."),
    ],
)
async def test_a_conversation_about_a_list(tmp_path: Path, said: tuple[str, ...], answer: str) -> None:
    assert await last(tmp_path, *said) == answer


@pytest.mark.parametrize(
    "words", ["take off my shoes", "i picked up the jacket", "take a photo", "take the dog out", "不要"]
)
async def test_what_was_on_no_list_is_not_denied_to_be_on_one(tmp_path: Path, words: str) -> None:
    assert "list" not in await last(tmp_path, words)


async def test_the_name_of_a_list_is_no_sentence(tmp_path: Path) -> None:
    said = "add bread to the list and milk to the list and what's on the list"
    assert "the list to" not in await last(tmp_path, said)


@pytest.mark.parametrize("words", ["put bananas on my list twice", "put bananas on the list two times"])
async def test_a_thing_stands_on_a_list_once(tmp_path: Path, words: str) -> None:
    assert "On the shopping list" not in await last(tmp_path, words)


@pytest.mark.parametrize(
    ("said", "there"),
    [
        (("put milk and bread on the list", "Cross milk and bread off and stick coffee on"), "coffee"),
        (("put milk and bread on the list", "cross off the milk and put coffee on instead"), "bread, coffee"),
        (("put milk and bread on the list", "take the milk off, put coffee on"), "bread, coffee"),
        (("put eggs and milk on the list", "change the eggs to butter and add flour"), "milk, butter, flour"),
        (("put salt and pepper on the list", "take the pepper off and put the salt back on"), "salt"),
        (("put salt, pepper and eggs on the list", "take off the salt and the eggs"), "pepper"),
        (("put salt, pepper and eggs on the list", "take the salt and pepper off"), "eggs"),
        (("add milk to the list and make it two",), "two milk"),
        (("add milk and two loaves and a dozen eggs to the list",), "milk, two loaves, a dozen eggs"),
        (("add milk, two pints and eggs to the list",), "milk two pints, eggs"),
        (("put milk on the list", "and buy jam"), "milk, jam"),
        (("put milk and eggs on the list", "I've got the milk already, couldn't find any eggs"), "eggs"),
        (("put milk on the list", "add eggs, oh and take off the milk, and tell me what's on it"), "eggs"),
        (("add milk and eggs", "add cream, actually no, forget it"), "milk, eggs"),
        (("put milk on the list", "don't add eggs add cream"), "milk, cream"),
    ],
)
async def test_of_two_orders_to_a_list_both_are_done(tmp_path: Path, said: tuple[str, ...], there: str) -> None:
    assert await last(tmp_path, *said, "what's on the list") == f"On the shopping list there is: {there}."


@pytest.mark.parametrize(
    "words",
    [
        "牛奶划掉，加上咖啡",
        "牛奶不用买了，买点咖啡",
        "牛奶家里还有，划了吧，换成咖啡",
        "牛奶别买了，家里一箱呢，改买咖啡",
    ],
)
async def test_in_chinese_too(tmp_path: Path, words: str) -> None:
    assert await last(tmp_path, "把牛奶和面包加到购物清单", words, "清单上有什么") == "购物清单上有：面包、咖啡。"


@pytest.mark.parametrize(
    "words",
    [
        "take the eggs off and put the kettle on",
        "cross the eggs off and book me a taxi",
        "the eggs I have already and play some music",
        "and ring mum",
        "add milk to the list and order pizza",
    ],
)
async def test_what_no_list_is_meant_by_is_told_and_stands_on_none(tmp_path: Path, words: str) -> None:
    assert (await last(tmp_path, "put eggs on the list", words)).endswith(phrase("outside", "en"))
    there = await last(tmp_path / "again", "put eggs on the list", words, "what's on it")
    assert not re.search("kettle|taxi|music|mum|pizza", there)


async def test_what_is_nearly_used_up_is_to_be_bought(tmp_path: Path) -> None:
    assert (
        await last(tmp_path, "洗衣液快没了，纸巾也剩不多了，都记上", "清单上有什么") == "购物清单上有：洗衣液、纸巾。"
    )


async def test_all_that_is_wanted_has_no_all_on_the_list(tmp_path: Path) -> None:
    said = ("清单加葱", "香蕉苹果橙子都要，葱不要了", "清单上有什么")
    assert await last(tmp_path, *said) == "购物清单上有：香蕉、苹果、橙子。"


async def test_what_was_not_got_stays(tmp_path: Path) -> None:
    assert await last(tmp_path, "清单加牛奶和鸡蛋", "牛奶买了，鸡蛋没买到", "清单上有什么") == "购物清单上有：鸡蛋。"


@pytest.mark.parametrize("words", ["put it back off", "put that on it"])
async def test_it_is_no_thing_of_a_list(tmp_path: Path, words: str) -> None:
    assert (
        await last(tmp_path, "put bread on the list", words, "what's on it") == "On the shopping list there is: bread."
    )
