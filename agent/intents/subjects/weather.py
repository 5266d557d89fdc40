"""The weather, without a model: of a day, as the tool tells it."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import weekday
from agent.intents.subjects.days import days_ahead, names_day
from agent.intents.subjects.needed import answer_of, now_at
from agent.web.weather import MOST_DAYS, SKIES
from memory.json_value import Json, fields, objects

INTENT: Final = "weather"
TOOL: Final = "weather"

_IN_CHINESE: Final = dict(SKIES.values())

_LAST_OF_WEEK: Final = 6
"""Sunday, from Monday on."""

_NAMED: Final = 3
"""Days from today on that have a name of their own."""


def told(state: DialogState, intent: Intent) -> str:
    """Say how the weather is on a day, at the weekend or in the coming days; of today also how it is now.

    Slots: those of a day, weekend, week.
    """
    language, now = state.language, now_at(state)
    wanted = _days(intent, now.date())
    if not wanted:
        return phrase("weather_far", language, count=MOST_DAYS)
    answer = fields(answer_of(state, TOOL, days=wanted[-1] + 1).value)
    said = [_said(state, "weather_now", fields(answer.get("now")))] if wanted == [0] else []
    for ahead in wanted:
        then = now + timedelta(days=ahead)
        name = f"on_day_{ahead}" if ahead < _NAMED else "weekday"
        day = phrase(name, language, day=weekday(then, language))
        found = [each for each in objects(answer.get("days")) if each.get("date") == f"{then:%Y-%m-%d}"]
        said += [_said(state, "weather_day", each, day) for each in found]
    return ("" if language == "zh" else " ").join(said) or phrase("weather_none", language)


def _days(intent: Intent, today: date) -> list[int]:
    """Return how far ahead the days are that are asked for, as far as the tool tells of them."""
    if intent.number("weekend"):
        left = _LAST_OF_WEEK - today.weekday()
        ahead = [each for each in (left - 1, left) if each >= 0]
    elif intent.number("week"):
        ahead = [*range(MOST_DAYS)]
    else:
        ahead = days_ahead(intent, today)[:1] if names_day(intent) else [0]
    return [each for each in ahead if 0 <= each < MOST_DAYS]


def _said(state: DialogState, name: str, values: Mapping[str, Json], day: str = "") -> str:
    sky = str(values.get("sky", ""))
    named = {
        "sky": _IN_CHINESE.get(sky, sky) if state.language == "zh" else sky,
        **{each: _rounded(values.get(each)) for each in ("temperature", "lowest", "highest")},
        "chance": values.get("chance_of_rain_or_snow", ""),
    }
    return phrase(name, state.language, day=day, **named)


def _rounded(told: Json) -> str:
    """Return a value with its unit, without what stands behind its point."""
    value, _, unit = str(told or "").partition(" ")
    try:
        return f"{round(float(value))} {unit}".strip()
    except ValueError:
        return value
