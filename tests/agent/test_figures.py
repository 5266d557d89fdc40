"""What an event took is archived with it."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.model.interface import Answer, StreamItem
from agent.model.messages import Message, ToolSpec, Usage
from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls


class CountedModel(ScriptedModel):
    """A scripted model whose provider counts."""

    counted = (Usage(100, 0, completion_tokens=7), Usage(120, 90, completion_tokens=5))

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        async for item in super().stream(messages, tools):
            usage = self.counted[len(self.requests) - 1]
            yield replace(item, usage=usage) if isinstance(item, Answer) else item


@pytest.mark.shows("A21")
async def test_a_completed_event_is_archived_with_what_it_took_over_its_whole_life(tmp_path: Path) -> None:
    put_back = calls(("check_mailbox", "{}"), ("suspend_event", '{"note": "later", "wake_on": "door"}'), prefix="a")
    done = calls(("reply", '{"text": "Done."}'), ("complete_event", '{"summary": "was done"}'), prefix="b")
    event = spoken("do it")
    async with a_mind(tmp_path, [CountedModel(put_back, done)]) as mind:
        await mind.handle(event)
        await mind.mailbox.wake("door")
        await mind.handle_next()
        filed = await mind.mailbox.find(event.id)
        assert filed is not None
        assert not await mind.mailbox.complete(event.id, "again", {})
        assert await mind.mailbox.find(event.id) == filed
    figures = dict(filed.figures)
    assert isinstance(figures.pop("seconds"), float)
    assert (filed.state, filed.summary) == ("completed", "was done")
    assert figures == {
        "prompt_tokens": 220, "cached_tokens": 90, "completion_tokens": 12, "model_calls": 2, "tool_calls": 4,
    }  # fmt: skip
