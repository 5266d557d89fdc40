"""The real openai SDK against OpenAI's chat completions as they are served here."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionChunk

from appliance.api.caller import Caller
from appliance.api.outcome import Outcome
from appliance.api.program_questions import Figures
from appliance.errors import Exit, Problem
from appliance.http.compat.question import LONGEST_PROGRAM, MODEL
from tests.appliance.http.compat.served import ScriptedAsking, programs_served

pytestmark = [pytest.mark.shows("X13"), pytest.mark.usefixtures("sdk_as_it_comes")]

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and so on").decode()


@asynccontextmanager
async def client(
    asking: ScriptedAsking, caller: Caller | None = None, beat_seconds: float = 60.0
) -> AsyncIterator[openai.AsyncOpenAI]:
    async with (
        programs_served(asking, caller, beat_seconds) as address,
        openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="unused") as sdk,
    ):
        yield sdk


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


async def whole(sdk: openai.AsyncOpenAI, *messages: Any, **more: Any) -> Any:
    return await sdk.chat.completions.create(model=MODEL, messages=[*messages], **more)


async def streamed(sdk: openai.AsyncOpenAI, *messages: Any, **more: Any) -> list[ChatCompletionChunk]:
    stream: Any = await sdk.chat.completions.create(model=MODEL, messages=[*messages], stream=True, **more)
    return [chunk async for chunk in stream]


@pytest.mark.shows("F25")
async def test_an_answer_comes_whole() -> None:
    async with client(ScriptedAsking()) as sdk:
        answer = await whole(sdk, user("what time is it"), temperature=0.3, stop=["x"], max_tokens=5, seed=1)
    assert answer.choices[0].message.content == "It is three."
    assert answer.choices[0].finish_reason == "stop"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (120, 7, 127)
    assert answer.usage.prompt_tokens_details.cached_tokens == 100


@pytest.mark.shows("F25")
async def test_an_answer_comes_piece_by_piece_and_says_at_last_what_it_took() -> None:
    async with client(ScriptedAsking()) as sdk:
        chunks = await streamed(sdk, user("what time is it"), stream_options={"include_usage": True})
    assert [chunk.choices[0].delta.content for chunk in chunks[:-1]] == ["", "It is", " three.", None]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 127


async def test_usage_is_told_to_who_asks_for_it_only() -> None:
    async with client(ScriptedAsking()) as sdk:
        chunks = await streamed(sdk, user("what time is it"))
    assert [chunk.usage for chunk in chunks] == [None] * 4


async def test_the_first_piece_is_there_before_the_last_is_thought() -> None:
    asking = ScriptedAsking(hold=asyncio.Event())
    assert asking.hold is not None
    async with client(asking) as sdk:
        stream: Any = await sdk.chat.completions.create(model=MODEL, messages=[user("now?")], stream=True)
        chunks = aiter(stream)
        assert [(await anext(chunks)).choices[0].delta.content for _ in range(3)] == ["", "It is", " three."]
        asking.hold.set()
        assert (await anext(chunks)).choices[0].finish_reason == "stop"


async def test_only_the_last_message_is_asked() -> None:
    asking = ScriptedAsking()
    async with client(asking) as sdk:
        await whole(sdk, user("who are you"), {"role": "assistant", "content": "nakari"}, user(" and now "))
    assert [question.text for question in asking.questions] == ["and now"]


async def test_a_system_message_is_told_once_in_a_conversation_and_anew_when_it_changes() -> None:
    asking, system = ScriptedAsking(), {"role": "system", "content": "Be short. It is 12:01."}
    async with client(asking) as sdk:
        for told in (system, system | {"content": "Be short. It is 12:02."}, system | {"content": "Rhyme."}):
            await whole(sdk, told, user("hello"))
        await whole(sdk, {"role": "developer", "content": "x" * 9999}, user("hello"))
    assert [question.program for question in asking.questions[:3]] == ["Be short. It is 12:01.", "", "Rhyme."]
    assert asking.questions[3].program == "x" * LONGEST_PROGRAM


async def test_each_token_is_a_session_and_each_owner_has_their_own() -> None:
    asking, callers = ScriptedAsking(), [Caller(), Caller(program="webui"), Caller("ab12", program="phone")]
    for caller in callers:
        async with client(asking, caller) as sdk:
            await whole(sdk, user("hello"))
    sessions = [(question.session, question.owner_key) for question in asking.questions]
    assert sessions == [
        ("program", "household"),
        ("program webui", "household"),
        ("program phone@ab12", "ab12"),
    ]


async def test_images_and_documents_go_as_attachments() -> None:
    asking = ScriptedAsking()
    parts = [
        {"type": "text", "text": "what is this"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "high"}},
        {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;charset=utf-8;base64,aGk="}},
    ]
    async with client(asking) as sdk:
        await whole(sdk, user(parts))
    assert [(name, content) for _, name, content in asking.attached] == [
        ("image", base64.b64decode(PNG)),
        ("a.txt", b"hi"),
    ]
    assert asking.questions[0].attached == tuple(name for name, _, _ in asking.attached)


@pytest.mark.parametrize(
    ("content", "more", "said"),
    [
        ([{"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}], {}, "nothing is fetched"),
        ([{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}], {}, "cannot be read"),
        ("  ", {}, "says nothing"),
        ("### Task:\nGenerate a title", {}, "switch them off in the program"),
        pytest.param("x" * 500_001, {}, "more than 500000 characters; attach it as a file", id="too much"),
        ("hello", {"n": 2}, "one answer"),
        ("hello", {"response_format": {"type": "json_object"}}, "in words"),
        ("hello", {"tools": [], "tool_choice": "required"}, "its own tools"),
    ],
)
async def test_what_cannot_be_is_refused_in_one_sentence(content: Any, more: dict[str, Any], said: str) -> None:
    asking = ScriptedAsking()
    async with client(asking) as sdk:
        with pytest.raises(openai.BadRequestError, match=said):
            await whole(sdk, user(content), **more)
    assert asking.questions == []


async def test_tools_of_a_program_are_not_called() -> None:
    tool = {"type": "function", "function": {"name": "light", "parameters": {"type": "object", "properties": {}}}}
    async with client(ScriptedAsking()) as sdk:
        answer = await whole(sdk, user("light on"), tools=[tool], tool_choice="auto")
    assert answer.choices[0].message.tool_calls is None
    assert answer.choices[0].message.content == "It is three."


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("when", "waiting", "No model can be reached at the moment."),
        ("何时", "waiting", "现在连不上模型。"),
        ("when", "suspended", "goes on later"),
        ("when", "given_up", "given up"),
    ],
)
async def test_a_question_that_is_not_answered_gets_an_honest_sentence(words: str, status: Any, said: str) -> None:
    async with client(ScriptedAsking([Outcome(status, "e1"), Figures()])) as sdk:
        answer = await whole(sdk, user(words))
    assert said in answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "length"


async def test_what_was_said_before_it_was_put_aside_stands_alone() -> None:
    async with client(ScriptedAsking(["I will see.\n", Outcome("suspended", "e1"), Figures()])) as sdk:
        chunks = await streamed(sdk, user("when"))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "I will see."
    assert chunks[-1].choices[0].finish_reason == "length"


async def test_a_refusal_has_its_status_and_is_not_asked_again() -> None:
    asking = ScriptedAsking([], Problem("too many visitors ask at the moment", Exit.UNAVAILABLE))
    async with client(asking) as sdk:
        with pytest.raises(openai.RateLimitError, match="too many visitors"):
            await whole(sdk, user("hello"))
        with pytest.raises(openai.RateLimitError, match="too many visitors"):
            await streamed(sdk, user("hello"))
    assert len(asking.questions) == 2


async def test_what_breaks_in_mid_answer_is_told() -> None:
    asking = ScriptedAsking(["It is"], Problem("the disk is full", Exit.CANNOT_CREATE))
    async with client(asking) as sdk:
        with pytest.raises(openai.APIError, match="the disk is full"):
            await streamed(sdk, user("hello"))
        answer = await whole(sdk, user("hello"))
    assert answer.choices[0].message.content == "It is\nthe disk is full"
    assert answer.choices[0].finish_reason == "length"


async def test_signs_of_life_come_while_it_thinks_and_disturb_no_sdk() -> None:
    asking = ScriptedAsking(hold=asyncio.Event(), items=["It is three."])
    assert asking.hold is not None
    async with programs_served(asking, beat_seconds=0.01) as address, httpx.AsyncClient(base_url=address) as raw:
        for stream, sign in ((True, b": the answer is coming\n\n"), (False, b" ")):
            asking.hold.clear()
            body = {"model": MODEL, "messages": [user("hello")], "stream": stream}
            async with raw.stream("POST", "/v1/chat/completions", json=body) as response:
                pieces = response.aiter_bytes()
                seen = b""
                while seen.count(sign) < 2:
                    seen += await anext(pieces)
                asking.hold.set()
    asking.hold.clear()
    async with client(asking, beat_seconds=0.01) as sdk, asyncio.TaskGroup() as group:
        group.create_task(_set_after_a_while(asking))
        assert (await whole(sdk, user("hello"))).choices[0].message.content == "It is three."


async def _set_after_a_while(asking: ScriptedAsking) -> None:
    assert asking.hold is not None
    await asking.begun.wait()
    await asyncio.sleep(0)
    asking.hold.set()


async def test_who_leaves_ends_the_reading() -> None:
    asking = ScriptedAsking(hold=asyncio.Event())
    async with client(asking) as sdk:
        stream: Any = await sdk.chat.completions.create(model=MODEL, messages=[user("hello")], stream=True)
        await anext(aiter(stream))
        await stream.close()
        await asking.closed.wait()


async def test_a_request_that_is_sent_again_says_so_to_who_answers() -> None:
    asking = ScriptedAsking()
    async with client(asking) as sdk:
        for headers in ({}, {"Idempotency-Key": "k1"}, {"Idempotency-Key": "k1"}, {"x-stainless-retry-count": "1"}):
            await whole(sdk, user("hello"), extra_headers=headers)
    first, keyed, again, retried = asking.questions
    assert (first.is_keyed, first.is_retry) == (False, False)
    assert (keyed.is_keyed, keyed.event_id) == (True, again.event_id)
    assert retried.is_retry
    assert len({first.event_id, keyed.event_id, retried.event_id}) == 3


async def test_models_are_listed() -> None:
    async with client(ScriptedAsking()) as sdk:
        assert [model.id async for model in sdk.models.list()] == [MODEL]
        assert (await sdk.models.retrieve(MODEL)).owned_by == MODEL
        with pytest.raises(openai.NotFoundError, match="no model 'gpt-4o'"):
            await sdk.models.retrieve("gpt-4o")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"x"',
        b"\xff\xfe",
        b'{"messages": []}',
        b'{"messages": [{}]}',
        b'{"messages": "hello"}',
        b'{"messages": [{"role": "user", "content": {"a": 1}}]}',
        b'{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}',
        b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
        b'{"messages": [{"role": "tool", "content": "1"}]}',
        b'{"model": 7, "messages": [{"role": "user", "content": "x"}]}',
        b'{"n": true, "messages": [{"role": "user", "content": "x"}]}',
        b'{"messages": ' + b"[" * 100_000,
    ],
)
async def test_any_bytes_get_a_sentence_in_the_shape_of_the_protocol(body: bytes) -> None:
    asking = ScriptedAsking()
    async with programs_served(asking) as address, httpx.AsyncClient(base_url=address) as raw:
        answer = await raw.post("/v1/chat/completions", content=body)
    assert answer.status_code == 400
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert asking.questions == []
