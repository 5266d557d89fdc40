"""A stand-in for Open-Meteo: its two interfaces, with the refusals that the real one gives."""

from tests.agent.web.web_server import Answer, Asked, Pages, json_answer

UNITS = {"celsius": "°C", "fahrenheit": "°F", "kmh": "km/h", "mph": "mp/h", "mm": "mm", "inch": "inch"}


def places(asked: Asked) -> Answer:
    """Geocoding: 400 without a name; no `results` at all where nothing is found."""
    name = asked.query.get("name", "")
    if not name:
        return json_answer({"reason": "Parameter name is required", "error": True}, 400)
    if name != "Heidelberg":
        return json_answer({"generationtime_ms": 0.3})
    found = {"id": 2907911, "name": "Heidelberg", "latitude": 49.40768, "longitude": 8.69079, "country_code": "DE"}
    more = {"country": "Germany", "admin1": "Baden-Württemberg", "timezone": "Europe/Berlin", "population": 143345}
    return json_answer({"results": [{**found, **more}], "generationtime_ms": 0.9})


def forecast(asked: Asked) -> Answer:
    """Forecast: 400 for a place that is none, else as many days as were asked for."""
    query = asked.query
    if not -90 <= float(query.get("latitude", "100")) <= 90 or "longitude" not in query:
        reason = "Latitude must be in range of -90 to 90°. Given: 100.0."
        return json_answer({"reason": reason, "error": True}, 400)
    temperature = UNITS[query.get("temperature_unit", "celsius")]
    wind = UNITS[query.get("wind_speed_unit", "kmh")]
    rain = UNITS[query.get("precipitation_unit", "mm")]
    units = {"temperature_2m": temperature, "apparent_temperature": temperature, "relative_humidity_2m": "%"}
    of_days = {"temperature_2m_min": temperature, "temperature_2m_max": temperature, "precipitation_sum": rain}
    days = [f"2026-11-{22 + number}" for number in range(int(query.get("forecast_days", "7")))]
    count = len(days)
    return json_answer(
        {
            "latitude": 49.4, "longitude": 8.7, "utc_offset_seconds": 3600, "timezone": "Europe/Berlin",
            "current_units": {**units, "precipitation": rain, "wind_speed_10m": wind, "weather_code": "wmo code"},
            "current": {"time": "2026-11-22T13:45", "interval": 900, "weather_code": 61, "temperature_2m": 7.36,
                        "apparent_temperature": 4.0, "relative_humidity_2m": 88, "precipitation": 0.2,
                        "wind_speed_10m": 12.34},
            "daily_units": {**of_days, "precipitation_probability_max": "%", "wind_speed_10m_max": wind},
            "daily": {"time": days, "weather_code": [63] * count, "temperature_2m_min": [3.14] * count,
                      "temperature_2m_max": [8.0] * count, "precipitation_probability_max": [90] * count,
                      "precipitation_sum": [4.5] * count, "wind_speed_10m_max": [None] * count},
        }
    )  # fmt: skip


PAGES: Pages = {"/v1/search": places, "/v1/forecast": forecast}
