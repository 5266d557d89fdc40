"""Chooses who searches the web, reads pages and tells the weather, as the configuration has it."""

from agent.web.pages import PageReader
from agent.web.search import Brave, SearchEngine, SearXng, Tavily, Wikipedia
from agent.web.weather import FORECAST, PLACES, OpenMeteo, Place
from appliance.config.load import Config
from appliance.errors import ConfigError
from appliance.version import version


def engine_of(config: Config) -> SearchEngine | None:
    """Return who searches, None where nobody is to. Raises `ConfigError` for a SearXNG without its address."""
    match config.web.search:
        case "":
            return None
        case "searxng":
            if not config.web.searxng_url:
                raise ConfigError('[web] search = "searxng" needs searxng_url, where it is; add it')
            return SearXng(_agent(), config.web.searxng_url)
        case "brave":
            return Brave(_agent(), config.revealed("BRAVE_API_KEY"))
        case "tavily":
            return Tavily(_agent(), config.revealed("TAVILY_API_KEY"))
        case "wikipedia":
            language = config.ears.language
            return Wikipedia(_agent(), language=language if language not in ("", "auto") else "en")


def pages_of(config: Config) -> PageReader | None:
    """Return what reads pages, None where none are to be read."""
    return PageReader(_agent()) if config.web.read_pages else None


def weather_of(config: Config) -> OpenMeteo | None:
    """Return who tells the weather, None where nobody is to."""
    told = config.weather
    if not told.enabled:
        return None
    is_placed = bool(told.latitude or told.longitude)
    home = Place(told.place or "here", latitude=told.latitude, longitude=told.longitude) if is_placed else told.place
    return OpenMeteo(_agent(), home, told.units, told.url or FORECAST, told.places_url or PLACES)


def _agent() -> str:
    return f"nakari/{version()}".replace(" ", "-")
