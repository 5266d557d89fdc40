"""Things without commas between them, and things with an "and" in their names."""

import pytest

from agent.intents.subjects.listed_things import things


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("bread milk and two dozen eggs", ["bread", "milk", "two dozen eggs"]),
        ("eggs milk bread", ["eggs", "milk", "bread"]),
        ("lemons limes and ginger", ["lemons", "limes", "ginger"]),
        ("ghee atta and one kg onions", ["ghee", "atta", "one kg onions"]),
        ("牛奶鸡蛋面包", ["牛奶", "鸡蛋", "面包"]),
        ("牛奶鸡蛋和奶酪", ["牛奶", "鸡蛋", "奶酪"]),
        ("两斤猪肉一把葱还有姜", ["两斤猪肉", "一把葱", "姜"]),
        ("瓜子花生糖果", ["瓜子", "花生", "糖果"]),
        ("quinoa tahini and sriracha", ["quinoa", "tahini", "sriracha"]),
        ("kale figs and feta", ["kale", "figs", "feta"]),
        ("藜麦芝麻酱", ["藜麦", "芝麻酱"]),
        ("木耳花椒和生抽", ["木耳", "花椒", "生抽"]),
    ],
)
def test_things_side_by_side_are_several(said: str, found: list[str]) -> None:
    assert things(said) == found


@pytest.mark.parametrize(
    "said",
    [
        *("milk chocolate", "bread flour", "peanut butter", "ice cream", "olive oil", "rice vinegar", "butter beans"),
        *("washing up liquid", "green tea", "garlic bread", "dog food", "egg noodles", "fish sauce", "tomato ketchup"),
        *("quinoa crackers", "kale chips", "feta cheese", "beetroot juice", "sriracha mayo", "chorizo pasta"),
        *("牛奶巧克力", "鸡蛋面", "花生油", "番茄酱", "苹果汁", "猪肉饺子"),
    ],
)
def test_a_thing_of_two_words_is_one(said: str) -> None:
    assert things(said) == [said]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("mac and cheese", ["mac and cheese"]),
        ("mac and cheese and fish and chips", ["mac and cheese", "fish and chips"]),
        ("salt and vinegar crisps", ["salt and vinegar crisps"]),
        ("salt and vinegar", ["salt", "vinegar"]),
        ("ham and cheese toasties and milk", ["ham and cheese toasties", "milk"]),
        ("ham and cheese", ["ham", "cheese"]),
        ("bread and butter", ["bread", "butter"]),
    ],
)
def test_an_and_within_a_name_parts_nothing(said: str, found: list[str]) -> None:
    assert things(said) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("apples not bananas", ["apples"]),
        ("apples, not bananas", ["apples"]),
        ("low fat not too sweet yoghurt", ["low fat not too sweet yoghurt"]),
        ("forget-me-not seeds", ["forget-me-not seeds"]),
        ("苹果不要香蕉", ["苹果"]),
        ("牛奶不对豆浆", ["豆浆"]),
        ("牛奶啊不是豆浆", ["豆浆"]),
        ("牛奶不是豆浆", ["牛奶"]),
        ("不粘锅", ["不粘锅"]),
    ],
)
def test_what_is_not_to_stand_there_does_not(said: str, found: list[str]) -> None:
    assert things(said) == found
