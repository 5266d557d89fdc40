"""Text normalization for English."""

import re
from typing import Final

from audio.tts.verbalize.english_amounts import AMOUNTS
from audio.tts.verbalize.english_names import NAMES
from audio.tts.verbalize.english_words import ABBREVIATIONS, MONTHS, SIGNS, WEEKDAYS
from audio.tts.verbalize.numerals import cardinal, decimal, digits, ordinal, two_digits, year
from audio.tts.verbalize.rules import MINUS_BEFORE_EQUALS, MINUS_IN_A_SUM, NUMBER, Rule, apply, either, rule

_MONTH_NAMES = "|".join(MONTHS)
_MONTH = rf"(?:{_MONTH_NAMES}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:1[1-9]|20)\d\d"
_BEFORE_YEARS = "in|since|until|till|by|before|after|during|from|of|year|spring|summer|autumn|fall|winter"
_BEFORE_DAYS = "on|since|until|till|due|due by|before|after"
_PARTED = "cups?|tsp|tbsp|teaspoons?|tablespoons?|inch|inches|miles?|hours?|pounds?|stars|points|power"
_BEFORE_DECADES = "the|his|her|their|my|our|your|early|late|mid"
_WEEKDAY = "|".join(WEEKDAYS)
_OCLOCK: Final = "o'clock"


def _month(name: str) -> str:
    return next(month for month in MONTHS if month.startswith(name[:3]))


def _day(figures: str) -> str:
    return ordinal(int(figures.rstrip("sthnrd")))


def _of_year(figures: str | None) -> str:
    return f", {year(int(figures))}" if figures else ""


def _date(month: int, day: int, of: str | None = None) -> str:
    """Return a date by its figures; "" for what is none."""
    is_one = 1 <= month <= 12 and 1 <= day <= 31
    return f"{MONTHS[month - 1]} {ordinal(day)}{_of_year(of)}" if is_one else ""


def _iso_date(found: re.Match[str]) -> str:
    said = _date(int(found[2]), int(found[3]), found[1])
    return f"{said} at " if said and found[4] else said or found[0]


def _slashed_date(found: re.Match[str]) -> str:
    first, second = int(found[1]), int(found[2])
    of = found[3] if len(found[3]) == 4 else f"20{found[3]}"
    return (_date(first, second, of) if first <= 12 else _date(second, first, of)) or found[0]


def _short_date(found: re.Match[str]) -> str:
    said = _date(int(found[2]), int(found[3]))
    return f"{found[1]}{said}" if said else found[0]


def _dotted_date(found: re.Match[str]) -> str:
    return _date(int(found[2]), int(found[1]), found[3])


def _month_first(found: re.Match[str]) -> str:
    until = f" to {_day(found[3])}" if found[3] else ""
    return f"{_month(found[1])} {_day(found[2])}{until}{_of_year(found[4])}"


def _day_first(found: re.Match[str]) -> str:
    article = "" if found[1] else "the "
    return f"{found[1] or ''}{article}{_day(found[2])} of {_month(found[3])}{_of_year(found[4])}"


def _time(found: re.Match[str]) -> str:
    hour, minute, second = int(found[1]), int(found[2] or 0), found[3]
    half = f" {found[4][0].lower()}.m." if found[4] else ""
    if minute or second:
        said = f"{cardinal(hour)} {two_digits(minute) if minute else _OCLOCK}"
    elif half:
        said = cardinal(hour)
    else:
        said = "midnight" if hour in (0, 24) else f"{cardinal(hour)} {_OCLOCK if hour <= 12 else 'hundred'}"
    seconds = f" and {cardinal(int(second))} second{'' if int(second) == 1 else 's'}" if int(second or 0) else ""
    return f"{said}{half}{seconds}"


def _years(found: re.Match[str]) -> str:
    until = found[2]
    return f"{year(int(found[1]))} to {year(int(until)) if len(until) == 4 else two_digits(int(until))}"


def _decade(found: re.Match[str]) -> str:
    spoken = year(int(found[2]))
    return found[1] + (f"{spoken[:-1]}ies" if spoken.endswith("y") else f"{spoken}s")


DATES: Final[tuple[Rule, ...]] = (
    rule(rf"(?<![\w.])(3[01]|[12]\d|0?[1-9])\.(1[0-2]|0?[1-9])\.({_YEAR})(?!\w|\.\d)", _dotted_date),
    rule(r"(?<![\w-])(\d{4})-(\d\d)-(\d\d)(?:(T|\s(?=\d?\d:))|(?![\w-]))", _iso_date),
    rule(r"(?<![\w/])(\d{4})/(\d\d?)/(\d\d?)()(?![\w/])", _iso_date),
    rule(r"(?<![\w/-])(\d{1,2})[/-](\d{1,2})[/-]((?:1[1-9]|20)\d\d)(?![\w/-])", _slashed_date),
    rule(r"(?<![\w/-])(\d{1,2})/(\d{1,2})/(\d\d)(?![\w/-]|\.\d)", _slashed_date),
    rule(r"(?<![\w./,-])9/11(?![\w/]|\.\d|\s(?:of|points|stars)\b)", "nine eleven"),
    rule(
        rf"\b((?i:{_BEFORE_DAYS})\s|(?:{_WEEKDAY}|[A-Z][a-z]{{2,5}}day),?\s)"
        rf"(\d{{1,2}})/(\d{{1,2}})(?![\w/]|\.\d|\s(?:of|{_PARTED})\b)",
        _short_date,
    ),
    rule(rf"\b({_WEEKDAY})\.?\s?/\s?(?=(?:{_WEEKDAY})\b)", lambda found: f"{WEEKDAYS[found[1]]} or "),
    rule(
        rf"\b({_WEEKDAY})\b\.?(?=(?:,|\s?&|,?\s(?:and|or|to|through|until))\s?(?:{_WEEKDAY})\b)",
        lambda found: WEEKDAYS[found[1]],
    ),
    rule(
        rf"(?<=day)(,\s|\s?&\s?|,?\s(?:and|or|to|through|until)\s)({_WEEKDAY})\b(?:\.(?!\s*$|\s+[A-Z]))?(?![-–])",
        lambda found: f"{found[1]}{WEEKDAYS[found[2]]}",
    ),
    rule(
        rf"\b((?i:on|every|each|next|this|last|until|till|by|since|from)\s)({_WEEKDAY})\b(?:\.(?!\s*$))?(?!-|\s[A-Z])",
        lambda found: found[1] + WEEKDAYS[found[2]],
    ),
    rule(
        rf"(?:^|(?<=[.,;] ))({_WEEKDAY})(?=:)|^(?!Sun)({_WEEKDAY})(?=,)", lambda found: WEEKDAYS[found[1] or found[2]]
    ),
    rule(
        rf"\b({_WEEKDAY})\b\.?\s?[–-]\s?({_WEEKDAY})\b\.?",
        lambda found: f"{WEEKDAYS[found[1]]} to {WEEKDAYS[found[2]]}",
    ),
    rule(rf"\b({_WEEKDAY})\b\.?(?=,?\s+(?:\d|{_MONTH}))", lambda found: WEEKDAYS[found[1]]),
    rule(rf"\b({_MONTH})\s+({_DAY})(?:\s?[–-]\s?({_DAY}))?\b(?![:.]\d)(?:,?\s+({_YEAR})\b)?", _month_first),
    rule(rf"(?<![\w.,:])(the\s+)?({_DAY})\s+(?:of\s+)?({_MONTH})(?:,?\s+({_YEAR})\b)?", _day_first),
    rule(r"(?<=[\dmM])\s?[–—-]\s?(?=\d?\d:\d\d|\d?\d\s?[AaPp]\.?[Mm]\b)", " to "),
    rule(
        r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?:\s?([AaPp])\.?[Mm]\b\.?|\s?(?:Z|h|hrs)\b)?",
        _time,
    ),
    rule(r"(?<![\d:.,])(1[0-2]|0?[1-9])(?:\.([0-5]\d))?()\s?([AaPp])\.?[Mm]\b\.?", _time),
    rule(rf"\b({_YEAR})\s?[–-]\s?({_YEAR})\b", _years),
    rule(rf"\b({_YEAR})[–/-](\d\d)\b(?![\w/-]|\.\d)", _years),
    rule(r"(?<![\w.,])()'?((?:1\d|20)\d0)s\b", _decade),
    rule(rf"(?i)\b((?:{_BEFORE_DECADES})[ -])'?([2-9]0)s\b", _decade),
    rule(r"(?<![\w.,])()'([2-9]0)s\b", _decade),
    rule(rf"\b(Q[1-4]|H[12]|FY)\s?({_YEAR})\b", lambda found: f"{found[1]} {year(int(found[2]))}"),
    rule(rf"^()({_YEAR})(?=\s(?:is|was|will|has|had|saw)\b)", lambda found: year(int(found[2]))),
    rule(
        rf"(?i)\b((?:{_BEFORE_YEARS}|{_MONTH_NAMES})\s+)({_YEAR})\b(?!\s?(?:%|°|[a-z/²³]+(?<=[^aiw]s)\b)|[.,:]\d)",
        lambda found: found[1] + year(int(found[2])),
    ),
)


def verbalize(text: str) -> str:
    """Return one line of English with every figure and sign in words; no ASCII digit is left."""
    return apply(_RULES, text)


def _version(found: re.Match[str]) -> str:
    parts = found[2].split(".")
    said = (" dot " if len(parts) > 3 else " point ").join(cardinal(int(part)) for part in parts)
    return f"version {said}" if found[1] else said


def _power_of_ten(found: re.Match[str]) -> str:
    minus = "minus " if found[2].startswith("-") else ""
    return f"{decimal(found[1])} times ten to the power of {minus}{cardinal(int(found[2].lstrip('+-')))}"


def _telephone(found: re.Match[str]) -> str:
    groups = [digits(group) for group in re.findall(r"\d+", found[0])]
    return ("plus " if found[0].startswith("+") else "") + ", ".join(groups)


_LENGTHS = "mm|cm|m|km|ft|in|inch|inches|feet"

_RULES: Final[tuple[Rule, ...]] = (
    rule(r"<=(?![=>])", "≤"),
    rule(r">=(?!=)", "≥"),
    rule(r"!=(?=\s?[\w-])", "≠"),
    rule(r"\s*(?:-+|=+)>\s*", ", "),
    rule(r"^(\d{1,3})[.)]\s+(?!\d)", lambda found: f"{cardinal(int(found[1]))}. "),
    *NAMES,
    *DATES,
    rule(r"\b([vV])\.?(\d+(?:\.\d+)+)\b", _version),
    rule(r"(?<![\w.])()(\d+(?:\.\d+){2,})(?![\w]|\.\d)", _version),
    # Sums: before amounts, whose ranges have the same dashes, and units the same letters
    rule(MINUS_BEFORE_EQUALS, " minus "),
    rule(MINUS_IN_A_SUM, " minus "),
    rule(r"(?<=[\d²³)=+*/] )-(?=\d)", "minus "),
    rule(r"(?<=\d)\s?[–—]\s?[-−](?=\d)|(?<=\d)--(?=\d)", " to minus "),
    rule(r"(?<=[\w)])\^2\b|²(?<![a-z]²)(?=\s?[-+=*/)]|$)", " squared"),
    rule(rf"(?<=\d)\s?x\s?(?=\d+(?:\.\d+)?\s?(?:{_LENGTHS})\b)", " by "),
    rule(r"(?<=\d)(['\"′″])\s?x\s?(?=\d)|(?<=\d{3})x(?=\d{3})", lambda found: f"{found[1] or ''} by "),
    rule(r"(?<=\d)\s?[x*]\s?(?=\d)|(?<=[\d)])\s+\*\s+(?=[\w(])|(?<=\w)\s+\*\s+(?=\d)", " times "),
    rule(r"(?<=\d)x(?=\s?[-+=*/)−]|\s(?:plus|minus|times)\b)", " x"),
    rule(r"(?<![\w.,])(\d+(?:\.\d+)?)[eE]([+-]?\d+)\b", _power_of_ten),
    *AMOUNTS,
    # Numbers
    rule(r"\b(\d+)(?:st|nd|rd|th)\b", lambda found: ordinal(int(found[1]))),
    rule(
        r"(?<![\w.])(?:\+\d{1,3}[ -]?\(?\d{1,14}\)?(?:[ -]\d{2,12}){0,5}"
        r"|0\d{2,4}(?=(?:[ /-]?\d){5})(?:[ /-]\d{2,8}){1,4}|0\d{2,5}[ /-]\d{4,}"
        r"|(?:(?:1[- ])?(?:\(\d{3}\) ?|\d{3}[- ]))?\d{3}[- ]\d{4}|\d{10,})(?![\w]|[.,]\d)",
        _telephone,
    ),
    rule(r"²", " squared"),
    rule(r"(?<=[\w)])\^3\b|³", " cubed"),
    rule(r"(?<=[\w)])\^(?=\d)", " to the power of "),
    rule(r"(?<=\d)x\b", " times"),
    rule(r"(?<=\d)\s+/\s+(?=\d)", " divided by "),
    rule(r"(?<=\d)(?:\s?[–—]\s?|:)(?=\d)|(?<![A-Za-z\d])(\d+)-(?=\d)", lambda found: f"{found[1] or ''} to "),
    rule(r"(?<=\d)-(?=\d)", " "),
    rule(rf"\s*({either(SIGNS)})\s*", lambda found: f" {SIGNS[found[1]]} "),
    rule(r"(?<=[A-Za-z])-?(?=\d)", " "),
    rule(r"(?<=\d)-?(?=[A-Za-z])", " "),
    rule(NUMBER, lambda found: decimal(found[0])),
    # Signs and abbreviations
    rule(r"%", " percent "),
    rule(r"°", " degrees "),
    rule(r"\band/or\b", "and or"),
    rule(rf"(?<!\w)({either(ABBREVIATIONS)})(?=\s*$)", lambda found: f"{ABBREVIATIONS[found[1]]}."),
    rule(rf"(?<!\w)({either(ABBREVIATIONS)})(?!\w)", lambda found: ABBREVIATIONS[found[1]]),
    rule(r"(?<=[a-z])\s?/\s?(?=[a-z])", " or "),
    rule(r"(?<=\w)\s?/\s?(?=\w)", " "),
    rule(r"\s+-{1,3}\s+", " — "),
    rule(r"([!?])\1+", r"\1"),
)
"""In this order: the longer and surer reading first; what is only a number comes late.

Rules with the same function have the same groups: an empty `()` keeps the place of one that this rule lacks.
"""
