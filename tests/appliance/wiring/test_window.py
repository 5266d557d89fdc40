"""The window in force decides what a model is told: through the real box, with a local Ollama behind it."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.event import ASR_TRANSCRIPT, USER_TEXT, Event
from agent.model.dialects.marks import marks_of
from agent.model.dialects.reader import ReplyText, TextReader
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.model.choose import choose_models
from appliance.wiring.box import Box, open_box
from tests.agent.openai_server import OpenAiServer, call, calls
from tests.appliance.wiring.test_box import Room
from tests.service.process import Household

pytestmark = pytest.mark.shows("D2", "F1", "X3")


def shown(most: int) -> dict[str, Any]:
    info = {"general.architecture": "qwen3", "qwen3.context_length": most}
    return {"model_info": info, "capabilities": ["completion", "tools"]}


async def ask(box: Box, words: str) -> None:
    mailbox = box.household.mailbox
    await mailbox.enqueue(Event(USER_TEXT, words, session_id="desk", source="cli"))
    await box.agent.loop.handle(await mailbox.take())


async def after_a_question(folder: Path, most: int) -> tuple[dict[str, Any], Any]:
    """Return the request that a model that reads so many tokens was sent, and the status after it."""
    async with OpenAiServer(pages={"/api/show": shown(most), "/api/ps": {"models": []}}) as server:
        model: dict[str, object] = {
            "provider": "openai",
            "base_url": server.url,
            "name": "qwen3:4b",
            "profile": "ollama",
        }
        config = load(Household(folder, {"model": model, "memory": {"enabled": True}}).write(), {"HOME": str(folder)})
        environment = replace(Room().environment(), models=choose_models)
        async with open_box(config, RunOptions(), environment) as box:
            await box.agent.warm()
            server.enqueue(calls(call("reply", {"text": "Hello."}), call("complete_event", {})))
            await ask(box, "hello there")
            status = box.agent.describe_models()
    return server.requests[0].json, status["window"]


@pytest.mark.parametrize("most", [4096, 8192])
async def test_a_small_window_gets_the_short_prompt_and_few_tools(tmp_path: Path, most: int) -> None:
    request, window = await after_a_question(tmp_path, most)
    names = {tool["function"]["name"] for tool in request["tools"]}
    assert {"reply", "set_timer", "memory_write", "use_tool", "find_tools"} <= names
    assert "recall" not in names
    assert len(request["messages"][0]["content"]) < 3500
    assert request["options"] == {"num_ctx": most}
    assert (window["tokens"], window["source"]) == (most, "/api/show")
    assert 1000 < window["prefix"] <= 1800


async def test_a_large_one_gets_all(tmp_path: Path) -> None:
    request, window = await after_a_question(tmp_path, 40_960)
    names = {tool["function"]["name"] for tool in request["tools"]}
    assert {"recall", "create_event", "memory_schema"} <= names
    assert "use_tool" not in names
    assert (window["tokens"], window["source"]) == (16_384, "set as num_ctx")
    assert window["prefix"] > 3500


async def test_what_an_answer_is_read_with_is_made_before_the_first_question(tmp_path: Path) -> None:
    config = load(Household(tmp_path).write(), {"HOME": str(tmp_path)})
    async with open_box(config, RunOptions(), Room().environment()) as box:
        await box.agent.warm()
        before = marks_of.cache_info().misses
        TextReader(box.agent.registry.specs_for(ASR_TRANSCRIPT))
        ReplyText()
    assert marks_of.cache_info().misses == before
