"""Sounds that say "I am listening, go on": mhm, ok, 嗯. They end no reply."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

MOST_IN_A_ROW: Final = 4
""""Yeah, yeah, ok, right" is one; whoever says more wants to say something."""

_PHRASES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        *("ok", "okay", "o k", "k", "okey", "alright", "all right", "right", "that s right"),
        *("yeah", "yes", "yep", "yup", "ya", "sure", "sure thing", "of course", "exactly", "indeed", "true"),
        *("i see", "got it", "i got it", "i know"),
        *("understood", "gotcha", "good", "great", "nice", "cool", "fine", "wow", "really", "interesting", "aha"),
        *("makes sense", "fair enough", "oh really", "oh wow", "oh i see", "oh nice"),
    ),
    "zh": (
        *("嗯", "恩", "唔", "呃", "额", "啊", "哦", "噢", "喔", "哎", "诶", "欸", "呵", "哈"),
        *("对", "对的", "对啊", "对呀", "對", "對的", "對啊", "是", "是的", "是啊", "是吗", "是嗎", "没错", "沒錯"),
        *("好", "好的", "好啊", "好吧", "好呀", "好嘞", "行", "行吧", "可以"),
        *("明白", "明白了", "懂了", "知道", "知道了"),
        *("了解", "这样", "这样啊", "這樣啊", "原来如此", "原來如此", "真的", "真的吗", "真的嗎"),
        *("不错", "不錯", "有意思"),
    ),
}
"""By language, folded; the zh set in both scripts, as recognizers write either."""

_SOUNDS: Final = r"m+(?: ?h+u?m+)*|m+h+m*|h+m+|u+h+(?: ?h+u+h+)*|u+m+|a+h+(?: ?h+a+h*)*|o+h+|h+uh+|e+r+m*|e+h+"
"""Mhm, mm-hmm, hm, uh-huh, um, ah, oh, huh, er, eh: the same in any language that writes them in Latin letters."""


def is_backchannel(text: str, language: str = "") -> bool:
    """Whether these words only accompany what somebody else says; of no words, False.

    `language` is ISO 639-1; without one, or with one that is not known here, the words of every known language count.
    """
    folded = _folded(text)
    row = _ROWS.get(language, _ANY_ROW)
    return bool(folded) and row.fullmatch(folded) is not None


def _folded(text: str) -> str:
    """Return the text in small letters and single spaces, without marks and without spaces between Han characters."""
    plain = re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return re.sub(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])", "", plain)


def _row(*phrases: str) -> re.Pattern[str]:
    """Return what matches a row of phrases and sounds; Han characters need no space between them."""
    longest_first = sorted(phrases, key=len, reverse=True)
    word = rf"(?:(?:{'|'.join(map(re.escape, longest_first))}|{_SOUNDS})(?:\b ?|(?<=[\u4e00-\u9fff])))"
    return re.compile(rf"{word}{{1,{MOST_IN_A_ROW}}}")


_ROWS: Final = {language: _row(*phrases, "ok", "okay") for language, phrases in _PHRASES.items()}
_ANY_ROW: Final = _row(*(phrase for phrases in _PHRASES.values() for phrase in phrases))
