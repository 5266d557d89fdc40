"""Text of files whose encoding nobody declares: told from what is no text, and read a page at a time."""

import codecs
from typing import Final

from msgspec import Struct

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
_CHINESE: Final = 0.3
"""Of all characters have to be Chinese ones, before bytes that are no UTF-8 are taken for GB 18030."""


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
    if _fits(sample, "utf-8"):
        return Encoding("utf-8")
    return Encoding("gb18030" if _is_chinese(sample) else "cp1252", is_guessed=True)


def decoded(raw: bytes, encoding: Encoding, *, is_end: bool) -> tuple[str, int]:
    """Return the text of raw bytes, and how many of them it took: what is cut off inside a character waits."""
    decoder = codecs.getincrementaldecoder(encoding.name)(errors="replace")
    text = decoder.decode(raw, final=is_end)
    return text, len(raw) - len(decoder.getstate()[0])


def _fits(sample: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)  # the last character may be cut in two
    except UnicodeDecodeError:
        return False
    return True


def _is_chinese(sample: bytes) -> bool:
    if not _fits(sample, "gb18030"):
        return False
    text = codecs.getincrementaldecoder("gb18030")().decode(sample)
    return sum("\u4e00" <= each <= "\u9fff" for each in text) >= _CHINESE * len(text)
