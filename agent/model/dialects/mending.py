"""Almost-JSON becomes JSON while it arrives; what is JSON already comes out byte for byte."""

import json
import re
from collections.abc import Callable, Mapping
from string import hexdigits
from typing import Final

_CLOSERS: Final[Mapping[str, str]] = {"{": "}", "{{": "}", "[": "]", "(": ")"}
"""What ends a frame; `{{` is a brace doubled as in a template, `(` the arguments of a call in Python's notation."""

_WORDS: Final[Mapping[str, str]] = {"True": "true", "False": "false", "None": "null"}

_LITERAL: Final = re.compile(r"true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")

_BLANKS: Final = " \t\r\n"

_ENDS_SINGLE_QUOTED: Final = ",:}])"
"""What follows a single quote that ends a text; before anything else it is an apostrophe."""


class JsonMender:
    """Takes one value in pieces, and gives JSON.

    Mended where only one thing can be meant: single quotes, Python's literals and keyword arguments, keys without
    quotes, trailing commas, doubled braces, raw line breaks in texts, closers missing at the end or before a tag.
    """

    def __init__(self) -> None:
        self._frames: list[str] = []
        self._expected: Callable[[str], str] = self._value
        """Takes the next character that is no blank, and in no text or word."""
        self._quote = ""
        self._is_key = False
        self._held = ""
        """Within a text: a backslash, or a single quote and blanks, whose meaning the next character decides."""
        self._word = ""
        self._owed = ""
        """A comma and blanks, given out when something follows that wants them."""
        self._left = ""
        """A character that was read and is no part of the value."""
        self.is_done = False
        self.is_broken = False
        """Whether something came that cannot be mended; nothing is taken from there on."""

    @property
    def is_in_text(self) -> bool:
        """Whether a text is open."""
        return bool(self._quote)

    def feed(self, text: str) -> tuple[str, str]:
        """Return the JSON that a piece adds, and the rest of the piece once the value is at its end or broken."""
        made: list[str] = []
        for place, char in enumerate(text):
            made.append(self._take(char))
            if self.is_done or self.is_broken:
                left, self._left = self._left, ""
                return "".join(made), left + text[place + 1 :]
        return "".join(made), ""

    def finish(self, *, is_cut: bool) -> str:
        """Return what was held back, and missing closers unless the text is known to be cut off."""
        made = ""
        if self._held.startswith("'"):
            made, self._held, self._quote = '"', "", ""
            self._end_of_text()
        if self._word:
            made += self._end_of_word()
        if is_cut or self._quote or self.is_broken or self.is_done:
            return made
        return made + self._close_all() if self._expected in (self._comma, self._surplus) or self._owed else made

    def _take(self, char: str) -> str:
        if self._quote:
            return self._in_text(char)
        if self._word:
            return self._in_word(char)
        if char in _BLANKS:
            if self._owed:
                self._owed += char
                return ""
            return char
        return self._expected(char)

    def _broken(self, char: str) -> str:
        self.is_broken = True
        self._left = char
        return ""

    def _flush(self) -> str:
        owed, self._owed = self._owed, ""
        return owed

    def _value(self, char: str) -> str:
        if char in "{[(":
            return self._open(char)
        if char in "\"'":
            return self._begin_text(char)
        if char == "]" and self._frames and self._frames[-1] == "[":
            return self._close(char)
        if char.isalnum() or char in "-+.":
            self._word = char
            return self._flush()
        return self._broken(char)

    def _open(self, char: str) -> str:
        if char == "(" and self._frames:
            return self._broken(char)
        owed = self._flush()
        self._frames.append(char)
        self._expected = self._value if char == "[" else self._key
        self._is_fresh = True
        return owed + ("{" if char == "(" else char)

    def _key(self, char: str) -> str:
        if char == "{" and self._is_fresh and self._frames[-1] == "{":
            self._frames[-1] = "{{"
            return ""
        self._is_fresh = False
        if char == _CLOSERS[self._frames[-1]]:
            return self._close(char)
        self._is_key = True
        if char in "\"'":
            return self._begin_text(char)
        if char.isalpha() or char == "_":
            self._word = char
            return self._flush()
        return self._broken(char)

    def _colon(self, char: str) -> str:
        in_call = self._frames[-1] == "("
        if char != ("=" if in_call else ":"):
            return self._broken(char)
        self._expected = self._value
        return ": " if in_call else ":"

    def _comma(self, char: str) -> str:
        if char == ",":
            self._owed = char
            self._expected = self._value if self._frames[-1] == "[" else self._key
            return ""
        if char in "}])":
            return self._close(char)
        if char in "<`":  # a tag or a fence: what is open ends with it
            self._left = char
            return self._close_all()
        return self._broken(char)

    def _surplus(self, char: str) -> str:
        """Take the second of two closing braces, or do without."""
        self._expected = self._comma
        if char == "}":
            self.is_done = not self._frames
            return ""
        if self._frames:
            return self._comma(char)
        self.is_done, self._left = True, char
        return ""

    def _close(self, char: str) -> str:
        """Close a frame, and those within it whose own closers are missing."""
        wanted = [place for place, frame in enumerate(self._frames) if _CLOSERS[frame] == char]
        if not wanted:
            return self._broken(char)
        inner = "".join(self._closer(frame) for frame in reversed(self._frames[wanted[-1] + 1 :]))
        ended = self._frames[wanted[-1]]
        del self._frames[wanted[-1] :]
        made = self._flush().lstrip(",") + inner + self._closer(ended)
        self._expected = self._surplus if ended == "{{" else self._comma
        self.is_done = not self._frames and ended != "{{"
        return made.lstrip() if ended == "(" else made

    def _close_all(self) -> str:
        self._owed = ""
        made = "".join(self._closer(frame) for frame in reversed(self._frames))
        self._frames, self.is_done = [], True
        return made

    @staticmethod
    def _closer(frame: str) -> str:
        return "]" if frame == "[" else "}"

    def _begin_text(self, quote: str) -> str:
        self._quote = quote
        return self._flush() + '"'

    def _in_text(self, char: str) -> str:
        if self._held:
            return self._after_held(char)
        if char == "\\" or char == self._quote == "'":
            self._held = char
            return ""
        if char == self._quote:
            self._quote = ""
            self._end_of_text()
            return char
        return _inside(char)

    def _after_held(self, char: str) -> str:
        held = self._held
        if held.startswith("\\u") or (held == "\\" and char == "u"):
            return self._in_number(held, char)
        if held == "\\":
            self._held = ""
            if char in '"\\/bfnrt':
                return held + char
            return "'" if char == "'" else "\\n" if char == "\n" else "\\\\" + _inside(char)
        if char in _BLANKS:
            self._held += char
            return ""
        self._held = ""
        if char not in _ENDS_SINGLE_QUOTED:
            return "".join(map(_inside, held)) + self._in_text(char)
        self._quote = ""
        self._end_of_text()
        return '"' + held[1:] + self._take(char)

    def _in_number(self, held: str, char: str) -> str:
        """Take a piece of a character that is written as its number."""
        is_digit = len(held) == 1 or char in hexdigits
        whole = held + char
        self._held = whole if is_digit and len(whole) < len("\\u0000") else ""
        if is_digit:
            return "" if self._held else whole
        return f"\\{held}{self._in_text(char)}"

    def _end_of_text(self) -> None:
        self._expected = self._colon if self._is_key else self._comma
        self.is_done = not self._frames
        self._is_key = False

    def _in_word(self, char: str) -> str:
        if char.isalnum() or char in "+-._":
            self._word += char
            return ""
        made = self._end_of_word()
        if self.is_done or self.is_broken:
            self._left = char
            return made
        return made + self._take(char)

    def _end_of_word(self) -> str:
        word, self._word = self._word, ""
        is_key = self._is_key
        self._end_of_text()
        if is_key:
            return json.dumps(word)
        self.is_broken = not (word in _WORDS or _LITERAL.fullmatch(word))
        return _WORDS.get(word, word)


def _inside(char: str) -> str:
    """Return a character as it stands within a JSON text."""
    return json.dumps(char, ensure_ascii=False)[1:-1] if char == '"' or char < " " else char
