"""Sentences that Home Assistant understands: what they open is known before they are carried out."""

import json

import pytest

from agent.errors import ToolFailed
from memory.json_value import Json
from tests.agent.home.living import living
from tests.agent.home_server import small_home

pytestmark = pytest.mark.shows("X10")


def answer_of(told: Json) -> tuple[object, object, str]:
    assert isinstance(told, dict)
    words = str(told.get("answer", ""))
    return told.get("understood"), told.get("done"), words.partition(">\n")[2].removesuffix("\n</From_Outside>")


async def test_a_light_goes_on_and_its_answer_is_marked() -> None:
    async with small_home() as server, living(server) as told:
        assert await told.sentences.asks_first("turn on the bed light") == ""
        said = await told.sentences.carry_out("turn on the bed light")
        assert answer_of(said) == (True, True, "Turned on the light")
        assert "<From_Outside" in json.dumps(said)
        assert server.entities["light.bed_light"]["state"] == "on"
        process = next(each for each in server.asked if each["type"] == "conversation/process")
        assert (process["language"], process["agent_id"]) == ("en", "conversation.home_assistant")


async def test_chinese_is_asked_as_chinese() -> None:
    async with small_home() as server, living(server) as told:
        assert answer_of(await told.sentences.carry_out("打开床头灯")) == (True, True, "床头灯已打开")
        assert {each["language"] for each in server.asked if "language" in each} == {"zh-CN"}


async def test_chinese_in_traditional_characters_is_tried_in_simplified_ones_then() -> None:
    async with small_home() as server, living(server) as told:
        assert answer_of(await told.sentences.carry_out("打開床頭燈。")) == (True, True, "床头灯已打开")
        tried = [each["sentences"] for each in server.asked if "sentences" in each]
        assert tried == [["打開床頭燈。"], ["打开床头灯。"]]
        assert server.entities["light.bed_light"]["state"] == "on"


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("unlock the front door", "unlock Front Door"),
        ("把前门解锁", "把前门解锁"),
        ("把前門解鎖", "把前门解锁"),
        ("lock the front door", ""),
        ("come home", "switch Come Home, which may open a lock or a door"),
        ("open sesame", "do this at home, which may open a lock or a door: open sesame"),
        ("is the washing machine done", ""),
        ("tell me a joke", ""),
        ("what is love", ""),
    ],
)
async def test_what_a_sentence_opens_is_known_before_anything_happens(sentence: str, words: str) -> None:
    async with small_home() as server, living(server) as told:
        assert await told.sentences.asks_first(sentence) == words
        assert server.called == []
        assert server.entities["lock.entrance"]["state"] == "locked"


@pytest.mark.parametrize(
    "sentence", ["tell me a joke", "make it dark in the living room", "what is love", "", "  ", "a long story " * 60]
)
async def test_what_is_not_understood_is_not_carried_out(sentence: str) -> None:
    """Home Assistant takes "tell me a joke" for a question of the time, and answers it."""
    async with small_home() as server, living(server) as told:
        assert await told.sentences.carry_out(sentence) == {"understood": False}
        assert "conversation/process" not in {each["type"] for each in server.asked}


async def test_a_device_that_nobody_reaches_is_told_though_home_assistant_says_it_is_done() -> None:
    async with small_home() as server, living(server) as told:
        said = await told.sentences.carry_out("turn on the balcony light")
        assert answer_of(said) == (True, False, "Balcony Light cannot be reached.")


async def test_a_question_about_it_is_answered_as_it_is() -> None:
    async with small_home() as server, living(server) as told:
        said = await told.sentences.carry_out("is the balcony light on")
        assert answer_of(said) == (True, True, "No, it is unavailable")


async def test_what_could_not_be_judged_is_not_carried_out_a_moment_later() -> None:
    async with small_home() as server, living(server) as told:
        server.silent.add("conversation/agent/homeassistant/debug")
        assert await told.sentences.asks_first("unlock the front door") == ""
        server.silent.clear()
        with pytest.raises(ToolFailed, match="unavailable"):
            await told.sentences.carry_out("unlock the front door")
        assert server.entities["lock.entrance"]["state"] == "locked"
