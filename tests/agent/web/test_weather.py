"""The weather as Open-Meteo tells it, and its faults."""

from contextlib import suppress

import pytest

from agent.errors import ToolFailed
from agent.web.weather import OpenMeteo, Place
from tests.agent.web import open_meteo
from tests.agent.web.web_server import Answer, WebServer, json_answer

HOME = Place("here", 49.4, 8.69)


def service(server: WebServer, home: Place | str = HOME, units: str = "metric") -> OpenMeteo:
    return OpenMeteo("nakari/test", home, units, server.url, server.url)  # type: ignore[arg-type]


@pytest.mark.shows("G8")
async def test_the_weather_now_and_of_the_coming_days_has_units_and_words_that_can_be_said() -> None:
    async with WebServer({**open_meteo.PAGES}) as server:
        told = await service(server).weather(days=2)
    assert told == {
        "place": "here",
        "now": {"sky": "light rain", "temperature": "7.4 °C", "feels_like": "4 °C", "humidity": "88 %",
                "rain_or_snow": "0.2 mm", "wind": "12.3 km/h"},
        "days": [{"date": f"2026-11-{day}", "sky": "rain", "lowest": "3.1 °C", "highest": "8 °C",
                  "chance_of_rain_or_snow": "90 %", "rain_or_snow": "4.5 mm"} for day in (22, 23)],
        "timezone": "Europe/Berlin",
    }  # fmt: skip
    assert [each.path for each in server.asked] == ["/v1/forecast"], "a place with coordinates is not looked up"


@pytest.mark.shows("G8")
async def test_another_place_is_looked_up_and_the_units_are_those_of_the_house() -> None:
    async with WebServer({**open_meteo.PAGES}) as server:
        told = await service(server, units="imperial").weather("Heidelberg", 1)
    assert told["place"] == "Heidelberg, Baden-Württemberg, Germany"
    assert isinstance(told["now"], dict)
    assert told["now"]["temperature"] == "7.4 °F"
    assert server.asked[1].query["latitude"] == "49.4077"


async def test_a_house_may_be_known_by_its_name_or_not_at_all() -> None:
    async with WebServer({**open_meteo.PAGES}) as server:
        assert (await service(server, "Heidelberg").weather())["place"] == "Heidelberg, Baden-Württemberg, Germany"
        with pytest.raises(ToolFailed, match="where the house is was never told"):
            await service(server, "").weather()
        with pytest.raises(ToolFailed, match="no place is known as Nowhere"):
            await service(server).weather("Nowhere")


async def test_a_place_is_looked_up_in_the_language_of_its_name() -> None:
    async with WebServer({**open_meteo.PAGES}) as server:
        for name, language in (("海德堡", "zh"), ("Heidelberg", "en")):
            with suppress(ToolFailed):
                await service(server).place(name)
            assert server.asked[-1].query["language"] == language


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (json_answer({"reason": "Minutely API request limit exceeded.", "error": True}, 429), r"too often \(429\)"),
        (json_answer({"reason": "Parameter is\nwrong.", "error": True}, 400), r"\(400\): Parameter is wrong\."),
        (Answer(b"", 502), r"out of order \(502\)"),
        (Answer(b"<html>maintenance</html>"), "no answer of its kind"),
        (Answer(b'{"current": {', ending="breaks off", length=100), "broke off"),
        (json_answer({}), "no forecast"),
        (json_answer({"current": [], "daily": {"time": 7}}), "no forecast"),
    ],
)
async def test_each_fault_is_one_sentence(answer: Answer, why: str) -> None:
    async with WebServer({"/v1/forecast": answer}) as server:
        with pytest.raises(ToolFailed, match=f"^Open-Meteo .*{why}"):
            await service(server).weather()


async def test_values_that_are_none_are_left_out() -> None:
    strange = {
        "current": {"temperature_2m": 10**400, "wind_speed_10m": "x", "weather_code": 1234, "precipitation": None},
        "daily": {"time": ["2026-11-22", "2026-11-23"], "temperature_2m_max": [1], "weather_code": None},
    }
    async with WebServer({"/v1/forecast": json_answer(strange)}) as server:
        told = await service(server).weather()
    assert told["now"] == {"sky": "unknown"}
    assert told["days"] == [
        {"date": "2026-11-22", "sky": "unknown", "highest": "1"},
        {"date": "2026-11-23", "sky": "unknown"},
    ]


async def test_a_place_that_is_none_is_told() -> None:
    for latitude in (None, "x", 10**400, 91):
        found = {"results": [{"name": "X", "latitude": latitude, "longitude": 8}]}
        async with WebServer({"/v1/search": json_answer(found)}) as server:
            with pytest.raises(ToolFailed, match="no place"):
                await service(server).weather("X")
