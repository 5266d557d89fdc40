"""Ollama by its own protocol: the window is set and stays, calls come whole, thinking is hidden and handed back."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from agent.errors import ContextTooLong, ModelError
from agent.model.interface import Answer, StreamItem, TextDelta
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.model.ollama import USUAL_WINDOW, OllamaModel, size_for
from agent.model.window import Window
from agent.model.wire.profile import PROFILES
from memory.json_value import Json
from tests.agent.ollama_wire import called, done, line, native, native_error
from tests.agent.openai_server import OpenAiServer, Page
from tests.agent.openai_server import text as answer

pytestmark = pytest.mark.shows("F1", "D2")

HELLO = [Message("system", "You are nakari."), Message("user", "hello")]
TOOLS = [ToolSpec("recall", "Look it up.", {"type": "object", "properties": {"about": {"type": "string"}}})]
QWEN = {
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960},
    "parameters": 'stop                           "<|im_end|>"\ntemperature                    0.6',
    "capabilities": ["completion", "tools", "thinking"],
}


def ollama(**pages: Page) -> OpenAiServer:
    usual: dict[str, Page] = {"show": QWEN, "ps": {"models": []}}
    return OpenAiServer(pages={f"/api/{name}": page for name, page in (usual | pages).items()})


At = Callable[..., OllamaModel]


@pytest.fixture
async def at() -> AsyncIterator[At]:
    """Makes the model of a server, and closes it."""
    made: list[OllamaModel] = []

    def make(url: str, context_tokens: int = 0) -> OllamaModel:
        profile = replace(PROFILES["ollama"], context_tokens=context_tokens)
        made.append(OllamaModel(url.removesuffix("/v1"), "qwen3", profile=profile))
        return made[-1]

    yield make
    for model in made:
        await model.aclose()


async def items_of(model: OllamaModel, messages: Sequence[Message] = HELLO) -> list[StreamItem]:
    return [item async for item in model.stream(messages, TOOLS)]


async def ask(model: OllamaModel, messages: Sequence[Message] = HELLO) -> Answer:
    last = (await items_of(model, messages))[-1]
    assert isinstance(last, Answer)
    return last


def windows_set(server: OpenAiServer) -> set[int]:
    return {request.json["options"]["num_ctx"] for request in server.requests}


async def test_the_window_is_set_and_the_same_in_every_request(at: At) -> None:
    async with ollama() as server:
        server.enqueue(answer("Hi."), answer("-"), answer("Yes."))
        model = at(server.url)
        await model.warm()
        assert model.window.in_force == Window(USUAL_WINDOW, "set as num_ctx")
        first = await ask(model)
        await model.prefill([*HELLO, first.message], TOOLS)
        await ask(model, [*HELLO, first.message, Message("user", "really?")])
    assert windows_set(server) == {USUAL_WINDOW}
    assert {request.json["keep_alive"] for request in server.requests} == {"24h"}
    assert [request.json["truncate"] or request.json["shift"] for request in server.requests] == [False] * 3
    assert server.requests[1].json["options"]["num_predict"] == 1
    assert [request.path for request in server.others] == ["/api/show", "/api/ps"]


@pytest.mark.parametrize(
    ("parameters", "loaded", "wanted", "most", "expected"),
    [
        ("", 0, 0, 40_960, Window(USUAL_WINDOW, "set as num_ctx")),
        ("", 0, 0, 8192, Window(8192, "/api/show")),
        ("", 0, 0, 0, Window(USUAL_WINDOW, "set as num_ctx")),
        ("", 0, 8000, 40_960, Window(8000, "configuration, set as num_ctx")),
        ("", 32_768, 8000, 40_960, Window(8000, "configuration, set as num_ctx")),
        ("", 0, 100_000, 40_960, Window(40_960, "/api/show")),
        ("num_ctx                        12000", 0, 0, 40_960, Window(12_000, "num_ctx of its Modelfile")),
        ("", 4096, 0, 40_960, Window(USUAL_WINDOW, "set as num_ctx")),
        ("", 32_768, 0, 40_960, Window(32_768, "/api/ps, as it was loaded")),
    ],
)
def test_how_large_a_window_is_set(parameters: str, loaded: int, wanted: int, most: int, expected: Window) -> None:
    info: dict[str, Json] = {"general.architecture": "qwen3", **({"qwen3.context_length": most} if most else {})}
    assert size_for({"model_info": info, "parameters": parameters}, loaded, wanted) == expected


async def test_bytes_that_are_no_utf8_lose_no_more_than_themselves(at: At) -> None:
    async with ollama() as server:
        server.enqueue(native(line({"content": "to# you."}).replace(b"#", b"\xff"), done()))
        assert (await ask(at(server.url))).message.content == "to\ufffd you."


async def test_what_it_is_loaded_with_already_is_kept(at: At) -> None:
    loaded = {"name": "qwen3:latest", "model": "qwen3:latest", "size_vram": 1, "context_length": 32_768}
    async with ollama(ps={"models": [{"name": "other", "context_length": 4096}, loaded]}) as server:
        server.enqueue(answer("Hi."))
        await ask(at(server.url))
    assert windows_set(server) == {32_768}


async def test_a_server_that_comes_later_is_asked_before_the_first_words(at: At) -> None:
    async with ollama() as gone:
        model = at(gone.url, 8000)
    await model.warm()
    assert model.window.in_force == Window()
    async with ollama() as server:
        server.enqueue(answer("Hi."))
        late = at(server.url, 8000)
        await ask(late)
    assert late.window.in_force == Window(8000, "configuration, set as num_ctx")
    assert windows_set(server) == {8000}


async def test_thinking_is_hidden_and_handed_back_and_results_name_their_tool(at: At) -> None:
    async with ollama() as server:
        server.enqueue(
            native(
                line({"content": "", "thinking": "They ask "}),
                line({"content": "", "thinking": "for plums."}),
                line({"content": "Let me see."}),
                called("recall", {"about": "Pflaumen 梅子"}, id="call_7"),
                done("stop", 900, 20),
            ),
            answer("Two."),
        )
        model = at(server.url)
        items = await items_of(model)
        last = items[-1]
        assert isinstance(last, Answer)
        assert [item for item in items if isinstance(item, TextDelta)] == [TextDelta("Let me see.")]
        (made,) = last.message.tool_calls
        assert (made.id, made.name, json.loads(made.arguments)) == ("call_7", "recall", {"about": "Pflaumen 梅子"})
        assert (last.finish_reason, last.usage.prompt_tokens, last.usage.completion_tokens) == ("tool_calls", 900, 20)
        await ask(model, [*HELLO, last.message, Message("tool", "two plums", tool_call_id="call_7")])
    _, _, thought, result = server.requests[1].messages
    assert thought["thinking"] == "They ask for plums."
    assert thought["tool_calls"] == [
        {"id": "call_7", "function": {"name": "recall", "arguments": {"about": "Pflaumen 梅子"}}}
    ]
    assert result == {"role": "tool", "content": "two plums", "tool_name": "recall", "tool_call_id": "call_7"}


async def test_calls_of_an_older_server_get_ids_and_keep_their_order(at: At) -> None:
    wanted: list[dict[str, Any]] = [{"about": "plums"}, {"about": "pears"}, {"about": "plums"}]
    async with ollama() as server:
        server.enqueue(
            native(called("recall", wanted[0]), called("recall", wanted[1]), called("recall", wanted[2]), done())
        )
        made = (await ask(at(server.url))).message.tool_calls
    assert [json.loads(call.arguments) for call in made] == wanted
    assert len({call.id for call in made}) == 3


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_lines_may_be_cut_anywhere(at: At, size: int) -> None:
    whole = line({"content": "你好😀 "}) + line({"content": "there"}) + done("length", 600, 4)
    pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
    async with ollama() as server:
        server.enqueue(native(*pieces))
        said = await ask(at(server.url))
    assert (said.message.content, said.finish_reason) == ("你好😀 there…", "length")


@pytest.mark.parametrize(
    "words",
    [
        "the input length exceeds the context length",
        "the prompt is longer than the context length currently available to the model; shorten the prompt",
        "request (17001 tokens) exceeds the available context size (16384 tokens), try increasing it",
    ],
)
async def test_a_list_that_is_too_long_is_told_and_lowers_the_window(at: At, words: str) -> None:
    async with ollama() as server:
        server.enqueue(native_error(400, words))
        model = at(server.url)
        with pytest.raises(ContextTooLong):
            await ask(model, [*HELLO[:1], Message("user", "and more words " * 3000)])
    assert 0 < model.window.in_force.tokens <= USUAL_WINDOW
    assert "refusal" in model.window.in_force.source or "17001" in words


async def test_an_older_server_that_cuts_the_list_all_the_same_is_noticed(at: At) -> None:
    long = [*HELLO[:1], Message("user", "what was said of plums " * 1500)]
    async with ollama() as server:
        server.enqueue(native(line({"content": "Plums?"}), done("stop", 4096, 3)))
        model = at(server.url)
        await ask(model, long)
    assert model.window.in_force == Window(4096, "its server cuts what is longer")


async def test_malformed_arguments_of_another_model_are_made_an_object(at: At) -> None:
    async with ollama() as server:
        server.enqueue(answer("Yes."))
        broken = Message("assistant", tool_calls=(ToolCall("a", "recall", '{"about": "half'),))
        await ask(at(server.url), [*HELLO, broken, Message("tool", "error: malformed", tool_call_id="a")])
    sent = server.requests[0].messages[2]["tool_calls"][0]["function"]["arguments"]
    assert sent == {"malformed_arguments": '{"about": "half'}


HI = line({"content": "Hello there."})
LOADED = line({"content": ""}, done=True, done_reason="load")


def generated(words: str, **more: Json) -> bytes:
    """Return a line as /api/generate has it."""
    return json.dumps({"model": "m", "response": words, "done": False, **more}).encode() + b"\n"


@pytest.mark.parametrize(
    "lines",
    [
        (HI,),
        (line({"content": "Hello"}), line({"content": " there."}).rstrip()),
        (LOADED, HI, done()),
        (b"data: " + HI + b"\n", b"data: " + done() + b"\n"),
        (b"data: " + HI + b"\n", b"data: [DONE]\n\n"),
        (generated("Hello "), generated("there."), generated("", done=True, done_reason="stop")),
        (json.dumps(json.loads(line({"content": "Hello there."}, done=True)), indent=2).encode(),),
    ],
    ids=["without done", "without an end of line", "loaded before", "events", "DONE", "/api/generate", "over lines"],
)
async def test_an_answer_is_whole_by_itself_and_loading_ends_none(at: At, lines: tuple[bytes, ...]) -> None:
    async with ollama() as server:
        server.enqueue(native(*lines))
        assert (await ask(at(server.url))).message.content == "Hello there."


@pytest.mark.parametrize("lines", [(LOADED,), (line({"content": "Hello th"}),)], ids=["only loaded", "cut"])
async def test_what_is_no_whole_answer_is_told_as_broken_off(at: At, lines: tuple[bytes, ...]) -> None:
    async with ollama() as server:
        server.enqueue(native(*lines))
        with pytest.raises(ModelError, match="broke off"):
            await ask(at(server.url))
