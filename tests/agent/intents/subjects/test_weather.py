"""The weather, asked for without a model."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.intents.reading.understanding import load_understanding
from agent.intents.saying.phrases import phrase
from agent.run.run_state import RunState
from agent.tools.weather import weather_tool
from agent.web.weather import OpenMeteo, Place
from tests.agent.intents.test_mind import a_house, hear
from tests.agent.offline_talk import OFFLINE, Talk, without
from tests.agent.web import open_meteo
from tests.agent.web.web_server import WebServer

UNDERSTAND = load_understanding()

pytestmark = pytest.mark.shows("X11", "G8")


@pytest.fixture
def asked() -> Talk:
    """A talk in a box that may ask for the weather."""
    return Talk(OFFLINE, without("set_volume", "device"))


def told(**now: str) -> str:
    """What the tool answers at the 21st of November."""
    day = {"sky": "light showers", "lowest": "3.1 °C", "highest": "8 °C", "chance_of_rain_or_snow": "60 %"}
    days = [{"date": f"2026-11-{number}", **day} for number in range(21, 28)]
    return json.dumps({"place": "here", "now": {"sky": "overcast", "temperature": "-0.4 °C", **now}, "days": days})


@pytest.mark.parametrize(
    ("words", "days", "said"),
    [
        (
            "What's the weather like?",
            1,
            "Now 0 °C, overcast. Today: light showers, 3 °C to 8 °C; the chance of rain or snow is 60 %.",
        ),
        ("Will it rain tomorrow?", 2, "Tomorrow: light showers, 3 °C to 8 °C; the chance of rain or snow is 60 %."),
        ("明天天气怎么样？", 2, "明天：小阵雨，3 °C到8 °C，下雨或下雪的可能是60 %。"),
        (
            "What's the weather on Friday?",
            7,
            "On Friday: light showers, 3 °C to 8 °C; the chance of rain or snow is 60 %.",
        ),
        ("周三天气怎么样？", 5, "星期三：小阵雨，3 °C到8 °C，下雨或下雪的可能是60 %。"),
        ("后天下雨吗", 3, "后天：小阵雨，3 °C到8 °C，下雨或下雪的可能是60 %。"),
        (
            "Will it rain this weekend?",
            2,
            "Today: light showers, 3 °C to 8 °C; the chance of rain or snow is 60 %. "
            "Tomorrow: light showers, 3 °C to 8 °C; the chance of rain or snow is 60 %.",
        ),
        (
            "周末天气怎么样",
            2,
            "今天：小阵雨，3 °C到8 °C，下雨或下雪的可能是60 %。明天：小阵雨，3 °C到8 °C，下雨或下雪的可能是60 %。",
        ),
        ("今天会下雨吗", 1, "现在0 °C，阴。今天：小阵雨，3 °C到8 °C，下雨或下雪的可能是60 %。"),
    ],
)
async def test_the_weather_of_a_day_is_told(asked: Talk, words: str, days: int, said: str) -> None:
    asked.hear(words)
    assert await asked.calls(told()) == [("weather", {"days": days})]
    assert await asked.says() == said


@pytest.mark.parametrize(
    "words",
    ["how is the weather today", "how warm is it outside", "do I need an umbrella tomorrow", "is it raining",
     "what will the weather be like the day after tomorrow", "what is the weather forecast for tomorrow",
     "后天的天气预报", "外面冷吗", "明天要带伞吗"],
)  # fmt: skip
def test_it_is_asked_for_in_many_ways(words: str) -> None:
    assert UNDERSTAND(words).name == "weather"


@pytest.mark.parametrize("words", ["I like this weather", "is it going to work tomorrow", "下雨了真好"])
def test_not_all_that_speaks_of_it_asks(words: str) -> None:
    assert UNDERSTAND(words).name != "weather"


async def test_a_forecast_that_fails_or_lacks_the_day_is_one_sentence(asked: Talk) -> None:
    asked.hear("Will it rain the day after tomorrow?")
    assert await asked.calls(json.dumps({"now": {}, "days": []})) == [("weather", {"days": 3})]
    assert await asked.says() == "Nobody told me the weather of that day."
    asked.hear("What is the weather?")
    assert await asked.calls("error: Open-Meteo did not answer within 8 s; try again later") != []
    assert "Open-Meteo did not answer" in await asked.says()


@pytest.mark.parametrize(
    ("words", "count"), [("How's the weather this week?", 7), ("下周天气怎么样", 7), ("这几天会下雨吗", 7)]
)
async def test_the_coming_days_are_told_one_by_one(asked: Talk, words: str, count: int) -> None:
    asked.hear(words)
    assert await asked.calls(told()) == [("weather", {"days": count})]
    said = await asked.says()
    assert said.count("60 %") == count


@pytest.mark.parametrize("words", ["下周日天气怎么样", "下周六下雨吗"])
async def test_a_day_further_away_than_is_known_is_told_so(asked: Talk, words: str) -> None:
    asked.hear(words)
    assert (await asked.says()) in {phrase("weather_far", "en", count=7), phrase("weather_far", "zh", count=7)}


@pytest.mark.parametrize("words", ["What's the weather on Friday?", "will it rain tomorrow", "周五天气怎么样"])
async def test_where_nobody_can_be_asked_it_says_so(words: str) -> None:
    talk = Talk(OFFLINE)
    talk.hear(words)
    assert (await talk.says()) in {phrase("weather_not_here", "en"), phrase("weather_not_here", "zh")}


async def test_a_box_without_a_model_asks_its_forecaster_and_tells(tmp_path: Path) -> None:
    now = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
    async with WebServer({**open_meteo.PAGES}) as server, a_house(tmp_path, now=now) as house:
        service = OpenMeteo("nakari/test", Place("here", 49.4, 8.69), "metric", server.url, server.url)
        house.mind.registry.join("weather", [weather_tool(service, RunState())])
        # A machine too busy to answer at once says "One moment." before it.
        answer = await hear(house, "What is the weather like tomorrow?", at=now)
        told = "Tomorrow: rain, 3 °C to 8 °C; the chance of rain or snow is 90 %."
        assert answer.removeprefix("One moment. ") == told
