"""The thin client's own promises: one kept connection, bytes that only grow, and servers of odd habits."""

import json
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from agent.errors import ModelUnavailable
from agent.model.connection import MAX_ANSWER
from agent.model.interface import Answer
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.wire.openai import GrowingList
from agent.model.wire.profile import PROFILES
from memory.json_value import Json
from tests.agent.openai_script import DONE, Reset
from tests.agent.openai_server import OpenAiServer, Scripted, call, calls, chunk, error, reply, stream, text

HELLO = [Message("system", "You are nakari."), Message("user", "hello")]
TOOLS = [ToolSpec("reply", "Say something.", {"type": "object", "properties": {}})]


@pytest.fixture
async def server() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer() as opened:
        yield opened


@pytest.fixture
async def model(server: OpenAiServer) -> AsyncIterator[OpenAiCompatibleModel]:
    opened = OpenAiCompatibleModel(f"{server.url}/", "m")
    yield opened
    await opened.aclose()


async def ask(model: OpenAiCompatibleModel, messages: list[Message] = HELLO) -> Answer:
    last = [item async for item in model.stream(messages, TOOLS)][-1]
    assert isinstance(last, Answer)
    return last


@pytest.mark.shows("F1")
async def test_one_connection_serves_the_warming_and_every_call(
    server: OpenAiServer, model: OpenAiCompatibleModel
) -> None:
    server.enqueue(text("One."), reply("Two."), error(500, "hiccup"), text("Four."))
    await model.warm()
    for _ in range(2):
        await ask(model)
    with pytest.raises(ModelUnavailable):
        await ask(model)
    await ask(model)
    assert {request.connection for request in [*server.others, *server.requests]} == {1}
    assert server.others[0].path == "/v1/models"


@pytest.mark.shows("D6", "D11")
async def test_the_whole_body_grows_only_at_its_end(server: OpenAiServer, model: OpenAiCompatibleModel) -> None:
    server.enqueue(text("Hi."), text("Yes."))
    answer = (await ask(model)).message
    await ask(model, [*HELLO, answer, Message("user", "really?")])
    first, second = (request.raw for request in server.requests)
    assert second.startswith(first.removesuffix(b"]}"))


async def test_parameters_are_sent_and_none_takes_one_away(server: OpenAiServer) -> None:
    params: dict[str, Json] = {"temperature": 0.2, "stream_options": None}
    model = OpenAiCompatibleModel(server.url, "qwen3:4b", profile=replace(PROFILES["ollama"], params=params))
    server.enqueue(text("Hi."))
    await ask(model)
    await model.aclose()
    body = server.requests[0].json
    assert (body["model"], body["temperature"], body["stream"]) == ("qwen3:4b", 0.2, True)
    assert "stream_options" not in body
    assert "authorization" not in server.requests[0].headers
    assert model.name == f"127.0.0.1:{server.port}/qwen3:4b"


@pytest.mark.shows("F5")
async def test_a_server_that_does_not_stream_is_understood(server: OpenAiServer, model: OpenAiCompatibleModel) -> None:
    message = {"role": "assistant", "content": "Whole.", "tool_calls": None}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5}}
    server.enqueue(Scripted((json.dumps(body).encode(),), headers={"Content-Type": "application/json"}))
    answer = await ask(model)
    assert (answer.message.content, answer.usage.prompt_tokens) == ("Whole.", 5)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream"])
@pytest.mark.parametrize("indent", [None, 2])
async def test_the_form_of_an_answer_is_known_by_itself(
    server: OpenAiServer, model: OpenAiCompatibleModel, kind: str, indent: int | None
) -> None:
    whole = {"choices": [{"message": {"role": "assistant", "content": "Whole."}, "finish_reason": "stop"}]}
    in_json = b"\xef\xbb\xbf" + json.dumps(whole, indent=indent).encode()
    for steps in ((in_json,), (chunk({"content": "Whole."}), chunk({}, "stop"), DONE)):
        server.enqueue(Scripted(steps, headers={"Content-Type": kind}))
        assert (await ask(model)).message.content == "Whole."


@pytest.mark.shows("F5")
async def test_line_separators_inside_json_cut_nothing(server: OpenAiServer, model: OpenAiCompatibleModel) -> None:
    odd = "one\u2028two\u0085three"
    raw = json.dumps({"choices": [{"index": 0, "delta": {"content": odd}}]}, ensure_ascii=False).encode()
    server.enqueue(stream(b"data: " + raw + b"\r\n\r\n", chunk({}, "stop"), DONE))
    assert (await ask(model)).message.content == odd


async def test_an_answer_may_be_one_that_was_created(server: OpenAiServer, model: OpenAiCompatibleModel) -> None:
    server.enqueue(replace(text("Whole."), status=201))
    assert (await ask(model)).message.content == "Whole."


@pytest.mark.parametrize("last", ["[DONE] ", '"[DONE]"', "data: [DONE]"])
async def test_what_a_gateway_sets_around_its_data_is_left_out(
    server: OpenAiServer, model: OpenAiCompatibleModel, last: str
) -> None:
    server.enqueue(stream(b"data: " + chunk({"content": "All of it"}), f"data: {last}\n\n".encode()))
    assert (await ask(model)).message.content == "All of it"


async def test_arguments_that_are_an_object_become_text(server: OpenAiServer, model: OpenAiCompatibleModel) -> None:
    piece = {"index": 0, "id": "a", "function": {"name": "reply", "arguments": {"text": "Hi."}}}
    server.enqueue(stream(chunk({"tool_calls": [piece]}), chunk({}, "tool_calls"), DONE))
    assert json.loads((await ask(model)).message.tool_calls[0].arguments) == {"text": "Hi."}


@pytest.mark.shows("F6")
async def test_a_kept_connection_that_dies_when_used_is_replaced(
    server: OpenAiServer, model: OpenAiCompatibleModel
) -> None:
    server.enqueue(text("One."))
    await ask(model)
    server.close_at_next_request()
    server.enqueue(text("Two."))
    assert (await ask(model)).message.content == "Two."
    assert [request.connection for request in server.requests] == [1, 2]


@pytest.mark.shows("F6")
async def test_an_event_without_end_is_given_up(server: OpenAiServer, model: OpenAiCompatibleModel) -> None:
    server.enqueue(stream(b"data: ", *(b"x" * 1_000_000 for _ in range(5))))
    with pytest.raises(ModelUnavailable, match="not an event stream"):
        await ask(model)


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_an_answer_without_end_is_given_up(server: OpenAiServer, model: OpenAiCompatibleModel, kind: str) -> None:
    keep_alive = (b": still there" + b"." * 50_000 + b"\n\n") * 20
    server.enqueue(Scripted([keep_alive] * (MAX_ANSWER // len(keep_alive) + 1), 200, {"Content-Type": kind}))
    with pytest.raises(ModelUnavailable, match="does not end"):
        await ask(model)


@pytest.mark.shows("F6")
async def test_an_endless_error_page_is_not_read_to_its_end(server: OpenAiServer, model: OpenAiCompatibleModel) -> None:
    server.enqueue(Scripted([b"oops " * 50_000] * 3, 502, {"Content-Type": "text/plain"}))
    with pytest.raises(ModelUnavailable, match="HTTP 502") as raised:
        await ask(model)
    assert len(str(raised.value)) < 400


@pytest.mark.shows("F6")
async def test_an_error_whose_words_never_come_is_still_an_error(
    server: OpenAiServer, model: OpenAiCompatibleModel
) -> None:
    server.enqueue(Scripted([b"half", Reset()], 500, {"Content-Type": "text/plain"}))
    with pytest.raises(ModelUnavailable, match="HTTP 500"):
        await ask(model)


@pytest.mark.shows("F6")
async def test_an_address_that_is_none_is_one_sentence() -> None:
    model = OpenAiCompatibleModel("http://127.0.0.1:nonsense", "m")
    with pytest.raises(ModelUnavailable, match="correct its address"):
        await ask(model)
    await model.warm()
    await model.aclose()


def test_the_201st_message_is_made_once_like_the_11th() -> None:
    growing = GrowingList()
    messages = list(HELLO)
    for number in range(100):
        growing.update(messages)
        made, encoded = list(growing.entries), growing.encoded[:-1]
        messages += [
            Message("assistant", tool_calls=(ToolCall(f"c{number}", "reply", '{"text":"x"}'),)),
            Message("tool", "delivered", tool_call_id=f"c{number}"),
        ]
        growing.update(messages)
        assert all(new is old for new, old in zip(growing.entries, made, strict=False))
        assert growing.encoded.startswith(encoded)
    assert len(growing.entries) == 202


@pytest.mark.shows("B3")
async def test_calls_after_bare_text_keep_both(server: OpenAiServer, model: OpenAiCompatibleModel) -> None:
    server.enqueue(calls(call("reply", {"text": "Hi."}), said="I greet them."))
    message = (await ask(model)).message
    assert message.content == "I greet them."
    assert message.tool_calls[0].name == "reply"


@pytest.mark.parametrize(
    "answer",
    [
        stream(b'data: {"object":"error","message":"gpu gone","code":50001}\n\n', DONE),
        stream(b'event: error\ndata: {"type":"overloaded","message":"gpu gone"}\n\n'),
        Scripted((b'{"detail":"gpu gone"}',), headers={"Content-Type": "application/json"}),
        stream(b'data: {"choices":null,"base_resp":{"status_code":1002,"status_msg":"gpu gone"}}\n\n'),
        stream(b'data: {"id":"x","choices":[],"error_code":336100,"error_msg":"gpu gone"}\n\n', DONE),
    ],
)
async def test_an_error_that_is_all_that_a_server_sends_is_told(
    server: OpenAiServer, model: OpenAiCompatibleModel, answer: Scripted
) -> None:
    server.enqueue(answer)
    with pytest.raises(ModelUnavailable, match=r"ended in an error \(gpu gone\)"):
        await ask(model)
