"""What was kept as JSON is read as its class, or refused in words."""

import pytest
from msgspec import Struct

from memory.json_value import read_json


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
