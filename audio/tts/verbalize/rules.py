"""Rewriting rules for both languages, and patterns of written figures."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

Rule: TypeAlias = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]
"""What is looked for, and what is said in its place."""

NUMBER: Final = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
"""`5`, `1,250`, `3.14`."""

RANGE: Final = rf"{NUMBER}(?:\s?[–—~〜～-]\s?{NUMBER})?"
"""A number, or two with a dash between."""

DECIMAL_COMMA: Final = r"(?<![A-Za-z0-9_.,])(\d{1,3}(?:\.\d{3})+|\d+),(\d\d?)(?![\d,]|\.\d)"
"""`12,50` and `1.000,50`, as most of Europe writes; `1,2` may be two numbers where nothing is counted."""

ROMAN: Final = "(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
"""A Roman numeral below ninety: none of the larger ones is met, and C, D and M spell words."""

MINUS_BEFORE_EQUALS: Final = r"(?<=\d)-(?=\d+(?:\.\d+)?(?:\s?[-+*/×÷x]\s?\d+)*\s?=)"
"""The dash of `7-3=4`, which anywhere else is a range."""

MINUS_IN_A_SUM: Final = r"(?<=[\d²³)])\s+[-−]\s+(?=[\d(−-]|[a-z]\b)|(?:(?<=\b[a-z])|(?<=\d[a-z]))\s+[-−]\s+(?=\d)"
"""The dash between spaces of `x² - 3` and `2x - 8`."""

FRACTIONS: Final = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8", "⅕": "1/5"}

_THOUSANDS = re.compile("(?<=\\d)(?:[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))| (?=000(?!\\d)))")
"""Spaces between figures of one number."""

_FRACTION = re.compile(rf"(\d?)([{''.join(FRACTIONS)}])")
_NARROW = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0xFF10, 0xFF1A), 0xFF05, 0x2103, 0x2109, *range(0x2080, 0x208A))
}
"""Full-width figures and per cent sign, degrees written as one character, and figures below the line."""


def rule(pattern: str, say: Callable[[re.Match[str]], str] | str) -> Rule:
    """Return a rule; a string as `say` is what is said, with groups as in `re.sub`."""
    said = say
    return re.compile(pattern), (lambda found: found.expand(said)) if isinstance(said, str) else said


def apply(rules: Sequence[Rule], text: str) -> str:
    """Return the text after all rules, in their order, in one line with single spaces.

    What an earlier rule has put in words, a later one leaves.
    """
    text = _FRACTION.sub(_spelt_fraction, _THOUSANDS.sub("", text.translate(_NARROW)))
    for pattern, say in rules:
        text = pattern.sub(say, text)
    return " ".join(text.split())


def bounds(found: str) -> list[str]:
    """Return the one number of a match of `RANGE`, or its two."""
    return re.findall(NUMBER, found)


def either(signs: Iterable[str]) -> str:
    """Return a pattern for any of the signs, the longest first."""
    return "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))


def with_point(found: re.Match[str]) -> str:
    """Return what `DECIMAL_COMMA` found with a point."""
    return f"{found[1].replace('.', '')}.{found[2]}"


def roman_value(letters: str) -> int:
    """Return the number that `ROMAN` found."""
    values = [{"I": 1, "V": 5, "X": 10, "L": 50}[letter] for letter in letters]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)


def is_one(figures: str) -> bool:
    """Say whether a thing follows in the singular."""
    return figures == "1"


def _spelt_fraction(found: re.Match[str]) -> str:
    return f"{found[1]}{' ' if found[1] else ''}{FRACTIONS[found[2]]}"
