"""Entries of calendars as other programs write them."""

from collections.abc import Iterable

BERLIN = "Europe/Berlin"


def entry(*lines: str, uid: str = "1", title: str = "Dentist") -> str:
    """An entry of these lines."""
    return "\r\n".join(
        ("BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20260101T000000Z", f"SUMMARY:{title}", *lines, "END:VEVENT")
    )


def alarm(trigger: str, *lines: str, action: str = "DISPLAY") -> tuple[str, ...]:
    """The lines of an alarm, for an entry."""
    return ("BEGIN:VALARM", f"ACTION:{action}", f"TRIGGER{trigger}", "DESCRIPTION:it is due", *lines, "END:VALARM")


def calendar(*entries: str, header: Iterable[str] = ()) -> str:
    """A calendar of entries."""
    return "\r\n".join(("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", *header, *entries, "END:VCALENDAR", ""))
