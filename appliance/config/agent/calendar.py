"""What the configuration may say of calendars: accounts at CalDAV servers, and ICS files."""

from msgspec import Struct

from appliance.config.meaning import setting


class CalendarSource(Struct, frozen=True):
    """A calendar, as [calendar.NAME]: an account at a CalDAV server, or an ICS file here or at an address.

    Members of the household may ask what stands in it; an account is added to as well.
    """

    url: str = setting(
        "",
        'With a user, a CalDAV server, e.g. "https://cloud.example.org" or "https://caldav.icloud.com"; without, an '
        'ICS file, e.g. "https://example.org/holidays.ics". Google takes no password: use the secret address in '
        "iCal format that its settings show, by `url_env`.",
    )
    url_env: str = setting(
        "", "Instead, the name of the variable or systemd credential with an address that is a secret itself."
    )
    file: str = setting("", "Instead, the path of an ICS file on this machine.")
    user: str = setting("", "User at the CalDAV server.")
    password_env: str = setting(
        "",
        "Name of the variable or systemd credential with the password; where there are passwords for single "
        "programs (iCloud, Nextcloud with two factors), one of those.",
    )
    calendars: tuple[str, ...] = setting(
        (), "Which calendars of the account, by their names there; the first takes what is added. [] is all."
    )
    remind_minutes: int = setting(
        0,
        "How long before an appointment without an alarm of its own it is announced; 0 is not at all. The alarms in "
        "an account and in a file here are announced as they are, those at an address of others are not.",
        between=(0, 40_320),
        unit="min",
    )
    poll_minutes: int = setting(5, "How often nakari looks whether something changed.", between=(1, 1440), unit="min")


def wrong_calendar(source: CalendarSource) -> tuple[str, str]:
    """Return the key at which a calendar's settings are wrong ("" is all of them), and what is wrong; else two ""."""
    checks = (
        (
            sum(map(bool, (source.url, source.url_env, source.file))) != 1,
            "",
            "needs a url, a url_env or a file, one of them",
        ),
        (bool(source.file and source.user), "user", "is for a url"),
        (bool(source.password_env and not source.user), "password_env", "is for a user"),
        (bool(source.user and not source.password_env), "password_env", "is missing: its user has a password"),
        (bool(source.calendars and not source.user), "calendars", "is for an account: it needs a user"),
    )
    return next(((key, wrong) for is_wrong, key, wrong in checks if is_wrong), ("", ""))
