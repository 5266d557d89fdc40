"""How money, units and parts are read in English."""

import re
from typing import Final

from audio.tts.verbalize.english_words import FRACTION_PARTS, LIMITS, MAGNITUDES, MONEY, PER, UNITS, WHOLES
from audio.tts.verbalize.numerals import cardinal, decimal
from audio.tts.verbalize.rules import DECIMAL_COMMA, NUMBER, RANGE, Rule, bounds, either, is_one, rule, with_point

_RACES = "run|race|walk|jog"
_CURRENCY_SIGN = either(sign for sign in MONEY if not sign.isalpha())


_BEFORE_A_QUALITY = re.compile(r"(?i)\b(?:an?|another|every)\s\Z")
_QUALIFIED = re.compile(r" (?!(?:a|an|and|at|for|from|if|in|is|of|off|on|or|per|plus|to|was|with)\b)[a-z]+")
_MEASURED = re.compile(r" (?:long|wide|tall|high|deep|thick|across|away)\b")
_OPEN_QUOTE = re.compile(r"(?<!\w)['‘](?=\w)")


def _qualifies(found: re.Match[str]) -> bool:
    """Say whether an amount says which thing: `a $20 bill`."""
    before = found.string[max(0, found.start() - 10) : found.start()]
    return bool(_BEFORE_A_QUALITY.search(before) and _QUALIFIED.match(found.string, found.end()))


def _money(found: re.Match[str]) -> str:
    minus, sign, figures, magnitude = found["minus"], found["sign"], found["n"], found["size"]
    one, many, cent, cents = MONEY[sign]
    said = "minus " if minus else ""
    if _qualifies(found) and (magnitude or "." not in figures):
        many = one
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
    alone = is_one(found[1]) or (found[2].isalpha() and _qualifies(found))
    return f"{_numbers(found[1])} {one if alone else many}"


def _lasting(found: re.Match[str]) -> str:
    """Return a length of time: `1h 30m`, `2h05`, `5m 30s`."""
    names = ("day", "hour", "minute", "second")
    parts = [(int(figures), name) for figures, name in zip(found.groups(), names, strict=True) if figures]
    return " ".join(f"{cardinal(count)} {name}{'' if count == 1 else 's'}" for count, name in parts)


def _feet(found: re.Match[str]) -> str:
    return f"{cardinal(int(found[1]))} foot {cardinal(int(found[2]))}"


def _marked_length(found: re.Match[str]) -> str:
    """Return feet or inches by their marks, which close a quotation where one is open."""
    figures, mark = found[1], found[2]
    if figures is None or (
        mark in "'’" and _OPEN_QUOTE.search(found.string, max(0, found.start() - 100), found.start())
    ):
        return found[0]
    one, many = ("foot", "feet") if mark in "'’′" else ("inch", "inches")
    alone = is_one(figures) or (_qualifies(found) and not _MEASURED.match(found.string, found.end()))
    return f"{decimal(figures)} {one if alone else many}"


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


def _size(found: re.Match[str]) -> str:
    return f"{decimal(found[1])} {MAGNITUDES[found[2]]}"


def _numbers(figures: str) -> str:
    return " to ".join(decimal(figure) for figure in bounds(figures))


_COUNTED = either({*UNITS, *MONEY})
_WRITTEN_SHORT = either(sign for sign in UNITS if sign.isalpha())

AMOUNTS: Final[tuple[Rule, ...]] = (
    rule(r"(?<=\d)\s?(M(?:io|rd))\b\.?", lambda found: " million" if found[1] == "Mio" else " billion"),
    rule(rf"{DECIMAL_COMMA}(?=\s?(?:million|billion|{_COUNTED})(?![A-Za-z]))", with_point),
    rule(rf"(?<=[$€£]){DECIMAL_COMMA}", with_point),
    rule(r"(?<![\w.,])(\d{1,3})\.(\d{3})(?=\s?(?:€|EUR\b)(?!\s?/|\s(?:a|per)\b))", r"\1,\2"),
    rule(rf"(?<=\d)(\s?(?:{_WRITTEN_SHORT}))\.(?=\s[a-z\d(]|[,;:)])", r"\1"),
    rule(r"(?<=\d)\s?in\.(?=\s[a-z])", " inches"),
    rule(rf"(?<=\d)(\s?(?:{either(UNITS)}))\s?/\s?(?=\d|[Gg]as\b)", r"\1 or "),
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
    rule(r"(?<![\w.,])(\d+)\s?(?:'|ft)\s?(\d+)\s?(?:\"|in\b)", _feet),
    rule(rf"(?<!\w)\"[^\"]*\"|“[^“”]*”|(?<![\w.,'’])({NUMBER})\s?([\"″”'’′])(?![\w'’])", _marked_length),
    rule(rf"(?<![\w./,-])(?:(\d+) )?(\d{{1,2}})/(\d{{1,2}})\s?({either(WHOLES)})(?![\w/²³])", _part),
    rule(rf"(?<!\d)({RANGE})\s?({either(UNITS)})(?![\w/²³]|\s?°)", _amount),
    rule(rf"(?<![\w.,])({NUMBER})\s?(bn|tn|mn|k(?!\s?(?:{_RACES})\b))\b(?!/)", _size),
    rule(rf"(?<=[a-z])/({either(PER)})\b", lambda found: f" per {PER[found[1]]}"),
    rule(
        r"(?<=[a-z])/(day|week|month|year|hour|minute|second|night|person|piece|dozen|bottle|pack|box|pair)\b",
        r" per \1",
    ),
    rule(r"\b24/7\b", "twenty-four seven"),
    rule(r"\b([1-9]\d{1,2})/([1-9]\d)\b(?![\w/]|\.\d)", _over),
    rule(rf"(?<![\w./,-])({NUMBER})/(\d{{1,2}})(?=\s(?:stars|points|marks)\b)", _rated),
    rule(r"(?<![\w/,-])(\d+\.\d+)/(\d{1,2})(?![\w/]|\.\d)", _rated),
    rule(r"(?<![\w./,-])(?:(\d+) )?(\d{1,2})/(\d{1,2})(?![\w/]|\.\d)(?=\s(of\b))?", _fraction),
)
