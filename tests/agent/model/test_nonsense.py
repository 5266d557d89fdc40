"""What no server should send and some do: nothing of it ends a run, or makes a context that nobody takes any more."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.event import Event
from agent.model.dialects.dialect import Dialect
from agent.model.interface import Answer
from agent.model.messages import Message, read_usage
from agent.model.sight import Sight
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.arguments import unwrapped
from agent.model.wire.openai import GrowingList, encode, sendable
from agent.model.wire.profile import Profile
from agent.tools.tool import tool
from memory.json_value import Json
from tests.agent.mind import a_mind, typed
from tests.agent.wire_form import wire_form
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("F5")

DEEP = '{"a":' * 3_000 + "1" + "}" * 3_000

ANY_TEXT = st.text(st.characters(), max_size=4)
"""With lone surrogates and NUL."""

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)
CALL = st.fixed_dictionaries(
    {"function": ANYTHING | st.fixed_dictionaries({"name": ANYTHING, "arguments": ANYTHING})},
    optional=dict.fromkeys(("id", "index", "extra_content", "provider_specific_fields"), ANYTHING),
)
DELTA = st.fixed_dictionaries(
    {},
    optional={
        "content": ANYTHING,
        "tool_calls": ANYTHING | st.lists(ANYTHING | CALL, max_size=3),
        "reasoning_details": ANYTHING,
        "thinking_blocks": st.lists(st.fixed_dictionaries({"type": st.just("thinking"), "thinking": ANYTHING})),
        "provider_specific_fields": st.fixed_dictionaries({"thought_signatures": ANYTHING}),
    },
)
CHUNK = st.fixed_dictionaries(
    {"choices": ANYTHING | st.lists(st.fixed_dictionaries({"delta": DELTA, "finish_reason": ANYTHING}), max_size=1)},
    optional={"usage": ANYTHING | st.dictionaries(st.sampled_from(("prompt_tokens", "cached_tokens")), ANYTHING)},
)


def message_of(*chunks: dict[str, Json]) -> Message:
    accumulator = Accumulator(frozenset(), (), Dialect(Profile("all words"), "m", Sight()))
    items = [item for chunk in chunks for item in accumulator.feed(chunk)]
    last = [*items, *accumulator.finish()][-1]
    assert isinstance(last, Answer)
    return last.message


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(CHUNK, max_size=4))
def test_whatever_is_streamed_becomes_a_message_that_can_be_kept_and_sent(chunks: list[dict[str, Json]]) -> None:
    message = message_of(*chunks)
    assert Message.from_json(json.loads(json.dumps(message.to_json()))) == message
    results = [Message("tool", "done", tool_call_id=call.id) for call in message.tool_calls]
    sent = [Message("system", "s"), Message("user", "hello"), message, *results, Message("user", "next")]
    wire_form(sent)
    growing = GrowingList()
    growing.update(sent)
    assert json.loads(growing.encoded) == growing.entries


def test_thinking_without_its_signature_is_not_sent_back() -> None:
    unsigned: Json = {"type": "thinking", "thinking": "hm"}
    message = message_of({"choices": [{"delta": {"content": "hi", "thinking_blocks": [unsigned]}}]})
    wire_form([Message("user", "hello"), message, Message("user", "next")])


def test_half_a_character_in_a_signature_does_not_spoil_the_context() -> None:
    half: dict[str, Json] = {"choices": [{"delta": {"content": "hi", "reasoning_details": [{"text": "\ud83d"}]}}]}
    assert encode([*wire_form([Message("user", "hello"), message_of(half), Message("user", "next")])])


def test_a_provider_s_own_value_is_as_deep_as_it_may_be() -> None:
    value: Json = "in"
    for _ in range(500):
        value = [value]
    assert len(json.dumps(sendable(value))) < 100


@pytest.mark.parametrize("count", [float("inf"), float("nan"), -5, 10**400, True, "7", [7]])
def test_a_count_that_is_none_counts_nothing_or_one(count: Json) -> None:
    assert read_usage({"prompt_tokens": count}).prompt_tokens in {0, 1}


def test_arguments_that_are_nested_too_deeply_stay_as_they_are() -> None:
    assert unwrapped(DEEP) == DEEP
    assert unwrapped(DEEP[:5_000]) == DEEP[:5_000]


async def look() -> Json:
    """Look."""
    return "seen"


async def test_a_call_that_is_nested_too_deeply_gets_an_observation_and_it_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("look", DEEP), ("nobody", DEEP)), calls(("reply", '{"text": "Sorry."}'), prefix="b"))
    event: Event = typed("look")
    async with a_mind(tmp_path, [model], [tool(look)]) as mind:
        await mind.handle(event)
        assert await mind.state_of(event) == "completed"
        assert [message.role for message in model.requests[1][-3:]] == ["assistant", "tool", "tool"]
