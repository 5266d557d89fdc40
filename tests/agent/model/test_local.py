"""A local server's cache: the room's slot is its own, and its prefix is read ahead while a person still speaks."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from agent.model.messages import Message
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.wire.profile import PROFILES
from tests.agent.openai_server import OpenAiServer, text

LLAMA = PROFILES["llama.cpp"]
ROOM = [Message("system", "You are nakari."), Message("user", "hello"), Message("assistant", "Hi.")]
ASKED = [*ROOM, Message("user", "and now?")]


def other(number: int) -> list[Message]:
    return [Message("system", "You are nakari."), Message("user", f"background work {number}")]


async def ask(model: OpenAiCompatibleModel, messages: Sequence[Message]) -> None:
    async for _ in model.stream(messages, []):
        pass


@pytest.mark.shows("D11")
async def test_background_work_never_gets_the_rooms_slot() -> None:
    async with OpenAiServer() as server:
        server.default = lambda _: text("Yes.")
        model = OpenAiCompatibleModel(server.url, "m", profile=replace(LLAMA, slots=3), room=lambda: (ROOM, []))
        for messages in (ASKED, other(1), other(2), other(3), ASKED, other(3)):
            await ask(model, messages)
        await model.aclose()
    assert [request.json["id_slot"] for request in server.requests] == [0, 1, 2, 1, 0, 1]
    assert all(request.json["cache_prompt"] for request in server.requests)


async def test_with_one_slot_nothing_is_said_of_slots() -> None:
    async with OpenAiServer() as server:
        server.default = lambda _: text("Yes.")
        model = OpenAiCompatibleModel(server.url, "m", profile=LLAMA)
        await ask(model, other(1))
        await model.aclose()
    assert "id_slot" not in server.requests[0].json


@pytest.mark.shows("D11")
async def test_what_was_read_ahead_need_not_be_read_when_the_words_come() -> None:
    async with OpenAiServer() as server:
        server.default = lambda _: text("Yes.")
        model = OpenAiCompatibleModel(server.url, "m", profile=replace(LLAMA, slots=2), room=lambda: (ROOM, []))
        await model.prefill(ROOM, [])
        await ask(model, ASKED)
        await model.aclose()
    ahead, asked = server.requests
    assert (ahead.json["max_tokens"], ahead.json["id_slot"], ahead.json.get("stream")) == (1, 0, False)
    known = ahead.raw_messages[: ahead.raw_messages.rindex(b',{"role"')]
    assert asked.raw_messages.startswith(known)
    assert len(known) / len(asked.raw_messages) > 0.7


async def test_nothing_is_read_ahead_where_that_is_billed() -> None:
    async with OpenAiServer() as server:
        model = OpenAiCompatibleModel(server.url, "m")
        await model.prefill(ROOM, [])
        await model.aclose()
    assert server.requests == []


async def test_reading_ahead_never_raises() -> None:
    model = OpenAiCompatibleModel("http://127.0.0.1:1/v1", "m", profile=LLAMA)
    await model.prefill(ROOM, [])
    await model.prefill([Message("tool", "orphan", tool_call_id="x")], [])
    await model.aclose()
