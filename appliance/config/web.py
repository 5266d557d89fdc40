"""What the configuration may say of the web: who searches it, whether pages are read, who tells the weather."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le

from appliance.config.meaning import Meaning


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The web, for the agent to look into. With nothing set here not one packet leaves for it."""

    search: Annotated[
        Literal["", "wikipedia", "searxng", "brave", "tavily"],
        Meaning(
            'Who is asked when the agent searches: "wikipedia" needs no key and finds articles of Wikipedia only, '
            '"searxng" is one of yours (searxng_url), "brave" wants BRAVE_API_KEY and "tavily" TAVILY_API_KEY, from '
            'the environment or a systemd credential; "" is nobody. The words of a search go there.'
        ),
    ] = ""
    searxng_url: Annotated[
        str,
        Meaning(
            'Where your SearXNG is, e.g. "http://searx.home:8080"; it may be in the house. Its settings.yml has to '
            "allow json under search: formats."
        ),
    ] = ""
    read_pages: Annotated[
        bool,
        Meaning(
            "Whether the agent may read pages of the public internet; never of this machine or this house. Their "
            "servers see your address."
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class WeatherSettings:
    """The weather, told by Open-Meteo without a key; its free use is for what earns no money."""

    enabled: Annotated[bool, Meaning("Whether Open-Meteo is asked; where the house is goes there.")] = False
    place: Annotated[
        str, Meaning('Where the house is, e.g. "Heidelberg"; "" is by latitude and longitude, or not told.')
    ] = ""
    latitude: Annotated[
        float, Ge(-90.0), Le(90.0), Meaning("Instead of looking the place up; north is positive.", "degrees")
    ] = 0.0
    longitude: Annotated[float, Ge(-180.0), Le(180.0), Meaning("East is positive; 0 and 0 is not told.", "degrees")] = (
        0.0
    )
    units: Annotated[Literal["metric", "imperial"], Meaning("Of temperature, wind and rain.")] = "metric"
    url: Annotated[str, Meaning('A server of yours that forecasts as Open-Meteo does; "" is Open-Meteo\'s.')] = ""
    places_url: Annotated[
        str, Meaning("A server of yours that finds places as Open-Meteo's does; \"\" is Open-Meteo's.")
    ] = ""
