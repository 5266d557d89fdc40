"""The pieces of a sentence, and what they are known as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.intents.learned.tokens import KINDS, tokens


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        ("Get me up at 6:15, won't you?", ["get", "me", "up", "at", "6:15", ",", "won't", "you", "?"]),
        ("It's half past seven o’clock", ["it's", "half", "past", "seven", "o'clock"]),
        ("面条煮8分钟", ["面", "条", "煮", "8", "分", "钟"]),
        ("", []),
    ],
)
def test_words_characters_and_numbers_are_pieces(words: str, pieces: list[str]) -> None:
    assert [piece.text for piece in tokens(words)] == pieces


def test_a_piece_is_known_by_its_kind() -> None:
    known = {piece.text: piece.kind for piece in tokens("Ten minutes on Monday at 7:30, 20 more; 三分钟")}
    assert known["ten"] == known["三"] == "number"
    assert known["minutes"] == known["分"] == "unit"
    assert (known["monday"], known["7:30"], known["20"], known[";"], known["on"]) == (
        "day",
        "clock",
        "digits",
        "mark",
        "",
    )


@given(st.text(max_size=200))
def test_whatever_is_said_each_piece_stands_where_it_says(words: str) -> None:
    pieces = tokens(words)
    assert all(words[piece.start : piece.end].replace("’", "'").lower() == piece.text for piece in pieces)
    assert all(piece.kind in KINDS for piece in pieces)
    assert [piece.start for piece in pieces] == sorted(piece.start for piece in pieces)
