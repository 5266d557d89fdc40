"""The weather by Open-Meteo, without a key: https://open-meteo.com/en/docs and /en/docs/geocoding-api."""

from typing import Final, Literal, TypeAlias, TypeGuard

from msgspec import Struct

from agent.errors import ToolFailed
from agent.web.service import JsonService, plain, within
from memory.chinese import has_chinese
from memory.egress import SendsTo, host_of
from memory.json_value import Json, objects

FORECAST: Final = "https://api.open-meteo.com"
PLACES: Final = "https://geocoding-api.open-meteo.com"

MOST_DAYS: Final = 7
MOST_VALUE: Final = 100_000
"""Of any of the weather, in any unit."""

Units: TypeAlias = Literal["metric", "imperial"]

UNITS: Final[dict[Units, dict[str, str]]] = {
    "metric": {},
    "imperial": {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch"},
}

NOW: Final = {
    "temperature_2m": "temperature",
    "apparent_temperature": "feels_like",
    "relative_humidity_2m": "humidity",
    "precipitation": "rain_or_snow",
    "wind_speed_10m": "wind",
}
DAYS: Final = {
    "temperature_2m_min": "lowest",
    "temperature_2m_max": "highest",
    "precipitation_probability_max": "chance_of_rain_or_snow",
    "precipitation_sum": "rain_or_snow",
    "wind_speed_10m_max": "wind_up_to",
}
"""By Open-Meteo's names what the model is told, which reads like speech."""

SKIES: Final = {
    **{0: ("clear", "晴"), 1: ("mostly clear", "大致晴朗"), 2: ("partly cloudy", "多云"), 3: ("overcast", "阴")},
    **{45: ("fog", "有雾"), 48: ("freezing fog", "有冻雾")},
    **{51: ("light drizzle", "小毛毛雨"), 53: ("drizzle", "毛毛雨"), 55: ("heavy drizzle", "大毛毛雨")},
    **{56: ("light freezing drizzle", "冻毛毛雨"), 57: ("freezing drizzle", "冻毛毛雨")},
    **{61: ("light rain", "小雨"), 63: ("rain", "中雨"), 65: ("heavy rain", "大雨")},
    **{66: ("light freezing rain", "小冻雨"), 67: ("freezing rain", "冻雨")},
    **{71: ("light snow", "小雪"), 73: ("snow", "中雪"), 75: ("heavy snow", "大雪"), 77: ("snow grains", "米雪")},
    **{80: ("light showers", "小阵雨"), 81: ("showers", "阵雨"), 82: ("violent showers", "强阵雨")},
    **{85: ("light snow showers", "小阵雪"), 86: ("heavy snow showers", "大阵雪")},
    **{95: ("thunderstorm", "雷雨"), 96: ("thunderstorm with hail", "雷雨伴有冰雹")},
    **{99: ("thunderstorm with heavy hail", "雷雨伴有大冰雹")},
}
"""By the WMO's code 4677, as far as Open-Meteo uses it: what the model is told, and what that is in Chinese."""


class Place(Struct, frozen=True):
    """Where the weather is."""

    name: str
    latitude: float
    """Degrees, north is positive."""
    longitude: float
    """Degrees, east is positive."""


class OpenMeteo:
    """Tells the weather here and elsewhere, in the zone of the place."""

    def __init__(
        self,
        agent: str,
        home: Place | str,
        units: Units = "metric",
        forecast: str = FORECAST,
        places: str = PLACES,
    ) -> None:
        """`home` is where the house is, by its coordinates or its name; "" where that is not known."""
        self._home, self._units = home, units
        self._forecast = JsonService("Open-Meteo", forecast, agent)
        self._places = JsonService("Open-Meteo", places, agent)
        self.sends_to = (
            SendsTo("where the house is and other places whose weather is asked for", host_of(forecast)),
            SendsTo("names of those places", host_of(places)),
        )

    async def place(self, name: str = "") -> Place:
        """Return where a place is; the house where none is named. Raises `ToolFailed`."""
        wanted = name.strip() or self._home
        if isinstance(wanted, Place):
            return wanted
        if not wanted:
            raise ToolFailed("where the house is was never told: name a place, or have [weather] place set")
        language = "zh" if has_chinese(wanted) else "en"
        asked = {"name": wanted[:100], "count": "1", "format": "json", "language": language}
        found = objects((await self._places.ask("/v1/search", asked)).get("results"))
        if not found:
            raise ToolFailed(f"no place is known as {wanted[:100]}; name a bigger one nearby")
        return _place(found[0])

    async def weather(self, name: str = "", days: int = 3) -> dict[str, Json]:
        """Return the weather now and of the coming days, each value with its unit. Raises `ToolFailed`."""
        place = await self.place(name)
        asked = {
            "latitude": f"{place.latitude:.4f}",
            "longitude": f"{place.longitude:.4f}",
            "current": ",".join(["weather_code", *NOW]),
            "daily": ",".join(["weather_code", *DAYS]),
            "timezone": "auto",
            "forecast_days": str(days),
            **UNITS[self._units],
        }
        told = await self._forecast.ask("/v1/forecast", asked)
        now, daily = within(told, "current"), within(told, "daily")
        days_told: list[Json] = [*_days(daily, within(told, "daily_units"))]
        if not (now and days_told):
            raise ToolFailed("Open-Meteo sent something that is no forecast")
        return {
            "place": place.name,
            "now": {"sky": _sky(now.get("weather_code")), **_valued(now, within(told, "current_units"), NOW)},
            "days": days_told,
            "timezone": plain(told.get("timezone"), 40),
        }


def _is_within(value: Json, most: float) -> TypeGuard[float]:
    return isinstance(value, int | float) and abs(value) <= most


def _place(found: dict[str, Json]) -> Place:
    """Return a place that was found; its names are strangers' words, and kept as short as names are."""
    latitude, longitude = found.get("latitude"), found.get("longitude")
    if not (_is_within(latitude, 90) and _is_within(longitude, 180)):
        raise ToolFailed("Open-Meteo sent something that is no place")
    parts = dict.fromkeys(plain(found.get(name), 40) for name in ("name", "admin1", "country"))
    return Place(", ".join(filter(None, parts)), latitude, longitude)


def _days(daily: dict[str, Json], units: dict[str, Json]) -> list[dict[str, Json]]:
    dates = daily.get("time")
    if not isinstance(dates, list):
        return []
    told: list[dict[str, Json]] = []
    for number, date in enumerate(dates[:MOST_DAYS]):
        of_day = {name: each[number] for name, each in daily.items() if isinstance(each, list) and number < len(each)}
        sky = _sky(of_day.get("weather_code"))
        told.append({"date": plain(date, 10), "sky": sky, **_valued(of_day, units, DAYS)})
    return told


def _valued(values: dict[str, Json], units: dict[str, Json], names: dict[str, str]) -> dict[str, Json]:
    """Return the values that there are under the names that the model is told, with their units."""
    return {
        name: f"{round(value, 1):g} {plain(units.get(key), 8)}".strip()
        for key, name in names.items()
        if _is_within(value := values.get(key), MOST_VALUE)
    }


def _sky(code: Json) -> str:
    return SKIES[code][0] if isinstance(code, int) and code in SKIES else "unknown"
