"""The strict rules of the wire: what they refuse, and that whatever the wire makes of a legal list passes."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import IllegalMessages
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.model.wire.openai import GrowingList, GrowingTools, encode, legal_arguments, validate_tools
from tests.agent.openai_rules import complaint
from tests.agent.wire_form import wire_form

SYSTEM = Message("system", "You are nakari.")
USER = Message("user", "hello")
HI = Message("assistant", "Hi.")


def asked(*ids: str, content: str = "") -> Message:
    return Message("assistant", content, tuple(ToolCall(id_, "f", "{}") for id_ in ids))


def result(id_: str, content: str = "done") -> Message:
    return Message("tool", content, tool_call_id=id_)


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [SYSTEM, USER],
        [SYSTEM, USER, USER],
        [SYSTEM, USER, HI, USER],
        [USER, Message("assistant", " \n"), USER],
        [SYSTEM, USER, asked("a", "b"), result("a"), result("b", "")],
        [SYSTEM, USER, asked("a", content="Let me see."), result("a"), asked("b"), result("b"), USER],
    ],
)
def test_a_legal_list_passes(messages: list[Message]) -> None:
    assert complaint({"model": "m", "messages": wire_form(messages)}) is None


@pytest.mark.shows("D2", "B15")
@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "nothing to answer"),
        ([SYSTEM], "nothing to answer"),
        ([USER, HI], "nothing to answer"),
        ([USER, SYSTEM], "not the first"),
        ([SYSTEM, SYSTEM, USER], "not the first"),
        ([SYSTEM, HI], "before any user"),
        ([SYSTEM, result("a")], "no call waits"),
        ([USER, result("a")], "no call waits"),
        ([USER, asked("a"), USER], "result of call a"),
        ([USER, asked("a"), HI], "result of call a"),
        ([USER, asked("a")], "without the result of call a"),
        ([USER, asked("a", "b"), result("b"), result("a")], "'b' out of the order"),
        ([USER, asked("a", "b"), result("a"), USER], "result of call b"),
        ([USER, asked("a"), result("a"), result("a")], "no call waits"),
        ([USER, asked("a"), result("a"), asked("a"), result("a")], "second time"),
        ([USER, asked("a", "a"), result("a"), result("a")], "second time"),
        ([Message("user")], "without text"),
        ([Message("user", " \n")], "without text"),
        ([Message("system"), USER], "without text"),
    ],
)
def test_an_illegal_list_is_named(messages: list[Message], why: str) -> None:
    with pytest.raises(IllegalMessages, match=why):
        wire_form(messages)


def test_the_message_at_fault_is_counted() -> None:
    with pytest.raises(IllegalMessages, match=r"^message 2: "):
        wire_form([SYSTEM, USER, result("a")])


def test_rules_go_on_after_a_list_that_could_have_ended() -> None:
    growing, messages = GrowingList(), list[Message]()
    for more in ([SYSTEM, USER], [asked("a"), result("a")], [USER]):
        messages += more
        growing.update(messages)
    assert growing.call_ids == {"a"}
    assert [entry["role"] for entry in growing.entries] == ["system", "user", "assistant", "tool", "user"]


@pytest.mark.parametrize(
    ("tools", "why"),
    [
        ([ToolSpec("a b", "d", {"type": "object"})], "letters, digits"),
        ([ToolSpec("记忆", "d", {"type": "object"})], "letters, digits"),
        ([ToolSpec("a", "d", {"type": "object"})] * 2, "two tools"),
        ([ToolSpec("a", "", {"type": "object"})], "no description"),
        ([ToolSpec("a", "d", {})], "type object"),
    ],
)
def test_a_tool_no_server_would_take_is_named(tools: list[ToolSpec], why: str) -> None:
    with pytest.raises(IllegalMessages, match=why):
        validate_tools(tools)


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"x": 1}', '{"x": 1}'),
        (' {"x":\n1} ', ' {"x":\n1} '),
        ("", "{}"),
        ("  ", "{}"),
        ('{"x": ', '{"malformed_arguments": "{\\"x\\": "}'),
        ("[1]", '{"malformed_arguments": "[1]"}'),
        ("null", '{"malformed_arguments": "null"}'),
        ('{"x": NaN}', '{"malformed_arguments": "{\\"x\\": NaN}"}'),
        ('{"x": 1}{"y": 2}', '{"malformed_arguments": "{\\"x\\": 1}{\\"y\\": 2}"}'),
        ('{"x": "你', '{"malformed_arguments": "{\\"x\\": \\"你"}'),
    ],
)
def test_arguments_are_sent_as_written_or_quoted(written: str, sent: str) -> None:
    assert legal_arguments(written) == sent
    assert isinstance(json.loads(sent), dict)


def test_the_wire_form_of_each_kind_of_message() -> None:
    messages = [
        Message("system", "s"),
        Message("user", "u"),
        Message("assistant", " ", (ToolCall("a", "memory.query", ""),)),
        Message("tool", "", tool_call_id="a"),
        Message("assistant", ""),
        Message("assistant", "Hi.", extra={"reasoning": "r"}),
    ]
    assert wire_form(messages, is_whole=False) == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "memory_query", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "", "tool_call_id": "a"},
        {"role": "assistant", "content": "Hi.", "reasoning": "r"},
    ]


def test_a_list_that_is_refused_leaves_nothing_behind() -> None:
    growing = GrowingList()
    growing.update([Message("user", "a")])
    with pytest.raises(IllegalMessages):
        growing.update([Message("user", "a"), Message("tool", "x", tool_call_id="y")])
    growing.update([Message("user", "a"), Message("user", "b")])
    assert growing.encoded == encode([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])


def test_another_list_starts_over() -> None:
    growing = GrowingList()
    growing.update([Message("user", "a"), Message("user", "b")])
    growing.update([Message("user", "c")])
    assert json.loads(growing.encoded) == [{"role": "user", "content": "c"}]
    assert growing.call_ids == set()


def test_tools_are_made_once_until_they_change() -> None:
    growing = GrowingTools()
    tools = [ToolSpec("f", "d", {"type": "object", "properties": {}})]
    growing.update(tools)
    first = growing.entries
    growing.update(tuple(tools))
    assert growing.entries is first
    growing.update([*tools, ToolSpec("g", "d", {"type": "object"})])
    assert [json.loads(growing.encoded)[n]["function"]["name"] for n in (0, 1)] == ["f", "g"]
    growing.update([])
    assert (growing.entries, growing.encoded) == ([], b"[]")


ANY_TEXT = st.text(st.characters(codec=None), max_size=20)
"""Also half characters, which no wire can carry."""


@st.composite
def conversations(draw: st.DrawFn) -> list[list[Message]]:
    """Return the lists of successive calls: each is the one before and more, and is one the loop could make."""
    messages = [Message("system", "s"), Message("user", "u")]
    lists = [list(messages)]
    for number in range(draw(st.integers(1, 5))):
        calls = tuple(
            ToolCall(f"c{number}_{n}", draw(ANY_TEXT), draw(ANY_TEXT | st.just('{"text": "x"}')))
            for n in range(draw(st.integers(0, 3)))
        )
        messages.append(Message("assistant", draw(ANY_TEXT), calls))
        messages += [Message("tool", draw(ANY_TEXT), tool_call_id=call.id) for call in calls]
        messages.append(Message("user", "." + draw(ANY_TEXT)))
        lists.append(list(messages))
    return lists


@pytest.mark.shows("D6", "F5")
@given(conversations())
def test_whatever_a_model_wrote_the_next_request_is_legal_and_starts_with_the_last(lists: list[list[Message]]) -> None:
    growing = GrowingList()
    bodies: list[bytes] = []
    for messages in lists:
        growing.update(messages)
        bodies.append(growing.encoded)
        sent: Any = json.loads(growing.encoded)
        assert sent == growing.entries == wire_form(messages)
        assert complaint({"model": "m", "messages": sent}) is None
    for earlier, later in pairwise(bodies):
        assert later.startswith(earlier[:-1])
    assert bodies[-1] == anew(lists[-1])


def anew(messages: Sequence[Message]) -> bytes:
    growing = GrowingList()
    growing.update(messages)
    return growing.encoded
