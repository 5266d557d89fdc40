"""What the configuration may say of the web: who searches it, whether pages are read, who tells the weather."""

from typing import Literal

from msgspec import Struct

from appliance.config.meaning import setting


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
