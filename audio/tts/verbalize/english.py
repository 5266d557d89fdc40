"""Text normalization for English."""

import re
from typing import Final

from audio.tts.verbalize.numerals import cardinal, decimal, digits, ordinal, two_digits, year
from audio.tts.verbalize.rules import NUMBER, RANGE, Rule, apply, bounds, either, is_one, rule

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)

WEEKDAYS: Final = {
    **{"Mon": "Monday", "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday"},
    **{"Thur": "Thursday", "Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday", "Sun": "Sunday"},
}

MONEY: Final = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "US$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "", ""),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "", ""),
    "USD": ("dollar", "dollars", "cent", "cents"),
    "EUR": ("euro", "euros", "cent", "cents"),
    "GBP": ("pound", "pounds", "penny", "pence"),
    "CNY": ("yuan", "yuan", "fen", "fen"),
    "RMB": ("yuan", "yuan", "fen", "fen"),
    "JPY": ("yen", "yen", "", ""),
    "CHF": ("franc", "francs", "centime", "centimes"),
}
"""Sign -> one, many, a hundredth, hundredths; a currency without hundredths reads its decimals."""

MAGNITUDES: Final = {"k": "thousand", "K": "thousand", "M": "million", "m": "million", "bn": "billion", "B": "billion"}
"""What may follow an amount of money at once."""

UNITS: Final = {
    "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": ("degree", "degrees"),
    "%": ("percent", "percent"),
    "‰": ("per mille", "per mille"),
    "km/h": ("kilometer per hour", "kilometers per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"),
    "mph": ("mile per hour", "miles per hour"),
    "m/s": ("meter per second", "meters per second"),
    "km²": ("square kilometer", "square kilometers"),
    "m²": ("square meter", "square meters"),
    "m³": ("cubic meter", "cubic meters"),
    "km": ("kilometer", "kilometers"),
    "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"),
    "µm": ("micrometer", "micrometers"),
    "m": ("meter", "meters"),
    "ft": ("foot", "feet"),
    "mi": ("mile", "miles"),
    "kg": ("kilogram", "kilograms"),
    "mg": ("milligram", "milligrams"),
    "g": ("gram", "grams"),
    "lb": ("pound", "pounds"),
    "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "ml": ("milliliter", "milliliters"),
    "mL": ("milliliter", "milliliters"),
    "cl": ("centiliter", "centiliters"),
    "l": ("liter", "liters"),
    "L": ("liter", "liters"),
    "tsp": ("teaspoon", "teaspoons"),
    "tbsp": ("tablespoon", "tablespoons"),
    "kB": ("kilobyte", "kilobytes"),
    "KB": ("kilobyte", "kilobytes"),
    "MB": ("megabyte", "megabytes"),
    "GB": ("gigabyte", "gigabytes"),
    "TB": ("terabyte", "terabytes"),
    "KiB": ("kibibyte", "kibibytes"),
    "MiB": ("mebibyte", "mebibytes"),
    "GiB": ("gibibyte", "gibibytes"),
    "kbit/s": ("kilobit per second", "kilobits per second"),
    "Mbit/s": ("megabit per second", "megabits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "MB/s": ("megabyte per second", "megabytes per second"),
    "GHz": ("gigahertz", "gigahertz"),
    "MHz": ("megahertz", "megahertz"),
    "kHz": ("kilohertz", "kilohertz"),
    "Hz": ("hertz", "hertz"),
    "kWh": ("kilowatt hour", "kilowatt hours"),
    "kW": ("kilowatt", "kilowatts"),
    "MW": ("megawatt", "megawatts"),
    "W": ("watt", "watts"),
    "mAh": ("milliamp hour", "milliamp hours"),
    "V": ("volt", "volts"),
    "dB": ("decibel", "decibels"),
    "hPa": ("hectopascal", "hectopascals"),
    "kcal": ("kilocalorie", "kilocalories"),
    "kJ": ("kilojoule", "kilojoules"),
    "bpm": ("beat per minute", "beats per minute"),
    "rpm": ("revolution per minute", "revolutions per minute"),
    "fps": ("frame per second", "frames per second"),
    "ms": ("millisecond", "milliseconds"),
    "s": ("second", "seconds"),
    "sec": ("second", "seconds"),
    "min": ("minute", "minutes"),
    "mins": ("minute", "minutes"),
    "h": ("hour", "hours"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
}
"""Sign -> one, many. Left out is what is a word as well, such as `in`."""

PER: Final = {sign: one for sign, (one, _) in UNITS.items() if sign.isalpha()}
"""What may follow a slash after a thing that was counted: `€5/kg`."""

ABBREVIATIONS: Final = {
    "e.g.": "for example",
    "i.e.": "that is",
    "etc.": "et cetera",
    "vs.": "versus",
    "approx.": "approximately",
    "ca.": "about",
    "cf.": "compare",
    "incl.": "including",
    "excl.": "excluding",
    "max.": "maximum",
    "min.": "minimum",
    "dept.": "department",
    "w/o": "without",
    "w/": "with",
    "Dr.": "Doctor",
    "Prof.": "Professor",
    "Mr.": "Mister",
    "Mrs.": "Missus",
    "Ms.": "Miz",
    "Mt.": "Mount",
    "Jr.": "Junior",
    "Sr.": "Senior",
}

FRACTION_PARTS: Final = {
    **{2: ("half", "halves"), 3: ("third", "thirds"), 4: ("quarter", "quarters"), 5: ("fifth", "fifths")},
    **{6: ("sixth", "sixths"), 8: ("eighth", "eighths"), 10: ("tenth", "tenths")},
}

SIGNS: Final = {
    "=": "equals",
    "≠": "is not equal to",
    "<": "is less than",
    ">": "is greater than",
    "≤": "is at most",
    "≥": "is at least",
    "≈": "is about",
    "+": "plus",
    "−": "minus",
    "×": "times",
    "÷": "divided by",
    "±": "plus or minus",
    "∞": "infinity",
    "√": "the square root of",
    "π": "pi",
    "&": "and",
    "§": "section",
}

LIMITS: Final = {"<": "less than ", ">": "more than ", "≤": "at most ", "≥": "at least "}
"""The same signs before a number that nothing is compared with: `>5 km`."""


def verbalize(text: str) -> str:
    """Return one line of English with every figure and sign in words; no ASCII digit is left."""
    return apply(_RULES, text)


def _numbers(figures: str) -> str:
    return " to ".join(decimal(figure) for figure in bounds(figures))


# Addresses and names


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


# Dates and times

_MONTH_NAMES = "|".join(MONTHS)
_MONTH = rf"(?:{_MONTH_NAMES}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:1[1-9]|20)\d\d"
_BEFORE_YEARS = "in|since|until|till|by|before|after|during|from|of|year|spring|summer|autumn|fall|winter"
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
    return f"{year(int(found[1]))} to {year(int(found[2]))}"


def _decade(found: re.Match[str]) -> str:
    spoken = year(int(found[1]))
    return f"{spoken[:-1]}ies" if spoken.endswith("y") else f"{spoken}s"


# Amounts

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


def _fraction(found: re.Match[str]) -> str:
    whole, count, parts = found[1], int(found[2]), int(found[3])
    if parts not in FRACTION_PARTS or not 0 < count < parts:
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
    rule(r"(?<!\w)#(\d+)", r"number \1"),
    rule(r"(?:\b(?:No|Nr)\.|№)\s?(?=\d)", "number "),
    rule(r"(?<!\w)#(\w+)", _hashtag),
    rule(r"(?<!\w)@(?=\w)", "at "),
    rule(r"\b([vV])\.?(\d+(?:\.\d+)+)\b", _version),
    rule(r"(?<![\w.])()(\d+(?:\.\d+){2,})(?![\w]|\.\d)", _version),
    # Dates and times
    rule(r"(?<![\w-])(\d{4})-(\d\d)-(\d\d)(?:(T|\s(?=\d?\d:))|(?![\w-]))", _iso_date),
    rule(r"(?<![\w/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\w/])", _slashed_date),
    rule(rf"\b({'|'.join(WEEKDAYS)})\b\.?(?=,?\s+(?:\d|{_MONTH}))", lambda found: WEEKDAYS[found[1]]),
    rule(rf"\b({_MONTH})\s+({_DAY})(?:\s?[–-]\s?({_DAY}))?\b(?![:.]\d)(?:,?\s+({_YEAR})\b)?", _month_first),
    rule(rf"(?<![\w.,:])(the\s+)?({_DAY})\s+(?:of\s+)?({_MONTH})(?:,?\s+({_YEAR})\b)?", _day_first),
    rule(r"(?<=[\dmM])\s?[–—-]\s?(?=\d?\d:\d\d|\d?\d\s?[AaPp]\.?[Mm]\b)", " to "),
    rule(
        r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?:\s?([AaPp])\.?[Mm]\b\.?|\s?(?:Z|h|hrs)\b)?",
        _time,
    ),
    rule(r"(?<![\d:.,])(1[0-2]|[1-9])()()\s?([AaPp])\.?[Mm]\b\.?", _time),
    rule(rf"\b({_YEAR})\s?[–-]\s?({_YEAR})\b", _years),
    rule(r"(?<![\w.,])'?((?:1\d|20)?\d0)s\b", _decade),
    rule(
        rf"(?i)\b((?:{_BEFORE_YEARS}|{_MONTH_NAMES})\s+)({_YEAR})\b(?!\s?(?:%|°|[a-z/²³]+(?<=[^aiw]s)\b)|[.,:]\d)",
        lambda found: found[1] + year(int(found[2])),
    ),
    # Amounts
    rule(r"(?<!\S)([<>≤≥])(?=\d)", lambda found: LIMITS[found[1]]),
    rule(r"(%|°[CF]?)\s?[–—~-]\s?(?=\d)", r"\1 to "),
    rule(
        rf"(?<!\w)(?P<minus>[-−])?(?P<sign>{_CURRENCY_SIGN})\s?(?P<n>{RANGE})"
        r"(?:\s?(?P<size>(?:thousand|million|billion|trillion|bn|[kKmMB])\b))?",
        _money,
    ),
    rule(
        rf"(?<![\w.,])(?P<minus>[-−])?(?P<n>{RANGE})(?:\s?(?P<size>thousand|million|billion|trillion))?"
        rf"\s?(?P<sign>{either(MONEY)})(?!\w)",
        _money,
    ),
    rule(rf"(?<![\w.,])[-−](?={NUMBER})", "minus "),
    rule(rf"(?<!\d)({RANGE})\s?({either(UNITS)})(?![\w/²³]|\s?°)", _amount),
    rule(rf"(?<=[a-z])/({either(PER)})\b", lambda found: f" per {PER[found[1]]}"),
    rule(r"(?<=[a-z])/(day|week|month|year|hour|minute|second|night|person|piece)\b", r" per \1"),
    rule(r"\b24/7\b", "twenty-four seven"),
    rule(r"(?<![\w./,-])(?:(\d+) )?(\d{1,2})/(\d{1,2})(?![\w/]|\.\d)", _fraction),
    # Numbers
    rule(r"\b(\d+)(?:st|nd|rd|th)\b", lambda found: ordinal(int(found[1]))),
    rule(
        r"(?<![\w.])(?:\+\d{1,3}[ -]?\(?\d{1,14}\)?(?:[ -]\d{2,12}){0,5}"
        r"|(?:\(\d{3}\) ?|\d{3}[- ])?\d{3}[- ]\d{4}|0\d{2,5}[ /-]\d{4,}|\d{10,})(?![\w]|[.,]\d)",
        _telephone,
    ),
    rule(r"(?<=[\w)])\^2\b|²", " squared"),
    rule(r"(?<=[\w)])\^3\b|³", " cubed"),
    rule(r"(?<=[\w)])\^(?=\d)", " to the power of "),
    rule(r"(?<=\d)\s?[x*]\s?(?=\d)|(?<=\d)\s+\*\s+(?=\w)|(?<=\w)\s+\*\s+(?=\d)", " times "),
    rule(r"(?<=\d)x\b", " times"),
    rule(r"(?<=\d)\s+-\s+(?=\d)", " minus "),
    rule(r"(?<=\d)\s+/\s+(?=\d)", " divided by "),
    rule(r"(?<=\d)(?:\s?[–—]\s?|:)(?=\d)|(?<![A-Za-z\d])(\d+)-(?=\d)", lambda found: f"{found[1] or ''} to "),
    rule(r"(?<=\d)-(?=\d)", " "),
    rule(r"(?<!\w)~(?=\s?\d)", "about "),
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
