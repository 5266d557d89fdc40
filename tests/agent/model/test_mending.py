"""JSON comes out of the mender as it went in; what is almost JSON comes out as the JSON that was meant."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.dialects.mending import JsonMender

pytestmark = pytest.mark.shows("F1")


def mended(text: str, size: int = 1, *, is_cut: bool = False) -> tuple[str, str, bool]:
    """Return the JSON, what came behind it, and whether it broke."""
    mender, made = JsonMender(), ""
    for start in range(0, len(text), size):
        more, rest = mender.feed(text[start : start + size])
        made += more
        if mender.is_done or mender.is_broken:
            return made, rest + text[start + size :], mender.is_broken
    return made + mender.finish(is_cut=is_cut), "", mender.is_broken


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(value=VALUES, is_ascii=st.booleans(), indent=st.sampled_from([None, 2]), size=st.integers(1, 9))
def test_json_stays_as_it_is_byte_for_byte(value: Any, is_ascii: bool, indent: int | None, size: int) -> None:
    text = json.dumps({"k": value}, ensure_ascii=is_ascii, indent=indent)
    assert mended(f"{text}</tool_call>", size) == (text, "</tool_call>", False)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('{"a": 1, "b": [1, 2,], }', {"a": 1, "b": [1, 2]}),
        ("{'a': 'it\\'s', 'b': 'say \"hi\"'}", {"a": "it's", "b": 'say "hi"'}),
        ("{'a': 'It's fine', 'b': 2}", {"a": "It's fine", "b": 2}),
        ('{"a": True, "b": None, "c": False}', {"a": True, "b": None, "c": False}),
        ("{a: 1, b_c: 'x'}", {"a": 1, "b_c": "x"}),
        ('{{"a": {{"b": 1}}}}', {"a": {"b": 1}}),
        ('{"a": "two\nlines\tand a tab"}', {"a": "two\nlines\tand a tab"}),
        ('{"a": "C:\\Users and \\d"}', {"a": "C:\\Users and \\d"}),
        ('{"a": "\\d and \\\'"}', {"a": "\\d and '"}),
        ('{"a": "\\u00e9 \\user \\u12"}', {"a": "é \\user \\u12"}),
        ("(text='Hi.', n=2, more=[1, {'x': None}])", {"text": "Hi.", "n": 2, "more": [1, {"x": None}]}),
        ("()", {}),
        ('{"a": [1, {"b": 2]}', {"a": [1, {"b": 2}]}),
        ('{"a": {"b": 1', {"a": {"b": 1}}),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_what_can_only_be_meant_one_way_is_mended(written: str, meant: Any, size: int) -> None:
    made, rest, is_broken = mended(written, size)
    assert (json.loads(made), rest, is_broken) == (meant, "", False)


@pytest.mark.parametrize("mark", ["</tool_call>", "```", "<|tool_call_end|>"])
def test_a_mark_closes_what_is_open(mark: str) -> None:
    made, rest, _ = mended(f'{{"a": {{"b": "x"\n{mark}')
    assert (json.loads(made), rest) == ({"a": {"b": "x"}}, mark)


@pytest.mark.parametrize("written", ['{"a": b}', '{"a" 1}', '{"a": 1 2}', "{,}", '{"a": 1e}', "[1)"])
def test_what_could_be_anything_is_left_to_the_tool(written: str) -> None:
    made, rest, is_broken = mended(written)
    assert is_broken
    with pytest.raises(ValueError, match=r".*"):
        json.loads(made + rest)


def test_an_answer_cut_off_is_not_closed() -> None:
    assert mended('{"a": {"b": 1', is_cut=True)[0] == '{"a": {"b": 1'
    assert mended('{"a": "half')[0] == '{"a": "half'
