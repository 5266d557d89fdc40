"""Lengths of time as hassil reads them: 1.5 hours, an hour thirty, ten, no, I mean twenty minutes."""

import re
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
LENGTH_ZH: Final = rf"(?:{NUMBER_ZH}{UNIT_ZH}|半个?(?:小时|钟头)|[一三]刻钟)"

_DIGITS_ZH: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_SIZES_ZH: Final = {"十": 10, "百": 100, "千": 1000}
_BELOW_ZH: Final = {"百": "十", "千": "百", "万": "千"}
_SHORT_ZH: Final = re.compile(r"(?<=([百千万]))[一二三四五六七八九]$")
"""A last digit that stands for as many of the size below: 一百二 is 120."""

_POINT: Final = re.compile(
    rf"\b(?:(?P<whole>\d+)[.](?P<part>\d{{1,3}})|(?P<word>(?:zero|ten|{_ONES}) point (?:zero|oh|{_ONES})))"
    r"[ -](?P<unit>hour|hr|minute|min)s?\b",
    re.IGNORECASE,
)
_POINT_ZH: Final = re.compile(
    r"(?:(?P<whole>\d+)[.点](?P<part>\d{1,3})|(?P<word>[零一二两三四五六七八九]点[零一二三四五六七八九]))"
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
    rf"\b(?P<hours>(?:an|{NUMBER}) (?:hours?|hrs?))(?: and)? (?P<minutes>(?!one\b){NUMBER})"
    rf"(?=$|[.,?!]|\s(?:timer|please|from now|for|to (?!{NUMBER}\b|noon\b|midnight\b))\b)",
    re.IGNORECASE,
)
"""An hour thirty, an hour and ten for the beef: minutes without their unit."""

_HALF_ZH: Final = (
    (re.compile(rf"({NUMBER_ZH})分半钟?"), r"\1分30秒"),
    (re.compile(rf"({NUMBER_ZH})个?(小时|钟头)半(?!夜)"), r"\1个\g<2>30分钟"),
    (re.compile("(三|四|五|六|七|八|九|十|[3-9])个半(小时|钟头)"), r"\1个\g<2>30分钟"),
)
"""Halves beyond those that the sentence files know."""

_WIDE: Final = {code: chr(code - 0xFEE0) for code in range(0xFF10, 0xFF1B)}
"""Full-width figures and their colon, as some keyboards write them."""

_SEVERAL: Final = re.compile(
    rf"(?<![\d.,:-])(?:\b(?:(?:(?P<hundreds>an?|{_ONES}) |(?<=for )|(?<=in )|(?<=, )|(?<=timer )|^)"
    rf"hundred(?:[ -]and)?(?:[ -](?P<rest>{NUMBER}))?|"
    r"(?P<figures>\d{3,6}))[ -](?P<unit>minute|min|second|sec)s?\b)",
    re.IGNORECASE,
)
_SEVERAL_ZH: Final = re.compile(
    r"(?<![\d.点万千])(?:(?P<hundreds>[一二两三四五六七八九])百(?P<rest>零?[一二两三四五六七八九十]*)|(?P<figures>\d{3,6}))"
    "(?P<unit>分钟?|秒钟?)"
)
"""A hundred minutes or seconds and more, which hassil reads no further than that."""

_OF_TIMER: Final = re.compile(
    rf"(?<=\btimer for )(?:(?:an?|{_ONES}) hundred(?:[ -]and)?(?:[ -]{NUMBER})?|\d{{3,6}})(?=[.?!]?$|,? please\b)",
    re.IGNORECASE,
)
"""The same without its unit, which is minutes as with a smaller number."""

_TYPED: Final = re.compile(
    r"(?P<before>\btimer (?:for |of )?|\b(?:me|again) in |\b(?:set|start) an? |\bsnooze (?:it |that )?(?:for )?|"
    r"\banother |^(?:in )?)(?P<length>\d{1,4} ?[hms](?: ?\d{1,2}(?: ?[ms])?){0,2})"
    r"(?=$|[.,!?]| (?:timer|please|for|to|about|from now)\b)",
    re.IGNORECASE,
)
"""A length as people type it: 90s, 1h30, 5m 30s."""

_NUMBER_AND_LETTER: Final = re.compile(r"(\d+) ?([hms]?)")
_LETTERS: Final = {"h": "hour", "m": "minute", "s": "second"}

_LISTED: Final = re.compile(r"\blist\b|\bbuy\b|清单|买", re.IGNORECASE)
"""What shows that a length is a thing of a list."""

_ONLY_TOLD: Final = re.compile(
    r"\bremember\b|\bnote\b|\bhow (?:many|much|long)\b|\bwhat\b|记|多少|几|等于", re.IGNORECASE
)
"""What shows that a length is kept or reckoned with, and stays as it was said."""


def readable_lengths(words: str, language: Language) -> str:
    """Return words with each length of time in them put as hassil reads it; one that was taken back is left out."""
    words = words.translate(_WIDE)
    if _ONLY_TOLD.search(words):
        return words
    if not _LISTED.search(words):
        words = _OF_TIMER.sub(r"\g<0> minutes", words)
        words = (_SEVERAL_ZH if language == "zh" else _SEVERAL).sub(_in_larger_units, words)
    if language == "zh":
        words = _TAKEN_BACK_ZH.sub("", _POINT_ZH.sub(_in_whole_units, words))
        for pattern, instead in _HALF_ZH:
            words = pattern.sub(instead, words)
        return words
    words = _TYPED.sub(_spelled_out, words)
    words = _POINT.sub(_in_whole_units, words)
    words = _TAKEN_BACK.sub(lambda found: f"{found['now']}{found['then'] or found['unit']}", words)
    return _OF_HOUR.sub(r"\g<hours> and \g<minutes> minutes", words)


def _spelled_out(found: re.Match[str]) -> str:
    """Return a length with the names of its units in place of their letters; the last may lack its own: 1h30."""
    letters, parts = "hms", []
    for number, letter in _NUMBER_AND_LETTER.findall(found["length"].lower()):
        unit = letter or letters[:1]
        if not unit or unit not in letters:
            return found.group()
        letters = letters.partition(unit)[2]
        parts.append(f"{number} {_LETTERS[unit]}{'s' * (int(number) != 1)}")
    return f"{found['before']}{' and '.join(parts)}"


def _in_whole_units(found: re.Match[str]) -> str:
    """Return a length with a decimal point in hours, minutes and seconds."""
    number, unit = f"{found['whole']}.{found['part']}", found["unit"].lower()
    if word := found["word"]:
        number = in_digits(word.lower().replace("oh", "zero")) if unit.isascii() else number_chinese(word)
    counts = _counts(round(Fraction(number) * _SIZES[unit]))
    names = (" hours ", " minutes ", " seconds ") if unit.isascii() else ("小时", "分钟", "秒")
    return "".join(f"{count}{name}" for count, name in zip(counts, names, strict=True) if count).strip() or "0"


def _in_larger_units(found: re.Match[str]) -> str:
    """Return a hundred minutes or more in hours and minutes, and so many seconds likewise."""
    is_chinese = found["unit"][0] in "分秒"
    counts = _counts(int(found["figures"] or _hundreds(found)) * (60 if found["unit"][0].lower() in "m分" else 1))
    names = ("小时", "分钟", "秒") if is_chinese else ("hour", "minute", "second")
    if is_chinese:
        return "".join(f"{count}{name}" for count, name in zip(counts, names, strict=True) if count)
    each = [f"{count} {name}{'s' * (count > 1)}" for count, name in zip(counts, names, strict=True) if count]
    return " and ".join(each)


def _counts(seconds: int) -> tuple[int, int, int]:
    """Return hours, minutes and seconds."""
    return seconds // 3600, seconds // 60 % 60, seconds % 60


def _hundreds(found: re.Match[str]) -> str:
    """Return the digits of so many hundreds and a rest below one: a hundred and five; 一百二 is 120."""
    hundreds, rest = (found["hundreds"] or "a").lower(), found["rest"] or ""
    if not hundreds.isascii():
        return number_chinese(f"{hundreds}百{rest}")
    return str(100 * int(in_digits(re.sub("^an?$", "one", hundreds))) + int(in_digits(rest or "0")))


def in_digits(words: str) -> str:
    """Return English in small letters with its numbers in digits: twenty five minutes as 25 minutes."""
    from text_to_num import alpha2digit

    digits: str = alpha2digit(words.lower(), "en", threshold=0)
    return digits


def number_chinese(said: str) -> str:
    """Return in digits a number that is written in Chinese characters: 一百二 as 120, 三点五 as 3.5."""
    whole, _, fraction = said.partition("点")
    whole = _SHORT_ZH.sub(lambda found: found[0] + _BELOW_ZH[found[1]], whole)
    total = section = digit = 0
    for character in whole:
        if character in _DIGITS_ZH:
            digit = _DIGITS_ZH[character]
        elif character in _SIZES_ZH:
            section, digit = section + (digit or 1) * _SIZES_ZH[character], 0
        else:
            size = 10_000 if character == "万" else 100_000_000
            total, section, digit = (total + section + digit) * size, 0, 0
    value = str(total + section + digit)
    if not set(whole) - _DIGITS_ZH.keys():  # a number read out: 二零二六
        value = "".join(str(_DIGITS_ZH[each]) for each in whole)
    return f"{value}.{''.join(str(_DIGITS_ZH[each]) for each in fraction)}" if fraction else value
