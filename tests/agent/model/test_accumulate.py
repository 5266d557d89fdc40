"""Deltas of every shape become the right items and the right message, wherever they were cut."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.dialects.dialect import Dialect
from agent.model.interface import Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import Message, ToolSpec, Usage, read_usage
from agent.model.sight import Sight
from agent.model.stream.accumulate import Accumulator
from agent.model.wire.openai import CALL_FIELDS
from agent.model.wire.profile import GENERIC, Profile
from memory.json_value import Json
from tests.agent.wire_form import wire_form


def delta(finish_reason: str | None = None, **fields: Any) -> dict[str, Json]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}


def piece(index: int | None = None, id: str | None = None, **function: Any) -> dict[str, Json]:
    made: dict[str, Any] = {"function": function}
    if index is not None:
        made["index"] = index
    if id is not None:
        made["id"] = id
    return delta(tool_calls=[made])


ALL_WORDS = Dialect(Profile("all words"), "m", Sight())
"""Of a server that parts thinking and calls from the text itself."""


def collect(chunks: Sequence[Mapping[str, Json]], taken: Sequence[str] = ()) -> list[StreamItem]:
    accumulator = Accumulator(frozenset(taken), (), ALL_WORDS)
    items = [item for chunk in chunks for item in accumulator.feed(chunk)]
    return [*items, *accumulator.finish()]


def answer_of(items: Sequence[StreamItem]) -> Answer:
    assert isinstance(items[-1], Answer)
    return items[-1]


def made_by(*chunks: Mapping[str, Json]) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in answer_of(collect(chunks)).message.tool_calls]


@pytest.mark.shows("F5")
@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [piece(0, "a", name="f", arguments='{"x":1}'), piece(0, "b", name="g", arguments="{}")],
            [("f", '{"x":1}'), ("g", "{}")],
            id="another id on the same index",
        ),
        pytest.param(
            [piece(0, name="f", arguments='{"x":'), piece(0, name="g", arguments="{}")],
            [("f", '{"x":'), ("g", "{}")],
            id="another name on the same index, the first never finished",
        ),
        pytest.param(
            [piece(0, name="f", arguments='{"x":1}'), piece(0, name="f", arguments='{"x":2}')],
            [("f", '{"x":1}'), ("f", '{"x":2}')],
            id="the same function twice on one index, no ids",
        ),
        pytest.param(
            [piece(0, name="f", arguments='{"x":1}'), piece(0, arguments='{"x":2}')],
            [("f", '{"x":1}'), ("f", '{"x":2}')],
            id="more after whole arguments is another call",
        ),
        pytest.param(
            [piece(0, "a", name="f", arguments='{"x":1}'), piece(0, arguments=" \n")],
            [("f", '{"x":1} \n')],
            id="blanks after whole arguments are not",
        ),
        pytest.param(
            [piece(0, "a", name="f", arguments='{"x":'), piece(0, "a", name="f", arguments="1}")],
            [("f", '{"x":1}')],
            id="the header repeated in every piece",
        ),
        pytest.param(
            [piece(0, "a", arguments='{"x"'), piece(0, name="f"), piece(0, arguments=":1}")],
            [("f", '{"x":1}')],
            id="the name comes late",
        ),
        pytest.param(
            [piece(None, "a", name="f", arguments="{"), piece(None, arguments="}"), piece(None, "b", name="g")],
            [("f", "{}"), ("g", "")],
            id="no index at all",
        ),
        pytest.param(
            [piece(1, "b", name="g", arguments="{"), piece(0, "a", name="f"), piece(1, arguments="}")],
            [("g", "{}"), ("f", "")],
            id="indexes out of order and interleaved",
        ),
        pytest.param(
            [piece(0, "a", name="f", arguments='{"s":"}'), piece(0, arguments='"}')],
            [("f", '{"s":"}"}')],
            id="a brace inside a string ends nothing",
        ),
        pytest.param([piece(0, "a", name="f", arguments=None)], [("f", "")], id="null arguments"),
        pytest.param([piece(0, "a", arguments="{}")], [("", "{}")], id="a name that never comes"),
        pytest.param(
            [piece(0, "a", name="f", arguments="{}"), piece(0, arguments='{"x"'), piece(0, arguments=":1}")],
            [("f", '{"x":1}')],
            id="an empty object before the arguments",
        ),
        pytest.param(
            [piece(0, "a", name="f", arguments="{}"), piece(0, "a", name="g", arguments="{}")],
            [("f", "{}"), ("g", "{}")],
            id="two calls of nothing under one id",
        ),
        pytest.param([piece(0, "", name="f", arguments="{}")], [("f", "{}")], id="an empty id"),
        pytest.param(
            [delta(tool_calls={"id": "a", "function": {"name": "f", "arguments": "{}"}})],
            [("f", "{}")],
            id="one call without a list",
        ),
        pytest.param(
            [delta(tool_calls=[{"index": 0, "id": "a", "name": "f", "arguments": "{}"}])],
            [("f", "{}")],
            id="nothing stands around the name",
        ),
        pytest.param(
            [delta(tool_calls=[None, "x", {"index": 0, "function": None}])], [("", "")], id="pieces that are none"
        ),
    ],
)
def test_pieces_become_the_right_calls(chunks: list[dict[str, Json]], expected: list[tuple[str, str]]) -> None:
    items = collect(chunks)
    calls = answer_of(items).message.tool_calls
    assert [(call.name, call.arguments) for call in calls] == expected
    assert len({call.id for call in calls} - {""}) == len(calls)
    started = [item for item in items if isinstance(item, ToolCallStarted)]
    assert [(item.id, item.name) for item in started] == [(call.id, call.name) for call in calls]
    for call, item in zip(calls, started, strict=True):
        told = [more.text for more in items if isinstance(more, ArgumentsDelta) and more.index == item.index]
        assert "".join(told) == call.arguments


@pytest.mark.parametrize("behind", [" // done", "}", " done.", '"'])
def test_what_no_object_begins_with_is_no_further_call(behind: str) -> None:
    calls = answer_of(collect([piece(0, "a", name="f", arguments='{"x":1}'), piece(0, arguments=behind)]))
    assert [(call.name, call.arguments) for call in calls.message.tool_calls] == [("f", '{"x":1}')]


def test_a_call_is_told_before_its_arguments_and_never_without_its_name() -> None:
    items = collect([piece(0, "a", arguments='{"x"'), piece(0, name="f"), piece(0, arguments=":1}")])
    assert items[:3] == [ToolCallStarted(0, "a", "f"), ArgumentsDelta(0, '{"x"'), ArgumentsDelta(0, ":1}")]


@pytest.mark.parametrize("taken", ["call_0", "x"])
def test_an_id_already_in_the_conversation_is_not_used_again(taken: str) -> None:
    chunks = [piece(0, "call_0", name="f", arguments="{}"), piece(1, "call_0", name="g", arguments="{}")]
    ids = [call.id for call in answer_of(collect(chunks, [taken])).message.tool_calls]
    assert len({*ids, taken}) == 3
    assert all(id_.startswith("call_") for id_ in ids)


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        (["Hel", "lo"], "Hello"),
        (["a\ud83d", "\ude00b"], "a😀b"),
        (["a\ud83d"], "a\ufffd"),
        (["\ude00b"], "\ufffdb"),
        ([None, ""], ""),
        ([[{"type": "text", "text": "Hel"}, {"type": "thinking"}, {"type": "text", "text": "lo"}]], "Hello"),
        ([7], ""),
        ([["Hel", "lo"], [{"type": "reasoning", "text": "Hm."}, {"type": "output_text", "text": "."}]], "Hello."),
        (["\u200b", "Hel\x00lo", " wo\u00adrld.\ufeff\u2060"], "Hello world."),
        (["Hi 👩\u200d👧.\n\tمی\u200cخواهم"], "Hi 👩\u200d👧.\n\tمی\u200cخواهم"),
    ],
)
def test_text_comes_out_in_whole_characters(contents: list[Any], text: str) -> None:
    items = collect([delta(content=content) for content in contents])
    told = [item.text for item in items if isinstance(item, TextDelta)]
    assert "".join(told) == answer_of(items).message.content == text
    assert all(told)
    "".join(told).encode()  # strict UTF-8


def test_a_refusal_is_said() -> None:
    assert answer_of(collect([delta(refusal="I will not.")])).message.content == "I will not."


@pytest.mark.parametrize(
    ("said", "has_call", "means"),
    [
        ("stop", False, "stop"),
        ("stop", True, "tool_calls"),
        ("tool_calls", True, "tool_calls"),
        ("function_call", True, "tool_calls"),
        ("eos", False, "stop"),
        ("length", True, "length"),
        ("content_filter", False, "content_filter"),
        ("MAX_TOKENS", False, "length"),
        ("model_length", False, "length"),
        ("SAFETY", False, "content_filter"),
        ("sensitive", False, "content_filter"),
        ("model_context_window_exceeded", False, "length"),
        ("None", False, "stop"),
    ],
)
def test_finish_reasons_are_four(said: str, has_call: bool, means: str) -> None:
    calls = [piece(0, "a", name="f", arguments="{}")] if has_call else [delta(content="Hi.")]
    assert answer_of(collect([*calls, delta(said)])).finish_reason == means


@pytest.mark.parametrize(
    "reason", ["abort", "network_error", "insufficient_system_resource", "MALFORMED_FUNCTION_CALL"]
)
def test_a_reason_that_is_an_error_is_one(reason: str) -> None:
    accumulator = Accumulator(frozenset(), (), ALL_WORDS)
    assert list(accumulator.feed(delta(reason))) == []
    assert accumulator.finish_reason == "error"


def test_of_several_choices_one_is_the_answer() -> None:
    one: dict[str, Json] = {"index": 0, "delta": {"content": "One. "}}
    other: dict[str, Json] = {"index": 1, "delta": {"content": "Other. "}}
    ended: dict[str, Json] = {"index": 1, "delta": {}, "finish_reason": "length"}
    given: list[list[Json]] = [[one], [other], [ended], [one, other], [other, one]]
    answer = answer_of(collect([{"choices": choices} for choices in given]))
    assert (answer.message.content, answer.finish_reason) == ("One. One. One. ", "stop")


@pytest.mark.shows("D11")
@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 5}}, Usage(9, 5, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 5}, Usage(9, 5, 2)),
        ({"prompt_tokens": 9, "cached_tokens": 5}, Usage(9, 5, 0)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(9, 0, 0)),
        ({"prompt_tokens": None}, Usage()),
        ({}, Usage()),
    ],
)
def test_usage_is_read_wherever_a_provider_puts_it(usage: dict[str, Json], expected: Usage) -> None:
    assert read_usage(usage) == expected
    assert answer_of(collect([{"choices": [], "usage": usage}])).usage == expected


def test_reasoning_and_signatures_are_kept_and_travel_back() -> None:
    signature = {"google": {"thought_signature": "abc="}}
    chunks: list[dict[str, Json]] = [
        delta(reasoning="They ", reasoning_details=[{"type": "reasoning.text", "text": "They "}]),
        delta(reasoning="greet.", reasoning_details=[{"type": "reasoning.encrypted", "data": "x"}]),
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f"}, "extra_content": signature}]),
    ]
    message = answer_of(collect(chunks)).message
    assert message.extra == {
        "reasoning": "They greet.",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "They "},
            {"type": "reasoning.encrypted", "data": "x"},
        ],
        CALL_FIELDS: {"a": {"extra_content": signature}},
    }
    sent = wire_form([Message("user", "hello"), message], is_whole=False)[1]
    assert sent["reasoning"] == "They greet."
    assert CALL_FIELDS not in sent
    calls = sent["tool_calls"]
    assert isinstance(calls, list)
    assert isinstance(calls[0], dict)
    assert calls[0]["extra_content"] == signature


@pytest.mark.shows("F5")
@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": ["x"]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"tool_calls": "x"}}]},
        {"choices": [{"delta": {"content": None, "role": "assistant"}}]},
        {"usage": "x"},
    ],
)
def test_a_chunk_without_anything_adds_nothing(chunk: dict[str, Json]) -> None:
    assert len(collect([chunk])) == 1


JSON_OBJECTS = st.dictionaries(
    st.text(max_size=5), st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5), max_size=4
)


@pytest.mark.shows("F5")
@given(
    calls=st.lists(st.tuples(st.sampled_from("fgh"), JSON_OBJECTS), min_size=1, max_size=4),
    has_ids=st.booleans(),
    own_index=st.booleans(),
    data=st.data(),
)
def test_any_cut_of_any_calls_gives_the_calls(
    calls: list[tuple[str, dict[str, Any]]], has_ids: bool, own_index: bool, data: st.DataObject
) -> None:
    """However the arguments are cut, with ids or without, on indexes of their own or all on 0."""
    chunks = []
    for number, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
        index = number if own_index else 0
        parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        header = {"id": f"id_{number}"} if has_ids else {}
        chunks.append(piece(index, name=name, arguments=parts[0], **header))
        chunks += [piece(index, arguments=part) for part in parts[1:]]
    assert made_by(*chunks) == [(name, json.dumps(arguments)) for name, arguments in calls]


@pytest.mark.shows("F5")
@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("functions.reply", "reply"),
        ("functions.reply:0", "reply"),
        ("Reply", "reply"),
        (" reply() ", "reply"),
        ("default_api__reply", "reply"),
        ("reply<|channel|>commentary", "reply"),
        ("Home-Reply", "home.reply"),
        ("reply_to_user", "reply"),
        ("final_answer", "reply"),
        ("send_message", "send_message"),
        ("default_api:reply", "reply"),
        ("home.reply", "home.reply"),
        ("functions.nobody", "functions.nobody"),
    ],
)
def test_a_tool_is_known_by_its_name_however_it_is_spelled(written: str, name: str) -> None:
    accumulator = Accumulator(
        frozenset(), [ToolSpec("reply", "Say.", {}), ToolSpec("home.reply", "Say.", {})], ALL_WORDS
    )
    items = [*accumulator.feed(piece(0, "a", name=written, arguments="{}")), *accumulator.finish()]
    assert [call.name for call in answer_of(items).message.tool_calls] == [name]


@pytest.mark.shows("F5")
@pytest.mark.parametrize("arguments", ["null", " None ", ""])
def test_a_tool_is_known_by_the_id_of_a_call_without_name_or_arguments(arguments: str) -> None:
    (made,) = answer_of(
        told_with_tools(piece(0, "functions.recall:12", name=None), piece(0, arguments=arguments))
    ).message.tool_calls
    assert (made.name, made.arguments) == ("recall", "")


@pytest.mark.shows("F6")
@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        ("It lies on the river Sei", "length", "It lies on the river Sei…"),
        ("It lies on the Seine. ", "content_filter", "It lies on the Seine. …"),
        ("It lies on the Seine.", "stop", "It lies on the Seine."),
        ("", "length", ""),
    ],
)
def test_an_answer_that_is_cut_off_says_so(text: str, reason: str, said: str) -> None:
    items = collect([delta(content=text), delta(reason)])
    assert "".join(item.text for item in items if isinstance(item, TextDelta)) == said
    assert answer_of(items).message.content == said


def test_words_before_a_call_that_is_cut_off_are_whole() -> None:
    items = collect([delta(content="One moment."), piece(0, "a", name="f", arguments='{"x'), delta("length")])
    assert answer_of(items).message.content == "One moment."


TEXT: dict[str, Json] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [ToolSpec("reply", "Say it.", TEXT), ToolSpec("recall", "Look it up.", {"type": "object"})]
IN_TEXT = Dialect(GENERIC, "m", Sight())
SEVERAL = [("recall", '{"about": "tea"}'), ("reply", '{"text": "It is \\"green\\"."}')]
PACKED = [
    [{"recipient_name": f"functions.{name}", "parameters": json.loads(given)} for name, given in SEVERAL],
    [{"name": name, "arguments": given} for name, given in SEVERAL],
    [{"type": "function", "function": {"name": name, "arguments": given}} for name, given in SEVERAL],
    [{"tool": name, "args": json.loads(given)} for name, given in SEVERAL],
]


def told_with_tools(*chunks: Mapping[str, Json]) -> list[StreamItem]:
    accumulator = Accumulator(frozenset(), TOOLS, IN_TEXT)
    items = [item for chunk in chunks for item in accumulator.feed(chunk)]
    return [*items, *accumulator.finish()]


@pytest.mark.shows("F5", "X6")
@pytest.mark.parametrize("inner", PACKED, ids=["OpenAI", "Claude", "wire form", "short"])
@pytest.mark.parametrize("key", ["tool_uses", "invocations", "calls"])
def test_calls_that_are_packed_into_one_are_these_calls(inner: list[dict[str, Json]], key: str) -> None:
    packed = json.dumps({key: inner})
    envelope = json.dumps({"name": "multi_tool_use.parallel", "arguments": {key: inner}})
    for chunks in (
        [piece(0, "a", name="multi_tool_use.parallel", arguments=packed[:9]), piece(0, arguments=packed[9:])],
        [piece(0, "a", name="batch", arguments=json.dumps(inner))],
        *([delta(content=letter) for letter in text] for text in (packed, envelope)),
    ):
        items = told_with_tools(*chunks)
        message = answer_of(items).message
        assert (message.content, [(call.name, call.arguments) for call in message.tool_calls]) == ("", SEVERAL)
        begun = [item for item in items if isinstance(item, ToolCallStarted)]
        assert [(item.id, item.name) for item in begun] == [(call.id, call.name) for call in message.tool_calls]


@pytest.mark.shows("F5", "X6")
@pytest.mark.parametrize(
    "arguments",
    ['{"tool_uses": [{"recipient_name": "functions.bash", "parameters": {}}]}', '{"names": ["reply"]}', "{}", "[]"],
)
def test_a_call_of_no_tool_with_no_calls_of_tools_in_it_stays_as_it_is(arguments: str) -> None:
    made = answer_of(told_with_tools(piece(0, "a", name="parallel", arguments=arguments))).message.tool_calls
    assert [(call.name, call.arguments) for call in made] == [("parallel", arguments)]


@pytest.mark.parametrize(
    "text", ['{"menu": [{"name": "tea", "price": 2}]}', '{"a": {"b": [{"name": "x", "input": 1}]}}']
)
def test_a_list_in_json_that_names_no_tool_is_text(text: str) -> None:
    assert answer_of(told_with_tools(*(delta(content=letter) for letter in text))).message.content == text


@pytest.mark.shows("F5", "X6")
@pytest.mark.parametrize(
    "text",
    [
        '{"role": "assistant", "content": "It is green."}',
        '```json\n{"tool": "reply", "tool_input": {"text": "It is green."}}\n```',
    ],
)
def test_an_answer_in_json_is_said(text: str) -> None:
    (made,) = answer_of(told_with_tools(*(delta(content=letter) for letter in text))).message.tool_calls
    assert (made.name, json.loads(made.arguments)) == ("reply", {"text": "It is green."})


@pytest.mark.shows("F5")
def test_two_calls_under_one_id_and_index_are_two() -> None:
    pieces = [piece(0, "c", name=name, arguments=given) for name, given in SEVERAL]
    made = answer_of(told_with_tools(*pieces)).message.tool_calls
    assert [(call.name, call.arguments) for call in made] == SEVERAL
    assert made[0].id != made[1].id


@pytest.mark.shows("F5", "F1")
@pytest.mark.parametrize(
    ("thought", "reason", "said", "calls"),
    [
        ('Tea.\n<tool_call>\n{"name": "recall", "arguments": {"about": "tea"}}\n</tool_call>', "stop", "", 1),
        ('Tea.\n<tool_call>\n{"name": "recall", "arguments": {"about": "tea"}}\n</tool_call>', "length", "", 0),
        ("Tea.\n</think>\n\nIt is green.", "stop", "It is green.", 0),
        ('<tool_call>{"name": "recall", "arguments": {"about": "tea"}}</tool_call>' + " Hm." * 6_000, "stop", "", 0),
        ("They ask about tea.", "stop", "", 0),
    ],
)
@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_an_answer_that_a_server_left_in_the_thinking_is_found(
    thought: str, reason: str, said: str, calls: int, key: str
) -> None:
    message = answer_of(told_with_tools(*(delta(**{key: letter}) for letter in thought), delta(reason))).message
    assert (message.content.strip(), [call.name for call in message.tool_calls]) == (said, ["recall"] * calls)
    assert message.extra == {key: thought}
