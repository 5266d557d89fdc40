"""Text normalization for English."""

import re
from typing import Final

from audio.tts.verbalize.english_amounts import AMOUNTS
from audio.tts.verbalize.english_dates import DATES
from audio.tts.verbalize.english_names import NAMES
from audio.tts.verbalize.english_words import ABBREVIATIONS, SIGNS
from audio.tts.verbalize.numerals import cardinal, decimal, digits, ordinal
from audio.tts.verbalize.rules import MINUS_BEFORE_EQUALS, MINUS_IN_A_SUM, NUMBER, Rule, apply, either, rule


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
