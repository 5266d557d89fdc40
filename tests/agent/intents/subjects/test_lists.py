"""Lists without a model: what is put on one, taken off, asked for, and read again out of a real journal."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.intents.subjects.listed_things import things
from agent.intents.subjects.lists import spoken_of
from tests.agent.clock import MORNING
from tests.agent.intents.household import a_home
from tests.agent.offline_talk import Talk

SHOPPING = [
    (
        "Put milk, eggs and a loaf of brown bread on the shopping list.",
        "On the shopping list now: milk, eggs, a",
    ),
    ("oh and cat food", "On the shopping list now: cat food."),
    ("What's on the list?", "On the shopping list there is: milk, eggs, a loaf of brown bread, cat food."),
    ("take the eggs off, we've got loads", "Off the shopping list now: eggs."),
    ("Do I need to buy cat food?", "Yes, cat food is on the shopping list."),
    ("Are eggs on the shopping list?", "No, eggs is not on the shopping list."),
    ("Start a packing list for Cornwall: wellies and the phone charger.", "On the packing list now: wellies, phone ch"),
    ("what's on the packing list", "On the packing list there is: wellies, phone charger."),
    ("read me the shopping list", "On the shopping list there is: milk, a loaf of brown bread, cat food."),
    ("clear the shopping list", "The shopping list is empty now."),
    ("add tea to the shopping list", "On the shopping list now: tea."),
    ("What's on the shopping list?", "On the shopping list there is: tea."),
    ("take the coffee off the shopping list", "No, the coffee is not on the shopping list."),
]
SHOPPING_ZH = [
    ("购物清单上加一下牛奶、鸡蛋，还有酱油。", "购物清单上加了：牛奶、鸡蛋、酱油。"),
    ("鸡蛋不用买了", "购物清单上去掉了：鸡蛋。"),
    ("清单上都有啥？", "购物清单上有：牛奶、酱油。"),
    ("我要买酱油吗？", "是的，购物清单上有酱油。"),
]


@pytest.mark.shows("V30", "D4")
@pytest.mark.parametrize("talk", [SHOPPING, SHOPPING_ZH])
async def test_a_list_is_what_was_said_of_it(tmp_path: Path, talk: list[tuple[str, str]]) -> None:
    async with a_home(tmp_path) as home:
        for words, answer in talk:
            hangs_on_it = (
                "list" not in words and "清单" not in words
            )  # else what was said before is in the journal alone
            assert (await home.hear(words, follows=hangs_on_it)).startswith(answer), words


async def test_a_change_is_left_for_a_model_to_note_too(talk: Talk) -> None:
    talk.hear("Put milk on the shopping list")
    [(name, arguments)] = await talk.calls("7")
    assert name == "create_event"
    assert "On the shopping list now: milk." in str(arguments["content"])
    assert await talk.says() == "On the shopping list now: milk."


async def test_changes_count_in_the_order_in_which_they_were_said(talk: Talk) -> None:
    def change(words: str, minutes: int) -> dict[str, str]:
        return {"at": f"{MORNING + timedelta(minutes=minutes):%Y-%m-%d %H:%M:%S UTC}", "speaker": "you", "words": words}

    hits = [
        change("On the shopping list now: tea.", 9),
        change("The shopping list is empty now.", 5),
        change("On the shopping list now: milk, eggs.", 1),
        change("On the packing list now: boots.", 10),
    ]
    talk.hear("what's on the shopping list")
    await talk.calls({"sureness": "sure", "hits": hits})
    assert await talk.says() == "On the shopping list there is: tea."


@pytest.mark.parametrize("words", ["What's on your list?", "take the tea off your list"])
async def test_its_own_tasks_are_another_list(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert (await talk.answer())[0][0] == "mailbox"


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("some milk, two eggs, and the tea", ["milk", "two eggs", "tea"]),
        ("for Cornwall: boots", ["boots"]),
        ("牛奶和一些鸡蛋", ["牛奶", "鸡蛋"]),
        ("", []),
    ],
)
def test_an_enumeration_is_taken_apart(said: str, parts: list[str]) -> None:
    assert things(said) == parts


def test_the_list_just_spoken_of_is_known_by_the_reply() -> None:
    assert spoken_of(["Yes, tea is on the packing list."], "en") == "packing"
    assert spoken_of(["It is noon."], "en") == ""


async def test_what_is_told_beside_it_is_no_part_of_a_list(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        await home.hear("add milk to the shopping list and set a timer for ten minutes")
        await home.hear("add bread to the shopping list and add nails to the hardware list")
        told = "On the shopping list there is: milk, bread."
        assert await home.hear("what's on the shopping list") == told
        assert await home.hear("what's on the hardware list") == "On the hardware list there is: nails."


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("stickers and glue, no wait not the glue", ["stickers"]),
        ("milk, eggs and ham, actually no ham", ["milk", "eggs"]),
        ("milk and eggs, not eggs", ["milk"]),
        ("butter and nearly out of flour", ["butter", "flour"]),
        ("milk and eggs, two boxes of eggs", ["milk", "two boxes of eggs"]),
        ("a box of fifty mil screws, no, sixty mil", ["a box of sixty mil screws"]),
        ("牛奶和鸡蛋，等等，不要鸡蛋", ["牛奶"]),
        ("牛奶、鸡蛋，鸡蛋两盒", ["牛奶", "鸡蛋两盒"]),
        ("牛奶和面包，全麦的面包", ["牛奶", "全麦的面包"]),
        ("milk and almond milk", ["milk", "almond milk"]),
        ("no salt crackers", ["no salt crackers"]),
    ],
)
def test_what_is_taken_back_or_told_more_of_stands_there_once(said: str, found: list[str]) -> None:
    assert things(said) == found
