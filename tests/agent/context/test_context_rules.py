"""Rules of the context: what becomes which message, what is skipped, and where it is read from."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest

import agent.context
from agent.context.block import parse
from agent.event import ASR_TRANSCRIPT, SELF_CREATED, SYSTEM, TIMER, USER_TEXT, Event
from agent.model.messages import Message
from memory.json_value import Json
from memory.state.journal import Entry
from tests.agent.mind import NOON, a_mind, spoken, typed
from tests.fakes import ScriptedModel, calls

REPLY = ("reply", '{"text": "Yes."}')
DONE = ("complete_event", "{}")

KINDS = {
    ASR_TRANSCRIPT: ("user", True),
    USER_TEXT: ("user", True),
    TIMER: ("user", False),
    SELF_CREATED: ("user", False),
    SYSTEM: ("user", False),
    "a.type.nobody.knows": ("user", False),
}
"""Type of an event -> role of its message, and whether its words are a human's."""


@pytest.mark.shows("D22")
@pytest.mark.parametrize("kind", KINDS)
async def test_every_event_becomes_one_message_of_its_kind(tmp_path: Path, kind: str) -> None:
    model = ScriptedModel(calls(REPLY, DONE))
    event = Event(kind, "these words", source="somewhere", session_id="room", created_at=NOON)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(event)
    [handed] = model.requests[0][1:]
    seen = parse(handed.content)
    assert seen is not None
    assert (handed.role, seen.is_human) == KINDS[kind]
    assert (seen.words, seen.event_type) == ("these words", kind)


STEPS = {
    "a thought in bare text": (Message("assistant", "I think so."), ["assistant"]),
    "an action": (calls(("check_mailbox", "{}")), ["assistant", "tool"]),
    "several actions": (calls(("check_mailbox", "{}"), ("check_mailbox", "{}")), ["assistant", "tool", "tool"]),
    "an unknown action": (calls(("dance", "{}")), ["assistant", "tool"]),
}
"""What the model does -> the roles of what it leaves in the context."""


@pytest.mark.shows("D22", "B2")
@pytest.mark.parametrize("step", STEPS)
async def test_every_step_becomes_messages_of_its_kind(tmp_path: Path, step: str) -> None:
    answer, roles = STEPS[step]
    model = ScriptedModel(answer, calls(REPLY, DONE, prefix="end"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("hello"))
        assert [message.role for message in mind.loop_epoch.messages][2 : 2 + len(roles)] == roles


@pytest.mark.shows("D22")
async def test_steps_of_an_unknown_kind_are_skipped_when_the_context_is_read_back(tmp_path: Path) -> None:
    model = ScriptedModel(calls(REPLY, prefix="a"), calls(REPLY, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("one"))
        for topic in ("thinking.of.others", "llm.chunk", "context.message"):
            body: dict[str, Json] = {"epoch": "another", "message": {"role": "user", "content": "not of this context"}}
            await mind.journal.append(Entry(topic, body, session_id="room", owner_key="household"))
        before = list(mind.loop_epoch.messages)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("two"))
    assert model.requests[1][: len(before)] == before
    assert "not of this context" not in str(model.requests[1])


@pytest.mark.shows("D20")
async def test_neither_session_nor_owner_is_mixed_also_after_a_restart(tmp_path: Path) -> None:
    model = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(4)))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("the room says plum"))
        await mind.handle(spoken("somebody else says pear", owner_key="their key"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("the room again"))
        await mind.handle(spoken("somebody else again", owner_key="their key"))
    room, other = str(model.requests[2]), str(model.requests[3])
    assert ("plum" in room, "pear" in room) == (True, False)
    assert ("plum" in other, "pear" in other) == (False, True)


@pytest.mark.shows("D20")
async def test_a_session_is_read_back_without_the_others_of_its_owner(tmp_path: Path) -> None:
    model = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(8)))
    async with a_mind(tmp_path, [model]) as mind:
        for said in ("plum", "pear", "quince"):  # the epoch of the room is the oldest, its messages come between
            await mind.handle(typed(f"a client says {said}"))
            await mind.handle(typed(f"the room says {said} too", "room"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(typed("the client again"))
        await mind.handle(typed("the room again", "room"))
    client, room = str(model.requests[6]), str(model.requests[7])
    assert ("a client says quince" in client, "the room says" in client) == (True, False)
    assert ("the room says quince" in room, "a client says" in room) == (True, False)


@pytest.mark.shows("D8")
@pytest.mark.parametrize("late", [timedelta(), timedelta(minutes=7)])
async def test_the_time_of_a_persons_words_is_when_they_began_and_else_the_present(
    tmp_path: Path, late: timedelta
) -> None:
    model = ScriptedModel(calls(REPLY, prefix="a"), calls(REPLY, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(Event(ASR_TRANSCRIPT, "plums", source="mic", created_at=NOON - late))
        await mind.handle(Event(SELF_CREATED, "tidy up", source="self", created_at=NOON - late))
    heard, own = (parse(request[-1].content) for request in model.requests)
    assert heard is not None
    assert own is not None
    assert (heard.time, own.time) == (NOON - late, NOON)


@pytest.mark.shows("D19")
def test_the_context_is_read_from_the_journal_and_never_from_the_bus() -> None:
    for file in Path(agent.context.__file__).parent.glob("*.py"):
        used = {node.attr for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Attribute)}
        assert not used & {"observe", "attend", "serve", "request", "send"}, file.name
