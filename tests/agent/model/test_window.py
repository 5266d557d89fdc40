"""What a model reads: asked of its own server and of nobody else, learnt from refusals, noticed where it is cut."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from agent.errors import ContextTooLong
from agent.model.interface import Answer
from agent.model.litellm import LiteLlmModel
from agent.model.messages import Message
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.window import DOUBTED_AFTER, Window, WindowRecord, Windows, window_in_table, window_listed
from agent.model.wire.profile import GENERIC, PROFILES
from tests.agent.openai_script import chunk
from tests.agent.openai_server import OpenAiServer, Scripted, stream, text

pytestmark = pytest.mark.shows("D2", "F1", "X3")

HELLO = [Message("system", "You are nakari."), Message("user", "hello")]


def listing(**model: Any) -> Mapping[str, Any]:
    return {"object": "list", "data": [{"id": "other", "object": "model"}, {"id": "m", "object": "model", **model}]}


SERVERS: dict[str, tuple[dict[str, Any], Window]] = {
    "vLLM": ({"/v1/models": listing(max_model_len=16_384)}, Window(16_384, "/v1/models")),
    "OpenRouter": (
        {"/v1/models": listing(context_length=32_768, top_provider={"context_length": 32_768})},
        Window(32_768, "/v1/models"),
    ),
    "Groq": ({"/v1/models": listing(context_window=131_072)}, Window(131_072, "/v1/models")),
    "Mistral": ({"/v1/models": listing(max_context_length=32_768)}, Window(32_768, "/v1/models")),
    "llama.cpp": (
        {
            "/v1/models": listing(meta={"n_ctx_train": 40_960}),
            "/props": {"default_generation_settings": {"id": 0, "n_ctx": 8192}, "total_slots": 4},
        },
        Window(8192, "/props"),
    ),
    "LM Studio": (
        {
            "/v1/models": listing(),
            "/api/v0/models": listing(state="loaded", max_context_length=131_072, loaded_context_length=4096),
        },
        Window(4096, "/api/v0/models"),
    ),
    "LM Studio before it is loaded": (
        {"/v1/models": listing(), "/api/v0/models": listing(state="not-loaded", max_context_length=131_072)},
        Window(),
    ),
    "Ollama in OpenAI's words": (
        {"/v1/models": listing(), "/api/ps": {"models": [{"name": "m:latest", "context_length": 4096}]}},
        Window(4096, "/api/ps"),
    ),
    "one that says nothing": ({"/v1/models": listing()}, Window()),
    "one that says nonsense": (
        {"/v1/models": listing(max_model_len="many", context_length=-1, context_window=True), "/props": []},
        Window(),
    ),
    "one without pages": ({"/v1/models": Scripted((b"<html>",), 500)}, Window()),
}


@pytest.mark.parametrize("server", SERVERS)
async def test_the_window_is_read_while_the_connection_is_warmed(server: str) -> None:
    pages, expected = SERVERS[server]
    async with OpenAiServer(pages=pages) as http:
        model = OpenAiCompatibleModel(http.url, "m")
        assert model.window.in_force == Window()
        await model.warm()
        await model.warm()
        await model.aclose()
    assert model.window.in_force == expected
    assert http.requests == []


async def test_it_is_not_on_the_way_to_the_first_token() -> None:
    async with OpenAiServer(pages=SERVERS["vLLM"][0]) as http:
        http.enqueue(text("Hi."))
        model = OpenAiCompatibleModel(http.url, "m")
        async for _ in model.stream(HELLO, []):
            pass
        await model.aclose()
    assert http.others == []


async def test_a_server_that_is_not_there_is_no_matter() -> None:
    model = OpenAiCompatibleModel("http://127.0.0.1:1/v1", "m")
    await model.warm()
    assert model.window.in_force == Window()
    await model.aclose()


async def test_what_is_configured_comes_before_what_the_server_says() -> None:
    async with OpenAiServer(pages=SERVERS["vLLM"][0]) as http:
        model = OpenAiCompatibleModel(http.url, "m", profile=replace(GENERIC, context_tokens=6000))
        await model.warm()
        await model.aclose()
    assert model.window.in_force == Window(6000, "configuration")


@pytest.mark.parametrize(
    ("name", "tokens"),
    [("openai/gpt-5.4-mini", 272_000), ("deepseek/deepseek-chat", 131_072), ("nobody/knows-it", 0)],
)
def test_the_table_knows_names_of_providers(name: str, tokens: int) -> None:
    assert window_in_table(name).tokens == tokens


async def test_a_cloud_s_window_comes_from_the_table() -> None:
    async with OpenAiServer(pages={"/v1/models": listing()}) as http:
        model = OpenAiCompatibleModel(http.url, "gpt-5.4-mini", profile=PROFILES["openai"])
        await model.warm()
        await model.aclose()
    assert model.window.in_force == Window(272_000, "litellm's table")
    assert [request.path for request in http.others] == ["/v1/models"]


async def test_litellm_s_models_have_theirs_from_its_table_or_from_their_own_server() -> None:
    known = LiteLlmModel("anthropic/claude-haiku-4-5", "-")
    assert known.window.in_force == Window()
    await known.learn_window()
    assert known.window.in_force == Window(200_000, "litellm's table")
    async with OpenAiServer(pages=SERVERS["vLLM"][0]) as http:
        own = LiteLlmModel("hosted_vllm/m", "-", http.url)
        await own.learn_window()
        await own.aclose()
    assert own.window.in_force == Window(16_384, "/v1/models")
    await known.aclose()


def test_the_only_model_of_a_server_is_meant_whatever_it_is_called() -> None:
    assert window_listed({"data": [{"id": "/models/q.gguf", "max_model_len": 4096}]}, "q").tokens == 4096


def test_a_refusal_bounds_what_was_believed_and_another_start_of_the_server_ends_that() -> None:
    record = WindowRecord(32_768)
    record.refused(ContextTooLong("…", 8192, 9000), HELLO)
    assert record.in_force == Window(8192, "a refusal")
    record.refused(ContextTooLong("…", 16_384, 17_000), HELLO)
    assert record.in_force.tokens == 8192
    record.told(Window(16_384, "/props"))
    assert record.in_force == Window(32_768, "configuration")


def test_a_refusal_without_a_number_lowers_it_step_by_step() -> None:
    record, tokens = WindowRecord(), []
    for length in (36_000, 28_000, 20_000):
        record.refused(ContextTooLong("…"), [Message("user", "x" * length)])
        tokens.append(record.in_force.tokens)
    assert tokens == [8000, 6222, 4444]


def test_a_guess_never_goes_below_a_number_that_the_server_named() -> None:
    record = WindowRecord()
    record.refused(ContextTooLong("…", 4096, 6000), HELLO)
    for length in (9000, 6000, 3000):
        record.refused(ContextTooLong("…"), [Message("user", "x" * length)])
    assert record.in_force == Window(4096, "a refusal")


def test_a_longer_list_that_is_accepted_ends_a_guess() -> None:
    record = WindowRecord()
    record.refused(ContextTooLong("…"), [Message("user", "x" * 5400)])
    assert record.in_force.tokens == 1200
    record.accepted([Message("user", "x" * 3000)], [], 0)
    assert record.in_force.tokens == 1200
    record.accepted([Message("user", "x" * 5000)], [], 0)
    assert record.in_force == Window()
    record.refused(ContextTooLong("…"), [Message("user", "x" * 5400)])
    for _ in range(DOUBTED_AFTER):
        record.accepted(HELLO, [], 0)
    assert record.in_force == Window(), "after some answers it is tried again"


def test_a_server_that_counts_more_than_it_named_reads_more() -> None:
    record = WindowRecord(32_768)
    record.refused(ContextTooLong("…", 4096, 6000), HELLO)
    record.accepted(HELLO, [], 4000)
    assert record.in_force.tokens == 4096
    record.accepted(HELLO, [], 5000)
    assert record.in_force.tokens == 32_768


def words(count: int) -> Message:
    return Message("user", "word " * count)


@pytest.mark.parametrize(
    ("lists", "is_cut"),
    [
        pytest.param([(4000, 4100), (8000, 8100), (30_000, 30_000)], False, id="read whole"),
        pytest.param([(4000, 8100), (8000, 12_100)], False, id="with tools that were not counted here"),
        pytest.param([(4000, 5100), (4300, 4600)], False, id="a template that drops what was thought"),
        pytest.param([(30_000, 4096)], True, id="cut at once"),
        pytest.param([(4000, 4050), (5000, 4096)], True, id="stands still while the list grows"),
        pytest.param([(4000, 4050), (6000, 2500)], True, id="shrinks while the list grows"),
        pytest.param([(4000, 4050), (100, 0)], False, id="no count"),
        pytest.param([(4000, 40)], False, id="only what its cache did not have"),
    ],
)
def test_a_list_that_was_cut_in_silence_is_noticed(lists: list[tuple[int, int]], is_cut: bool) -> None:
    record, messages = WindowRecord(), list(HELLO[:1])
    for count, tokens in lists:
        have = sum(len(message.content) for message in messages) // 5
        messages = [*messages, words(max(1, count - have))]
        record.counted("m", messages, tokens)
    assert bool(record.in_force.tokens) is is_cut
    if is_cut:
        assert record.in_force == Window(max(tokens for _, tokens in lists), "its server cuts what is longer")


async def test_the_adapter_looks_at_the_count_of_each_answer() -> None:
    long = [HELLO[0], words(30_000)]
    async with OpenAiServer() as http:
        http.enqueue(stream(chunk({"content": "Hm."}), chunk({}, "stop", usage={"prompt_tokens": 4096})))
        model = OpenAiCompatibleModel(http.url, "m")
        items = [item async for item in model.stream(long, [])]
        await model.aclose()
    assert isinstance(items[-1], Answer)
    assert model.window.in_force.tokens == 4096


def test_the_register_tells_the_window_of_who_thinks_and_the_least_of_all_who_may() -> None:
    chain: list[object] = []
    windows = Windows()
    assert windows.chosen == windows.least == Window()
    windows.follow(lambda: chain)
    assert windows.chosen == windows.least == Window()
    chain += [reading(32_768), object()]
    assert windows.chosen == windows.least == Window(32_768, "configuration")
    chain.insert(0, reading(0))
    assert (windows.chosen, windows.least.tokens) == (Window(), 32_768)
    chain.insert(1, reading(4096))
    assert windows.least.tokens == 4096


def reading(tokens: int) -> OpenAiCompatibleModel:
    return OpenAiCompatibleModel("http://127.0.0.1:1/v1", "m", profile=replace(GENERIC, context_tokens=tokens))


@pytest.mark.parametrize(("tokens", "is_small"), [(0, False), (4096, True), (8192, True), (16_384, False)])
def test_a_window_of_8k_and_below_is_small(tokens: int, is_small: bool) -> None:
    assert Window(tokens, "x").is_small is is_small
