"""Pieces of a text that hold those before them, and pieces that only look alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.stream.open_call import Fresh


def read(pieces: list[str]) -> str:
    fresh = Fresh()
    return "".join(map(fresh.add, pieces)) + fresh.finish()


@given(text=st.text(min_size=1, max_size=40), cuts=st.lists(st.integers(1, 40), min_size=3, max_size=6, unique=True))
def test_all_there_is_so_far_with_each_piece_is_taken_once(text: str, cuts: list[int]) -> None:
    so_far = [text[:cut] for cut in sorted(cuts) if cut < len(text)]
    if len(so_far) > 1:
        assert read([*so_far, text]) == text


@pytest.mark.parametrize(
    "pieces",
    [["ha"] * 5, ["1", "12", "3"], ["no", " no", " no"], ["哈", "哈哈", "。"], ["", "a", "", "ab"], ["\n", "\n", "\n"]],
)
def test_what_only_looks_alike_is_kept(pieces: list[str]) -> None:
    assert read(pieces) == "".join(pieces)


def test_nothing_is_held_but_a_piece_that_begins_with_the_first() -> None:
    fresh = Fresh()
    assert [fresh.add(piece) for piece in ("Hel", "lo ", "Hello", " there")] == ["Hel", "lo ", "Hello", " there"]
    fresh = Fresh()
    assert [fresh.add(piece) for piece in ("Hel", "Hello", "Hello there")] == ["Hel", "", "lo there"]
