"""What the configuration may say of what the agent can do: tools, files and code, the web, the weather, the house."""

from typing import Literal

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
