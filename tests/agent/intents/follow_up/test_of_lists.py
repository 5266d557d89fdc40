"""Lists over several sentences, with a real journal behind them."""

from pathlib import Path

import pytest

from tests.agent.intents.household import a_home


async def last(folder: Path, *said: str) -> str:
    """Return the answer to the last sentence of a conversation."""
    async with a_home(folder) as home:
        answers = [await home.hear(words, follows=number > 0) for number, words in enumerate(said)]
    return answers[-1]


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
