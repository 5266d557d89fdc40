"""The scripted server itself: its rules refuse what OpenAI would, and a test cannot pass over it."""

import json
from typing import Any

import httpx
import pytest

from tests.agent.openai_rules import complaint
from tests.agent.openai_script import Stall
from tests.agent.openai_server import Gate, OpenAiServer, Page, Scripted, call, calls, error, reply, stream, text

USER: dict[str, object] = {"role": "user", "content": "hello"}


def asked(*ids: str, arguments: str = "{}", name: str = "f") -> dict[str, object]:
    made = [{"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(id_: str) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": id_, "content": "x"}


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "system", "content": "s"}],
        [USER, {"role": "system", "content": "s"}],
        [{"role": "assistant", "content": "Hi."}, USER],
        [USER, {"role": "assistant", "content": "Hi."}],
        [{"role": "user", "content": ""}],
        [USER, {"role": "assistant", "content": None}, USER],
        [USER, result("a")],
        [USER, asked("a"), USER],
        [USER, asked("a", "b"), result("b"), result("a")],
        [USER, asked("a", "b"), result("a"), USER],
        [USER, asked("a"), result("a"), result("b")],
        [USER, asked("a", arguments="{"), result("a")],
        [USER, asked("a", arguments="[]"), result("a")],
        [USER, asked("a", name="a b"), result("a")],
        [USER, {"role": "developer", "content": "x"}, USER],
    ],
)
async def test_an_illegal_request_is_answered_with_400_and_fails_the_test(messages: list[dict[str, object]]) -> None:
    server = await OpenAiServer().__aenter__()
    server.enqueue(text("never sent"))
    assert (await post(server, messages)).status_code == 400
    assert len(server.complaints) == 1
    with pytest.raises(AssertionError, match="illegal requests"):
        await server.__aexit__(None, None, None)


def test_a_request_without_model_or_with_empty_tools_is_wrong() -> None:
    assert complaint({"messages": [USER]}) == "model: missing"
    assert complaint({"model": "m", "messages": [USER], "tools": []}) == "tools: must not be empty"
    tools = [{"type": "function", "function": {"name": "a b"}}]
    assert "bad name" in str(complaint({"model": "m", "messages": [USER], "tools": tools}))


async def test_a_legal_request_gets_the_next_answer_and_is_recorded_raw() -> None:
    async with OpenAiServer() as server:
        server.enqueue(reply("One.", also=[call("complete_event", {})]), calls(call("f", '{"half')))
        messages = [USER, asked("a", "b"), result("a"), result("b")]
        first, second = await post(server, messages), await post(server, [USER])
    assert '{\\"te' in first.text
    assert first.text.endswith("data: [DONE]\n\n")
    assert '{\\"ha' in second.text
    assert server.requests[0].messages == messages
    assert json.loads(server.requests[0].raw_messages + b"]") == messages
    assert server.requests[0].raw_messages in server.requests[0].raw


async def test_without_an_answer_the_default_is_asked_and_without_one_it_fails() -> None:
    async with OpenAiServer() as server:
        assert (await post(server, [USER])).status_code == 500
        server.default = lambda request: text(request.messages[-1]["content"].upper())
        assert "HELL" in (await post(server, [USER])).text


async def test_the_key_is_demanded() -> None:
    async with OpenAiServer(api_key="k") as server:
        assert (await post(server, [USER])).status_code == 401
        server.enqueue(error(429, "slow", {"Retry-After": "7"}))
        answer = await post(server, [USER], Authorization="Bearer k")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")


async def test_usage_counts_the_prefix_seen_before() -> None:
    async with OpenAiServer() as server:
        server.default = lambda _: text("Hi.")
        long: dict[str, object] = {"role": "user", "content": "x" * 4000}
        counted = [
            usage_of(await post(server, messages, include_usage=True))
            for messages in ([long], [long, USER], [USER])  # the last shares but the opening with the others
        ]
    assert [usage["prompt_tokens"] > 1000 for usage in counted] == [True, True, False]
    assert [usage["prompt_tokens_details"]["cached_tokens"] > 990 for usage in counted] == [False, True, False]


async def test_a_gate_holds_the_rest_back() -> None:
    gate = Gate()
    seen = ""
    async with OpenAiServer() as server, httpx.AsyncClient(trust_env=False) as client:
        server.enqueue(text("Hello", gate, " there"))
        async with client.stream("POST", f"{server.url}/chat/completions", json=body([USER])) as response:
            async for piece in response.aiter_text():
                seen += piece
                assert gate.is_open or " the" not in seen
                if '"o"' in seen:
                    gate.open()
    assert " the" in seen


async def test_stopping_ends_what_is_open() -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        async with OpenAiServer() as server:
            server.enqueue(stream(b"data: x\n\n", Stall()))
            opened = await client.send(
                client.build_request("POST", f"{server.url}/chat/completions", json=body([USER])), stream=True
            )
        with pytest.raises(httpx.HTTPError):
            await opened.aread()


async def test_other_pages_are_served_and_recorded() -> None:
    pages: dict[str, Page] = {"/api/tags": {"models": []}, "/broken": Scripted((b"no",), 503)}
    async with OpenAiServer(pages=pages) as server, httpx.AsyncClient(trust_env=False) as client:
        root = server.url.removesuffix("/v1")
        assert (await client.get(f"{root}/api/tags")).json() == {"models": []}
        assert [(await client.get(f"{root}{path}")).status_code for path in ("/broken", "/nowhere")] == [503, 404]
    assert [request.path for request in server.others] == ["/api/tags", "/broken", "/nowhere"]


def body(messages: list[dict[str, object]], *, include_usage: bool = False) -> dict[str, object]:
    return {"model": "m", "messages": messages, "stream": True, "stream_options": {"include_usage": include_usage}}


async def post(
    server: OpenAiServer, messages: list[dict[str, object]], *, include_usage: bool = False, **headers: str
) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        url = f"{server.url}/chat/completions"
        return await client.post(url, json=body(messages, include_usage=include_usage), headers=headers)


def usage_of(answer: httpx.Response) -> dict[str, Any]:
    usage: dict[str, Any] = json.loads(answer.text.split("data: ")[-2])["usage"]
    return usage
