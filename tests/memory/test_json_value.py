"""What was kept as JSON is read as its class, or refused in words."""

import pytest
from msgspec import Struct

from memory.json_value import MOST_NESTED, Json, parse_json, read_json, read_whole


class Kept(Struct, frozen=True):
    name: str
    count: int = 0


def test_what_it_does_not_know_is_left_out() -> None:
    assert read_json(b'{"name": "a", "of": [{"a": "later"}]}', Kept) == Kept("a")


NONE = {
    "nothing": b"",
    "cut off": b"{",
    "a list": b"[]",
    "null": b"null",
    "wrong kind": b'{"name": 5}',
    "a part lacks": b'{"count": 1}',
    "a bit fell over": b'{"name": "b\xefx"}',
    "no end": b'{"name": "a", "x": ' + b"[" * 9_000,
}


@pytest.mark.parametrize("data", NONE.values(), ids=NONE)
def test_what_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_json(data, Kept)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r'{"a": ["x \ud800", 1]}', {"a": ["x ?", 1]}),
        (r'"\uD83C\uDF84 \udf84"', "🎄 ?"),
        (r'"C:\\udders"', r"C:\udders"),
    ],
)
def test_half_a_character_of_a_stranger_is_a_question_mark(text: str, read: Json) -> None:
    assert read_whole(text) == read


@pytest.mark.parametrize("opens", ["[", '{"a":'])
def test_what_is_nested_too_deeply_is_refused_by_every_python(opens: str) -> None:
    closes = {"[": "]"}.get(opens, "}")

    def nested(depth: int) -> str:
        return opens * depth + "1" + closes * depth

    assert parse_json(nested(MOST_NESTED)) != 1
    for depth in (MOST_NESTED + 1, 900, 3_000, 200_000):
        with pytest.raises(ValueError, match="nested too deeply"):
            parse_json(nested(depth))


def test_many_beside_each_other_are_not_deep() -> None:
    assert parse_json("[" + ",".join(["[]"] * 1_000) + "]") == [[]] * 1_000
