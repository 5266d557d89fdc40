"""The real ollama SDK against Ollama's protocol as it is served here."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import ollama
import pytest

from appliance.api.outcome import Outcome
from appliance.api.program_questions import Figures
from appliance.errors import Exit, Problem
from appliance.http.compat.ollama import TAGGED
from tests.appliance.http.compat.served import ScriptedAsking, programs_served

pytestmark = pytest.mark.shows("X13")

PNG = b"\x89PNG\r\n\x1a\n and so on"


@asynccontextmanager
async def client(asking: ScriptedAsking, beat_seconds: float = 60.0) -> AsyncIterator[ollama.AsyncClient]:
    async with (
        programs_served(asking, beat_seconds=beat_seconds) as address,
        ollama.AsyncClient(host=address, trust_env=False) as sdk,
    ):
        yield sdk


def user(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


@pytest.mark.shows("F25")
async def test_an_answer_comes_whole() -> None:
    asking = ScriptedAsking()
    async with client(asking) as sdk:
        messages = [user("who"), {"role": "assistant", "content": "nakari"}, user("what time is it")]
        answer = await sdk.chat(TAGGED, messages, options={"num_ctx": 8192}, keep_alive="-1s", think=False)
    assert answer.message.content == "It is three."
    assert (answer.done, answer.done_reason, answer.model) == (True, "stop", TAGGED)
    assert (answer.prompt_eval_count, answer.eval_count) == (120, 7)
    assert answer.eval_duration
    assert [question.text for question in asking.questions] == ["what time is it"]


@pytest.mark.shows("F25")
async def test_an_answer_comes_piece_by_piece_also_between_signs_of_life() -> None:
    asking = ScriptedAsking(hold=asyncio.Event())
    assert asking.hold is not None
    seen = []
    async with client(asking, beat_seconds=0.01) as sdk:
        async for part in await sdk.chat(TAGGED, [user("now?")], stream=True):
            seen.append((part.message.content, part.done))
            if len(seen) == 4:
                asking.hold.set()
    words = [each for each in seen if each[0] or each[1]]
    assert words == [("It is", False), (" three.", False), ("", True)]
    assert len(seen) > len(words)


async def test_images_go_as_attachments_and_system_messages_once() -> None:
    asking = ScriptedAsking()
    async with client(asking) as sdk:
        for _ in range(2):
            await sdk.chat(TAGGED, [{"role": "system", "content": "Be short."}, user("what is it", images=[PNG])])
    assert [(name, content) for _, name, content in asking.attached] == [("image", PNG)] * 2
    assert [question.program for question in asking.questions] == ["Be short.", ""]


async def test_a_question_that_waits_gets_an_honest_sentence() -> None:
    async with client(ScriptedAsking([Outcome("waiting", "e1"), Figures()])) as sdk:
        answer = await sdk.chat(TAGGED, [user("when")])
    assert answer.message.content is not None
    assert answer.message.content.startswith("No model can be reached")
    assert answer.done_reason == "length"


async def test_failures_are_told_as_the_sdk_raises_them() -> None:
    asking = ScriptedAsking([], Problem("too many visitors ask at the moment", Exit.UNAVAILABLE))
    async with client(asking) as sdk:
        with pytest.raises(ollama.ResponseError, match="too many visitors") as refused:
            await sdk.chat(TAGGED, [user("hello")])
        with pytest.raises(ollama.ResponseError, match="in words") as formed:
            await sdk.chat(TAGGED, [user("hello")], format="json")
        asking.items = ["It is"]
        with pytest.raises(ollama.ResponseError, match="too many visitors"):
            async for _ in await sdk.chat(TAGGED, [user("hello")], stream=True):
                pass
    assert (refused.value.status_code, formed.value.status_code) == (429, 400)


async def test_the_one_model_is_listed_shown_and_always_loaded() -> None:
    asking = ScriptedAsking()
    async with client(asking) as sdk:
        assert [model.model for model in (await sdk.list()).models] == [TAGGED]
        shown = await sdk.show(TAGGED)
        assert (shown.capabilities, shown.modelinfo) == (
            ["completion", "vision"],
            {"general.architecture": "nakari", "nakari.context_length": 32_768},
        )
        assert [(model.model, model.context_length) for model in (await sdk.ps()).models] == [(TAGGED, 32_768)]
        with pytest.raises(ollama.ResponseError, match="'llama3' not found"):
            await sdk.show("llama3")
        assert (await sdk.chat(TAGGED, [])).done_reason == "load"
        assert (await sdk.chat(TAGGED, [], keep_alive=0)).done_reason == "unload"
    assert asking.questions == []


async def test_curl_works() -> None:
    asking = ScriptedAsking()
    body = json.dumps({"model": "nakari", "messages": [user("hello")], "stream": False})
    async with programs_served(asking) as address:
        running = await asyncio.create_subprocess_exec(
            "curl", "-sN", f"{address}/api/chat", "--json", body, stdout=asyncio.subprocess.PIPE
        )
        said, _ = await running.communicate()
        async with httpx.AsyncClient(base_url=address) as raw:
            assert (await raw.get("/api/version")).json()["version"]
    assert json.loads(said)["message"]["content"] == "It is three."


@pytest.mark.parametrize("path", ["/api/chat", "/api/show"])
@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"null", b"\xff", b'{"model": 7}', b'{"model": "nakari", "messages": [{"role": 1}]}']
)
async def test_any_bytes_get_a_sentence_in_the_shape_of_the_protocol(path: str, body: bytes) -> None:
    async with programs_served(ScriptedAsking()) as address, httpx.AsyncClient(base_url=address) as raw:
        answer = await raw.post(path, content=body)
    if not (path == "/api/show" and answer.status_code == 200):
        assert answer.status_code == 400
        assert list(answer.json()) == ["error"]


@pytest.mark.parametrize("image", ["https://example.org/cat.png", "not base64!", base64.b64encode(PNG).decode()[:-1]])
async def test_an_image_is_its_bytes_and_nothing_is_fetched(image: str) -> None:
    body = {"model": "nakari", "messages": [user("what", images=[image])]}
    async with programs_served(ScriptedAsking()) as address, httpx.AsyncClient(base_url=address) as raw:
        answer = await raw.post("/api/chat", json=body)
    assert (answer.status_code, "base64" in answer.json()["error"]) == (400, True)
