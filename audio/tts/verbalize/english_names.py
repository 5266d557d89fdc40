"""How addresses, numbers that name a thing, and versions are read in English."""

import re
from typing import Final

from audio.tts.verbalize.numerals import cardinal, decimal, digits, two_digits, year
from audio.tts.verbalize.rules import Rule, rule

_DIALLED = "(?:call|dial|ring|phone)"
_SPELT_AFTER = "pin|code|zip|password|postcode|passcode"
_NUMBERED = r"room|flight|apartment|apt\.?|suite|gate|highway|route|bus|line|boeing"


def _dotted(found: re.Match[str]) -> str:
    return found[0].replace("@", " at ").replace(".", " dot ").replace("_", " ")


def _hashtag(found: re.Match[str]) -> str:
    return f"hashtag {re.sub(r'(?<=[a-z])(?=[A-Z])|_+', ' ', found[1])}"


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


NAMES: Final[tuple[Rule, ...]] = (
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
)
