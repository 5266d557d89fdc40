"""Epochs on a real journal: when a new one opens, and that a list is legal whatever happens."""

import json
from pathlib import Path

import pytest

from agent.context.carried import ContextLimits
from agent.context.epochs import EPOCH
from agent.context.history import is_answered, turns
from agent.model.messages import Message
from tests.agent.mind import TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

REPLY = ("reply", '{"text": "Yes."}')


async def epochs_of(mind: TestMind) -> int:
    return len(await mind.journal.entries(topic=EPOCH))


def is_legal(messages: list[Message]) -> bool:
    return messages[0].role == "system" and messages[1].role == "user" and all(map(is_answered, turns(messages)))


@pytest.mark.shows("D14")
async def test_another_system_prompt_opens_an_epoch_that_takes_the_last_turns_along(tmp_path: Path) -> None:
    model = ScriptedModel(calls(REPLY, prefix="a"), calls(REPLY, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("first question"))
    async with a_mind(tmp_path, [model], system="You are nakari, grown.") as mind:
        await mind.handle(spoken("second question"))
        assert await epochs_of(mind) == 2
    assert model.requests[1][0].content == "You are nakari, grown."
    assert model.requests[1][1:4] == [*model.requests[0][1:], *model.requests[1][2:4]]
    assert is_legal(model.requests[1])


@pytest.mark.shows("D2", "D13", "D21")
async def test_past_the_threshold_an_epoch_opens_with_a_digest_and_the_newest_turns(tmp_path: Path) -> None:
    limits = ContextLimits(history_messages=6, history_tokens=1_000, compress_above_tokens=1_500)
    model = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(30)), name="offline")
    async with a_mind(tmp_path, [model], limits=limits) as mind:
        for number in range(30):
            await mind.handle(spoken(f"question number {number} " + "and more " * 20))
        opened = await epochs_of(mind)
    assert 2 <= opened <= 15, "in steps, not by sliding each turn"
    assert all(map(is_legal, model.requests))
    last = model.requests[-1]
    assert last[1].content.startswith("What came before, in short:")
    assert "question number 29" in last[-1].content


@pytest.mark.shows("D3")
async def test_it_compresses_its_context_itself_and_the_event_in_hand_stays_whole(tmp_path: Path) -> None:
    compress = ("compress_context", '{"summary": "we spoke of plums"}')
    model = ScriptedModel(
        calls(REPLY, prefix="a"), calls(compress, prefix="b"), calls(REPLY, prefix="c"), calls(REPLY, prefix="d")
    )
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("plums"))
        await mind.handle(spoken("now tidy up"))
        assert await epochs_of(mind) == 2
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("and on"))
    after = model.requests[2]
    assert is_legal(after)
    assert "we spoke of plums" in after[1].content
    own = calls(compress, prefix="b")
    result = Message("tool", "your context begins anew with this summary after this round", tool_call_id="b_0")
    assert after[2:] == [model.requests[1][-1], own, result], "the event's own messages, word for word"
    assert model.requests[3][: len(after)] == after
    assert "plums" not in "".join(message.content for message in after[2:])


@pytest.mark.shows("D1")
async def test_any_past_request_can_be_rebuilt_from_the_journal_alone(tmp_path: Path) -> None:
    model = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(3)))
    async with a_mind(tmp_path, [model]) as mind:
        for number in range(3):
            await mind.handle(spoken(f"question {number}"))
        requests = await mind.journal.entries(topic="llm.requests")
        opened = (await mind.journal.entries(topic=EPOCH))[0]
        grown = await mind.journal.entries(topic="context.message")
    for asked, sent in zip(requests, model.requests, strict=True):
        body = json.loads(json.dumps(opened.body))
        rebuilt = [Message.from_json(message) for message in body["messages"]]
        rebuilt += [Message.from_json(json.loads(json.dumps(e.body["message"]))) for e in grown if e.seq < asked.seq]
        assert rebuilt == sent
        assert len(rebuilt) == asked.body["messages"]
