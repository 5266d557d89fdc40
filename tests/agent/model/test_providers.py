"""Each provider by its own wire protocol: a local server with its strict rules, through the real client library."""

import gc
import json
from collections.abc import AsyncIterator, Iterator

import pytest

from agent.errors import ModelUnavailable, StreamBroken
from agent.model.interface import Answer, TextDelta
from agent.model.litellm import LiteLlmModel
from agent.model.messages import Message, ToolCall
from agent.model.wire.profile import PROFILES
from tests.agent import anthropic_server, gemini_server
from tests.agent.anthropic_server import AnthropicServer
from tests.agent.gemini_server import GeminiServer
from tests.agent.model.dialogue import HELLO, PATIENCE, answered, ask, items_of

pytestmark = [
    # litellm leaves a session of aiohttp to the garbage collector when it opens one for another loop.
    pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.shows("F1"),
]


@pytest.fixture(autouse=True, scope="module")
def collected() -> Iterator[None]:
    """Let what litellm leaves behind be collected before other tests: its warnings are let pass here alone."""
    yield
    gc.collect()


@pytest.fixture
async def claude() -> AsyncIterator[tuple[AnthropicServer, LiteLlmModel]]:
    async with AnthropicServer() as server:
        model = LiteLlmModel("anthropic/claude-haiku-5-5", "sk-ant", server.url, patience=PATIENCE)
        yield server, model
        await model.aclose()


@pytest.fixture
async def gemini() -> AsyncIterator[tuple[GeminiServer, LiteLlmModel]]:
    async with GeminiServer() as server:
        model = LiteLlmModel(f"gemini/{gemini_server.MODEL}", "key", server.url, patience=PATIENCE)
        yield server, model
        await model.aclose()


@pytest.mark.shows("D11", "F4")
async def test_anthropic_thinks_calls_and_gets_its_signed_thoughts_back(
    claude: tuple[AnthropicServer, LiteLlmModel],
) -> None:
    server, model = claude
    server.enqueue(
        [
            anthropic_server.thinking("They want to know.", "c2lnbmVk"),
            anthropic_server.said("Let me see."),
            anthropic_server.use("toolu_1", "recall", {"about": "你好"}),
            anthropic_server.use("toolu_2", "recall", {"about": "tea"}),
        ],
        [anthropic_server.said("There you are.")],
    )
    items = await items_of(model, HELLO)
    first = items[-1]
    assert isinstance(first, Answer)
    assert "".join(item.text for item in items if isinstance(item, TextDelta)) == "Let me see."
    assert [(call.name, json.loads(call.arguments)) for call in first.message.tool_calls] == [
        ("recall", {"about": "你好"}),
        ("recall", {"about": "tea"}),
    ]
    assert first.usage.cached_tokens == 90
    assert first.usage.prompt_tokens >= 95

    second = await ask(model, [*HELLO, *answered(first.message, "nothing")])
    assert second.message.content == "There you are."
    sent = server.requests[1]["messages"][1]["content"]
    assert sent[0] == {"type": "thinking", "thinking": "They want to know.", "signature": "c2lnbmVk"}
    assert server.requests[1]["messages"][0] == {**server.requests[0]["messages"][0], "content": sent_text("hello")}
    assert server.keys == {"sk-ant"}


def sent_text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


async def test_anthropic_takes_what_other_models_wrote(claude: tuple[AnthropicServer, LiteLlmModel]) -> None:
    server, model = claude
    server.enqueue([anthropic_server.said("Yes.")])
    foreign = Message(
        "assistant",
        tool_calls=(ToolCall("functions.recall:0", "recall", '{"about": "half'), ToolCall("b", "re call!", "{}")),
        extra={"reasoning_content": "Hm.", "reasoning_details": [{"type": "x"}]},
    )
    await ask(model, [*HELLO, *answered(foreign, ""), Message("user", "and?"), Message("user", "well?")])
    assert len(server.requests) == 1


async def test_anthropic_is_told_what_to_cache(claude: tuple[AnthropicServer, LiteLlmModel]) -> None:
    server, model = claude
    server.enqueue([anthropic_server.said("Yes.")])
    await ask(model, HELLO)
    body = server.requests[0]
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}


@pytest.mark.shows("F6")
async def test_an_overloaded_provider_may_work_later(
    claude: tuple[AnthropicServer, LiteLlmModel], gemini: tuple[GeminiServer, LiteLlmModel]
) -> None:
    for _, model in (claude, gemini):
        with pytest.raises(ModelUnavailable, match="ask again later"):
            await ask(model, HELLO)


async def test_an_error_in_the_middle_is_told_in_the_providers_words(
    claude: tuple[AnthropicServer, LiteLlmModel],
) -> None:
    server, model = claude
    server.enqueue([anthropic_server.said("Let me "), anthropic_server.failed("Overloaded")])
    with pytest.raises(StreamBroken, match=r"broke off \(Overloaded\)"):
        _ = [item async for item in model.stream([Message("user", "hello")], [])]


@pytest.mark.shows("D11", "F4")
async def test_gemini_calls_and_gets_its_signatures_and_names_back(gemini: tuple[GeminiServer, LiteLlmModel]) -> None:
    server, model = gemini
    server.enqueue(
        [
            gemini_server.thought("They want to know."),
            gemini_server.called("recall", {"about": "你好"}, "c2lnbmVk"),
            gemini_server.called("recall", {"about": "tea"}),
        ],
        [gemini_server.said("There "), gemini_server.said("you are.")],
        [gemini_server.said("Good.")],
    )
    first = await ask(model, HELLO)
    assert first.message.content == ""
    assert [json.loads(call.arguments) for call in first.message.tool_calls] == [{"about": "你好"}, {"about": "tea"}]
    assert all(len(call.id) <= 40 for call in first.message.tool_calls)
    assert first.usage.cached_tokens == 90

    listed = [*HELLO, *answered(first.message, "nothing")]
    second = await ask(model, listed)
    assert second.message.content == "There you are."
    await ask(model, [*listed, second.message, Message("user", "thanks")])
    for earlier, later in zip(server.requests, server.requests[1:], strict=False):
        assert later["contents"][: len(earlier["contents"])] == earlier["contents"]
    assert server.keys == {"key"}


async def test_gemini_takes_what_other_models_wrote(gemini: tuple[GeminiServer, LiteLlmModel]) -> None:
    server, model = gemini
    server.enqueue([gemini_server.said("Yes.")])
    foreign = Message(
        "assistant",
        "Well. ",
        (ToolCall("functions.recall:0", "1st recall", '{"about": "x"}'), ToolCall("b", "recall", "no json")),
        extra={"reasoning_content": "Hm.", "thinking_blocks": [{"type": "thinking", "thinking": "x"}]},
    )
    await ask(model, [*HELLO, *answered(foreign, "nothing"), Message("user", "and?")])
    assert len(server.requests) == 1


def test_every_profile_is_named_as_the_configuration_names_it() -> None:
    assert all(name == profile.name for name, profile in PROFILES.items())
