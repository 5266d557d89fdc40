"""Which hour is meant where words name a part of the day: after work, before bed, 睡前; or only a day."""

import re
from datetime import datetime
from typing import Final

from agent.intents.intent import Intent
from agent.intents.subjects.days import names_day

_USUAL: Final = {"": 9, "morning": 9, "noon": 12, "afternoon": 15, "evening": 18, "night": 20, "late": 20}
"""The hour at which somebody is reminded of a day, or of a part of it, where none was said."""

_NAMED: Final = {
    r"\bafter (?:lunch|noon)\b": 14,
    r"\b(?:at )?lunch ?time\b|\bbefore lunch\b": 12,
    r"\bafter (?:school|class)\b": 16,
    r"\bafter work\b": 18,
    r"\bafter (?:dinner|tea|supper)\b": 20,
    r"\b(?:before bed|at bed ?time)\b": 21,
    "午饭后|吃完午饭|中午饭后": 14,
    "下班后|下班以后": 18,
    "晚饭后|吃完晚饭": 20,
    "睡前|睡觉前": 21,
}
"""Hours of what people name a part of the day by."""

_HOW_OFTEN: Final = frozenset({"一次", "一下", "一声", "一遍", "先"})
"""What stands where a label would, and says only that it rings: 八点提醒我一次."""

_BEFORE_BED: Final = re.compile(r"\bbefore bed\b|睡前|睡觉前", re.IGNORECASE)

_GETS_UP: Final = re.compile(
    "(?:叫.{1,6})?(?:起床|起来)(?!晚)|.{0,3}(?:起不来|睡过头)|(?:get|wake) up\\b|wake\\b", re.I
)
"""What is done in the morning: 七点叫我起床，顺便订个外卖; wake the twins."""

_ALARM: Final = re.compile(r"\balarm\b|闹钟", re.IGNORECASE)

_EARLY: Final = range(4, 6)
"""Hours of an alarm of another day that are those of the morning, where a reminder is for the afternoon."""

_AFTERNOON: Final = range(1, 6)
"""Hours of the clock that are of the afternoon where nobody wakes by them."""

_DAYTIME: Final = range(12, 21)
"""Hours at which nobody who wants to be reminded at four means the night."""

_MINUTES: Final = 60
"""Of an hour."""

_MIDDAY: Final = 12
_LATE: Final = 9
"""Hours of the clock below which the evening is meant: before bed, and after work."""


def usual_hour(intent: Intent, words: str) -> tuple[int, str]:
    """Return the hour at which somebody is reminded who said none, and the part of the day that was said ("": none)."""
    part = "afternoon" if re.search("afternoon|下午", words) else intent.text("period")
    named = next((hour for each, hour in _NAMED.items() if re.search(each, intent.text("label"))), 0)
    return named or _USUAL.get(part, _USUAL[""]), part


def nearest_hour(intent: Intent, due: datetime) -> int:
    """Return the hour to which minutes without one belong (0-24): of ten to seven a quarter to is one of seven too."""
    minute = int(intent.slots.get("minute", due.minute))
    later, earlier = abs(_MINUTES + minute - due.minute), abs(minute - due.minute)
    return due.hour + (later < earlier or (later == earlier and due.minute > _MINUTES / 2))


def of_its_part(intent: Intent, words: str, now: datetime) -> Intent:
    """Return a time with the half of the day that words tell: after work, I'm off at six; an alarm for ten past four.

    Only what begins the label counts, or goes to bed: what one is reminded of may be after work itself.
    """
    hour = intent.number("hour")
    if {"period", "exact_hour", "wakes"} & intent.slots.keys():
        return intent
    if _GETS_UP.match(intent.text("label")):
        return Intent(intent.name, {**intent.slots, "wakes": 1})
    if _is_past_today(intent, words, now):
        return Intent(intent.name, {**intent.slots, "day": 1, "period": "evening"})
    named = next((of for each, of in _NAMED.items() if re.match(each, intent.text("label"))), 0)
    is_late = named > _MIDDAY and 0 < hour < _LATE
    if is_late or (_BEFORE_BED.search(words) and 0 < hour < _MIDDAY):
        return Intent(intent.name, {**intent.slots, "period": "evening"})
    is_other_day = names_day(intent) and intent.slots.get("day") != 0
    is_early = is_other_day and hour in _EARLY and _ALARM.search(words)
    return Intent(intent.name, {**intent.slots, "wakes": 1}) if is_early else intent


def _is_past_today(intent: Intent, words: str, now: datetime) -> bool:
    """Say whether an hour of the afternoon is over, of which one is not reminded in the night that follows.

    An alarm at four may be for an early start; and who is up late may mean the night.
    """
    if (
        names_day(intent)
        or intent.text("repeat")
        or intent.seconds()
        or now.hour not in _DAYTIME
        or _ALARM.search(words)
    ):
        return False
    then = (intent.number("hour") + 12) * 60 + intent.number("minute")
    return intent.number("hour") in _AFTERNOON and then <= now.hour * 60 + now.minute


def without_part(label: str, *, anywhere: bool = False) -> str:
    """Return a label without the part of the day that begins it, or stands anywhere in it: bring up the chairs."""
    if label in _HOW_OFTEN:
        return ""
    for named in _NAMED:
        pattern = rf"\s*(?:{named})(?:\s+to)?\s*" if anywhere else rf"^(?:{named})(?:\s+to)?\s*"
        if re.search(pattern, label):
            rest = re.sub(pattern, " " if label.isascii() else "", label).strip(" ，")
            return rest or label
    return label
