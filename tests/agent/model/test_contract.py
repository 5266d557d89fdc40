"""One contract for every adapter to a model server, through its real client library, against a real local server."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from itertools import pairwise

import pytest

from agent.errors import IllegalMessages, ModelError, ModelRefused, ModelUnavailable, StreamBroken
from agent.model.interface import Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.litellm import LiteLlmModel
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.model.ollama import OllamaModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.stream.accumulate import MOST_REPEATED, MOST_THOUGHT
from agent.model.stream.relay import MOST_OF_AN_ANSWER, Patience
from tests.agent.openai_script import DONE, KEEP_ALIVE, Reset, Stall, call_piece, event
from tests.agent.openai_server import (
    Gate,
    OpenAiServer,
    Scripted,
    call,
    calls,
    chunk,
    error,
    reply,
    stream,
    text,
)

# litellm sets this filter when it is imported; pytest takes it back after each test.

Adapter = OpenAiCompatibleModel | LiteLlmModel | OllamaModel
Connect = Callable[..., Adapter]

HELLO = [Message("system", "You are nakari."), Message("user", "hello")]
TOOLS = [
    ToolSpec("reply", "Say something.", {"type": "object", "properties": {"text": {"type": "string"}}}),
    ToolSpec("complete_event", "Finish.", {"type": "object", "properties": {"summary": {"type": "string"}}}),
]
KEY = "sk-very-secret"
BRISK = Patience(connect=1.0, first=0.3, between=0.3)
ONCE_BEGUN = Patience(first=20.0, between=0.3)
"""For an answer that is known to begin, however late on a loaded machine."""


@asynccontextmanager
async def connecting(kind: str) -> AsyncIterator[Connect]:
    made: list[Adapter] = []

    def make(url: str, patience: Patience | None = None) -> Adapter:
        model: Adapter
        if kind == "openai_compatible":
            model = OpenAiCompatibleModel(url, "m", KEY, patience=patience)
        elif kind == "ollama":
            model = OllamaModel(url.removesuffix("/v1"), "m", KEY, patience=patience)
        else:
            model = LiteLlmModel("openai/m", KEY, url, patience=patience)
        made.append(model)
        return model

    yield make
    for model in made:
        await model.aclose()


@pytest.fixture(params=["openai_compatible", "litellm", "ollama"])
async def connect(request: pytest.FixtureRequest) -> AsyncIterator[Connect]:
    async with connecting(request.param) as make:
        yield make


@pytest.fixture(params=["openai_compatible", "litellm"])
async def connect_openai(request: pytest.FixtureRequest) -> AsyncIterator[Connect]:
    """Where the promise is about OpenAI's wire: calls and characters in pieces, reasoning and caches by their names.

    What Ollama has in their place is in test_ollama.py.
    """
    async with connecting(request.param) as make:
        yield make


async def ask(model: Adapter, messages: Sequence[Message] = HELLO, tools: Sequence[ToolSpec] = TOOLS) -> Answer:
    last = (await items_of(model, messages, tools))[-1]
    assert isinstance(last, Answer)
    return last


async def items_of(
    model: Adapter, messages: Sequence[Message] = HELLO, tools: Sequence[ToolSpec] = TOOLS
) -> list[StreamItem]:
    return [item async for item in model.stream(messages, tools)]


async def failure_of(model: Adapter) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await ask(model)
    return raised.value


@pytest.mark.shows("B3", "F4")
async def test_text_comes_in_pieces_and_then_whole(connect: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(text("Hello there. How are you?"))
        items = await items_of(connect(server.url))
    pieces = [item.text for item in items if isinstance(item, TextDelta)]
    assert len(pieces) > 3
    assert "".join(pieces) == "Hello there. How are you?"
    assert isinstance(items[-1], Answer)
    assert items[-1].message == Message("assistant", "Hello there. How are you?")
    assert items[-1].finish_reason == "stop"


@pytest.mark.shows("B3", "F5")
async def test_parallel_calls_keep_their_order_ids_and_arguments(connect: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(
            calls(
                call("reply", {"text": '你好 😀 "quoted" \n'}, id="call_a"),
                call("complete_event", {"summary": "greeted"}, id="call_b"),
                said="Let me see.",
            )
        )
        items = await items_of(connect(server.url))
    answer = items[-1]
    assert isinstance(answer, Answer)
    assert answer.message.content == "Let me see."
    assert [(made.id, made.name) for made in answer.message.tool_calls] == [
        ("call_a", "reply"),
        ("call_b", "complete_event"),
    ]
    assert json.loads(answer.message.tool_calls[0].arguments) == {"text": '你好 😀 "quoted" \n'}
    assert [item for item in items if isinstance(item, ToolCallStarted)] == [
        ToolCallStarted(0, "call_a", "reply"),
        ToolCallStarted(1, "call_b", "complete_event"),
    ]
    for index, made in enumerate(answer.message.tool_calls):
        streamed = [item.text for item in items if isinstance(item, ArgumentsDelta) and item.index == index]
        assert "".join(streamed) == made.arguments
    assert answer.finish_reason == "tool_calls"


@pytest.mark.shows("F4", "V21")
async def test_the_first_sentence_is_there_while_the_server_still_holds_the_second_back(
    connect_openai: Connect,
) -> None:
    gate = Gate()
    async with OpenAiServer() as server:
        server.enqueue(reply("Hello there. ", gate, "How are you?"))
        seen = ""
        async with aclosing(connect_openai(server.url).stream(HELLO, TOOLS)) as items:
            async for item in items:
                seen += item.text if isinstance(item, ArgumentsDelta) else ""
                if not gate.is_open and "Hello there. " in seen:
                    assert gate.reached.is_set()
                    gate.open()
    assert json.loads(seen) == {"text": "Hello there. How are you?"}


@pytest.mark.shows("F5")
@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param(
            [
                call_piece(0, id="a", name="reply", arguments='{"text":"x"}'),
                call_piece(0, id="b", name="complete_event", arguments='{"summary":"y"}'),
            ],
            [("reply", '{"text":"x"}'), ("complete_event", '{"summary":"y"}')],
            id="two calls share index 0",
        ),
        pytest.param(
            [
                call_piece(0, name="reply", arguments='{"te'),
                call_piece(0, arguments='xt":"x"}'),
                call_piece(1, name="complete_event", arguments="{}"),
            ],
            [("reply", '{"text":"x"}'), ("complete_event", "{}")],
            id="no ids",
        ),
        pytest.param(
            [
                call_piece(0, id="a", name="reply", arguments='{"text":"caf\\u00'),
                call_piece(0, arguments="e9 \\ud83d"),
                call_piece(0, arguments='\\ude00"}'),
            ],
            [("reply", '{"text":"caf\\u00e9 \\ud83d\\ude00"}')],
            id="cut in the middle of escapes",
        ),
        pytest.param(
            [
                call_piece(0, id="a", name="reply", arguments=""),
                call_piece(1, id="b", name="complete_event", arguments=""),
                call_piece(0, arguments='{"text":"x"}'),
                call_piece(1, arguments="{}"),
            ],
            [("reply", '{"text":"x"}'), ("complete_event", "{}")],
            id="interleaved",
        ),
    ],
)
async def test_odd_streams_of_calls_become_the_right_calls(
    connect_openai: Connect, pieces: list[bytes], expected: list[tuple[str, str]]
) -> None:
    async with OpenAiServer() as server:
        server.enqueue(stream(*pieces, chunk({}, "tool_calls"), DONE))
        made = (await ask(connect_openai(server.url))).message.tool_calls
    assert [(one.name, one.arguments) for one in made] == expected
    assert len({one.id for one in made}) == len(made)
    assert all(one.id for one in made)


@pytest.mark.shows("F5")
async def test_characters_cut_between_packets_arrive_whole(connect_openai: Connect) -> None:
    utf8 = json.dumps({"choices": [{"index": 0, "delta": {"content": "你好😀"}}]}, ensure_ascii=False).encode()
    whole = b"data: " + utf8 + b"\n\n"
    async with OpenAiServer() as server:
        server.enqueue(stream(*(bytes([byte]) for byte in whole), chunk({}, "stop"), DONE))
        assert (await ask(connect_openai(server.url))).message.content == "你好😀"


@pytest.mark.shows("D11")
async def test_what_the_call_cost_is_told_with_what_the_cache_spared(connect_openai: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(text("Hi."), text("Hi again."))
        model = connect_openai(server.url)
        first = await ask(model)
        second = await ask(model, [*HELLO, first.message, Message("user", "and now?")])
    assert first.usage.prompt_tokens > 0
    assert first.usage.completion_tokens > 0
    assert first.usage.cached_tokens == 0
    assert 0 < second.usage.cached_tokens < second.usage.prompt_tokens


@pytest.mark.shows("D6", "B15", "D11")
async def test_every_request_starts_with_the_one_before_byte_for_byte(connect: Connect) -> None:
    async with OpenAiServer() as server:
        model = connect(server.url)
        messages = list(HELLO)
        for number in range(4):
            server.enqueue(calls(call("reply", {"text": f"Number {number}: 你好"}), said="Hm. " * (number % 2)))
            answer = (await ask(model, messages)).message
            results = [Message("tool", "delivered", tool_call_id=made.id) for made in answer.tool_calls]
            messages += [answer, *results, Message("user", f"and number {number + 1}?")]
    bodies = [request.raw_messages for request in server.requests]
    for earlier, later in pairwise(bodies):
        assert later.startswith(earlier)
    assert len({json.dumps(request.json["tools"]) for request in server.requests}) == 1


@pytest.mark.shows("F5", "B3")
async def test_malformed_arguments_are_kept_as_written_and_made_legal_for_the_wire(connect_openai: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(calls(call("reply", '{"text": "half')), text("Sorry."))
        model = connect_openai(server.url)
        answer = (await ask(model)).message
        assert answer.tool_calls[0].arguments == '{"text": "half'
        result = Message("tool", "error: malformed", tool_call_id=answer.tool_calls[0].id)
        await ask(model, [*HELLO, answer, result])  # the server's own strict rules accept it
    sent = server.requests[1].messages[2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"malformed_arguments": '{"text": "half'}


@pytest.mark.shows("F5")
async def test_an_id_that_was_used_before_becomes_another(connect: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(*(calls(call("reply", {"text": "x"}, id="call_0")) for _ in range(2)))
        model = connect(server.url)
        first = (await ask(model)).message
        result = Message("tool", "delivered", tool_call_id="call_0")
        second = (await ask(model, [*HELLO, first, result, Message("user", "again")])).message
    assert first.tool_calls[0].id == "call_0"
    assert second.tool_calls[0].id not in {"call_0", ""}


@pytest.mark.shows("B3")
async def test_reasoning_is_not_spoken_and_travels_back(connect_openai: Connect) -> None:
    thinking = [chunk({"reasoning_content": "They "}), chunk({"reasoning_content": "greet."})]
    async with OpenAiServer() as server:
        server.enqueue(stream(*thinking, chunk({"content": "Hello."}), chunk({}, "stop"), DONE), text("Yes."))
        model = connect_openai(server.url)
        items = await items_of(model)
        answer = items[-1]
        assert isinstance(answer, Answer)
        assert [item for item in items if isinstance(item, TextDelta)] == [TextDelta("Hello.")]
        await ask(model, [*HELLO, answer.message, Message("user", "really?")])
    assert server.requests[1].messages[2]["reasoning_content"] == "They greet."


async def test_an_answer_cut_for_length_says_so(connect: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(text("Once upon", finish_reason="length"))
        answer = await ask(connect(server.url))
    assert (answer.message.content, answer.finish_reason) == ("Once upon…", "length")


async def test_without_tools_none_are_sent(connect: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(text("Hi."))
        await ask(connect(server.url), HELLO, [])
    assert "tools" not in server.requests[0].json


@pytest.mark.shows("F6")
@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), ModelRefused, "correct the key"),
        (error(403, "forbidden"), ModelRefused, "correct the key"),
        (error(404, 'model "m" not found'), ModelRefused, 'model "m" not found'),
        (error(400, "temperature must be below 2"), ModelRefused, "temperature must be below 2"),
        (error(402, "insufficient balance"), ModelUnavailable, "no credit"),
        (error(429, "slow down", {"Retry-After": "7"}), ModelUnavailable, "wait 7 s"),
        (error(500, "out of memory"), ModelUnavailable, "out of memory"),
        (error(503, "loading"), ModelUnavailable, "ask again later"),
        (stream(Reset()), ModelUnavailable, "m"),
        (stream(), ModelUnavailable, "broke off"),
        (stream(b"data: {nonsense\n\n"), ModelUnavailable, "m"),
    ],
)
async def test_each_failure_is_one_sentence_with_its_mend(
    connect: Connect, answer: Scripted, kind: type[ModelError], says: str
) -> None:
    async with OpenAiServer() as server:
        server.enqueue(answer, answer)  # a connection that dies at once is tried a second time
        failure = await failure_of(connect(server.url))
    assert type(failure) is kind
    assert says in str(failure)
    assert "\n" not in str(failure)
    assert KEY not in str(failure)
    assert "litellm" not in str(failure)


@pytest.mark.shows("F6")
async def test_a_page_in_place_of_a_stream_is_no_answer(connect_openai: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(Scripted((b"<html>no</html>",), headers={"Content-Type": "text/html"}))
        model = connect_openai(server.url)
        failure = await failure_of(model)
    assert type(failure) is ModelUnavailable
    assert ("web page" if isinstance(model, OpenAiCompatibleModel) else "is a login page in between") in str(failure)


@pytest.mark.shows("F6", "B1")
@pytest.mark.parametrize(
    "rest",
    [
        pytest.param([Reset()], id="connection closed"),
        pytest.param([], id="ended without an end"),
        pytest.param([DONE], id="done without a reason"),
        pytest.param([b"data: {nonsense\n\n", DONE], id="malformed"),
        pytest.param([event({"error": {"message": "gpu gone", "code": 500}}), DONE], id="error in the stream"),
        pytest.param([chunk({}, "error"), DONE], id="an error for a reason"),
        pytest.param([Stall()], id="stall"),
        pytest.param([KEEP_ALIVE, KEEP_ALIVE, Stall()], id="stall with comments"),
    ],
)
async def test_a_stream_that_breaks_gives_what_had_come(
    connect_openai: Connect, rest: list[bytes | Reset | Stall]
) -> None:
    begun = [chunk({"content": "Let me"}), call_piece(0, id="a", name="reply", arguments='{"text": "Hel')]
    async with OpenAiServer() as server:
        server.enqueue(stream(*begun, *rest))
        failure = await failure_of(connect_openai(server.url, ONCE_BEGUN))
    assert isinstance(failure, StreamBroken)
    assert failure.partial == Message("assistant", "Let me", (ToolCall("a", "reply", '{"text": "Hel'),))


@pytest.mark.shows("F5")
@pytest.mark.parametrize("rest", [Stall(), Reset()], ids=["left open", "connection closed"])
async def test_a_finish_reason_makes_the_answer_whole(connect_openai: Connect, rest: Stall | Reset) -> None:
    async with OpenAiServer() as server:
        server.enqueue(stream(chunk({"content": "All of it."}), chunk({}, "stop"), rest))
        model = connect_openai(server.url, Patience(first=20.0, between=20.0, last=0.3))
        async with asyncio.timeout(120):
            answer = await ask(model)
    assert (answer.message.content, answer.finish_reason, len(server.requests)) == ("All of it.", "stop", 1)


async def test_what_goes_on_and_on_is_ended(connect_openai: Connect) -> None:
    """Arguments that no statement could need would hold everybody up until the run's time is over."""
    numbers = ["".join(map(str, range(first, first + 4_000))) for first in range(10_000, 110_000, 4_000)]
    pieces = [call_piece(0, arguments=each) for each in numbers]
    assert sum(map(len, numbers)) > MOST_OF_AN_ANSWER
    async with OpenAiServer() as server:
        server.enqueue(stream(call_piece(0, id="a", name="reply", arguments='{"text": "'), *pieces, Stall()))
        failure = await failure_of(connect_openai(server.url, ONCE_BEGUN))
    assert isinstance(failure, StreamBroken)
    assert (failure.is_of_answer, "went on past 500000 characters" in str(failure)) == (True, True)


A_THOUGHT = " ".join(str(number) for number in range(4_000))
"""Some 19,000 characters in which nothing comes again."""


@pytest.mark.parametrize(
    "pieces",
    [
        [chunk({"reasoning_content": A_THOUGHT}) for _ in range(MOST_THOUGHT // len(A_THOUGHT) + 1)],
        [chunk({"reasoning": "Wait, no. "}) for _ in range(MOST_REPEATED)],
    ],
    ids=["without end", "over and over"],
)
async def test_thinking_that_goes_on_and_on_is_ended_and_told(connect_openai: Connect, pieces: list[bytes]) -> None:
    async with OpenAiServer() as server:
        server.enqueue(stream(*pieces, Stall()))
        answer = await ask(connect_openai(server.url, ONCE_BEGUN))
    assert (answer.message.content, answer.finish_reason) == ("", "length")
    assert len(str(answer.message.extra)) < MOST_THOUGHT + 2 * len(A_THOUGHT)


@pytest.mark.parametrize("ended", [[DONE], []], ids=["done", "no word"])
async def test_an_answer_that_ends_a_sentence_is_whole_whatever_its_server_says(
    connect_openai: Connect, ended: list[bytes]
) -> None:
    """Gateways, vLLM-MLX and Foundry Local give no reason; ik_llama.cpp, MLC and older others never said [DONE]."""
    async with OpenAiServer() as server:
        server.enqueue(stream(chunk({"content": "All of"}), chunk({"content": " it. 👍"}), *ended))
        assert (await ask(connect_openai(server.url))).message.content == "All of it. 👍"


@pytest.mark.parametrize("said", ["All of", "First:\n1."])
async def test_an_answer_that_ends_in_the_middle_of_a_sentence_is_not(connect_openai: Connect, said: str) -> None:
    async with OpenAiServer() as server:
        server.enqueue(stream(chunk({"content": "Well. "}), chunk({"content": said})))
        assert isinstance(await failure_of(connect_openai(server.url)), StreamBroken)


@pytest.mark.parametrize(
    "beat",
    [
        b"event: ping\n\n",
        b"data:\n\n",
        b"event: ping\ndata: ping\n\n",
        b"event: ping\ndata: {}\n\n",
        b"data: keep-alive\n\n",
        b"data: []\n\n",
        b"id: 7\n: ping\n\n",
    ],
)
async def test_what_only_keeps_a_connection_alive_ends_no_answer(connect_openai: Connect, beat: bytes) -> None:
    async with OpenAiServer() as server:
        server.enqueue(
            stream(beat, chunk({"content": "All of"}), beat, chunk({"content": " it."}), chunk({}, "stop"), DONE)
        )
        assert (await ask(connect_openai(server.url))).message.content == "All of it."


@pytest.mark.shows("F6")
async def test_a_reset_connection_in_the_middle_breaks_the_stream(connect: Connect) -> None:
    gate = Gate()
    async with OpenAiServer() as server:
        server.enqueue(stream(chunk({"content": "Hello"}), gate, Reset(is_hard=True)))
        items = connect(server.url).stream(HELLO, TOOLS)
        assert await anext(items) == TextDelta("Hello")
        gate.open()
        with pytest.raises(StreamBroken) as raised:
            await anext(items)
    assert raised.value.partial.content == "Hello"


@pytest.mark.shows("F6", "B1")
async def test_a_server_that_never_begins_is_given_up(connect: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(stream(Stall()))
        failure = await failure_of(connect(server.url, BRISK))
    assert type(failure) is ModelUnavailable
    assert "0.3 s" in str(failure)


@pytest.mark.shows("F6")
async def test_a_dead_port_is_named_with_the_mend(connect: Connect) -> None:
    async with OpenAiServer() as server:
        url = server.url
    failure = await failure_of(connect(url))
    assert type(failure) is ModelUnavailable
    assert url.removesuffix("/v1") in str(failure)
    assert "start that server" in str(failure)


@pytest.mark.shows("B10")
async def test_closing_the_stream_hangs_up(connect: Connect) -> None:
    gate = Gate()
    async with OpenAiServer() as server:
        server.enqueue(text("Hello", gate, " there"), text("Hi."))
        model = connect(server.url)
        async with aclosing(model.stream(HELLO, TOOLS)) as items:
            assert await anext(items) == TextDelta("Hell")
        async with asyncio.timeout(120):
            await server.hung_up.wait()
        assert (await ask(model)).message.content == "Hi."


@pytest.mark.shows("B10")
async def test_cancelling_the_task_hangs_up_at_once(connect: Connect) -> None:
    gate = Gate()
    async with OpenAiServer() as server:
        server.enqueue(text("Hello", gate), text("Hi."))
        model = connect(server.url)
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(ask(model))
            await gate.reached.wait()
            asking.cancel()
        async with asyncio.timeout(120):
            await server.hung_up.wait()
        assert asking.cancelled()
        assert (await ask(model)).message.content == "Hi."


@pytest.mark.parametrize(
    "messages",
    [
        [Message("system", "s")],
        [*HELLO, Message("assistant", "Hi.")],
        [*HELLO, Message("tool", "orphan", tool_call_id="a")],
        [*HELLO, Message("assistant", tool_calls=(ToolCall("a", "reply", "{}"),)), Message("user", "and?")],
    ],
)
async def test_an_illegal_list_is_found_before_it_is_sent(connect: Connect, messages: list[Message]) -> None:
    async with OpenAiServer() as server:
        model = connect(server.url)
        with pytest.raises(IllegalMessages):
            await ask(model, messages)
        server.enqueue(text("Hi."))
        await ask(model)  # and does no harm to the next
    assert len(server.requests) == 1


@pytest.mark.shows("F1")
async def test_the_key_is_sent_with_every_call(connect: Connect) -> None:
    async with OpenAiServer(api_key=KEY) as server:
        server.enqueue(text("One."), text("Two."))
        model = connect(server.url)
        for _ in range(2):
            await ask(model)
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}


async def test_warming_never_raises_and_never_bills(connect: Connect) -> None:
    async with OpenAiServer() as server:
        await connect(server.url).warm()
    assert server.requests == []
    await connect("http://127.0.0.1:1/v1").warm()


async def test_closing_twice_is_fine_and_leaves_no_task(connect: Connect) -> None:
    async with OpenAiServer() as server:
        server.enqueue(calls(call("reply", {"text": "x"})), stream(chunk({"content": "a"}), Reset()), error(500, "x"))
        model = connect(server.url)
        await ask(model)
        for _ in range(2):
            await failure_of(model)
        await model.aclose()
        await model.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_failures_make_no_noise(
    connect: Connect, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with OpenAiServer() as server:
        server.enqueue(error(401, "no"), stream(chunk({"content": "a"}), Reset()), stream(Stall()))
        model = connect(server.url, BRISK)
        for _ in range(3):
            await failure_of(model)
        await model.aclose()
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")
    assert [record for record in caplog.records if record.levelname in {"WARNING", "ERROR", "CRITICAL"}] == []
