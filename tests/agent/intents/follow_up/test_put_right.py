"""What was told and is otherwise now, and whose it is that is asked for."""

from pathlib import Path

import pytest

from tests.agent.intents.follow_up.test_of_lists import last


@pytest.mark.parametrize(
    ("said", "question", "answer"),
    [
        (
            ("remember the spare key is under the blue pot", "actually it's under the mat now"),
            "where's the spare key",
            "under the mat",
        ),
        (
            ("remember the spare key is under the blue pot", "it's now in the shed"),
            "where's the spare key",
            "in the shed",
        ),
        (("记住备用钥匙在花盆底下", "现在改放鞋柜里了"), "备用钥匙在哪儿呢", "备用钥匙在鞋柜里"),
        (("记住垃圾车礼拜四来", "不对是礼拜五"), "垃圾车哪天来", "礼拜五"),
        (("remember the bins go out on thursday", "no it's friday"), "when do the bins go out", "friday"),
        (
            ("remember i lent my drill to dave", "dave gave it back"),
            "who has my drill now",
            "dave gave your drill back",
        ),
        (("remember my coat is at the cleaners", "i've picked it up"), "where's my coat", "you've picked your coat up"),
        (("外套在干洗店", "外套取回来了"), "我外套在哪", "外套取回来了"),
    ],
)
async def test_what_is_so_now_is_told(tmp_path: Path, said: tuple[str, ...], question: str, answer: str) -> None:
    told = await last(tmp_path, *said, question)
    assert answer in told
    assert told.startswith(("You told me", "你告诉过我"))


@pytest.mark.parametrize("words", ["actually it's fine now", "it's raining now", "it's late now"])
async def test_comfort_and_weather_put_nothing_right(tmp_path: Path, words: str) -> None:
    told = await last(tmp_path, "remember the spare key is under the blue pot", words, "where's the spare key")
    assert told == "You told me: the spare key is under the blue pot."


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("my favourite colour is green", "what's your favourite colour"),
        ("my birthday is the second of may", "when is your birthday"),
        ("my dog is called rex", "what is your dog called"),
        ("my phone number is 5551234", "what's your phone number"),
        ("我最喜欢绿色", "你最喜欢什么颜色"),
        ("我生日是五月二号", "你生日是哪天"),
        ("我家狗叫旺财", "你的狗叫什么"),
    ],
)
async def test_what_is_mine_is_not_yours(tmp_path: Path, told: str, asked: str) -> None:
    answer = await last(tmp_path, told, asked)
    assert not answer.startswith(("You told me", "你告诉过我"))


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("my favourite colour is green", "what's my favourite colour", "green"),
        ("my birthday is the second of may", "do you know when my birthday is", "second of may"),
        ("我最喜欢绿色", "我最喜欢什么颜色", "绿色"),
        ("我家狗叫旺财", "你记得我家狗叫什么吗", "旺财"),
        ("记住钥匙在抽屉里", "你知道钥匙在哪吗", "抽屉"),
    ],
)
async def test_what_is_mine_is_told_whoever_is_asked(tmp_path: Path, told: str, asked: str, answer: str) -> None:
    assert answer in await last(tmp_path, told, asked)
