"""A corpus of damaged streams through both adapters: each gives the right call, or one clear observation."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated

import pytest
from pydantic import Field

from agent.errors import ModelError, StreamBroken
from agent.event import Event
from agent.model.interface import Answer, ArgumentsDelta, StreamItem, ToolCallStarted
from agent.model.litellm import LiteLlmModel
from agent.model.messages import Message
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.stream.arguments import unwrapped
from agent.model.stream.relay import Patience
from agent.tools.tool import Call, run_tool, tool
from memory.json_value import Json
from tests.agent.damaged import ARGUMENTS_AS_OBJECT, BROKEN, CALLS, GATEWAYS, INVALID_UTF8, OBSERVED, TEXTS, Damaged
from tests.agent.openai_server import OpenAiServer, text
from tests.agent.wire_form import wire_form

pytestmark = pytest.mark.shows("F5", "B3")

Adapter = OpenAiCompatibleModel | LiteLlmModel
HELLO = [Message("system", "You are nakari."), Message("user", "hello")]
BRISK = Patience(connect=1.0, first=2.0, between=2.0)


async def reply(text: Annotated[str, Field(description="What you say.")]) -> Json:
    """Say something."""
    return "delivered"


async def complete_event(summary: str) -> Json:
    """Finish."""
    return "done"


TOOLS = {made.spec.name: made for made in (tool(reply), tool(complete_event))}
SPECS = [made.spec for made in TOOLS.values()]


@pytest.fixture(params=["openai_compatible", "litellm"])
async def connect(request: pytest.FixtureRequest) -> AsyncIterator[Callable[[str], Adapter]]:
    made: list[Adapter] = []
    if request.param == "litellm":  # its import takes longer than a test's patience
        made.append(LiteLlmModel("openai/m", "-", "http://127.0.0.1:1/v1"))
        await made[0].warm()

    def make(url: str) -> Adapter:
        model: Adapter = (
            OpenAiCompatibleModel(url, "m", patience=BRISK)
            if request.param == "openai_compatible"
            else LiteLlmModel("openai/m", "-", url, patience=BRISK)
        )
        made.append(model)
        return model

    yield make
    for model in made:
        await model.aclose()


def id_of(damaged: Damaged) -> str:
    return damaged.what


async def answered(connect: Callable[[str], Adapter], damaged: Damaged) -> list[StreamItem]:
    async with OpenAiServer() as server:
        server.enqueue(damaged.answer, damaged.answer, text("Good."))
        model = connect(server.url)
        items = [item async for item in model.stream(HELLO, SPECS)]
        last = items[-1]
        assert isinstance(last, Answer)
        results = [Message("tool", "delivered", tool_call_id=made.id) for made in last.message.tool_calls]
        wire_form([*HELLO, last.message, *results, Message("user", "and?")])
    return items


@pytest.mark.parametrize("damaged", [*CALLS, ARGUMENTS_AS_OBJECT, *TEXTS], ids=id_of)
async def test_a_damaged_stream_gives_what_the_model_meant(
    connect: Callable[[str], Adapter], request: pytest.FixtureRequest, damaged: Damaged
) -> None:
    items = await answered(connect, damaged)
    last = items[-1]
    assert isinstance(last, Answer)
    if damaged.litellm_loses_it and request.node.callspec.params["connect"] == "litellm":
        assert last.message == Message("assistant")
        return
    assert tuple((made.name, made.arguments) for made in last.message.tool_calls) == damaged.calls
    assert last.message.content.strip() == (damaged.said or "")
    assert [item.name for item in items if isinstance(item, ToolCallStarted)] == [name for name, _ in damaged.calls]
    for index, (_, arguments) in enumerate(damaged.calls):
        streamed = "".join(item.text for item in items if isinstance(item, ArgumentsDelta) and item.index == index)
        assert unwrapped(streamed) == arguments


@pytest.mark.parametrize("damaged", GATEWAYS, ids=id_of)
@pytest.mark.parametrize("connect", ["openai_compatible"], indirect=True)
async def test_what_gateways_make_of_a_stream_is_read_by_the_thin_client(
    connect: Callable[[str], Adapter], damaged: Damaged
) -> None:
    last = (await answered(connect, damaged))[-1]
    assert isinstance(last, Answer)
    assert last.message.content == damaged.said


@pytest.mark.parametrize("damaged", OBSERVED, ids=id_of)
async def test_a_call_that_cannot_be_mended_gets_one_observation_that_says_what_to_do(
    connect: Callable[[str], Adapter], damaged: Damaged
) -> None:
    last = (await answered(connect, damaged))[-1]
    assert isinstance(last, Answer)
    assert tuple((made.name, made.arguments) for made in last.message.tool_calls) == damaged.calls
    (made,) = last.message.tool_calls
    observation = await run_tool(TOOLS[made.name], made.arguments, Call(made.id, Event("test")))
    assert damaged.observes in observation
    assert "\n" not in observation


async def test_bytes_that_are_no_utf8_lose_no_more_than_themselves(
    connect: Callable[[str], Adapter], request: pytest.FixtureRequest
) -> None:
    if request.node.callspec.params["connect"] == "litellm":
        with pytest.raises(StreamBroken, match=INVALID_UTF8.breaks):
            await answered(connect, INVALID_UTF8)
        return
    last = (await answered(connect, INVALID_UTF8))[-1]
    assert isinstance(last, Answer)
    assert last.message.content == INVALID_UTF8.said


@pytest.mark.parametrize("damaged", BROKEN, ids=id_of)
async def test_a_stream_without_sense_breaks_with_one_sentence(
    connect: Callable[[str], Adapter], damaged: Damaged
) -> None:
    with pytest.raises(ModelError) as raised:
        await answered(connect, damaged)
    sentence = str(raised.value)
    assert damaged.breaks in sentence
    assert "\n" not in sentence
    if isinstance(raised.value, StreamBroken):
        assert raised.value.partial.role == "assistant"


def test_the_corpus_is_large_enough() -> None:
    every = [*CALLS, ARGUMENTS_AS_OBJECT, *TEXTS, *GATEWAYS, *OBSERVED, *BROKEN]
    assert len(every) >= 30
    assert len({damaged.what for damaged in every}) == len(every)
