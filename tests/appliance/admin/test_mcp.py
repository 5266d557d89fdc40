"""The memory for other programs: the real MCP client over the real command's standard input and output."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from appliance.admin.local import local_admin
from tests.appliance.admin.boxes import KeptBox
from tests.appliance.admin.test_graph_admin import query
from tests.appliance.command import environment, nakari
from tests.appliance.door_fakes import ScriptedHandler, doors_of


@pytest.mark.shows("F31")
def test_it_is_closed_unless_it_was_opened(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    box.config()
    ended = nakari(tmp_path, "--config", box.file, "mcp")
    assert ended.returncode == 78
    assert ended.stderr == "nakari: the memory is closed to other programs; set [memory] mcp = true to let them in\n"


@pytest.mark.shows("F31")
async def test_another_program_looks_into_its_memory(tmp_path: Path) -> None:
    box = KeptBox(tmp_path, memory="mcp = true")
    box.config()
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "appliance", "--config", str(box.file), "mcp"], env=environment(tmp_path)
    )
    async with Client(command) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"memory_query", "memory_write", "memory_schema", "embedding"}
        assert "cypher" in tools["memory_query"].input_schema["properties"]
        await client.call_tool("memory_write", {"cypher": "CREATE (:P {name: $n})", "params": {"n": "小明"}})
        answer = await client.call_tool("memory_query", {"cypher": "MATCH (p:P) RETURN p.name AS n"})
        assert answer.structured_content == {"records": [{"n": "小明"}]}
        refused = await client.call_tool("memory_query", {"cypher": "MATCH (p) DETACH DELETE p"})
        assert refused.is_error
        assert "only reads" in str(refused.content[0])
        answer = await client.call_tool("memory_query", {"cypher": "MATCH (p:P) RETURN count(p) AS n"})
        assert answer.structured_content == {"records": [{"n": 1}]}
        assert (await client.call_tool("memory_query", {"cypher": ""})).is_error
    lines = [json.loads(line) for file in (box.state / "audit").iterdir() for line in file.read_text().splitlines()]
    assert [line["facts"]["event_id"][:4] for line in lines if line["kind"] == "attempt"] == ["mcp-"]


@pytest.mark.shows("F31")
async def test_a_service_may_start_while_a_program_is_inside_and_is_asked_then(tmp_path: Path) -> None:
    box = KeptBox(tmp_path, memory="mcp = true")
    config = box.config()
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "appliance", "--config", str(box.file), "mcp"], env=environment(tmp_path)
    )
    count = {"cypher": "MATCH (p:P) RETURN count(p) AS n"}
    async with Client(command) as client:
        async with local_admin(config) as admin, asyncio.TaskGroup() as group:
            refused = await client.call_tool("memory_query", count)
            assert refused.is_error
            assert f"another nakari (process {os.getpid()}) uses the state folder" in str(refused.content[0])
            door = doors_of(config.socket, ScriptedHandler(), memory=admin)
            door.open()
            running = group.create_task(door.run())
            await client.call_tool("memory_write", {"cypher": "CREATE (:P)"})
            assert (await admin.use(query(count["cypher"]))) == {"records": [{"n": 1}]}
            running.cancel()
        door.close()
        both = [client.call_tool("memory_query", count) for _ in range(2)]
        assert [found.structured_content for found in await asyncio.gather(*both)] == [{"records": [{"n": 1}]}] * 2
