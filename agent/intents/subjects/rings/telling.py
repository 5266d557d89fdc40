"""How what rings is told: how long it has left, when it is due, and that its time has come."""

import re
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from agent.intents.dialog_state import DialogState
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import (
    behind_for,
    clock,
    date,
    is_length,
    length_timer,
    spoken_length,
    to_second_person,
    told_length,
)
from agent.intents.subjects.rings.which_timer import Timer, due_of, label_of

_DUE: Final = re.compile(r"(?P<kind>Timer|Alarm)(?: '(?P<label>.*)')? \((?P<what>[^()]+)\) is due\.", re.DOTALL)
"""The content of a timer's event, as the timer tools write it."""

_WHAT_TIME: Final = re.compile(r"\bwhat time\b|几点", re.IGNORECASE)
"""What asks for a time of day, and not for how long it is until then."""


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


def left_of(state: DialogState, timer: Timer) -> str:
    """Say of a timer how long it has left, and in which room it rings where that is another one."""
    told, room = _time_left(state, timer), timer.get("room")
    return phrase("timer_there", state.language, told=told, room=room) if room else told


def _time_left(state: DialogState, timer: Timer) -> str:
    """Say of a timer how long it has left; when it is due, of no timer an hour away, and to who asks what time."""
    language, label, length = state.language, label_of(timer), str(timer.get("left", ""))
    told_label = to_second_person(label, language)
    due = due_of(timer)
    is_clock_asked = _WHAT_TIME.search(state.words) is not None
    if due is not None and not is_length(label) and (is_clock_asked or re.search("hour|day", length)):
        told = {"clock": clock(due, language), "day": day_added(state, due), "label": told_label}
        return phrase("alarm_left_for" if label else "alarm_left", language, **told)
    time_left = told_length(length, language)
    if is_length(label):
        return phrase("timer_left_of", language, label=length_timer(label, language), left=time_left)
    if not label:
        return phrase("timer_left", language, left=time_left)
    if timer.get("kind") == "reminder":
        return phrase("reminder_left", language, label=told_label, left=time_left)
    thing = behind_for(told_label) if language == "en" else told_label
    return phrase("timer_left_for" if thing else "timer_left_to", language, label=thing or told_label, left=time_left)


def day_added(state: DialogState, due: datetime) -> str:
    """Return how the day of a moment at home is added to its time: nothing for today."""
    days = (due.date() - state.now.date()).days if state.now else 0
    if days <= 0:
        return ""
    return phrase(f"day_{days}" if days < 3 else "day", state.language, date=date(due, state.language))


def at_change(state: DialogState, due: datetime) -> str:
    """Return a sentence on a time at home that is skipped, or comes twice; "" for any other, or an unknown zone."""
    name = state.turn.block.situation.get("Timezone", "").partition(" ")[0]
    try:
        wall = due.replace(tzinfo=ZoneInfo(name))
    except (ValueError, OSError, KeyError):  # no zone is called so, or its name is no name of a file
        return ""
    first, second = (wall.replace(fold=fold).utcoffset() for fold in (0, 1))
    if first is None or second is None or first == second:
        return ""
    return phrase("clocks_skip" if first < second else "clocks_twice", state.language)
