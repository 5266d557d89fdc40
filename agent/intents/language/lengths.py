"""Lengths of time as hassil reads them: 1.5 hours, an hour thirty, ten, no, I mean twenty minutes."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from agent.intents.intent import Language

_ONES: Final = "one|two|three|four|five|six|seven|eight|nine"
_TENS: Final = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
NUMBER: Final = (
    rf"(?:\d+|(?:{_TENS})(?:[- ](?:{_ONES}))?|{_ONES}|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
"""An English number below a hundred."""

UNIT: Final = "(?:hours?|hrs?|minutes?|mins?|seconds?|secs?)"

NUMBER_ZH: Final = r"[\d零一二两三四五六七八九十百]+"
UNIT_ZH: Final = "(?:个?(?:小时|钟头)|分钟|分|秒钟|秒)"

_DIGITS: Final = {word: str(figure) for figure, word in enumerate(f"zero|{_ONES}".split("|"))} | {"oh": "0"}
_DIGITS_ZH: Final = {"零": "0", "一": "1", "二": "2", "两": "2", "三": "3", "四": "4"} | {
    "五": "5",
    "六": "6",
    "七": "7",
    "八": "8",
    "九": "9",
}
_POINT: Final = re.compile(
    rf"\b(?:(?P<whole>\d+)[.](?P<part>\d{{1,3}})|(?P<word>zero|ten|{_ONES}) point (?P<parts>(?:zero|oh|{_ONES})))"
    r"[ -](?P<unit>hour|hr|minute|min)s?\b",
    re.IGNORECASE,
)
_POINT_ZH: Final = re.compile(
    r"(?:(?P<whole>\d+)[.点](?P<part>\d{1,3})|(?P<word>[零一二两三四五六七八九])点(?P<parts>[零一二三四五六七八九]))"
    "个?(?P<unit>小时|钟头|分钟)"
)
"""A length with a decimal point, in figures or in words."""

_SIZES: Final = {"hour": 3600, "hr": 3600, "minute": 60, "min": 60, "小时": 3600, "钟头": 3600, "分钟": 60}

_TAKEN_BACK: Final = re.compile(
    rf"\b{NUMBER}(?P<unit>(?:[ -]{UNIT})?)(?:\s*[.,;…–-]+\s*|\s+)"
    r"(?:(?:oh |uh )?(?:no|sorry|wait|actually|i mean|i meant|make (?:that|it)|rather)\b[\s,.]*)+"
    rf"(?P<now>{NUMBER})\b(?P<then>(?:[ -]{UNIT})?)(?![:.]\d)",
    re.IGNORECASE,
)
_TAKEN_BACK_ZH: Final = re.compile(
    rf"{NUMBER_ZH}个?半?{UNIT_ZH}?[，,。…、\s]*(?:(?:[哦噢啊呃]?不对?(?![要用能会可]|是(?!说))|不是|错了|我是说|说错了|应该是)[，,。、\s]*)+"
    rf"(?={NUMBER_ZH}个?半?{UNIT_ZH})"
)
"""A number that was taken back, and the one that is meant."""

_OF_HOUR: Final = re.compile(
    rf"\b(?P<hours>(?:an|{NUMBER}) (?:hours?|hrs?)) (?P<minutes>{NUMBER})(?=$|[.,?!]|\s(?:timer|please|from now)\b)",
    re.IGNORECASE,
)
"""An hour thirty: minutes without their unit."""

_HALF_ZH: Final = (
    (re.compile(rf"({NUMBER_ZH})分半钟?"), r"\1分30秒"),
    (re.compile(rf"({NUMBER_ZH})个?(小时|钟头)半(?!夜)"), r"\1个\g<2>30分钟"),
    (re.compile("(三|四|五|六|七|八|九|十|[3-9])个半(小时|钟头)"), r"\1个\g<2>30分钟"),
)
"""Halves beyond those that the sentence files know."""

_WIDE: Final = {code: chr(code - 0xFEE0) for code in range(0xFF10, 0xFF1B)}
"""Full-width figures and their colon, as some keyboards write them."""


_ONLY_TOLD: Final = re.compile(
    r"\bremember\b|\bnote\b|\bhow (?:many|much|long)\b|\bwhat\b|记|多少|几|等于", re.IGNORECASE
)
"""What shows that a length is kept or reckoned with, and stays as it was said."""


def readable_lengths(words: str, language: Language) -> str:
    """Return words with each length of time in them put as hassil reads it; one that was taken back is left out."""
    words = words.translate(_WIDE)
    if _ONLY_TOLD.search(words):
        return words
    if language == "zh":
        words = _TAKEN_BACK_ZH.sub("", _POINT_ZH.sub(_whole(_DIGITS_ZH, "{}小时", "{}分钟", "{}秒"), words))
        for pattern, instead in _HALF_ZH:
            words = pattern.sub(instead, words)
        return words
    words = _POINT.sub(_whole(_DIGITS, "{} hours", " {} minutes", " {} seconds"), words)
    words = _TAKEN_BACK.sub(lambda found: f"{found['now']}{found['then'] or found['unit']}", words)
    return _OF_HOUR.sub(r"\g<hours> and \g<minutes> minutes", words)


def _whole(digits: Mapping[str, str], *units: str) -> Callable[[re.Match[str]], str]:
    """Return what puts a length with a decimal point in whole hours, minutes and seconds."""

    def put(found: re.Match[str]) -> str:
        said = ("10" if found["word"] and found["word"].lower() == "ten" else found["word"]) or found["whole"]
        whole = digits.get(said.lower(), said)
        part = digits.get((found["parts"] or "").lower(), found["part"])
        left = round(Fraction(f"{whole}.{part}") * _SIZES[found["unit"].lower()])
        counts = [left // 3600, left // 60 % 60, left % 60]
        return "".join(unit.format(count) for count, unit in zip(counts, units, strict=True) if count).strip() or "0"

    return put
