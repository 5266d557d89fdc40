"""The text of a reply comes out while its JSON is still being written, wherever the pieces are cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.stream.arguments import PartialString


def fed(*pieces: str, key: str = "text") -> list[str]:
    partial = PartialString(key)
    return [partial.feed(piece) for piece in pieces]


@pytest.mark.shows("V21", "F4")
@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        (['{"text": "Hello', ' there."', "}"], ["Hello", " there.", ""]),
        (["{", '"te', 'xt"', ":", ' "', "H", 'i"}'], ["", "", "", "", "", "H", "i"]),
        (['{"text":"a\\', "nb\\", '"c"}'], ["a", "\nb", '"c']),
        (['{"text":"a\\u00', 'e9"}'], ["a", "é"]),
        (['{"text":"a\\ud83d', "\\ude0", '0b"}'], ["a", "", "😀b"]),
        (['{"text":"你', '好😀"}'], ["你", "好😀"]),
        ([' \n{ "to" : "room", "n": [1, {"text": "no"}], "text" : "yes', '"}'], ["yes", ""]),
        (['{"text":"a","to":"b"', "}"], ["a", ""]),
        (['{"text":""}'], [""]),
    ],
)
def test_each_piece_gives_what_it_adds(pieces: list[str], told: list[str]) -> None:
    assert fed(*pieces) == told


@pytest.mark.shows("F5")
@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        (['{"text":"a', "\nb", 'c"}'], ["a", "\nb", "c"]),
        (['{"text":"a', '\\x"}', '"}'], ["a", "\\x", ""]),
        (["{'text': 'It", "'s done.'", "}"], ["It", "'s done.", ""]),
        (['{"aloud": False, "text": "a', '",}{"text": "b"}'], ["a", ""]),
    ],
)
def test_what_is_nearly_json_is_told_as_it_is_mended(pieces: list[str], told: list[str]) -> None:
    assert fed(*pieces) == told


@pytest.mark.shows("F5")
@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        (['{"text": 7}'], [""]),
        (['{"text": nul', "l}"], ["", ""]),
        (['["text", "a"]'], [""]),
        (['"text"'], [""]),
        (["", "  "], ["", ""]),
        (["}"], [""]),
        (['{"text":"a\\ud83d', 'x"}', '"}'], ["a", "", ""]),
        (['{"text":"ab"', ',"text":"x', 'y"}'], ["ab", "", ""]),
        (['{"text":"a\ud83d', 'b"}'], ["a?", "b"]),
    ],
)
def test_what_is_malformed_adds_nothing_and_takes_nothing_back(pieces: list[str], told: list[str]) -> None:
    assert fed(*pieces) == told


@pytest.mark.shows("V21", "F5")
@given(
    text=st.text(),
    before=st.dictionaries(
        st.text(max_size=4).filter(lambda key: key != "text"), st.text() | st.integers(), max_size=3
    ),
    is_ascii=st.booleans(),
    indent=st.sampled_from([None, 1]),
    data=st.data(),
)
def test_any_cut_gives_the_text(
    text: str, before: dict[str, Any], is_ascii: bool, indent: int | None, data: st.DataObject
) -> None:
    whole = json.dumps({**before, "text": text, "after": 1}, ensure_ascii=is_ascii, indent=indent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    partial = PartialString("text")
    seen = ""
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        seen += partial.feed(whole[start:end])
        assert text.startswith(seen)  # so half a character never came out either
    assert seen == text


@pytest.mark.shows("V21", "F5")
@pytest.mark.parametrize(
    ("json_text", "is_whole"),
    [
        ("", False),
        ('{"text": "Hello', False),
        (r'{"text": "Hello\"', False),
        ('{"text": "Hello."', True),
        ('{"text": "Hello.", "more": "wo', True),
        ('{"before": "Hello."', False),
        ('{"text": 7}', False),
        ('["text"', False),
    ],
)
def test_a_text_is_whole_at_its_closing_quote(json_text: str, is_whole: bool) -> None:
    partial = PartialString("text")
    for character in json_text:
        partial.feed(character)
    assert partial.is_whole is is_whole


def test_character_by_character_is_told_at_once() -> None:
    partial = PartialString("text")
    partial.feed('{"text": "')
    assert [partial.feed(character) for character in "Hello."] == list("Hello.")
