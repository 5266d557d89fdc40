"""What the doctor looks at of the web: whether the search engine answers, and whether the weather can be told."""

import asyncio

from agent.errors import ToolFailed
from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.wiring.agent.web import engine_of, weather_of

QUESTION = "weather"
"""What is searched for: it tells of nobody, and is found everywhere."""


def web(config: Config) -> Line:
    """Search once, as nothing else tells whether a key is taken. Pages are strangers': none is tried."""
    pages = "pages are read" if config.web.read_pages else "pages are not read"
    engine = engine_of(config)
    if engine is None:
        return Line("web", Verdict.OK, f"nobody searches it, {pages}")
    if missing := [name for name in engine.secrets if name not in config.secrets]:
        return Line("web", Verdict.WARNING, f"{engine.name} wants a key, {pages}", f"set {', '.join(missing)}")
    try:
        found = asyncio.run(engine.search(QUESTION, ""))
    except ToolFailed as failed:
        return Line("web", Verdict.FAULT, str(failed), "see to it, or choose another [web] search")
    if not found:
        return Line("web", Verdict.WARNING, f"{engine.name} answers and finds nothing, {pages}", "see to its engines")
    return Line("web", Verdict.OK, f"{engine.name} answers, {pages}")


def weather(config: Config) -> Line:
    """Ask for today's weather at the house."""
    service = weather_of(config)
    if service is None:
        return Line("weather", Verdict.OK, "nobody is asked for it")
    if not (config.weather.place or config.weather.latitude or config.weather.longitude):
        fix = "set [weather] place, or latitude and longitude"
        return Line("weather", Verdict.WARNING, "where the house is was not told", fix)
    try:
        told = asyncio.run(service.weather("", 1))
    except ToolFailed as failed:
        return Line("weather", Verdict.FAULT, str(failed), "see to it, or correct [weather]")
    return Line("weather", Verdict.OK, f"Open-Meteo tells it for {told['place']}")


CHECKS: tuple[Check, ...] = (web, weather)
