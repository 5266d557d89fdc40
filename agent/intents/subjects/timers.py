"""Timers and alarms without a model: what is asked for becomes calls of the timer tools, their results become words."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from agent.intents.dialog_state import Action, DialogState, ToolResult
from agent.intents.intent import Intent
from agent.intents.phrases import phrase
from agent.intents.spoken import (
    behind_for,
    clock,
    date,
    every,
    is_length,
    length,
    length_timer,
    spoken_length,
    to_second_person,
    told_length,
)
from agent.intents.subjects.days import days_ahead, names_day
from memory.json_value import Json, objects

_DUE: Final = re.compile(r"(?P<kind>Timer|Alarm)(?: '(?P<label>.*)')? \((?P<what>[^()]+)\) is due\.", re.DOTALL)
"""The content of a timer's event, as the timer tools write it."""

MOST_CANCELLED: Final = 8
"""Timers cancelled at one word; the budget of an event is ten calls."""

LONGEST_LABEL: Final = 200
"""Characters of a label that the timer tools take."""


_IN_PERIOD: Final[Mapping[str, Callable[[int], int]]] = {
    "morning": lambda hour: hour % 12,
    "noon": lambda hour: hour if hour > 10 else hour + 12,
    "evening": lambda hour: hour % 12 + 12,
    "night": lambda hour: 24 if hour == 12 else hour if hour < 6 else hour + 12,
}
"""Which hour of the day one of the clock, 1 to 12, is in a part of the day."""

_TOLD: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")


def start(state: DialogState, intent: Intent) -> list[Action] | str:
    """Set a timer; without a name its length is its label, so that it can be named by it."""
    language, seconds = state.language, intent.seconds()
    named = (intent.text("label") or intent.text("name"))[:LONGEST_LABEL]
    result = state.result("set_timer")
    if result is None:
        left = max(1, seconds - state.waited)
        return [state.action("set_timer", seconds=left, label=named or length(seconds, language))]
    if result.is_uncertain:
        return _look(state)
    if result.has_failed:
        return phrase("failed", language, reason=result.reason)
    told = {"length": spoken_length(seconds, language), "label": to_second_person(named, language)}
    return phrase("timer_set_for" if named else "timer_set", language, **told)


def alarm(state: DialogState, intent: Intent) -> list[Action] | str:
    """Set an alarm at the next time of day that fits what was said."""
    language, now = state.language, state.now
    if now is None:
        return phrase("no_clock", language)
    due, label = next_moment(intent, now), intent.text("label")[:LONGEST_LABEL]
    if due is None:
        return phrase("no_such_day", language)
    result, repeat = state.result("set_alarm"), intent.text("repeat")
    if result is None:
        again = {"repeat": repeat} if repeat else {}
        return [state.action("set_alarm", at=f"{due:%Y-%m-%dT%H:%M}", label=label, **again)]
    if result.is_uncertain:
        return _look(state)
    if result.has_failed:
        return phrase("failed", language, reason=result.reason)
    return _set(state, due, label, repeat)


def _set(state: DialogState, due: datetime, label: str, repeat: str) -> str:
    """Say for when an alarm is set, and how it repeats."""
    language = state.language
    told = {"clock": clock(due, language), "day": _day(state, due), "label": to_second_person(label, language)}
    name = "alarm_repeats" if repeat else "alarm_set"
    again = every(repeat, language) if repeat else ""
    return phrase(f"{name}_for" if label else name, language, every=again, **told)


def cancel(state: DialogState, intent: Intent) -> list[Action] | str:
    """Cancel the timer that is meant by its name or its length, else the next one."""
    language = state.language
    result = state.result("cancel_timer")
    if result is None:
        named = intent.text("label") or intent.text("name")
        return [state.action("cancel_timer", which=named or length(intent.seconds("start_"), language))]
    if result.is_uncertain:
        return _look(state)
    if result.has_failed:
        return phrase("timer_none" if "no timer is set" in result.result else "timer_not_that", language)
    value = result.value
    cancelled = value.get("cancelled") if isinstance(value, dict) else None
    label = str(cancelled.get("label", "")) if isinstance(cancelled, dict) else ""
    if is_length(label):
        return phrase("timer_cancelled_length", language, label=length_timer(label, language))
    told = to_second_person(label, language)
    return phrase("timer_cancelled_named" if label else "timer_cancelled", language, label=told)


def cancel_all(state: DialogState, _: Intent) -> list[Action] | str:
    """List the timers, then cancel each."""
    language, listed = state.language, _listed(state)
    if listed is None:
        return [state.action("list_timers")]
    timers = _timers(listed)[:MOST_CANCELLED]
    if not timers:
        return phrase("timer_none", language)
    if not (results := state.results("cancel_timer")):
        return [state.action("cancel_timer", which=timer["id"]) for timer in timers]
    count = sum(not result.has_failed for result in results)
    return phrase("timer_cancelled" if count == 1 else "timers_cancelled", language, count=count)


def status(state: DialogState, _: Intent) -> list[Action] | str:
    """Say how long each timer still has, and for when each alarm is set."""
    listed = _listed(state)
    return [state.action("list_timers")] if listed is None else _told(state, listed)


def announce(state: DialogState) -> str:
    """Say that a timer or an alarm is due, and how late it comes when it does."""
    found = _DUE.fullmatch(state.words)
    if found is None:
        return state.words or phrase("time_up", state.language)
    late = state.turn.block.situation.get("Late_Seconds", "")
    words = [_due(state, found["kind"], found["label"] or "", found["what"])]
    if late.isdecimal() and int(late) >= 60:
        words.append(phrase("was_due", state.language, length=spoken_length(int(late) // 60 * 60, state.language)))
    return " ".join(words)


def _due(state: DialogState, kind: str, label: str, what: str) -> str:
    language, named = state.language, to_second_person(label, state.language)
    if kind == "Timer":
        is_named = label and not is_length(label)
        told = {"label": named, "timer": length_timer(what, language)}
        return phrase("timer_up_for" if is_named else "timer_up", language, **told)
    if state.now is None:
        return phrase("timer_up_for" if label else "time_up", language, label=named)
    return phrase("alarm_up_for" if label else "alarm_up", language, label=named, clock=clock(state.now, language))


def _listed(state: DialogState) -> ToolResult | None:
    """Return the list of timers, None when it is still to be asked for."""
    listed = state.result("list_timers")
    return None if listed is None or listed.is_uncertain else listed


def _look(state: DialogState) -> list[Action] | str:
    """After a crash in the middle of a call: look whether it took effect, and tell what is set."""
    listed = _listed(state)
    if listed is None:
        return [state.action("list_timers")]
    return phrase("interrupted", state.language, timers=_told(state, listed))


def _told(state: DialogState, listed: ToolResult) -> str:
    if listed.has_failed:
        return phrase("failed", state.language, reason=listed.reason)
    return " ".join(_left(state, timer) for timer in _timers(listed)) or phrase("timer_none", state.language)


def _timers(listed: ToolResult) -> Sequence[dict[str, Json]]:
    return [timer for timer in objects(listed.value) if "id" in timer]


def _left(state: DialogState, timer: dict[str, Json]) -> str:
    """Say of a timer how long it has left, and in which room it rings where that is another one."""
    told, room = _time_left(state, timer), timer.get("room")
    return phrase("timer_there", state.language, told=told, room=room) if room else told


def _time_left(state: DialogState, timer: dict[str, Json]) -> str:
    """Say of a timer how long it has left; of what is an hour away or more and no timer, when it is due."""
    language, label, left = state.language, str(timer.get("label", "")), str(timer.get("left", ""))
    told_label = to_second_person(label, language)
    due = moment_told(str(timer.get("due", "")))
    if due is not None and not is_length(label) and re.search("hour|day", left):
        told = {"clock": clock(due, language), "day": _day(state, due), "label": told_label}
        return phrase("alarm_left_for" if label else "alarm_left", language, **told)
    time_left = told_length(left, language)
    if is_length(label):
        return phrase("timer_left_of", language, label=length_timer(label, language), left=time_left)
    if not label:
        return phrase("timer_left", language, left=time_left)
    thing = behind_for(told_label) if language == "en" else told_label
    return phrase("timer_left_for" if thing else "timer_left_to", language, label=thing or told_label, left=time_left)


def _day(state: DialogState, due: datetime) -> str:
    """Return how the day of a moment at home is added to its time: nothing for today."""
    days = (due.date() - state.now.date()).days if state.now else 0
    if days <= 0:
        return ""
    return phrase(f"day_{days}" if days < 3 else "day", state.language, date=date(due, state.language))


def next_moment(intent: Intent, now: datetime) -> datetime | None:
    """Return the next moment after `now` that the words can mean: seven is the next seven, of morning or evening.

    Slots: hour (0-24), minute (may be negative: a quarter to), exact_hour, period, those of a day, and wakes for a
    wake-up call. A moment of a day that was named may be past; None for a date that no year has.
    """
    minutes = intent.number("minute")
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = [
        midnight + timedelta(days=day, hours=hour, minutes=minutes)
        for day in days_ahead(intent, now.date())
        for hour in _hours(intent)
    ]
    return next((moment for moment in moments if moment > now), moments[-1] if moments else None)


def moment_told(text: str) -> datetime | None:
    """Return the local time, without its zone, in a text of the timer tools (`2026-11-21 07:30:00 CET`), or None."""
    found = _TOLD.match(text)
    try:
        return datetime.fromisoformat(found.group()) if found else None
    except ValueError:
        return None


def _hours(intent: Intent) -> list[int]:
    """Return the hours of the day that the words can mean, in order; 24 is the midnight that ends it."""
    hour = intent.number("exact_hour") or intent.number("hour")
    if "exact_hour" in intent.slots or hour > 12 or hour == 0:
        return [hour]
    if in_period := _IN_PERIOD.get(intent.text("period")):
        return [in_period(hour)]
    if intent.number("wakes"):
        return [hour]
    if (names_day(intent) or intent.text("repeat")) and intent.slots.get("day") != 0:
        return [hour if hour > 5 else hour + 12]
    return [hour % 12, hour % 12 + 12]
