"""The text in bytes whose encoding nobody tells: a file from a Chinese or a Western Windows, a phone, a web page."""

import re
from collections.abc import Callable
from typing import Final

_MARKS: Final = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))

_LOOKED_AT: Final = 20_000
"""Bytes by which an encoding is told."""

_MOSTLY: Final = 0.4
"""Share of pairs whose one byte is zero from which a text without a mark is UTF-16."""

_LETTERS: Final = re.compile(rb"[A-Za-z]")

_COMMON_GB: Final = re.compile(rb"[\xa1-\xa9\xb0-\xd7][\xa1-\xfe]")
"""Punctuation, and the 3,755 characters of GB 2312's first level: the common ones."""

_COMMON_BIG5: Final = re.compile(rb"[\xa1-\xa3\xa4-\xc6][\x40-\x7e\xa1-\xfe]")
"""Punctuation, and the 5,401 characters of Big5's first level."""


def decoded(body: bytes) -> str:
    """Return a text: UTF-8 or UTF-16, else GB 18030 or Big5 where it is Chinese by these, else Windows' Western one."""
    if encoding := next((name for mark, name in _MARKS if body.startswith(mark)), ""):
        return body.decode(encoding, "replace")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode(guessed(body[:_LOOKED_AT]), "replace")
    return body.decode(_utf_16(body[:_LOOKED_AT]) or "utf-8", "replace") if "\0" in text else text


def as_utf_8(body: bytes) -> bytes:
    """Return the same text in UTF-8, for a child process that knows no other."""
    return decoded(body).encode(errors="replace")


def guessed(sample: bytes) -> str:
    """Return the encoding of a text that is no UTF-8, for Python's codecs; its end may be within a character."""
    chinese = (encoding for encoding, is_it in _CHINESE if is_it(sample))
    return next(chinese, "") or _utf_16(sample) or "cp1252"


def _utf_16(body: bytes) -> str:
    """Return which UTF-16 a text without a mark is, "" for none: of what is Western every other byte is zero."""
    pairs = max(1, len(body) // 2)
    if body[1::2].count(0) > _MOSTLY * pairs:
        return "utf-16-le"
    return "utf-16-be" if body[0::2].count(0) > _MOSTLY * pairs else ""


def _is_chinese(encoding: str, common: re.Pattern[bytes]) -> Callable[[bytes], bool]:
    """Return what tells whether bytes are text of an encoding: whole, and of common characters.

    A Western text has a letter of two bytes' kind here and there, between letters of one; that is no Chinese.
    """
    three_in_a_row = re.compile(b"(?:" + common.pattern + b"){3}")

    def is_it(body: bytes) -> bool:
        try:
            text = body[: len(body) // 2 * 2].decode(encoding) if len(body) < _LOOKED_AT else body.decode(encoding)
        except UnicodeDecodeError as error:
            if error.start < len(body) - 2:  # more than a character that is cut at the end
                return False
            text = body[: error.start].decode(encoding)
        foreign = sum(not each.isascii() for each in text)
        usual, letters = len(common.findall(body)), len(_LETTERS.findall(body))
        is_word = three_in_a_row.search(body) is not None
        return foreign > 0 and usual >= 0.9 * foreign and (is_word or 2 * foreign > letters or encoding == "gb18030")

    return is_it


_CHINESE: Final = (("gb18030", _is_chinese("gb18030", _COMMON_GB)), ("big5", _is_chinese("big5", _COMMON_BIG5)))
