"""The ten topics of a run in the order of the example "2025年 AI 有什么新趋势？", with one run id each time."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.event import Event
from agent.model.messages import Message
from agent.run.run_state import RunState
from agent.tools.tool import Tool, tool
from agent.tools.web import extract_tool, search_tool
from agent.web.pages import PageReader
from agent.web.search import SearXng
from agent.web.seen import SeenAddresses
from tests.agent.mind import PATIENCE, Start, TestMind, a_mind, spoken
from tests.agent.web.engines import OTHER, URL, searxng
from tests.agent.web.web_server import WebServer, page
from tests.fakes import ScriptedModel, calls

NEXUS = {
    "runs.new", "ui.events", "context.build.request", "context.build.response", "llm.requests", "llm.results",
    "tools.requests", "tools.results", "system.command", "command.result",
}  # fmt: skip

GOLDEN = """
runs.new
context.build.request
context.build.response
llm.requests
llm.results web_search
tools.requests web_search
ui.events tool_call_started web_search
tools.results web_search
ui.events tool_call_finished ok web_search
llm.requests
llm.results text_chunk
llm.results
ui.events run_finished COMPLETED
"""

TOGETHER = """
runs.new
context.build.request
context.build.response
llm.requests
llm.results web_search web_extract
tools.requests web_search
ui.events tool_call_started web_search
tools.requests web_extract
ui.events tool_call_started web_extract
tools.results web_extract
ui.events tool_call_finished ok web_extract
tools.results web_search
ui.events tool_call_finished ok web_search
llm.requests
llm.results text_chunk
llm.results reply complete_event
tools.requests reply
ui.events tool_call_started reply
tools.requests complete_event
ui.events tool_call_started complete_event
tools.results reply
ui.events tool_call_finished ok reply
tools.results complete_event
ui.events tool_call_finished ok complete_event
ui.events run_finished COMPLETED
"""

INTERRUPTED = """
runs.new
context.build.request
context.build.response
llm.requests
llm.results text_chunk
system.command stop interrupted
command.result stop completed
ui.events run_finished COMPLETED
"""

TOLD = ("command", "event", "reason", "status", "tool_name", "tool_calls")


def shown(envelope: Event) -> str:
    """Return an envelope's topic and what it is about, in a line."""
    values = (envelope.metadata.get(name) for name in TOLD if name in envelope.metadata)
    words = (" ".join(str(item) for item in value) if isinstance(value, list) else str(value) for value in values)
    return " ".join([envelope.type, *(word for word in words if word)])


def the_web(server: WebServer, run_state: RunState) -> list[Tool]:
    """The tools of the web, over a search engine and a page of this machine."""
    seen, reader = SeenAddresses(), PageReader("nakari/test", server.guard())
    engine = SearXng("nakari/test", server.url)
    return [search_tool(engine, run_state, seen), extract_tool(reader, run_state, seen)]


async def trace(stream: AsyncIterator[Event]) -> list[Event]:
    """Return what was published of one run, to its end; other topics are left out, so are chunks after the first."""
    found: list[Event] = []
    async with asyncio.timeout(PATIENCE):
        while not found or found[-1].metadata.get("event") != "run_finished":
            envelope = await anext(stream)
            is_further_chunk = found and shown(found[-1]) == shown(envelope) == "llm.results text_chunk"
            if envelope.type in NEXUS and not is_further_chunk:
                found.append(envelope)
    return found


def check(found: list[Event], golden: str, event: Event) -> None:
    assert [shown(envelope) for envelope in found] == golden.split("\n")[1:-1]
    assert len({envelope.metadata["run_id"] for envelope in found}) == 1
    assert {envelope.parent_id for envelope in found} == {event.id}
    moments = [envelope.created_at for envelope in found]
    assert moments == sorted(moments), "each at its moment"


@pytest.mark.shows("E19", "E7")
async def test_the_example_of_the_first_document_gives_the_golden_trace(tmp_path: Path) -> None:
    answer = Message("assistant", "Agents that remember are the trend.")
    model = ScriptedModel(calls(("web_search", '{"query": "AI trends 2025"}')), answer)
    event, start = spoken("2025年 AI 有什么新趋势？"), Start()
    async with (
        WebServer({"/search": searxng}) as web,
        a_mind(tmp_path, [model], the_web(web, start.run_state), start=start) as mind,
    ):
        stream = aiter(mind.mind.bus.observe("*"))
        await mind.handle(event)
        found = await trace(stream)
        await in_the_journal(mind, event, found)
    check(found, GOLDEN, event)
    assert web.asked[0].query["q"] == "AI trends 2025"
    assert "agents that remember" in model.requests[1][-1].content
    assert [source.url for source in mind.outlet.replies[0].sources.take()] == [URL, OTHER]


@pytest.mark.shows("E19", "B14")
async def test_of_two_tools_the_one_that_is_ready_first_is_told_of_first(tmp_path: Path) -> None:
    found_it, start = asyncio.Event(), Start()
    web = WebServer({"/search": lambda asked: replace(searxng(asked), gate=found_it), "/trends": page("Agents. " * 50)})
    async with web:
        both = calls(
            ("web_search", '{"query": "AI trends 2025"}'),
            ("web_extract", json.dumps({"address": f"{web.url}/trends"})),
            prefix="a",
        )
        says = ("reply", '{"text": "Agents that remember are the trend."}')
        model = ScriptedModel(both, calls(says, ("complete_event", '{"summary": "told"}'), prefix="b"))
        event = spoken("2025年 AI 有什么新趋势？")
        async with a_mind(tmp_path, [model], the_web(web, start.run_state), start=start) as mind:
            stream = aiter(mind.mind.bus.observe("*"))
            ready = aiter(mind.mind.bus.observe("tools.results"))
            async with mind.at_work(event):
                first = await anext(ready)
                assert first.metadata["tool_name"] == "web_extract", "while the other one is under way"
                assert (await mind.journal.entries(topic="tools.results"))[-1].id == first.id
                found_it.set()
            found = await trace(stream)
            await in_the_journal(mind, event, found)
    check(found, TOGETHER, event)
    results = [message for message in model.requests[1] if message.role == "tool"]
    assert [each.tool_call_id for each in results] == ["a_0", "a_1"], "the context has them in the order of the calls"
    assert "agents that remember" in results[0].content
    assert "Agents. Agents." in results[1].content


@pytest.mark.shows("E19", "B10")
async def test_the_disk_may_refuse_the_news_of_a_tool_that_is_ready_first(tmp_path: Path) -> None:
    slow = asyncio.Event()

    async def wait() -> str:
        """Wait."""
        await slow.wait()
        return "waited"

    async def look() -> str:
        """Look."""
        slow.set()
        return "seen"

    model = ScriptedModel(calls(("wait", "{}"), ("look", "{}"), prefix="a"), Message("assistant", "Done."))
    async with a_mind(tmp_path, [model], [tool(wait, effect="pure"), tool(look, effect="pure")]) as mind:
        mind.disk.full_at = "tools.results"
        await mind.handle(event := spoken("look and wait"))
        topics = await mind.topics(event)
        assert await mind.state_of(event) == "completed"
    assert topics.count("tools.results") == 2


async def in_the_journal(mind: TestMind, event: Event, found: list[Event]) -> None:
    """All but the passing chunks are in the journal, in this order."""
    kept = [entry.id for entry in await mind.journal.entries(event_id=event.id) if entry.topic in NEXUS]
    assert kept == [envelope.id for envelope in found if envelope.metadata.get("event") != "text_chunk"]


@pytest.mark.shows("E19")
async def test_a_command_to_stop_and_its_result_stand_at_their_moment(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("reply", '{"text": "There is a lot to say. It begins so."}')))
    model.hold[0] = asyncio.Event()
    event = spoken("2025年 AI 有什么新趋势？")
    async with a_mind(tmp_path, [model]) as mind:
        stream = aiter(mind.mind.bus.observe("*"))
        async with mind.at_work(event):
            await mind.outlet.sentence_said.wait()
            mind.loop.interrupt()
        check(await trace(stream), INTERRUPTED, event)


@pytest.mark.shows("F4", "E21")
async def test_the_chunks_of_an_answer_join_to_what_was_said(tmp_path: Path) -> None:
    words = "Agents that remember are the trend. So they say."
    for answer in (Message("assistant", words), calls(("reply", f'{{"text": "{words}"}}'))):
        async with a_mind(tmp_path / answer.content[:5], [ScriptedModel(answer)]) as mind:
            chunks = mind.mind.bus.observe("llm.results")
            await mind.handle(spoken("hello"))
            joined = ""
            async for envelope in chunks:
                if envelope.metadata.get("event") != "text_chunk":
                    break
                joined += str(envelope.metadata["chunk"])
        assert joined == words


@pytest.mark.shows("B2")
async def test_thought_call_and_result_of_a_cycle_have_one_id_in_the_journal(tmp_path: Path) -> None:
    first = calls(("check_mailbox", "{}"), text="I look first.", prefix="a")
    event = Event(type="self_created", content="look", source="self")
    async with a_mind(tmp_path, [ScriptedModel(first, Message("assistant", "Nothing there."))]) as mind:
        await mind.handle(event)
        entries = [entry for entry in await mind.journal.entries(event_id=event.id) if entry.body.get("cycle")]
    cycles = list(dict.fromkeys(str(entry.body["cycle"]) for entry in entries))
    assert len(cycles) == 2
    of_first = [(entry.topic, entry.body) for entry in entries if entry.body["cycle"] == cycles[0]]
    topics = [topic for topic, _ in of_first]
    assert topics == [
        "llm.requests", "llm.results", "context.message", "tools.requests", "ui.events", "tools.results", "ui.events",
        "context.message",
    ]  # fmt: skip
    thought, result = (body["message"] for topic, body in of_first if topic == "context.message")
    assert isinstance(thought, dict)
    assert isinstance(result, dict)
    assert (thought["content"], result["tool_call_id"]) == ("I look first.", "a_0")
