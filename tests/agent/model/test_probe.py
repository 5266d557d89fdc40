"""The search for a model server on this machine, against small servers that answer as Ollama and llama.cpp do."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest

from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.probe import DEFAULT_CANDIDATES, Candidate, Found, find_local_server
from tests.agent.openai_script import Stall, stream
from tests.agent.openai_server import OpenAiServer, Recorded, Scripted, reply

PATIENT = 5.0
"""Seconds; this machine is shared, and nothing here waits for its end."""


def ollama(**capabilities: list[str] | None) -> OpenAiServer:
    """Return a server with these installed models, newest first; None is an Ollama too old to tell."""
    names = [name.replace("__", ":") for name in capabilities]
    told = dict(zip(names, capabilities.values(), strict=True))

    def show(request: Recorded) -> Mapping[str, Any]:
        able = told[request.json["model"]]
        return {"details": {}} if able is None else {"details": {}, "capabilities": able}

    models = [{"name": name, "model": name, "size": 1} for name in names]
    return OpenAiServer(pages={"/api/tags": {"models": models}, "/api/show": show})


def root(server: OpenAiServer) -> str:
    return server.url.removesuffix("/v1")


@pytest.mark.shows("F1")
@pytest.mark.parametrize(
    ("installed", "chosen"),
    [
        ({"qwen3__4b": ["completion", "tools"], "llama3": ["completion", "tools"]}, "qwen3:4b"),
        (
            {"nomic-embed-text": ["embedding"], "gemma": ["completion"], "qwen3__4b": ["completion", "tools"]},
            "qwen3:4b",
        ),
        ({"nomic-embed-text": None, "mistral": None}, "mistral"),
    ],
)
async def test_ollama_gives_the_newest_model_that_can_call_tools(
    installed: dict[str, list[str] | None], chosen: str
) -> None:
    async with ollama(**installed) as server:
        found = await find_local_server([Candidate(root(server), "ollama")], PATIENT)
        assert found == Found(server.url, chosen, "ollama")


@pytest.mark.parametrize("installed", [{}, {"nomic-embed-text": ["embedding"]}, {"gemma": ["completion"]}])
async def test_ollama_without_a_fit_model_is_none(installed: dict[str, list[str] | None]) -> None:
    async with ollama(**installed) as server:
        assert await find_local_server([Candidate(root(server), "ollama")], PATIENT) is None


@pytest.mark.shows("F1")
async def test_llama_cpp_gives_the_model_it_was_started_with_and_it_answers() -> None:
    pages = {"/v1/models": {"object": "list", "data": [{"id": "/models/qwen3-4b.gguf", "object": "model"}]}}
    async with OpenAiServer(pages=pages) as server:
        found = await find_local_server([Candidate(root(server), "llama.cpp")], PATIENT)
        assert found == Found(server.url, "/models/qwen3-4b.gguf", "llama.cpp")
        server.enqueue(reply("Hello."))
        model = OpenAiCompatibleModel(found.base_url, found.model)
        await model.warm()
        await model.aclose()


async def test_all_are_asked_at_once_and_the_first_of_the_list_wins() -> None:
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(OpenAiServer()) for _ in range(2)]
        candidates = [Candidate(root(server), "llama.cpp") for server in (first, second)]
        assert await find_local_server(candidates, PATIENT) == Found(first.url, "m", "llama.cpp")
        assert [len(server.others) for server in (first, second)] == [1, 1]
        await first.stop()
        assert await find_local_server(candidates, PATIENT) == Found(second.url, "m", "llama.cpp")


@pytest.mark.shows("F6")
@pytest.mark.parametrize(
    "page",
    [
        Scripted((b"<html>a router</html>",), headers={"Content-Type": "text/html"}),
        Scripted((b"[]",), headers={"Content-Type": "application/json"}),
        Scripted((b'{"data": []}',), headers={"Content-Type": "application/json"}),
        Scripted((b'{"data": [{"id": 7}]}',), headers={"Content-Type": "application/json"}),
        Scripted((b'{"error": "Loading model"}',), 503, {"Content-Type": "application/json"}),
    ],
)
@pytest.mark.parametrize("kind", ["ollama", "llama.cpp"])
async def test_something_else_on_the_port_is_none(page: Scripted, kind: Any) -> None:
    async with OpenAiServer(pages={"/v1/models": page, "/api/tags": page}) as server:
        assert await find_local_server([Candidate(root(server), kind)], PATIENT) is None


async def test_nobody_there_is_none_and_a_silent_port_costs_no_more_than_was_granted() -> None:
    async with OpenAiServer(pages={"/v1/models": stream(Stall())}) as server:
        begun = asyncio.get_running_loop().time()
        assert await find_local_server([Candidate(root(server), "llama.cpp")], 0.1) is None
        assert asyncio.get_running_loop().time() - begun < 60.0  # it stalls for ever
    assert await find_local_server([Candidate(root(server), "llama.cpp")], PATIENT) is None


@pytest.mark.parametrize("url", ["http://192.168.1.7:11434", "http://example.org", "http://0.0.0.0:1", "nonsense"])
async def test_only_this_machine_is_asked(url: str) -> None:
    with pytest.raises(ValueError, match="not on this machine"):
        await find_local_server([Candidate(url, "ollama")])


def test_the_usual_ports_are_asked() -> None:
    assert [candidate.url for candidate in DEFAULT_CANDIDATES] == ["http://127.0.0.1:11434", "http://127.0.0.1:8080"]
