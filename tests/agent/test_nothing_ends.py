"""Nothing ends the loop: what fails behind an event's own run, and what the disk has changed in the journal."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.context.carried import ContextLimits
from agent.context.epochs import EPOCH, MESSAGE
from agent.errors import IllegalMessages
from agent.mailbox.mail import MAX_ATTEMPTS
from agent.model.messages import Message
from agent.record import step
from agent.run.system_replies import phrase
from agent.tools.tool import Effect, tool
from memory.json_value import Json
from memory.state.journal import DAMAGED, erase_entries
from tests.agent.context.test_compression import LONG, REPLY, is_summary_request
from tests.agent.context.test_epochs import is_legal
from tests.agent.mind import AT_ONCE, PATIENCE, EachStep, Start, TestMind, a_mind, spoken, typed
from tests.fakes import ScriptedModel, calls

LIMITS = ContextLimits(history_messages=6, history_tokens=300, compress_above_tokens=1_500, summary_tokens=80)
UNHURT = Start(limits=AT_ONCE)


def answering(summary: Exception | Message) -> ScriptedModel:
    """A model that replies to everything, and answers so when it is asked for a summary."""
    number = iter(range(1_000))

    def respond(messages: Sequence[Message]) -> Message:
        if not is_summary_request(messages):
            return calls(REPLY, prefix=f"c{next(number)}-{len(messages)}")
        if isinstance(summary, Exception):
            raise summary
        return summary

    return ScriptedModel(*[respond] * 100)


async def lived(mind: TestMind, *events: Any) -> None:
    """Let the loop itself handle events, one after the other."""
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        loops = [group.create_task(loop) for loop in (mind.loop.run(), mind.loop.watch())]
        for event in events:
            await mind.mailbox.enqueue(event)
            await mind.mailbox.until_idle()
        for loop in loops:
            assert not loop.done()
            loop.cancel()


@pytest.mark.shows("B1", "D2")
@pytest.mark.parametrize("error", [ValueError("a bug"), OSError("no more files"), IllegalMessages("a bug")])
async def test_what_fails_in_a_summary_at_rest_costs_nothing(tmp_path: Path, error: Exception) -> None:
    events = [spoken(f"question {number} {LONG * 3}") for number in range(8)]
    async with a_mind(tmp_path, [model := answering(error)], limits=LIMITS, start=UNHURT) as mind:
        for event in events[1:]:
            await mind.handle(event)
        await lived(mind, events[0])
        assert {await mind.state_of(event) for event in events} == {"completed"}
        assert len(await mind.journal.entries(topic=EPOCH)) > 1
    assert any(map(is_summary_request, model.requests))


@pytest.mark.shows("B1")
@pytest.mark.parametrize(("bugs", "ends"), [(1, "completed"), (MAX_ATTEMPTS, "dead")])
async def test_a_bug_around_a_run_costs_one_event_at_most(tmp_path: Path, bugs: int, ends: str) -> None:
    left = [ZeroDivisionError("a bug of ours") for _ in range(bugs)]

    def step() -> None:
        if left:
            raise left.pop()

    first, second = spoken("one"), spoken("two")
    async with a_mind(tmp_path, [answering(Message("assistant", "so"))], start=UNHURT) as mind:
        mind.loop.observe(EachStep(step))
        await lived(mind, first, second)
        assert [await mind.state_of(event) for event in (first, second)] == [ends, "completed"]
        assert (phrase("failed", "one") in " ".join(mind.outlet.said)) is (ends == "dead")
    assert left == []


@pytest.mark.shows("B1")
async def test_a_bug_at_an_arrival_does_not_end_the_watch(tmp_path: Path) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    def respond(messages: Sequence[Message]) -> Message:
        asked.set()
        return calls(REPLY)

    model = ScriptedModel(respond)
    model.hold[0] = go_on
    async with a_mind(tmp_path, [model], start=UNHURT) as mind, asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        loops = [group.create_task(loop) for loop in (mind.loop.run(), mind.loop.watch())]
        await mind.mailbox.enqueue(event := spoken("one"))
        await asked.wait()
        await mind.attention.arrivals.put("no event at all")  # type: ignore[arg-type]
        await mind.noticed()
        go_on.set()
        await mind.mailbox.until_idle()
        assert await mind.state_of(event) == "completed"
        for loop in loops:
            assert not loop.done()
            loop.cancel()


Damage = Callable[[dict[str, Any]], object]


def less(*keys: str) -> Damage:
    """Take keys out of a body, or of the message in it."""

    def damage(body: dict[str, Any]) -> object:
        part = body
        for key in keys[:-1]:
            part = part[key]
        del part[keys[-1]]
        return body

    return damage


def other(value: object, *keys: str) -> Damage:
    """Put something else in the place of a key."""

    def damage(body: dict[str, Any]) -> object:
        part = body
        for key in keys[:-1]:
            part = part[key]
        part[keys[-1]] = value
        return body

    return damage


OF_EPOCH: dict[str, Damage] = {
    "without its id": less("epoch"),
    "without its tools": less("tools"),
    "without its messages": less("messages"),
    "with messages that are none": other([{"role": "system"}], "messages"),
    "with a message that is a number": other([{"role": "system", "content": "s"}, 7], "messages"),
    "with tools that are a text": other("reply", "tools"),
    "with a tool without a name": other([{"description": "d", "parameters": {}}], "tools"),
    "with a front that is a list": other([], "front"),
    "that is a list": lambda body: [body],
    "that is no JSON": lambda body: json.dumps(body)[:-9].encode(),
}
OF_MESSAGE: dict[str, Damage] = {
    "without its message": less("message"),
    "without a role": less("message", "role"),
    "of a role nobody has": other("usher", "message", "role"),
    "without content": less("message", "content"),
    "with content that is a number": other(7, "message", "content"),
    "with calls that are none": other([{"id": "x"}], "message", "tool_calls"),
    "that is a number": lambda body: 7,
    "that is no JSON": lambda body: b'{"epoch": "' + b"\x00" * 8,
}


def hurt(folder: Path, topic: str, damage: Damage, *, newest: bool = True) -> None:
    """Change the newest entry of a topic, or the first, as a disk might."""
    with closing(sqlite3.connect(folder / "nakari.db")) as database, database:
        order = "DESC" if newest else "ASC"
        query = f"SELECT seq, body FROM journal WHERE topic = ? ORDER BY seq {order} LIMIT 1"
        [(seq, body)] = database.execute(query, (topic,)).fetchall()
        changed = damage(json.loads(body))
        text = changed.decode() if isinstance(changed, bytes) else json.dumps(changed)
        database.execute("DROP TRIGGER tier_forgets")  # the disk asks nobody; it is made again at the next start
        database.execute("UPDATE journal SET body = ? WHERE seq = ?", (text, seq))
    database.close()


@pytest.mark.shows("B1", "C13")
@pytest.mark.parametrize(
    ("topic", "damage"),
    [*((EPOCH, name) for name in OF_EPOCH), *((MESSAGE, name) for name in OF_MESSAGE)],
)
async def test_a_context_that_the_disk_has_changed_is_given_up_once(tmp_path: Path, topic: str, damage: str) -> None:
    model = answering(Message("assistant", "so"))
    async with a_mind(tmp_path, [model], start=UNHURT) as mind:
        await lived(mind, spoken("the plums are blue"), spoken("and the pears?"))
    hurt(tmp_path, topic, (OF_EPOCH if topic == EPOCH else OF_MESSAGE)[damage])
    asked = len(model.requests)
    async with a_mind(tmp_path, [model], start=UNHURT) as mind:
        await lived(mind, third := spoken("what is blue?"), fourth := spoken("and green?"))
        assert [await mind.state_of(event) for event in (third, fourth)] == ["completed", "completed"]
        told = [said for said in mind.outlet.said if said in phrase("context_lost", "what")]
        epochs = len(await mind.journal.entries(topic=EPOCH))
    assert model.requests[asked][0] == model.requests[0][0]
    assert "could not be read any more" in model.requests[asked][1].content
    assert "the plums are blue" in str(model.requests[asked]), "what the journal still holds"
    assert all(map(is_legal, model.requests[asked:]))
    assert " ".join(told) == phrase("context_lost", "what"), "once"
    assert epochs == 2
    async with a_mind(tmp_path, [model], start=UNHURT) as mind:
        await lived(mind, fifth := spoken("still there?"))
        assert await mind.state_of(fifth) == "completed"
        assert len(await mind.journal.entries(topic=EPOCH)) == 2, "what was begun anew can be read"
        assert phrase("context_lost", "what")[:20] not in " ".join(mind.outlet.said)


@pytest.mark.shows("B1", "D3")
async def test_what_the_agent_keeps_outlives_a_damaged_context(tmp_path: Path) -> None:
    keep = ("compress_context", json.dumps({"summary": "We spoke of fruit.", "keep": ["the code is 4711"]}))
    model = ScriptedModel(calls(keep, prefix="k"), *(calls(REPLY, prefix=f"c{n}") for n in range(4)))
    async with a_mind(tmp_path, [model], start=UNHURT) as mind:
        await lived(mind, spoken("tidy up"), spoken("and on"))
    hurt(tmp_path, MESSAGE, less("message"))
    async with a_mind(tmp_path, [model], start=UNHURT) as mind:
        await lived(mind, spoken("what is the code?"))
    front = model.requests[-1][1].content
    assert "the code is 4711" in front
    assert "We spoke of fruit." in front


@pytest.mark.shows("B1")
async def test_the_journal_marks_what_the_disk_has_changed_and_finds_the_rest(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [answering(Message("assistant", "so"))], start=UNHURT) as mind:
        await lived(mind, spoken("plums"), spoken("pears"))
    hurt(tmp_path, MESSAGE, OF_MESSAGE["that is no JSON"], newest=False)
    async with a_mind(tmp_path, []) as mind:
        entries = await mind.journal.entries(topic=MESSAGE)
        again = await mind.journal.entries(topic=MESSAGE)
        assert await erase_entries(mind.journal.database, "household", lambda *_: None) > len(entries)
    assert [DAMAGED in entry.body for entry in entries] == [True, *[False] * (len(entries) - 1)]
    assert again[1:] == entries[1:]
    assert len(str(again[0].body[DAMAGED])) == 64, "a digest of what is there"


@pytest.mark.shows("B1")
async def test_a_context_that_no_provider_takes_is_given_up_in_the_same_turn(tmp_path: Path) -> None:
    model = answering(Message("assistant", "so"))
    async with a_mind(tmp_path, [model], start=UNHURT) as mind:
        await lived(mind, typed("the plums are blue", "room"))
        mind.mind.contexts.append(mind.loop_epoch, Message("tool", "of nobody", tool_call_id="x"))  # a bug of ours
        await lived(mind, event := typed("what is blue?", "room"))
        assert await mind.state_of(event) == "completed"
        assert is_legal(mind.loop_epoch.messages)
    assert "the plums are blue" in model.requests[-1][1].content
    assert "what is blue?" in model.requests[-1][2].content


async def pay_bill(number: int) -> str:
    """Pay a bill."""
    return f"paid {number}"


GIVEN_UP = [("pure", "failed"), ("irreversible", "failed_midway")]


@pytest.mark.shows("B1", "A24")
@pytest.mark.parametrize(("effect", "told"), GIVEN_UP)
async def test_after_a_bug_it_says_whether_part_may_be_done(tmp_path: Path, effect: Effect, told: str) -> None:
    def bug(messages: Sequence[Message]) -> Message:
        raise ZeroDivisionError("a bug of ours")

    event, model = spoken("please pay it"), ScriptedModel(calls(("pay_bill", '{"number": 7}')), bug)
    async with a_mind(tmp_path, [model], [tool(pay_bill, effect=effect)], start=UNHURT) as mind:
        await lived(mind, event)
        assert " ".join(mind.outlet.said) == phrase(told, event.content)


@pytest.mark.shows("B1", "A24")
@pytest.mark.parametrize(("effect", "told"), GIVEN_UP)
async def test_after_many_deaths_it_says_whether_part_may_be_done(tmp_path: Path, effect: Effect, told: str) -> None:
    event, tools = spoken("please pay it"), [tool(pay_bill, effect=effect)]
    async with a_mind(tmp_path, [ScriptedModel()], tools, start=UNHURT) as mind:
        await mind.mailbox.enqueue(event)
        call: dict[str, Json] = {"call_id": "c", "tool_name": "pay_bill", "args": "{}", "cycle": 1}
        await mind.mind.bus.publish(step("tools.requests", event, "r", call))
        for death in range(MAX_ATTEMPTS):
            if death:
                await mind.mailbox.recover()
            await mind.mailbox.take()
    model = answering(Message("assistant", "so"))
    async with a_mind(tmp_path, [model], tools, start=replace(UNHURT, recovers=False)) as mind:
        await lived(mind, spoken("and now?"))
        assert phrase(told, event.content) in " ".join(mind.outlet.said)
        assert (phrase("failed_midway", event.content) in " ".join(mind.outlet.said)) is (told == "failed_midway")
