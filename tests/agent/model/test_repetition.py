"""An answer that repeats itself without an end is told from one that was asked to."""

import pytest

from agent.model.interface import Answer, TextDelta
from agent.model.messages import Message, ToolSpec
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.stream.accumulate import MOST_REPEATED, is_endless
from tests.agent.openai_script import Stall, call_piece
from tests.agent.openai_server import OpenAiServer, chunk, stream

VERSE = "The owl and the pussycat went to sea in a beautiful pea-green boat, they took some honey and plenty of money. "
REFRAIN = "What a beautiful pussy you are, you are, you are! What a beautiful pussy you are! "


@pytest.mark.parametrize("piece", ["very ", "I am sorry. ", "\n", "你好", "x" * 199 + "y", "The end.\n- no\n- yes\n"])
def test_one_thing_over_and_over_is_endless(piece: str) -> None:
    text = "Well then. " + piece * (2 * MOST_REPEATED // len(piece))
    assert is_endless(text)
    assert is_endless(text[:-1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ha " * 300,
        " ".join(map(str, range(3000))),
        "".join(f"{VERSE}{number} {REFRAIN}" for number in range(60)),
        "| a | b |\n" * 200 + "".join(f"| {number} | b |\n" for number in range(400)),
        "very " * MOST_REPEATED + "good.",
        "".join(VERSE + REFRAIN + chr(65 + number) for number in range(40)),
    ],
)
def test_a_poem_a_list_and_laughter_are_not(text: str) -> None:
    assert not is_endless(text)


@pytest.mark.shows("F6")
async def test_an_endless_answer_is_cut_off_and_its_server_let_go() -> None:
    pieces = [chunk({"content": "very " * 20}) for _ in range(MOST_REPEATED // 100)]
    async with OpenAiServer() as server:
        server.enqueue(stream(chunk({"content": "It is "}), *pieces, Stall()))
        model = OpenAiCompatibleModel(server.url, "m")
        items = [item async for item in model.stream([Message("user", "how is it?")], [])]
        await model.aclose()
        await server.hung_up.wait()
    answer = items[-1]
    assert isinstance(answer, Answer)
    assert answer.finish_reason == "length"
    assert answer.message.content.endswith("very …")
    assert answer.message.content == "".join(item.text for item in items if isinstance(item, TextDelta))
    assert len(answer.message.content) < 2 * MOST_REPEATED


@pytest.mark.shows("F6")
async def test_a_reply_that_repeats_itself_within_its_call_is_cut_off_too() -> None:
    pieces = [call_piece(0, arguments="I am here for you. ") for _ in range(MOST_REPEATED // 10)]
    async with OpenAiServer() as server:
        server.enqueue(stream(call_piece(0, id="a", name="reply", arguments='{"text":"'), *pieces, Stall()))
        model = OpenAiCompatibleModel(server.url, "m")
        reply = ToolSpec("reply", "Say something.", {"type": "object"})
        items = [item async for item in model.stream([Message("user", "are you there?")], [reply])]
        await model.aclose()
    answer = items[-1]
    assert isinstance(answer, Answer)
    (call,) = answer.message.tool_calls
    assert MOST_REPEATED < len(call.arguments) < 2 * MOST_REPEATED
