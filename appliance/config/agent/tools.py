"""What the configuration may say of what the agent can do: tools, files, code, web, weather, house and calendars."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from appliance.config.meaning import setting


class ToolSettings(Struct, frozen=True):
    """What the agent can do beside what every box can."""

    folder: str = setting(
        "",
        'Folder of tool files of your own (see docs/tools.md); what is in them runs as nakari does. "" is the '
        "folder tools beside this file.",
    )
    confirm: tuple[str, ...] = setting(
        (),
        'Names of tools that always ask before they act, by voice or in writing, e.g. ["send_letter"]; what opens '
        "locks and the like asks whatever stands here.",
    )
    never_confirm: tuple[str, ...] = setting(
        (), "Names of tools that never ask, also where what they do cannot be undone: on your own account."
    )
    most_tokens: int = setting(
        8_000,
        "What the list of tools may take of each request, a quarter of what the model reads at most; past it the "
        "largest groups of tools (a server's, your own files') are only named, and the agent finds them.",
        between=(2_000, 100_000),
        unit="tokens",
    )


class FileSettings(Struct, frozen=True):
    """Folders of the household's in which the agent may list, read, search and write files; it deletes none."""

    folders: tuple[str, ...] = setting(
        (),
        'Which ones, e.g. ["/srv/papers"]; [] is none. Hidden files and links are left alone. A service sees no '
        "folder until its unit lets it: `nakari doctor` tells the lines.",
    )


class CodeSettings(Struct, frozen=True):
    """Code that the agent writes and has run in a sandbox without network and files."""

    enabled: bool = setting(
        False, "Whether it may; it needs systemd's nakari-code.socket, or bubblewrap where nakari is no service."
    )


class WebSettings(Struct, frozen=True):
    """The web, for the agent to look into. With nothing set here not one packet leaves for it."""

    search: Literal["", "wikipedia", "searxng", "brave", "tavily"] = setting(
        "",
        'Who is asked when the agent searches: "wikipedia" needs no key and finds articles of Wikipedia only, '
        '"searxng" is one of yours (searxng_url), "brave" wants BRAVE_API_KEY and "tavily" TAVILY_API_KEY, from the '
        'environment or a systemd credential; "" is nobody. The words of a search go there.',
    )
    searxng_url: str = setting(
        "",
        'Where your SearXNG is, e.g. "http://searx.home:8080"; it may be in the house. Its settings.yml has to '
        "allow json under search: formats.",
    )
    read_pages: bool = setting(
        False,
        "Whether the agent may read pages of the public internet; never of this machine or this house. Their "
        "servers see your address.",
    )


class WeatherSettings(Struct, frozen=True):
    """The weather, told by Open-Meteo without a key; its free use is for what earns no money."""

    enabled: bool = setting(False, "Whether Open-Meteo is asked; where the house is goes there.")
    place: str = setting("", 'Where the house is, e.g. "Heidelberg"; "" is by latitude and longitude, or not told.')
    latitude: float = setting(
        0.0, "Instead of looking the place up; north is positive.", between=(-90.0, 90.0), unit="degrees"
    )
    longitude: float = setting(0.0, "East is positive; 0 and 0 is not told.", between=(-180.0, 180.0), unit="degrees")
    units: Literal["metric", "imperial"] = setting("metric", "Of temperature, wind and rain.")
    url: str = setting("", 'A server of yours that forecasts as Open-Meteo does; "" is Open-Meteo\'s.')
    places_url: str = setting("", "A server of yours that finds places as Open-Meteo's does; \"\" is Open-Meteo's.")


class HomeSettings(Struct, frozen=True):
    """Home Assistant, which knows the house. It is shown the token in HOME_ASSISTANT_TOKEN."""

    url: str = setting(
        "",
        'Where it answers, e.g. "http://homeassistant.local:8123"; "" is none. What is asked of the house goes '
        "there, and without a model every sentence that is not understood here.",
    )


MOST_CHARACTERS: Final = 24
"""Of a server's name, which begins the name of each of its tools; those have 64."""

ENVIRONMENT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SECRET_NAME: Final = re.compile(r"(key|password|passwd|secret|token|credential)s?\Z", re.IGNORECASE)


class McpServer(Struct, frozen=True):
    """A server of tools, as [mcp.NAME]: a program here, or an address. NAME begins the names of its tools."""

    command: tuple[str, ...] = setting(
        (), 'The program and its arguments, e.g. ["uvx", "mcp-server-time"]; it speaks MCP on stdin and stdout.'
    )
    env: Mapping[str, str] = setting(
        {}, 'What it sees of an environment beside HOME, PATH, LANG and the like, e.g. { TZ = "Asia/Tokyo" }.'
    )
    secrets: tuple[str, ...] = setting(
        (), "Names of environment variables or systemd credentials that it is given as variables too."
    )
    url: str = setting(
        "",
        'Instead of a program, where a server answers over streamable HTTP, e.g. "http://127.0.0.1:8000/mcp". What '
        "the agent gives its tools goes there.",
    )
    api_key_env: str = setting("", 'Name of the variable or credential with the key that `url` wants; "" sends none.')
    tools: tuple[str, ...] = setting(
        (),
        "Its tools that the agent may use, by its own names; [] is all, up to 32 of a server, and 96 shared evenly "
        "among all servers.",
    )
    timeout_seconds: float = setting(20.0, "How long a call may take.", between=(1.0, 240.0), unit="s")
    believe_hints: bool = setting(
        True,
        "Whether a tool of which it says that it only reads is broken off when somebody speaks; every other one is "
        "let finish.",
    )
    read_only: tuple[str, ...] = setting((), "Tools of which you say so: they change nothing, and may be broken off.")
    reversible: tuple[str, ...] = setting((), "Tools that change something, and may be broken off all the same.")


def wrong_server(server: McpServer) -> tuple[str, str]:
    """Return the key at which a server's settings are wrong ("" is all of them), and what is wrong; else two ""."""
    names = (*server.env, *server.secrets)
    secret = next(filter(_SECRET_NAME.search, server.env), "")
    checks = (
        (bool(server.command) == bool(server.url), "", "needs a command or a url, one of them"),
        (bool(server.command) and not server.command[0].strip(), "command", "names no program"),
        (bool(server.url and server.env), "env", "is for a command"),
        (bool(server.url and server.secrets), "secrets", "is for a command; a url has api_key_env"),
        (bool(server.command and server.api_key_env), "api_key_env", "is for a url; a command has secrets"),
        (
            not all(map(ENVIRONMENT_NAME.match, names)),
            "secrets" if all(map(ENVIRONMENT_NAME.match, server.env)) else "env",
            "should hold names of variables, such as GITHUB_TOKEN",
        ),
        (
            bool(secret),
            "env",
            f"holds {secret}, and this file is no secret: set that in the environment, and name it in secrets",
        ),
    )
    return _first(checks)


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
    return _first(checks)


def _first(checks: Sequence[tuple[bool, str, str]]) -> tuple[str, str]:
    """Return key and sentence of the first check that finds something wrong, else two ""."""
    return next(((key, wrong) for is_wrong, key, wrong in checks if is_wrong), ("", ""))
