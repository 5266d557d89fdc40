"""A sentence in the pieces that the network reads: English words, Chinese characters, numbers and marks."""

import re
from typing import Final

from msgspec import Struct

_PIECE: Final = re.compile(
    r"\d+(?:[:.,]\d+)*|[a-z]+(?:'[a-z]+)?|[\u3400-\u9fff]|[^\sa-z\d\u3400-\u9fff]", re.IGNORECASE
)

_KINDS: Final = {
    "number": "a an half quarter one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred couple "
    "few dozen 零 〇 一 二 两 俩 三 仨 四 五 六 七 八 九 十 百 半 几",
    "unit": "second seconds sec secs minute minutes min mins hour hours hr hrs o'clock oclock 分 秒 钟 刻 点 时",
    "day": "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
    "saturdays sundays mon tue tues wed weds thu thur thurs fri sat sun today tomorrow tonight yesterday weekday "
    "weekdays weekend weekends daily 天 周 月 日 号 明 昨",
    "part": "morning afternoon evening night noon midday midnight am pm lunchtime bedtime teatime dawn 早 晚 午 晨",
    "month": "january february march april may june july august september october november december",
    "which": "first third fourth fifth last next other both",
}
KINDS: Final = ("", "digits", "clock", "mark", *_KINDS)
"""What a piece may be known as, whatever its letters."""

_KIND_OF: Final = {piece: kind for kind, pieces in _KINDS.items() for piece in pieces.split()}


class Token(Struct, frozen=True):
    """A piece of a sentence."""

    text: str
    """In lower case."""
    start: int
    end: int
    """In the sentence, in characters; the end is behind it."""

    @property
    def kind(self) -> str:
        """One of `KINDS`."""
        if self.text[0].isdecimal():
            return "clock" if ":" in self.text else "digits"
        return _KIND_OF.get(self.text, "" if self.text[0].isalpha() else "mark")


def tokens(words: str) -> list[Token]:
    """Return the pieces of a sentence, in order."""
    plain = words.replace("’", "'")
    return [Token(each.group().lower(), each.start(), each.end()) for each in _PIECE.finditer(plain)]
