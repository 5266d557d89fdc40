"""A model that writes its calls as text, in the real loop: spoken at the first sentence, journaled as any other."""

import asyncio
from pathlib import Path

import pytest

from agent.event import Event
from agent.model.messages import Message
from agent.model.openai_compatible import OpenAiCompatibleModel
from tests.agent.mind import PATIENCE, TestMind, a_mind, spoken
from tests.agent.openai_server import Gate, OpenAiServer, error, text

pytestmark = pytest.mark.shows("F1", "B12", "V21")

COMPLETE = '\n<tool_call>\n{"name": "complete_event", "arguments": {"summary": "greeted"}}\n</tool_call>'


async def said_while_written(mind: TestMind, event: Event, gate: Gate) -> None:
    """See that the first sentence is said before the model wrote the second, and the event completed behind both."""
    async with mind.at_work(event), asyncio.timeout(PATIENCE):
        await mind.outlet.sentence_said.wait()
        assert mind.outlet.said == ["Hello there."]
        gate.open()
    assert mind.outlet.said == ["Hello there.", "How are you?"]
    assert await mind.state_of(event) == "completed"


async def test_a_reply_written_as_text_is_spoken_while_it_is_written(tmp_path: Path) -> None:
    gate = Gate()
    reply = '<think>They greet me.</think>\n<tool_call>\n{"name": "reply", "arguments": {"text": "Hello there. '
    async with OpenAiServer() as server:
        server.enqueue(
            error(400, "registry.ollama.ai/library/gemma2:2b does not support tools"),
            text(reply, gate, 'How are you?"}}\n</tool_call>', COMPLETE),
        )
        model = OpenAiCompatibleModel(server.url, "m")
        event = spoken("hello")
        async with a_mind(tmp_path, [model]) as mind:
            await said_while_written(mind, event, gate)
            answers = [
                message
                for entry in await mind.journal.entries(topic="context.message")
                if isinstance(kept := entry.body["message"], dict)
                and (message := Message.from_json(kept)).role == "assistant"
            ]
        await model.aclose()
    (answer,) = answers
    assert [call.name for call in answer.tool_calls] == ["reply", "complete_event"]
    assert (answer.content.strip(), answer.extra) == ("", {"inline_thinking": "They greet me."})
    assert len(server.requests) == 2


async def test_the_steps_of_react_are_thinking_and_calls(tmp_path: Path) -> None:
    gate = Gate()
    step = "Thought: They greet me.\nAction: reply\nAction Input: Hello there. How"
    async with OpenAiServer() as server:
        server.enqueue(text(step, gate, ' are you?\nAction: complete_event\nAction Input: {"summary": "greeted"}'))
        server.enqueue(text("Thought: They greet me again.\nFinal Answer: Hello again."))
        model = OpenAiCompatibleModel(server.url, "m")
        event = spoken("hello")
        async with a_mind(tmp_path, [model]) as mind:
            await said_while_written(mind, event, gate)
            await mind.handle(spoken("hello again"))
            assert mind.outlet.said[2:] == ["Hello again."]
        await model.aclose()
    assert len(server.requests) == 2
