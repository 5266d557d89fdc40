"""Text of files whose encoding nobody declares: told from what is no text, and read a page at a time."""

import codecs
from typing import Final

from msgspec import Struct

from agent.charset import guessed

SAMPLE: Final = 8_192
"""Bytes of a file's beginning by which it is judged."""

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""A byte order mark decides; that of UTF-32 begins with that of UTF-16, and stands before it."""

_CONTROLS: Final = frozenset(range(32)) - frozenset(b"\t\n\r\f\x1b")


class Encoding(Struct, frozen=True):
    """How a file's bytes are read."""

    name: str
    """For Python's codecs; "" where it is no text."""
    is_guessed: bool = False
    mark: int = 0
    """Bytes of a byte order mark at its beginning, which are no text."""


def encoding_of(sample: bytes) -> Encoding:
    """Judge a file by its first bytes (`SAMPLE`): a byte order mark, UTF-8, else a guess; none for what is no text."""
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return Encoding(name, mark=len(mark))
    controls = sum(byte in _CONTROLS for byte in sample)
    if b"\0" in sample or controls > len(sample) // 100:
        return Encoding("")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # the last character may be cut in two
    except UnicodeDecodeError:
        return Encoding(guessed(sample), is_guessed=True)
    return Encoding("utf-8")


def decoded(raw: bytes, encoding: Encoding, *, is_end: bool) -> tuple[str, int]:
    """Return the text of raw bytes, and how many of them it took: what is cut off inside a character waits."""
    decoder = codecs.getincrementaldecoder(encoding.name)(errors="replace")
    text = decoder.decode(raw, final=is_end)
    return text, len(raw) - len(decoder.getstate()[0])
