"""The strict rules of the wire: what they refuse, and that whatever the wire makes of a legal list passes."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import IllegalMessages
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.model.wire.openai import GrowingList, GrowingTools, OpenAiRules, encode, legal_arguments, validate_tools
from memory.json_value import Json
from tests.agent.openai_rules import complaint
from tests.agent.wire_form import wire_form

SYSTEM: dict[str, Json] = {"role": "system", "content": "You are nakari."}
USER: dict[str, Json] = {"role": "user", "content": "hello"}


def asked(*ids: str, name: Json = "f", arguments: Json = "{}", content: Json = None) -> dict[str, Json]:
    calls: list[Json] = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}} for id_ in ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(id_: Json, content: Json = "done") -> dict[str, Json]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def check(entries: Sequence[Mapping[str, Json]]) -> None:
    """Check a whole list, entry by entry."""
    rules = OpenAiRules()
    for entry in entries:
        rules.accept(entry)
    rules.finish()


@pytest.mark.parametrize(
    "entries",
    [
        [USER],
        [SYSTEM, USER],
        [SYSTEM, USER, USER],
        [SYSTEM, USER, {"role": "assistant", "content": "Hi."}, USER],
        [SYSTEM, USER, asked("a", "b"), result("a"), result("b", "")],
        [SYSTEM, USER, asked("a", content="Let me see."), result("a"), asked("b"), result("b"), USER],
    ],
)
def test_a_legal_list_passes(entries: list[dict[str, Json]]) -> None:
    check(entries)


@pytest.mark.shows("D2", "B15")
@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([], "nothing to answer"),
        ([SYSTEM], "nothing to answer"),
        ([USER, {"role": "assistant", "content": "Hi."}], "nothing to answer"),
        ([USER, SYSTEM], "not the first"),
        ([SYSTEM, SYSTEM, USER], "not the first"),
        ([SYSTEM, {"role": "assistant", "content": "Hi."}, USER], "before any user"),
        ([SYSTEM, result("a")], "no call waits"),
        ([USER, result("a")], "no call waits"),
        ([USER, asked("a"), USER], "result of call a"),
        ([USER, asked("a")], "without the result of call a"),
        ([USER, asked("a", "b"), result("b"), result("a")], "that of a"),
        ([USER, asked("a", "b"), result("a"), USER], "result of call b"),
        ([USER, asked("a"), result("a"), result("a")], "no call waits"),
        ([USER, asked("a"), result("a"), asked("a"), result("a")], "second time"),
        ([USER, asked("a", "a"), result("a"), result("a")], "second time"),
        ([USER, asked("a", arguments='{"x'), result("a")], "no JSON"),
        ([USER, asked("a", arguments='{"x": NaN}'), result("a")], "no JSON"),
        ([USER, asked("a", arguments='{"x": "\\ud83d"}'), result("a")], "no JSON"),
        ([USER, asked("a", arguments="[]"), result("a")], "no JSON object"),
        ([USER, asked("a", arguments={}), result("a")], "no text"),
        ([USER, asked("a", name="memory.query"), result("a")], "function's name"),
        ([USER, asked("a", name=""), result("a")], "function's name"),
        ([USER, asked("a", name="x" * 65), result("a")], "function's name"),
        ([USER, asked(""), result("")], "without id"),
        ([USER, asked()], "no list with a call"),
        ([USER, {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}], "no function call"),
        ([USER, {"role": "assistant", "content": None}, USER], "without text"),
        ([USER, {"role": "assistant", "content": " \n"}, USER], "without text"),
        ([USER, asked("a", content=""), result("a")], "without text"),
        ([{"role": "user", "content": ""}], "without text"),
        ([{"role": "user"}], "without text"),
        ([{"role": "system", "content": ""}, USER], "without text"),
        ([USER, asked("a"), result("a", None)], "no text"),
        ([USER, asked("a"), result("a", "half \ud83d")], "half a character"),
        ([{"role": "user", "content": "half \ud83d"}], "half a character"),
        ([{"role": "developer", "content": "x"}, USER], "unknown role"),
    ],
)
def test_an_illegal_list_is_named(entries: list[dict[str, Json]], why: str) -> None:
    with pytest.raises(IllegalMessages, match=why):
        check(entries)


def test_the_entry_at_fault_is_counted() -> None:
    with pytest.raises(IllegalMessages, match=r"^message 2: "):
        check([SYSTEM, USER, result("a")])


def test_rules_go_on_after_a_list_that_could_have_ended() -> None:
    rules = OpenAiRules()
    for entries in ([SYSTEM, USER], [asked("a"), result("a")], [USER]):
        for entry in entries:
            rules.accept(entry)
        rules.finish()
    assert rules.call_ids == {"a"}


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
    assert growing.call_ids == frozenset()


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
