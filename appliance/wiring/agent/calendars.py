"""The household's calendars as the configuration describes them."""

from hashlib import blake2b
from pathlib import Path

from agent.calendars.caldav import CalDav
from agent.calendars.fetching import Fetcher, Login
from agent.calendars.household import Calendars, File
from agent.calendars.ics_source import IcsAddress, IcsFile
from agent.calendars.owner import About, Pace
from agent.calendars.reminders import Rules
from agent.calendars.source import Source
from agent.calendars.store import forget_others
from appliance.config.agent.tools import CalendarSource
from appliance.config.load import Config

FOLDER = "calendars"
"""Of the state folder: the last known copy of each calendar."""


def calendars_of(config: Config, file: File) -> Calendars | None:
    """Return the calendars, those apart whose address is a secret that nobody set; None where there are none.

    The copies of those that are not configured any more go.
    """
    forget_others(config.state_folder / FOLDER, config.calendar.keys())
    abouts = [
        (about, Pace(poll=told.poll_minutes * 60.0))
        for name, told in config.calendar.items()
        if (about := about_of(config, name)) is not None
    ]
    return Calendars(abouts, config.state_folder / FOLDER, file) if abouts else None


def about_of(config: Config, name: str) -> About | None:
    """Return what a calendar is; None where its address is a secret that nobody set."""
    told = config.calendar[name]
    url = told.url or config.revealed(told.url_env)
    if not (url or told.file):
        return None
    place = blake2b(f"{url}\n{told.user}\n{told.file}".encode(), digest_size=16).hexdigest()
    is_strangers = bool(url) and not told.user
    rules = Rules(name, config.zone, told.remind_minutes, has_alarms=not is_strangers)
    return About(name, place, _source(config, name, url), rules)


def _source(config: Config, name: str, url: str) -> Source:
    told: CalendarSource = config.calendar[name]
    if told.file:
        return IcsFile(name, Path(told.file).expanduser())
    if url.startswith("webcal://"):  # https, as every service means it
        url = f"https{url.removeprefix('webcal')}"
    fetcher = Fetcher(url, Login(told.user, config.revealed(told.password_env)))
    return CalDav(fetcher, told.calendars) if told.user else IcsAddress(name, fetcher)
