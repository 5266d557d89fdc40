"""Text normalization for English."""

import re
from typing import Final

from audio.tts.verbalize.english_words import (
    ABBREVIATIONS,
    FRACTION_PARTS,
    LIMITS,
    MAGNITUDES,
    MONEY,
    MONTHS,
    PER,
    SIGNS,
    UNITS,
    WEEKDAYS,
    WHOLES,
)
from audio.tts.verbalize.numerals import cardinal, decimal, digits, ordinal, two_digits, year
from audio.tts.verbalize.rules import (
    MINUS_BEFORE_EQUALS,
    MINUS_IN_A_SUM,
    NUMBER,
    RANGE,
    Rule,
    apply,
    bounds,
    either,
    is_one,
    rule,
)


def verbalize(text: str) -> str:
    """Return one line of English with every figure and sign in words; no ASCII digit is left."""
    return apply(_RULES, text)


def _size(found: re.Match[str]) -> str:
    return f"{decimal(found[1])} {MAGNITUDES[found[2]]}"


def _power_of_ten(found: re.Match[str]) -> str:
    minus = "minus " if found[2].startswith("-") else ""
    return f"{decimal(found[1])} times ten to the power of {minus}{cardinal(int(found[2].lstrip('+-')))}"


def _numbers(figures: str) -> str:
    return " to ".join(decimal(figure) for figure in bounds(figures))


# Addresses and names

_DIALLED = "(?:call|dial|ring|phone)"
_SPELT_AFTER = "pin|code|zip|password|postcode|passcode"
_NUMBERED = r"room|flight|apartment|apt\.?|suite|gate|highway|route|bus|line|boeing"


def _dotted(found: re.Match[str]) -> str:
    return found[0].replace("@", " at ").replace(".", " dot ").replace("_", " ")


def _hashtag(found: re.Match[str]) -> str:
    return f"hashtag {re.sub(r'(?<=[a-z])(?=[A-Z])|_+', ' ', found[1])}"


def _version(found: re.Match[str]) -> str:
    parts = found[2].split(".")
    said = (" dot " if len(parts) > 3 else " point ").join(cardinal(int(part)) for part in parts)
    return f"version {said}" if found[1] else said


def _telephone(found: re.Match[str]) -> str:
    groups = [digits(group) for group in re.findall(r"\d+", found[0])]
    return ("plus " if found[0].startswith("+") else "") + ", ".join(groups)


def _called(found: re.Match[str]) -> str:
    """Return the number by which something is called: `Room 502`, `flight 2490`."""
    figures = found[2]
    if len(figures) == 4 and figures[0] != "0":
        return f"{found[1]} {year(int(figures))}"
    if len(figures) != 3 or figures.endswith("00") or figures[0] == "0":
        return f"{found[1]} {digits(figures) if figures[0] == '0' else decimal(figures)}"
    return f"{found[1]} {digits(figures[0])} {two_digits(int(figures[1:]))}"


def _spelt(found: re.Match[str]) -> str:
    return f"{found[1]}{digits(found[2])}"


def _roman(found: re.Match[str]) -> str:
    values = [{"I": 1, "V": 5, "X": 10}[letter] for letter in found[2]]
    pairs = zip(values, [*values[1:], 0], strict=True)
    number = sum(-value if value < after else value for value, after in pairs)
    return f"{found[1]} {cardinal(number)}"


# Dates and times

_MONTH_NAMES = "|".join(MONTHS)
_MONTH = rf"(?:{_MONTH_NAMES}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:1[1-9]|20)\d\d"
_BEFORE_YEARS = "in|since|until|till|by|before|after|during|from|of|year|spring|summer|autumn|fall|winter"
_BEFORE_DECADES = "the|his|her|their|my|our|your|early|late|mid"
_WEEKDAY = "|".join(WEEKDAYS)
_OCLOCK: Final = "o'clock"


def _month(name: str) -> str:
    return next(month for month in MONTHS if month.startswith(name[:3]))


def _day(figures: str) -> str:
    return ordinal(int(figures.rstrip("sthnrd")))


def _of_year(figures: str | None) -> str:
    return f", {year(int(figures))}" if figures else ""


def _iso_date(found: re.Match[str]) -> str:
    month, day = int(found[2]), int(found[3])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return found[0]
    said = f"{MONTHS[month - 1]} {ordinal(day)}{_of_year(found[1])}"
    return f"{said} at " if found[4] else said


def _slashed_date(found: re.Match[str]) -> str:
    first, second = int(found[1]), int(found[2])
    month, day = (first, second) if first <= 12 else (second, first)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return found[0]
    return f"{MONTHS[month - 1]} {ordinal(day)}{_of_year(found[3])}"


def _dotted_date(found: re.Match[str]) -> str:
    day, month = int(found[1]), int(found[2])
    return f"{MONTHS[month - 1]} {ordinal(day)}{_of_year(found[3])}"


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


def _lasting(found: re.Match[str]) -> str:
    """Return a length of time: `1h 30m`, `2h05`, `5m 30s`."""
    names = ("day", "hour", "minute", "second")
    parts = [(int(figures), name) for figures, name in zip(found.groups(), names, strict=True) if figures]
    return " ".join(f"{cardinal(count)} {name}{'' if count == 1 else 's'}" for count, name in parts)


def _decade(found: re.Match[str]) -> str:
    spoken = year(int(found[2]))
    return found[1] + (f"{spoken[:-1]}ies" if spoken.endswith("y") else f"{spoken}s")


# Amounts

_LENGTHS = "mm|cm|m|km|ft|in|inch|inches|feet"
_RACES = "run|race|walk|jog"
_CURRENCY_SIGN = either(sign for sign in MONEY if not sign.isalpha())


def _money(found: re.Match[str]) -> str:
    minus, sign, figures, magnitude = found["minus"], found["sign"], found["n"], found["size"]
    one, many, cent, cents = MONEY[sign]
    said = "minus " if minus else ""
    if magnitude:
        return f"{said}{_numbers(figures)} {MAGNITUDES.get(magnitude, magnitude)} {many}"
    whole, _, hundredths = figures.partition(".")
    if len(bounds(figures)) > 1 or len(hundredths) != 2 or not cent:
        return f"{said}{_numbers(figures)} {one if is_one(figures) else many}"
    parts = []
    if int(whole.replace(",", "")) or not int(hundredths):
        parts.append(f"{decimal(whole)} {one if is_one(whole) else many}")
    if int(hundredths):
        parts.append(f"{cardinal(int(hundredths))} {cent if hundredths == '01' else cents}")
    return said + " and ".join(parts)


def _amount(found: re.Match[str]) -> str:
    one, many = UNITS[found[2]]
    return f"{_numbers(found[1])} {one if is_one(found[1]) else many}"


def _feet(feet: str, inches: str) -> str:
    return f"{cardinal(int(feet))} foot {cardinal(int(inches))}"


def _rated(found: re.Match[str]) -> str:
    return f"{decimal(found[1])} out of {cardinal(int(found[2]))}"


def _over(found: re.Match[str]) -> str:
    """Return what a cuff measures: `120/80`."""
    above, below = int(found[1]), int(found[2])
    return f"{cardinal(above)} over {cardinal(below)}" if above > below >= 30 else found[0]


def _part(found: re.Match[str]) -> str:
    """Return a part of what has a unit: `1/2 tsp`, `1 1/2 kg`."""
    one, many = WHOLES[found[4]]
    if int(found[3]) not in FRACTION_PARTS or not 0 < int(found[2]) < int(found[3]):
        return found[0]
    said = _fraction(found)
    if found[1]:
        return f"{said} {many}"
    article = "an" if one[0] in "aeio" or one == "hour" else "a"
    return f"half {article} {one}" if said == "one half" else f"{said} of {article} {one}"


def _fraction(found: re.Match[str]) -> str:
    whole, count, parts = found[1], int(found[2]), int(found[3])
    if not whole and count == parts and parts in (20, 50):
        return f"{cardinal(count)}-{cardinal(parts)}"
    if parts not in FRACTION_PARTS or not 0 < count < parts or (parts == 10 and found[4] is None):
        return f"{cardinal(int(whole)) + ' ' if whole else ''}{cardinal(count)} out of {cardinal(parts)}"
    one, many = FRACTION_PARTS[parts]
    if whole:
        return f"{cardinal(int(whole))} and {'a' if count == 1 else cardinal(count)} {one if count == 1 else many}"
    return f"{cardinal(count)} {one if count == 1 else many}"


_RULES: Final[tuple[Rule, ...]] = (
    rule(r"\s*(?:-+|=+)>\s*", ", "),
    rule(r"^(\d{1,3})[.)]\s+(?!\d)", lambda found: f"{cardinal(int(found[1]))}. "),
    # Addresses and names
    rule(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", _dotted),
    rule(r"(?<![\w.])(?:[A-Za-z0-9][\w-]+\.)+[a-z]{2,6}(?![\w.]*\w)", _dotted),
    rule(r"(?<![\w.])\.(?=\d)", "0."),
    rule(rf"(?i)\b({_DIALLED}\s+)(\d{{3}})(?![\w,. -]?\d|\s\w+s\b)", _spelt),
    rule(r"(?<![\w.,$€£+/-])()(911|112|999)(?=\s*(?:$|[.,!?)](?!\d)))", _spelt),
    rule(rf"(?i)\b((?:{_SPELT_AFTER})(?:\s(?:is|code))?:?\s)(\d{{3,}})\b", _spelt),
    rule(rf"(?i)\b((?:{_NUMBERED})\s)(\d{{3,4}})(?![\w:]|[.,-]\d)", _called),
    rule(r"(?<![A-Za-z])([A-Z]{2}\s?)(\d{3,4})(?![\w:]|[.,]\d|\s?%)", _called),
    rule(r"\b(Chapter|Act|Part|Volume|Book|Section|Phase|World War|Type)\s([IVX]+)\b(?!')", _roman),
    rule(r"(?<!\w)#(\d+)", r"number \1"),
    rule(r"(?:\b(?:No|Nr)\.|№)\s?(?=\d)", "number "),
    rule(r"(?<!\w)#(\w+)", _hashtag),
    rule(r"(?<!\w)@(?=\w)", "at "),
    rule(r"\b([vV])\.?(\d+(?:\.\d+)+)\b", _version),
    rule(rf"(?<![\w.])(3[01]|[12]\d|0?[1-9])\.(1[0-2]|0?[1-9])\.({_YEAR})(?!\w|\.\d)", _dotted_date),
    rule(r"(?<![\w.])()(\d+(?:\.\d+){2,})(?![\w]|\.\d)", _version),
    # Dates and times
    rule(r"(?<![\w-])(\d{4})-(\d\d)-(\d\d)(?:(T|\s(?=\d?\d:))|(?![\w-]))", _iso_date),
    rule(r"(?<![\w/])(\d{4})/(\d\d?)/(\d\d?)()(?![\w/])", _iso_date),
    rule(r"(?<![\w/-])(\d{1,2})[/-](\d{1,2})[/-]((?:1[1-9]|20)\d\d)(?![\w/-])", _slashed_date),
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
    # Sums: before amounts, whose ranges have the same dashes, and units the same letters
    rule(MINUS_BEFORE_EQUALS, " minus "),
    rule(MINUS_IN_A_SUM, " minus "),
    rule(r"(?<=[\d²³)=+*/] )-(?=\d)", "minus "),
    rule(r"(?<=\d)\s?[–—]\s?[-−](?=\d)|(?<=\d)--(?=\d)", " to minus "),
    rule(r"(?<=[\w)])\^2\b|²(?<![a-z]²)(?=\s?[-+=*/)]|$)", " squared"),
    rule(rf"(?<=\d)\s?x\s?(?=\d+(?:\.\d+)?\s?(?:{_LENGTHS})\b)", " by "),
    rule(r"(?<=\d)\s?[x*]\s?(?=\d)|(?<=[\d)])\s+\*\s+(?=[\w(])|(?<=\w)\s+\*\s+(?=\d)", " times "),
    rule(r"(?<=\d)x(?=\s?[-+=*/)−]|\s(?:plus|minus|times)\b)", " x"),
    rule(r"(?<![\w.,])(\d+(?:\.\d+)?)[eE]([+-]?\d+)\b", _power_of_ten),
    # Amounts
    rule(r"(?<!\w)~\s?(?=[$€£]?\d)", "about "),
    rule(r"(?<!\S)([<>≤≥])(?=\d)|^([<>≤≥])\s(?=\d)", lambda found: LIMITS[found[1] or found[2]]),
    rule(r"(%|°[CF]?)\s?[–—~-]\s?(?=\d)", r"\1 to "),
    rule(rf"(?<=\d)\s?[–—-]\s?(?={_CURRENCY_SIGN})", " to "),
    rule(
        rf"(?<!\w)(?P<minus>[-−])?(?P<sign>{_CURRENCY_SIGN})\s?(?P<n>{RANGE})"
        rf"(?:\s?(?P<size>(?:thousand|million|billion|trillion|{either(MAGNITUDES)})\b))?",
        _money,
    ),
    rule(
        rf"(?<![\w.,])(?P<minus>[-−])?(?P<n>{RANGE})(?:\s?(?P<size>thousand|million|billion|trillion|bn|tn|mn))?"
        rf"\s?(?P<sign>{either(MONEY)})(?!\w)",
        _money,
    ),
    rule(rf"(?<![\w.,])[-−](?={NUMBER})", "minus "),
    rule(r"(?<![\w.,])(?:(\d+)\s?d\s?)(?:(\d+)\s?h\b)()()", _lasting),
    rule(r"(?<![\w.,])()(\d+)\s?h(?:rs?)?\s?(\d+)(?:\s?m(?:ins?)?\b|(?!\s?\w))(?:\s?(\d+)\s?s(?:ecs?)?\b)?", _lasting),
    rule(r"(?<![\w.,])()()(\d+)\s?m(?:ins?)?\s?(\d+)\s?s(?:ecs?)?\b", _lasting),
    rule(r"(?<![\w.,])(\d+)\s?(?:'|ft)\s?(\d+)\s?(?:\"|in\b)", lambda found: _feet(found[1], found[2])),
    rule(rf"(?<![\w./,-])(?:(\d+) )?(\d{{1,2}})/(\d{{1,2}})\s?({either(WHOLES)})(?![\w/²³])", _part),
    rule(rf"(?<!\d)({RANGE})\s?({either(UNITS)})(?![\w/²³]|\s?°)", _amount),
    rule(rf"(?<![\w.,])({NUMBER})\s?(bn|tn|mn|k(?!\s?(?:{_RACES})\b))\b(?!/)", _size),
    rule(rf"(?<=[a-z])/({either(PER)})\b", lambda found: f" per {PER[found[1]]}"),
    rule(r"(?<=[a-z])/(day|week|month|year|hour|minute|second|night|person|piece)\b", r" per \1"),
    rule(r"\b24/7\b", "twenty-four seven"),
    rule(r"\b([1-9]\d{1,2})/([1-9]\d)\b(?![\w/]|\.\d)", _over),
    rule(rf"(?<![\w./,-])({NUMBER})/(\d{{1,2}})(?=\s(?:stars|points|marks)\b)", _rated),
    rule(r"(?<![\w/,-])(\d+\.\d+)/(\d{1,2})(?![\w/]|\.\d)", _rated),
    rule(r"(?<![\w./,-])(?:(\d+) )?(\d{1,2})/(\d{1,2})(?![\w/]|\.\d)(?=\s(of\b))?", _fraction),
    # Numbers
    rule(r"\b(\d+)(?:st|nd|rd|th)\b", lambda found: ordinal(int(found[1]))),
    rule(
        r"(?<![\w.])(?:\+\d{1,3}[ -]?\(?\d{1,14}\)?(?:[ -]\d{2,12}){0,5}"
        r"|(?:\(\d{3}\) ?|\d{3}[- ])?\d{3}[- ]\d{4}|0\d{2,5}[ /-]\d{4,}|\d{10,})(?![\w]|[.,]\d)",
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
