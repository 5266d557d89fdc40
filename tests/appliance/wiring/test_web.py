"""The web in the configuration: who searches it, what the doctor says of that, and which tools come of it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.tools.registry.discovery import discover
from agent.tools.tool import Tool
from appliance.config.agent.tools import WeatherSettings, WebSettings
from appliance.config.load import Config, Secret, load
from appliance.doctor.examine import Verdict
from appliance.doctor.tools.web import weather, web
from appliance.errors import ConfigError
from appliance.wiring.agent.web import engine_of, pages_of, weather_of
from tests.agent.web import open_meteo
from tests.agent.web.engines import searxng
from tests.agent.web.web_server import Answer, Pages, json_answer
from tests.appliance.wiring.every_tool import over_nothing
from tests.appliance.wiring.web_thread import serving

pytestmark = pytest.mark.shows("F8", "F9", "G8")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


def offered(config: Config) -> dict[str, Tool]:
    """Return the tools of the web that this configuration offers, and those that lack a key as None."""
    context = replace(over_nothing(), search=engine_of(config), pages=pages_of(config), weather=weather_of(config))
    found = discover(context, None, config.secret)
    return {tool.name: tool for tool in found.tools if tool.name in {"web_search", "web_extract", "weather"}}


def test_nothing_of_it_is_offered_as_the_box_comes(config: Config) -> None:
    assert offered(config) == {}
    assert web(config).what == "nobody searches it, pages are not read"
    assert weather(config).what == "nobody is asked for it"


def test_what_is_configured_is_offered(config: Config) -> None:
    everything = replace(
        config, web=WebSettings("wikipedia", read_pages=True), weather=WeatherSettings(True, "Heidelberg")
    )
    tools = offered(everything)
    assert set(tools) == {"web_search", "web_extract", "weather"}
    assert "articles of Wikipedia only" in tools["web_search"].spec.description


def test_an_engine_without_its_key_is_not_offered_and_the_doctor_says_which(config: Config, tmp_path: Path) -> None:
    wanting = replace(config, web=WebSettings("brave"))
    assert offered(wanting) == {}
    assert (web(wanting).verdict, web(wanting).fix) == (Verdict.WARNING, "set BRAVE_API_KEY")
    having = load(environ={"HOME": str(tmp_path), "BRAVE_API_KEY": "BSA-1"})
    assert set(offered(replace(having, web=WebSettings("brave")))) == {"web_search"}
    assert isinstance(having.secrets["BRAVE_API_KEY"], Secret), "which no log shows"


def test_a_searxng_without_its_address_is_told_before_anything_starts(config: Config) -> None:
    with pytest.raises(ConfigError, match=r'search = "searxng" needs searxng_url'):
        engine_of(replace(config, web=WebSettings("searxng")))


@pytest.mark.parametrize(
    ("pages", "verdict", "what", "fix"),
    [
        ({"/search": searxng}, Verdict.OK, "SearXNG answers, pages are not read", ""),
        ({"/search": json_answer({"results": []})}, Verdict.WARNING, "answers and finds nothing", "see to its engines"),
        ({"/search": Answer(b"", 403)}, Verdict.FAULT, 'add "json" to search: formats', "or choose another"),
        ({"/search": Answer(b"", 500)}, Verdict.FAULT, "out of order (500)", "or choose another"),
    ],
)
def test_the_doctor_tells_how_the_search_engine_is(
    config: Config, pages: Pages, verdict: Verdict, what: str, fix: str
) -> None:
    with serving(pages) as url:
        line = web(replace(config, web=WebSettings("searxng", url)))
    assert line.verdict is verdict
    assert what in line.what
    assert fix in line.fix


def test_the_doctor_tells_a_search_engine_that_is_not_there(config: Config) -> None:
    with serving({}) as url:
        pass
    line = web(replace(config, web=WebSettings("searxng", url)))
    assert (line.verdict, line.what) == (Verdict.FAULT, "SearXNG cannot be reached")


def test_the_doctor_tells_whether_there_is_weather_for_the_house(config: Config) -> None:
    with serving(open_meteo.PAGES) as url:
        there = WeatherSettings(True, "Heidelberg", url=url, places_url=url)
        assert weather(replace(config, weather=there)).what.endswith("for Heidelberg, Baden-Württemberg, Germany")
        nowhere = weather(replace(config, weather=replace(there, place="Nowhere")))
        unknown = weather(replace(config, weather=replace(there, place="")))
    assert (nowhere.verdict, nowhere.what[:32]) == (Verdict.FAULT, "no place is known as Nowhere; na")
    assert (unknown.verdict, unknown.fix) == (Verdict.WARNING, "set [weather] place, or latitude and longitude")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[web]\nsearch = "google"', "search"),
        ('[web]\nsearch = "searxng"\nsearxng_url = "searx.home"', "http://"),
        ("[weather]\nlatitude = 91.0", "latitude"),
        ('[weather]\nurl = "ftp://x"', "http://"),
    ],
)
def test_a_wrong_setting_is_told(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "nakari.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=why):
        load(tmp_path / "nakari.toml", {"HOME": str(tmp_path)})
