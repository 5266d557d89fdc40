"""Orders that name nothing in the house: it, and the hall light, 关了吧; said in full to Home Assistant."""

import json

import pytest

from agent.intents.dialog_state import read_dialog
from agent.intents.follow_up.of_house import said_in_full
from agent.model.messages import Message, ToolCall
from tests.agent.offline_talk import OFFLINE, TOOLS, Talk

DONE = {"understood": True, "done": True, "answer": "Done"}


async def full(before: str, words: str, result: object = DONE) -> str:
    """Return what is said to the house for the words, after an order before them."""
    talk = Talk(OFFLINE, (*TOOLS.specs_for(""),))
    talk.hear(before)
    talk.messages.append(_said(before))
    talk.result(result)
    talk.hear(words)
    return said_in_full(read_dialog(talk.messages, talk.tools, "en"))


def _said(sentence: str) -> Message:
    return Message("assistant", "", (ToolCall("c1", "home_say", json.dumps({"sentence": sentence})),))


@pytest.mark.parametrize(
    ("before", "words", "order"),
    [
        ("turn on the hall light", "turn it off again", "turn the hall light off"),
        ("turn on the hall light", "and the kitchen light", "turn on the kitchen light"),
        ("turn the hall light off", "and kitchen light too", "turn the kitchen light off"),
        ("close the garage door", "lock it", "lock the garage door"),
        ("open the blinds", "close them again", "close the blinds"),
        ("turn on the fan", "and turn the heating up", "turn the heating up"),
        ("打开客厅的灯", "关了吧", "关掉客厅的灯"),
        ("拉上窗帘", "再拉开", "拉开窗帘"),
        ("关上大门", "锁上", "锁上大门"),
    ],
)
async def test_what_was_named_before_is_named_again(before: str, words: str, order: str) -> None:
    assert await full(before, words) == order


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("turn on the hall light", "lock it"),
        ("turn on the hall light", "and my mother"),
        ("turn on the hall light", "thank you"),
        ("turn on the hall light", "is the heating on"),
        ("turn on the hall light", "i left the lights on"),
        ("turn on the hall light", "leave the lights on"),
        ("turn on the hall light", "is it on"),
        ("打开客厅的灯", "关了吗"),
        ("打开客厅的灯", "再见"),
        ("打开客厅的灯", "谢谢"),
    ],
)
async def test_what_names_something_else_stays_as_it_is(before: str, words: str) -> None:
    assert await full(before, words) == ""


@pytest.mark.parametrize("result", [{"understood": False}, "error: unavailable", "refused: no"])
async def test_an_order_that_came_to_nothing_names_nothing(result: object) -> None:
    assert await full("turn on the hall light", "turn it off", result) == ""


@pytest.mark.parametrize(
    ("words", "order"),
    [
        ("lights off", "turn off the lights"),
        ("kitchen lights on", "turn on the kitchen lights"),
        ("tv off", "turn off the tv"),
    ],
)
async def test_a_device_and_a_state_are_an_order(words: str, order: str) -> None:
    assert await full("what time is it", words, {"understood": False}) == order
