"""`nakari journal`: past model calls, listed and rebuilt, as a process of its own beside the running service."""

import asyncio
import json
from pathlib import Path

import pytest

from appliance.errors import Exit
from tests.agent.mind import a_mind, spoken
from tests.appliance.command import nakari, state_folder
from tests.fakes import ScriptedModel, calls


@pytest.mark.shows("D1")
async def test_a_past_call_is_shown_as_it_was_sent_while_the_state_is_in_use(tmp_path: Path) -> None:
    folder = state_folder(tmp_path)
    model = ScriptedModel(calls(("reply", '{"text": "半对"}')))
    async with a_mind(folder, [model]) as mind:
        await mind.handle(spoken("where are my keys"))
        [asked] = await mind.journal.entries(topic="llm.requests")
        listed = await asyncio.to_thread(nakari, tmp_path, "journal", "calls", "-n", "1")
        shown = await asyncio.to_thread(nakari, tmp_path, "journal", "call", asked.id)
        await mind.journal.erase(asked.id)
        forgotten = await asyncio.to_thread(nakari, tmp_path, "journal", "calls")
        unknown = await asyncio.to_thread(nakari, tmp_path, "journal", "call", "nothing")
    assert asked.id in listed.stdout
    assert "2 messages" in listed.stdout
    assert (shown.returncode, shown.stderr) == (0, "")
    told = json.loads(shown.stdout)
    assert told["is_proven"]
    assert told["messages"] == [message.to_json() for message in model.requests[0]]
    assert [tool["name"] for tool in told["tools"]] == [spec.name for spec in model.tools[0]]
    assert (forgotten.returncode, forgotten.stdout.endswith(f"{asked.id}  its words were erased\n")) == (0, True)
    assert unknown.returncode == Exit.NO_INPUT
    assert "no model call" in unknown.stderr


def test_without_a_state_it_is_told(tmp_path: Path) -> None:
    told = nakari(tmp_path, "journal", "calls")
    assert told.returncode == Exit.UNAVAILABLE
    assert told.stderr.startswith("nakari: nothing was kept yet: there is no ")
    assert told.stderr.count("\n") == 1
