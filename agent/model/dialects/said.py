"""What was said of an answer so far: it tells a model's own mark from one that is shown to people."""

import re
from typing import Final

from agent.model.dialects.marks import FENCE, OTHERS_LABELS, REACT, THINKING

NOTHING: Final = ("", "null", "None")
"""What is no word where it is all there is: a gateway writes it in place of no answer."""

_UNHEARD: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\xad\u200b\u2060\ufeff]")
"""Characters that are neither heard nor seen, with which models and servers fill a piece that has nothing to say."""

_STOPPED: Final = re.compile(r"[.!?…。！？:：][\"'”’」』）)*_~]*\s*\Z")
"""Words that are at the end of a sentence, or of what announces the next ones."""

_OPENED: Final = re.compile(r"[“‘「『《(（]\Z|(?:^|\s)['\"]\Z")
"""A quotation or a bracket that has just been opened."""

_DIALOGUE: Final = re.compile(
    r"dialog|conversation|\bchat|script|example|interview|scene|对话|示例|例子|聊天|[:：]\s*\Z", re.IGNORECASE
)
"""Words behind which turns of others are told, and not made up."""


QUOTES: Final = ("`", '"', "'", "”", "’", "」")
"""What may stand around a mark that is told of."""

TAIL: Final = 20
"""Characters that tell where a sentence begins."""

_SENTENCE: Final = re.compile(r"\S\s+\S|[?!？！。]")


_ENDED: Final = re.compile(r"(?:[^\W\d]\.|[!?…。！？])\W*\Z")
"""Words that are at the end of a sentence; behind a digit a full stop may be that of a list."""


def heard(text: str) -> str:
    """Return a text without what nobody hears of it."""
    return _UNHEARD.sub("", text)


def ends_sentence(text: str) -> bool:
    """Whether a text is at the end of a sentence, so that it may be all of an answer."""
    return _ENDED.search(text) is not None


def speaks_behind(behind: str, *, is_last: bool) -> bool | None:
    """Whether somebody speaks behind the name of a speaker; one word is a value, as of a login. None: not known yet."""
    line, found, _ = behind.lstrip().partition("\n")
    if _SENTENCE.search(line):
        return True
    return False if found or is_last else None


class Said:
    """The words of one answer as they were given out, and the line that is still open."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._line = self.tail = ""
        """The line that is still open; the last words, over lines, as far as they tell where a sentence begins."""
        self._is_fenced = False
        self.has_begun = False
        """Whether anything but blanks was said."""

    def add(self, text: str) -> None:
        """Take more of the words."""
        self._pieces.append(text)
        self.tail = (self.tail + text)[-TAIL:]
        self.has_begun = self.has_begun or bool(text.strip())
        *whole, self._line = (self._line + text).split("\n")
        self._is_fenced ^= sum(line.count(FENCE) for line in whole) % 2 == 1

    @property
    def is_fenced(self) -> bool:
        """Whether what comes behind stands in a block of code."""
        return self._is_fenced ^ (self._line.count(FENCE) % 2 == 1)

    def is_quoting(self, before: str = "") -> bool:
        """Whether what comes behind these further words stands in code, in quotes or in brackets."""
        *whole, line = (self._line + before).split("\n")
        fences = sum(each.count(FENCE) for each in (*whole, line))
        is_open = line.replace(FENCE, "").count("`") % 2 == 1 or bool(_OPENED.search(line))
        return is_open or self._is_fenced ^ (fences % 2 == 1)

    def is_at_stop(self, before: str = "") -> bool:
        """Whether these further words end a sentence or a line, or are the first."""
        line = (self._line + before).rpartition("\n")[2]
        return not line.strip() or bool(_STOPPED.search(line))

    def mentions(self, mark: str, behind: str) -> bool:
        """Whether a mark of turns, with this behind it, is one that people are told of.

        Then it stands in code or in quotes, or as a word among words; or it closes a tag that was said, as of HTML.
        """
        if self.is_quoting():
            return bool(behind.strip())
        opening, text = mark.replace("/", "", 1), "".join(self._pieces)
        if mark == "<s>" or (opening != mark and text.count(opening) > text.count(mark)):
            return True
        return self._line[-1:] == " " and not self.is_at_stop() and behind[:1] in {*" ,.;:)!?"}

    def has_opened(self, end: str, before: str) -> bool:
        """Whether a tag that this one closes was said, with these further words: then people are told of both."""
        text = "".join(self._pieces) + before
        return any(opening in text for opening, closing in THINKING.items() if closing == end)

    def may_label(self, mark: str, before: str) -> bool:
        """Whether a label behind these further words is a model's own, and not of a dialogue that people are told.

        A turn of the model's own stands only before its words.
        """
        if not (self.has_begun or before.strip()):
            return True
        is_turn = mark in OTHERS_LABELS or mark in REACT
        return is_turn and self.may_turn(before) and not self.is_quoting(before)

    def may_turn(self, before: str = "") -> bool:
        """Whether another's turn that begins behind these further words is made up: no dialogue was announced."""
        text = ("".join(self._pieces) + before).rstrip()
        return bool(_STOPPED.search(text)) and not _DIALOGUE.search(text)
