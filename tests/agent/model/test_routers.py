"""DeepSeek and OpenRouter by their own wire: local servers with their strict rules, through both adapters."""

import json
from collections.abc import AsyncIterator, Sequence

import pytest

from agent.errors import ModelError, StreamBroken
from agent.model.interface import Answer, ChatModel, StreamItem, TextDelta
from agent.model.litellm import LiteLlmModel
from agent.model.messages import Message, ToolCall
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.wire.profile import PROFILES
from tests.agent import deepseek_server, openrouter_server
from tests.agent.deepseek_server import DeepSeekServer
from tests.agent.model.dialogue import HELLO, PATIENCE, answered, ask, items_of
from tests.agent.openrouter_server import OpenRouterServer

pytestmark = pytest.mark.shows("F1")


@pytest.fixture(params=["openai_compatible", "litellm"])
async def deepseek(request: pytest.FixtureRequest) -> AsyncIterator[tuple[DeepSeekServer, ChatModel]]:
    async with DeepSeekServer() as server:
        name = deepseek_server.MODEL
        model: ChatModel = (
            OpenAiCompatibleModel(server.url, name, "sk-d", patience=PATIENCE, profile=PROFILES["deepseek"])
            if request.param == "openai_compatible"
            else LiteLlmModel(f"deepseek/{name}", "sk-d", server.url, patience=PATIENCE, profile=PROFILES["deepseek"])
        )
        yield server, model
        await model.aclose()


@pytest.fixture(params=["openai_compatible", "litellm"])
async def openrouter(request: pytest.FixtureRequest) -> AsyncIterator[tuple[OpenRouterServer, ChatModel]]:
    async with OpenRouterServer() as server:
        name, profile = openrouter_server.MODEL, PROFILES["openrouter"]
        model: ChatModel = (
            OpenAiCompatibleModel(server.url, name, "sk-or", patience=PATIENCE, profile=profile)
            if request.param == "openai_compatible"
            else LiteLlmModel(f"openrouter/{name}", "sk-or", server.url, patience=PATIENCE, profile=profile)
        )
        yield server, model
        await model.aclose()


def said_in(items: Sequence[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


@pytest.mark.shows("D11", "F4")
async def test_deepseek_gets_its_reasoning_back_with_calls_and_with_the_answer_after_them(
    deepseek: tuple[DeepSeekServer, ChatModel],
) -> None:
    server, model = deepseek
    server.enqueue(
        [
            deepseek_server.thought("They want to know."),
            deepseek_server.said("Let me see."),
            deepseek_server.called("call_00_a", "recall", {"about": "你好"}),
            deepseek_server.called("call_00_b", "recall", {"about": "tea"}),
        ],
        [deepseek_server.thought("Now I know."), deepseek_server.said("There you are.")],
        [deepseek_server.thought("They thank me."), deepseek_server.said("Gladly.")],
        [deepseek_server.said("Bye.")],
    )
    items = await items_of(model, HELLO)
    first = items[-1]
    assert isinstance(first, Answer)
    assert said_in(items) == "Let me see."
    assert [json.loads(call.arguments) for call in first.message.tool_calls] == [{"about": "你好"}, {"about": "tea"}]
    assert first.usage.cached_tokens == 90

    listed = [*HELLO, *answered(first.message, "nothing")]
    for words in ("thanks", "bye"):
        answer = await ask(model, listed)
        listed += [answer.message, Message("user", words)]
    await ask(model, listed)
    for earlier, later in zip(server.requests, server.requests[1:], strict=False):
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
    assert server.keys == {"Bearer sk-d"}


async def test_deepseek_takes_what_other_models_wrote(deepseek: tuple[DeepSeekServer, ChatModel]) -> None:
    server, model = deepseek
    server.enqueue([deepseek_server.said("Yes.")])
    foreign = Message(
        "assistant",
        "Well.",
        (ToolCall("toolu_1", "recall", '{"about": "half'),),
        extra={"thinking_blocks": [{"type": "thinking", "thinking": "x", "signature": "y"}], "reasoning": "Hm."},
    )
    await ask(model, [*HELLO, *answered(foreign, "nothing"), Message("user", "and?")])
    assert len(server.requests) == 1


async def test_deepseek_refuses_calls_without_their_reasoning() -> None:
    async with DeepSeekServer() as server:
        server.enqueue([deepseek_server.thought("Hm."), deepseek_server.called("a", "recall", {})])
        model = OpenAiCompatibleModel(server.url, "m", patience=PATIENCE, profile=PROFILES["openai"])
        first = await ask(model, HELLO)
        with pytest.raises(ModelError, match="must be passed back"):
            await ask(model, [*HELLO, *answered(first.message, "nothing")])
        server.complaints.clear()
        await model.aclose()


@pytest.mark.shows("D11", "F4")
async def test_openrouter_gets_the_details_of_its_reasoning_back_whole(
    openrouter: tuple[OpenRouterServer, ChatModel],
) -> None:
    server, model = openrouter
    server.enqueue(
        [
            openrouter_server.thought("They want to know.", "c2lnbmVk"),
            openrouter_server.hidden("ZW5jcnlwdGVk"),
            openrouter_server.said("Let me see."),
            openrouter_server.called("toolu_1", "recall", {"about": "你好"}),
            openrouter_server.called("toolu_2", "recall", {"about": "tea"}),
        ],
        [openrouter_server.said("There you are.")],
    )
    items = await items_of(model, HELLO)
    first = items[-1]
    assert isinstance(first, Answer)
    assert said_in(items) == "Let me see."
    assert [json.loads(call.arguments) for call in first.message.tool_calls] == [{"about": "你好"}, {"about": "tea"}]
    assert (first.usage.prompt_tokens, first.usage.cached_tokens) == (100, 90)
    assert first.usage.cost == openrouter_server.COST
    second = await ask(model, [*HELLO, *answered(first.message, "nothing")])
    assert second.message.content == "There you are."
    assert server.keys == {"Bearer sk-or"}


async def test_an_error_within_openrouters_stream_breaks_it(openrouter: tuple[OpenRouterServer, ChatModel]) -> None:
    server, model = openrouter
    server.enqueue(
        [openrouter_server.said("Let me"), openrouter_server.broken("Provider disconnected")],
        [openrouter_server.broken("No capacity")],
    )
    with pytest.raises(StreamBroken, match="Provider disconnected") as raised:
        await ask(model, HELLO)
    assert raised.value.partial.content == "Let me"
    with pytest.raises(ModelError, match="No capacity"):
        await ask(model, HELLO)


async def test_openrouter_says_when_it_takes_no_more(openrouter: tuple[OpenRouterServer, ChatModel]) -> None:
    _, model = openrouter
    with pytest.raises(ModelError, match="takes no more requests now"):
        await ask(model, HELLO)
