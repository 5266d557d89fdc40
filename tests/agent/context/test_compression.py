"""Compression on a real journal: at legal boundaries only, down to a low target, nothing of the event in hand lost."""

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from agent.context.carried import ContextLimits
from agent.context.epoch import Epoch
from agent.context.epochs import EPOCH
from agent.errors import ModelError
from agent.model.chain import Chain
from agent.model.messages import Message
from agent.tools.tool import Tool, tool
from tests.agent.mind import TestMind, a_mind, spoken
from tests.agent.wire_form import wire_form
from tests.fakes import ScriptedModel, calls

LIMITS = ContextLimits(history_messages=6, history_tokens=600, compress_above_tokens=3_400, summary_tokens=120)
REPLY = ("reply", '{"text": "Yes."}')
LOOK = ("look", "{}")
LONG = "and more " * 60


def look_tool(size: int = 2_000) -> Tool:
    async def look() -> str:
        """Look at something large."""
        return "seen " * (size // 5)

    return tool(look)


def lawful(messages: list[Message]) -> bool:
    wire_form(messages)
    return messages[0].role == "system" and messages[1].role == "user"


def is_summary_request(messages: Sequence[Message]) -> bool:
    return messages[-1].role == "user" and messages[-1].content.startswith("Sum up")


def answer(number: list[int], summary: str | Exception, asked: asyncio.Event | None = None) -> ScriptedModel:
    """A model that replies to everything, and gives this summary when it is asked for one."""

    def respond(messages: Sequence[Message]) -> Message:
        number[0] += 1
        if not is_summary_request(messages):
            return calls(REPLY, prefix=f"c{number[0]}")
        if asked is not None:
            asked.set()
        if isinstance(summary, Exception):
            raise summary
        return Message("assistant", summary)

    return ScriptedModel(*[respond] * 200)


async def opened(mind: TestMind) -> list[dict[str, object]]:
    return [dict(entry.body) for entry in await mind.journal.entries(topic=EPOCH)]


@pytest.mark.shows("D2")
@pytest.mark.parametrize("summary", ["We counted to nine.", ModelError("away"), TimeoutError("it hangs")])
async def test_what_is_past_the_threshold_is_summed_up_after_the_event(
    tmp_path: Path, summary: str | Exception
) -> None:
    model = answer([0], summary)
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        while len(await opened(mind)) < 2:
            await mind.handle(spoken(f"question {len(model.requests)} {LONG}"))
        epoch = mind.loop_epoch
        before = sum(is_summary_request(request) for request in model.requests)
        assert before == 1, "one bounded call"
        await mind.handle(spoken("the next one"))
    last = model.requests[-1]
    assert all(map(lawful, model.requests))
    assert epoch.tokens < LIMITS.compress_above_tokens / 2, "one step, down to a low target"
    expected = "We counted to nine." if isinstance(summary, str) else "a person: question"
    assert expected in last[1].content
    assert "the next one" in last[-1].content


@pytest.mark.shows("D2")
async def test_the_call_for_a_summary_is_journaled_with_its_cost_and_costs_the_event_nothing(tmp_path: Path) -> None:
    model = answer([0], "We counted.")
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        event = spoken("one")
        while len(await opened(mind)) < 2:
            event = spoken(f"question {LONG}")
            await mind.handle(event)
        asked = [e for e in await mind.journal.entries(topic="llm.requests") if e.body.get("purpose") == "summary"]
        told = [e for e in await mind.journal.entries(topic="llm.results") if e.body.get("purpose") == "summary"]
        archived = await mind.mailbox.find(event.id)
    assert [entry.event_id for entry in asked] == [event.id]
    assert [entry.body["prompt_tokens"] for entry in told] == [100]
    assert archived is not None
    assert archived.state == "completed"
    assert archived.progress.model_calls == 1


@pytest.mark.shows("D2", "D3")
async def test_the_event_in_hand_is_never_cut_and_one_too_large_does_not_compress_for_ever(tmp_path: Path) -> None:
    looks = [calls(LOOK, prefix=f"l{n}") for n in range(6)]
    summaries = [Message("assistant", f"summary {n}") for n in range(9)]
    turns = [calls(REPLY, prefix=f"r{n}") for n in range(9)]
    rest = iter([*turns[:3], *looks, turns[4], turns[5]])

    def respond(messages: Sequence[Message]) -> Message:
        return summaries.pop(0) if is_summary_request(messages) else next(rest)

    model = ScriptedModel(*[respond] * 40)
    async with a_mind(tmp_path, [model], [look_tool(4_000)], limits=LIMITS) as mind:
        for number in range(3):
            await mind.handle(spoken(f"question {number} {LONG}"))
        event = spoken("look at everything")
        await mind.handle(event)
        epochs = await mind.journal.entries(topic=EPOCH, event_id=event.id)
    assert 1 <= len(epochs) <= 2, "at most once while it is in hand, once when it is put away"
    assert all(map(lawful, model.requests))
    of_event = [r for r in model.requests if any("look at everything" in m.content for m in r)]
    thoughts = [r for r in of_event if not is_summary_request(r)]
    for earlier, later in pairwise(thoughts):
        start = _start(earlier)
        assert later[_start(later) :][: len(earlier) - start] == earlier[start:], "word for word"


def _start(messages: list[Message]) -> int:
    return next(n for n, message in enumerate(messages) if "look at everything" in message.content)


@pytest.mark.shows("D2")
async def test_a_person_who_speaks_does_not_wait_for_a_summary(tmp_path: Path) -> None:
    asked = asyncio.Event()
    model = answer([0], "never told", asked)
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        await mind.handle(spoken(f"one {LONG * 8}"))
        model.hold[2] = asyncio.Event()  # the summary never comes
        second = spoken(f"two {LONG * 8}")
        await mind.mailbox.enqueue(second)
        hand = await mind.mailbox.take()
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            life = group.create_task(mind.loop.handle(hand))
            await asked.wait()
            await mind.mailbox.enqueue(spoken("three"))
            await life
        assert is_summary_request(model.requests[2])
        await mind.handle_next()
    assert "What came before, in short:" in model.requests[3][1].content, "made without a model"
    assert lawful(model.requests[3])


@pytest.mark.shows("D3")
@pytest.mark.shows("V29", "F12")
async def test_what_was_forgotten_while_a_model_summed_it_up_does_not_come_back(tmp_path: Path) -> None:
    asked = asyncio.Event()
    model = answer([0], "They spoke of the xylophone.", asked)
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        await mind.handle(spoken(f"one {LONG * 8}"))
        model.hold[2] = asyncio.Event()
        second = spoken(f"two {LONG * 8}")
        await mind.mailbox.enqueue(second)
        hand = await mind.mailbox.take()
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            life = group.create_task(mind.loop.handle(hand))
            await asked.wait()
            mind.mind.contexts.let_go(second.owner_key)
            model.hold[2].set()
            await life
        assert is_summary_request(model.requests[2])
        assert [epoch for epoch in await opened(mind) if "xylophone" in json.dumps(epoch)] == []


async def test_what_it_keeps_is_kept_word_for_word(tmp_path: Path) -> None:
    plums = spoken("plums are blue")
    wanted = {"summary": "We spoke of fruit.", "keep": [plums.id, "  the code is <4711> & it\nstays  "]}
    model = ScriptedModel(
        calls(REPLY, prefix="a"),
        calls(REPLY, prefix="b"),
        calls(("compress_context", json.dumps(wanted)), prefix="c"),
        calls(REPLY, prefix="d"),
    )
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(plums)
        await mind.handle(spoken("pears are green"))
        await mind.handle(spoken("now tidy up"))
        [first, second] = await opened(mind)
        kept_in_journal = await mind.journal.entries(topic="context.message")
    after = model.requests[3]
    assert lawful(after)
    assert "We spoke of fruit." in after[1].content
    assert "  the code is <4711> & it\nstays  " in after[1].content
    assert after[2:5] == model.requests[1][1:4], "the turn of the plums, whole"
    assert "pears" not in "".join(message.content for message in after)
    assert str(first["epoch"]) in after[1].content, "where the rest is found"
    assert second["messages"]
    assert any("pears" in json.dumps(entry.body) for entry in kept_in_journal), "the journal keeps the original"


@pytest.mark.shows("D3")
async def test_an_id_that_is_none_is_told_and_too_much_is_not_kept(tmp_path: Path) -> None:
    plums = spoken(f"plums {LONG * 5}")
    keep = json.dumps({"summary": "Fruit.", "keep": [plums.id]})
    model = ScriptedModel(
        calls(REPLY, prefix="a"), calls(("compress_context", keep), prefix="c"), calls(REPLY, prefix="d")
    )
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        await mind.handle(plums)
        await mind.handle(spoken("tidy up"))
    after = model.requests[2]
    assert lawful(after)
    assert "plums and more" not in "".join(message.content for message in after)
    assert f"Too long to keep: {plums.id}" in after[1].content


@pytest.mark.shows("D2", "D14")
async def test_another_model_begins_an_epoch_without_the_first_ones_own_fields(tmp_path: Path) -> None:
    signed = Message("assistant", "", calls(REPLY, prefix="a").tool_calls, extra={"signature": "of the first"})
    first = ScriptedModel(signed, name="first")
    second = ScriptedModel(calls(REPLY, prefix="b"), name="second")
    async with a_mind(tmp_path, [first]) as mind:
        await mind.handle(spoken("one"))
        mind.mind.thinker.models = Chain.of([second])
        await mind.handle(spoken("two"))
        assert len(await opened(mind)) == 2
    assert lawful(second.requests[0])
    assert not any(message.extra for message in second.requests[0])
    assert "one" in second.requests[0][1].content


@pytest.mark.shows("D6", "D11")
async def test_a_tool_that_vanished_stays_in_the_list_and_is_unavailable(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(REPLY, prefix="a"), calls(LOOK, prefix="b"), calls(REPLY, prefix="c"), calls(REPLY, prefix="d")
    )
    async with a_mind(tmp_path, [model], [look_tool()]) as mind:
        await mind.handle(spoken("one"))
        mind.mind.registry.replace([tool for tool in mind.mind.registry if tool.name != "look"])
        await mind.handle(spoken("two"))
        assert len(await opened(mind)) == 1
    assert model.tools[0] == model.tools[1] == model.tools[2]
    assert model.requests[2][-1].content.startswith("unavailable")


@pytest.mark.shows("D6", "D14")
async def test_a_new_tool_joins_when_the_conversation_was_over(tmp_path: Path) -> None:
    model = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(3)))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("one"))
        mind.mind.registry.replace([*mind.mind.registry, look_tool()])
        await mind.handle(spoken("two"))
        mind.clock.now += 121.0
        await mind.handle(spoken("three"))
    names = [[spec.name for spec in tools] for tools in model.tools]
    assert names[0] == names[1]
    assert names[2] == sorted([*names[0], "look"])


@pytest.mark.shows("V29")
async def test_a_summary_that_may_tell_of_what_was_forgotten_goes_with_it(tmp_path: Path) -> None:
    secret, later = spoken("my pin is 4711"), spoken("plums are blue")
    compress = ("compress_context", json.dumps({"summary": "They told a number.", "keep": [secret.id]}))
    model = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(1)), calls(compress, prefix="x"))
    model.script += [calls(REPLY, prefix=f"d{n}") for n in range(3)]
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(secret)
        await mind.handle(spoken("tidy up"))
        await mind.handle(later)
        await mind.mind.contexts.leave_out(later, {later.id}, {later.content})
        assert "told a number" in str(mind.loop_epoch.messages), "made before that was said"
        await mind.mind.contexts.leave_out(secret, {secret.id}, {secret.content})
        left = mind.loop_epoch.messages
    assert "told a number" not in str(left)
    assert "4711" not in str(left)
    assert "tidy up" in str(left)


def test_an_epoch_knows_what_it_holds() -> None:
    epoch = Epoch("e", ())
    epoch.grow(Message("system", "s"), 3)
    epoch.grow(Message("user", '<Event id="x"/>'), 4)
    assert (epoch.tokens, epoch.position_of("x"), epoch.position_of("y")) == (7, 1, None)
