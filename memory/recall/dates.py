"""Dates that a question names: the days, months and years of which something was said."""

import calendar
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january januar jan janvier enero",
            "february februar feb février febrero",
            "march märz mar mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june juni jun juin junio",
            "july juli jul juillet julio",
            "august aug août agosto",
            "september sept sep septembre septiembre",
            "october oktober oct okt octobre octubre",
            "november nov novembre noviembre",
            "december dezember dec dez décembre diciembre",
        ),
        1,
    )
    for name in names.split()
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_HAN: Final = {each: number for number, each in enumerate("零一二三四五六七八九")}

_PATTERNS: Final = (
    rf"\b{_YEAR}-(?P<number>\d\d)(?:-(?P<day>\d\d))?\b",
    rf"\b{_DAY} (?:of |de )?(?P<month>{_MONTH})\b\.?(?:,? (?:de )?{_YEAR})?",
    rf"\b(?P<month>{_MONTH}) (?:the )?{_DAY}\b(?:,? {_YEAR})?",
    rf"\b(?P<month>{_MONTH})\b\.?,? {_YEAR}",
    rf"\b(?:in|im|en|since|during|last|of|by) (?P<month>{_MONTH})\b",
    rf"\b(?:in|im|en|since|during|of) {_YEAR}\b",
    r"(?:(?P<year>(?:19|20)\d\d)年)?(?P<number>\d{1,2}|[一二三四五六七八九十]{1,3})月"
    r"(?:份|(?P<day>\d{1,2}|[一二三四五六七八九十]{1,3})[日号號])?",
)
"""In the order in which they are tried; compiled at the first question, 20 ms that a start does without."""

TOLD_AFTER: Final = timedelta(days=4)
"""How long after a day people still tell what happened then."""


class Dated(Struct, frozen=True):
    """A span of time that a question names."""

    since: datetime
    until: datetime
    named: str
    """The words that name it."""


def dates_in(words: str, newest: datetime) -> Iterator[Dated]:
    """Yield the spans that are named, in UTC; without a year the last one up to `newest` is meant."""
    for pattern in _PATTERNS:
        if match := re.search(pattern, words, re.IGNORECASE):
            with suppress(ValueError, OverflowError):
                since, until = _span(match.groupdict(), newest)
                yield Dated(since, until, match.group())
            return


def _span(given: dict[str, str | None], newest: datetime) -> tuple[datetime, datetime]:
    month = _MONTHS[(given["month"] or "").lower()] if given.get("month") else _number(given.get("number"))
    day, year = _number(given.get("day")), int(given.get("year") or 0)
    if not year:
        year = newest.year - ((month or 1, day or 1) > (newest.month, newest.day))
    if not month:
        return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    first = datetime(year, month, day or 1, tzinfo=UTC)
    days = 1 if day else calendar.monthrange(year, month)[1]
    return first, first + timedelta(days=days) + TOLD_AFTER


def _number(text: str | None) -> int:
    """Return a number in figures or in Chinese characters up to 99, 0 for none."""
    if not text:
        return 0
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (_HAN.get(tens, 1) * 10 if ten else 0) + _HAN.get(ones, 0)
