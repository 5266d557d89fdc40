"""Programs that people have, unchanged, against the whole box with a scripted model behind it."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import ollama
import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families

from agent.event import new_id
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.owners.owners import FOLDER, Tokens
from appliance.service import serve
from appliance.wiring.box import open_box
from tests.agent.openai_server import Gate, OpenAiServer, call, reply
from tests.appliance.http.compat.clients import llm
from tests.memory.graph_looks import free_port
from tests.service.process import Household

pytestmark = [pytest.mark.shows("X13"), pytest.mark.usefixtures("sdk_as_it_comes")]

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
)
DONE = call("complete_event", {"summary": "answered"})


def home_of(folder: Path, server: OpenAiServer) -> Household:
    return Household(folder, {"model": {"provider": "openai", "base_url": server.url, "name": "m", "vision": "yes"}})


async def during(home: Household, act: Callable[[], Awaitable[None]]) -> None:
    """Do something while the whole box runs in this process."""
    config = load(home.write(), {"HOME": str(home.folder)})
    async with asyncio.timeout(120), open_box(config, RunOptions(deaf=True)) as box:
        await serve(box, act)


@asynccontextmanager
async def at(home: Household) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of the box's Unix socket."""
    transport = httpx.AsyncHTTPTransport(uds=str(home.folder / "door.sock"), verify=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


@asynccontextmanager
async def sdk(home: Household, **options: Any) -> AsyncIterator[openai.AsyncOpenAI]:
    key = Tokens(home.state / FOLDER).create(new_id())
    async with (
        at(home) as client,
        openai.AsyncOpenAI(base_url="http://localhost/v1", api_key=key, http_client=client, **options) as opened,
    ):
        yield opened


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


@pytest.mark.shows("F25")
async def test_a_conversation_is_remembered_here_and_not_sent_twice(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        home = home_of(tmp_path, server)
        server.enqueue(reply("It is three. ", "Or later.", also=[DONE]), reply("Four.", also=[DONE]))

        async def act() -> None:
            async with sdk(home) as client:
                said = [{"role": "system", "content": "Be short."}, user("what time is it")]
                first: Any = await client.chat.completions.create(model="any", messages=said)
                answer = first.choices[0].message
                assert (answer.content, first.choices[0].finish_reason) == ("It is three. Or later.", "stop")
                assert first.usage.prompt_tokens > 0
                said += [{"role": "assistant", "content": answer.content}, user("and then")]
                stream: Any = await client.chat.completions.create(model="any", messages=said, stream=True)
                assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == "Four."

        await during(home, act)
        told = json.dumps(server.requests[-1].messages)
        assert [told.count(words) for words in ("what time is it", "Be short.", "and then")] == [1, 1, 1]
        assert home.states() == ["completed", "completed"]


async def test_ollamas_sdk_asks_about_an_image(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        home = home_of(tmp_path, server)
        server.enqueue(reply("A dot.", also=[DONE]))

        async def act() -> None:
            client = ollama.AsyncClient(host="http://localhost")
            async with at(home) as opened:
                client._client = opened
                answer = await client.chat("nakari", [user("what is it") | {"images": [PNG]}])
                assert (answer.message.content, answer.done_reason) == ("A dot.", "stop")

        await during(home, act)
        assert base64.b64encode(PNG).decode() in server.requests[0].raw.decode()


async def test_a_question_that_waits_for_a_model_is_answered_with_that(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        home = home_of(tmp_path, server)
        await server.stop()

        async def act() -> None:
            async with sdk(home) as client:
                answer = await client.chat.completions.create(model="nakari", messages=[user("why is the sky blue")])
                assert answer.choices[0].message.content
                assert answer.choices[0].finish_reason == "length"

        await during(home, act)
        assert home.states() == ["suspended"]


def test_programs_on_this_machine_need_no_key_and_each_token_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    """Over TCP, as people have it: `llm` sends a key that is none, the SDK a real one."""
    port = free_port()
    home = Household(tmp_path, {"http": {"addresses": [f"127.0.0.1:{port}"]}})
    address = f"http://127.0.0.1:{port}"
    with home.running("run") as box:
        box.until("service_started")
        assert asyncio.run(llm(tmp_path, address, "what is seven times eight")) == "That is 56.\n"
        sdk = openai.OpenAI(base_url=f"{address}/v1", api_key=Tokens(home.state / FOLDER).create("phone"))
        for _ in range(2):
            answer = sdk.chat.completions.create(model="nakari", messages=[user("what is two plus two")])
            assert answer.choices[0].message.content == "That is 4."
        large = [{"type": "text", "text": "what is one plus one"}, *([{"type": "text", "text": "." * 900_000}] * 4)]
        sdk.chat.completions.create(model="nakari", messages=[user(large), user("what is one plus one")])
        with pytest.raises(openai.AuthenticationError):
            sdk.with_options(api_key=f"nakari_{'x' * 43}").models.list()
        sdk.close()
    sessions = [session for (session,) in home.rows("SELECT DISTINCT session_id FROM journal WHERE topic = 'runs.new'")]
    assert sessions == ["program", "program phone"]


@pytest.mark.shows("F25", "V25")
async def test_metrics_tell_of_the_turn_that_was(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        home = home_of(tmp_path, server)
        server.enqueue(reply("It is three.", also=[DONE]))
        found: dict[tuple[str, ...], float] = {}

        async def act() -> None:
            async with at(home) as client:
                body = {"model": "nakari", "messages": [user("what time is it")]}
                assert (await client.post("/v1/chat/completions", json=body)).status_code == 200
                for family in text_string_to_metric_families((await client.get("/metrics")).text):
                    found.update({(each.name, *sorted(each.labels.values())): each.value for each in family.samples})

        await during(home, act)
    name = f"127.0.0.1:{server.port}/m"
    assert found["nakari_runs_total", "completed"] == 1
    assert found["nakari_model_calls_total", name, "tool_calls"] == 1
    assert found["nakari_model_seconds_count", name] == 1
    assert found["nakari_mailbox_events", "completed"] == 1
    assert found["nakari_tool_calls_total", "ok", "reply"] == 1
    assert found["nakari_turn_seconds_count", "first_text", "written"] == 1
    assert found["nakari_disk", "has room"] == 1


async def test_the_sdk_asks_again_by_itself_when_it_is_killed_in_mid_answer_and_it_is_asked_once(
    tmp_path: Path,
) -> None:
    async with OpenAiServer() as server:
        home, gate = home_of(tmp_path, server), Gate()
        server.enqueue(reply("It is ", gate, "three."), reply("It is three.", also=[DONE]))

        async def act() -> Any:
            async with sdk(home, max_retries=20) as client:
                return await client.chat.completions.create(model="nakari", messages=[user("what time is it")])

        with home.running("run") as first:
            await asyncio.to_thread(first.until, "service_started")
            async with asyncio.timeout(120), asyncio.TaskGroup() as group:
                asking = group.create_task(act())
                await gate.reached.wait()
                await asyncio.to_thread(first.kill)
                with home.running("run") as second:
                    await asyncio.to_thread(second.until, "service_started")
                    answer = await asking
        assert answer.choices[0].message.content == "It is three."
        assert home.states() == ["completed"]
        assert len(server.requests) == 2
