"""Server-sent events out of bytes: any line ending, any cut, and nothing but the line endings the format names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.stream.events import MAX_EVENT, EventStream


def events_of(*pieces: bytes) -> list[str]:
    stream = EventStream()
    return [data for piece in pieces for data in stream.feed(piece)] + list(stream.finish())


@pytest.mark.parametrize(
    ("wire", "events"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b": keep-alive\n\ndata: a\n\n: keep-alive\n\n", ["a"]),
        (b"event: message\nid: 7\nretry: 10\ndata: a\n\n", ["a"]),
        (b"\n\n\ndata: a\n\n\n", ["a"]),
        (b"data: a", ["a"]),
        (b"data: a\n", ["a"]),
        (b"data: \n\n", [""]),
        ("data: one\u2028two\u0085three\x0bfour\x0c\n\n".encode(), ["one\u2028two\u0085three\x0bfour\x0c"]),
        ("data: 你好😀\n\n".encode(), ["你好😀"]),
        (b"nonsense\n\n", []),
        (b'{"a": 1}\n{"b": 2}\n', ['{"a": 1}', '{"b": 2}']),
        (b'{"a": 1}', ['{"a": 1}']),
        (b'\xef\xbb\xbf{"a": 1}', ['{"a": 1}']),
        (b'{\n "a":\r\n  {}\n\n}', ['{\n "a":\n  {}\n\n}']),
        (b'data: {"a": 1}\ndata: {"b": 2}\ndata: [DONE]\n', ['{"a": 1}', '{"b": 2}', "[DONE]"]),
        (b'data: {"a":\ndata: 1}\n\n', ['{"a":\n1}']),
        (b"", []),
    ],
)
def test_events_are_read(wire: bytes, events: list[str]) -> None:
    assert events_of(wire) == events
    assert events_of(*(bytes([byte]) for byte in wire)) == events


@pytest.mark.shows("F5")
@given(
    events=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n")), max_size=4),
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
    data=st.data(),
)
def test_any_cut_gives_the_same_events(events: list[str], ending: str, data: st.DataObject) -> None:
    wire = "".join(f"data: {event}{ending}: comment{ending}{ending}" for event in events).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=8)))
    pieces = [wire[start:end] for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True)]
    assert events_of(*pieces) == events


def test_an_event_comes_out_with_the_piece_that_ends_it() -> None:
    stream = EventStream()
    assert list(stream.feed(b"data: a\n")) == []
    assert list(stream.feed(b"\ndata: b")) == ["a"]
    assert list(stream.feed(b"\r")) == []  # it may be the first half of a line ending
    assert list(stream.feed(b"\n\r\n")) == ["b"]


def test_what_is_no_utf8_is_replaced_and_a_character_in_two_pieces_is_whole() -> None:
    assert events_of(b"data: a\xffb\n\n") == ["a\ufffdb"]
    assert events_of(b"data: a\xe4\xbd", b"\xa0b\n\n") == ["a你b"]


@pytest.mark.parametrize("wire", [b"x" * 1024, b"data: x\n" * 1024])
def test_an_event_without_end_is_an_error(wire: bytes) -> None:
    with pytest.raises(ValueError, match="more than"):
        events_of(*([wire] * (MAX_EVENT // len(wire) * 2)))
