"""Timers and alarms without a model: what is asked for becomes calls of the timer tools, their results become words."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from agent.intents.dialog_state import Action, DialogState, Done
from agent.intents.intent import Intent
from agent.intents.moments import moment_told, next_moment
from agent.intents.phrases import phrase
from agent.intents.spoken import clock, is_length, length, to_second_person, told_length
from memory.json_value import Json

_DUE: Final = re.compile(r"(?P<kind>Timer|Alarm)(?: '(?P<label>.*)')? \((?P<what>[^()]+)\) is due\.", re.DOTALL)
"""The content of a timer's event, as the timer tools write it."""

MOST_CANCELLED: Final = 8
"""Timers cancelled at one word; the budget of an event is ten calls."""


LONGEST_LABEL: Final = 200
"""Characters of a label that the timer tools take."""


def start(scene: DialogState, meaning: Intent) -> list[Action] | str:
    """Set a timer; without a name its length is its label, so that it can be named by it."""
    language, seconds = scene.language, meaning.seconds()
    named = (meaning.text("label") or meaning.text("name"))[:LONGEST_LABEL]
    result = scene.result("set_timer")
    if result is None:
        left = max(1, seconds - scene.waited)
        return [scene.move("set_timer", seconds=left, label=named or length(seconds, language))]
    if result.is_uncertain:
        return _look(scene)
    if result.has_failed:
        return phrase("failed", language, reason=result.reason)
    told = {"length": length(seconds, language), "label": to_second_person(named, language)}
    return phrase("timer_set_for" if named else "timer_set", language, **told)


def alarm(scene: DialogState, meaning: Intent) -> list[Action] | str:
    """Set an alarm at the next time of day that fits what was said."""
    language, now = scene.language, scene.now
    if now is None:
        return phrase("no_clock", language)
    due, label = next_moment(meaning, now), meaning.text("label")[:LONGEST_LABEL]
    result = scene.result("set_alarm")
    if result is None:
        return [scene.move("set_alarm", at=f"{due:%Y-%m-%dT%H:%M}", label=label)]
    if result.is_uncertain:
        return _look(scene)
    if result.has_failed:
        return phrase("failed", language, reason=result.reason)
    told = {"clock": clock(due, language), "day": _day(scene, due), "label": to_second_person(label, language)}
    return phrase("alarm_set_for" if label else "alarm_set", language, **told)


def cancel(scene: DialogState, meaning: Intent) -> list[Action] | str:
    """Cancel the timer that is meant by its name or its length, else the next one."""
    language = scene.language
    result = scene.result("cancel_timer")
    if result is None:
        named = meaning.text("label") or meaning.text("name")
        return [scene.move("cancel_timer", which=named or length(meaning.seconds("start_"), language))]
    if result.is_uncertain:
        return _look(scene)
    if result.has_failed:
        return phrase("timer_none" if "no timer is set" in result.result else "timer_not_that", language)
    value = result.value
    cancelled = value.get("cancelled") if isinstance(value, dict) else None
    label = str(cancelled.get("label", "")) if isinstance(cancelled, dict) else ""
    told = to_second_person(label, language)
    return phrase("timer_cancelled_named" if label else "timer_cancelled", language, label=told)


def cancel_all(scene: DialogState, _: Intent) -> list[Action] | str:
    """List the timers, then cancel each."""
    language, listed = scene.language, _listed(scene)
    if listed is None:
        return [scene.move("list_timers")]
    timers = _timers(listed)[:MOST_CANCELLED]
    if not timers:
        return phrase("timer_none", language)
    if not (results := scene.results("cancel_timer")):
        return [scene.move("cancel_timer", which=timer["id"]) for timer in timers]
    count = sum(not result.has_failed for result in results)
    return phrase("timer_cancelled" if count == 1 else "timers_cancelled", language, count=count)


def status(scene: DialogState, _: Intent) -> list[Action] | str:
    """Say how long each timer still has, and for when each alarm is set."""
    listed = _listed(scene)
    return [scene.move("list_timers")] if listed is None else _told(scene, listed)


def announce(scene: DialogState) -> str:
    """Say that a timer or an alarm is due, and how late it comes when it does."""
    found = _DUE.fullmatch(scene.words)
    if found is None:
        return scene.words or phrase("time_up", scene.language)
    late = scene.turn.block.situation.get("Late_Seconds", "")
    words = [_due(scene, found["kind"], found["label"] or "", found["what"])]
    if late.isdecimal() and int(late) >= 60:
        words.append(phrase("was_due", scene.language, length=length(int(late) // 60 * 60, scene.language)))
    return " ".join(words)


def _due(scene: DialogState, kind: str, label: str, what: str) -> str:
    language, named = scene.language, to_second_person(label, scene.language)
    if kind == "Timer":
        is_named = label and not is_length(label)
        told = {"label": named, "length": told_length(what, language)}
        return phrase("timer_up_for" if is_named else "timer_up", language, **told)
    if scene.now is None:
        return phrase("timer_up_for" if label else "time_up", language, label=named)
    return phrase("alarm_up_for" if label else "alarm_up", language, label=named, clock=clock(scene.now, language))


def _listed(scene: DialogState) -> Done | None:
    """Return the list of timers, None when it is still to be asked for."""
    listed = scene.result("list_timers")
    return None if listed is None or listed.is_uncertain else listed


def _look(scene: DialogState) -> list[Action] | str:
    """After a crash in the middle of a call: look whether it took effect, and tell what is set."""
    listed = _listed(scene)
    if listed is None:
        return [scene.move("list_timers")]
    return phrase("interrupted", scene.language, timers=_told(scene, listed))


def _told(scene: DialogState, listed: Done) -> str:
    if listed.has_failed:
        return phrase("failed", scene.language, reason=listed.reason)
    return " ".join(_left(scene, timer) for timer in _timers(listed)) or phrase("timer_none", scene.language)


def _timers(listed: Done) -> Sequence[dict[str, Json]]:
    found = listed.value
    return [timer for timer in found if isinstance(timer, dict) and "id" in timer] if isinstance(found, list) else []


def _left(scene: DialogState, timer: dict[str, Json]) -> str:
    """Say of a timer how long it has left; of what is an hour away or more and no timer, when it is due."""
    language, label, left = scene.language, str(timer.get("label", "")), str(timer.get("left", ""))
    named = to_second_person(label, language)
    due = moment_told(str(timer.get("due", "")))
    if due is not None and not is_length(label) and re.search("hour|day", left):
        told = {"clock": clock(due, language), "day": _day(scene, due), "label": named}
        return phrase("alarm_left_for" if label else "alarm_left", language, **told)
    name = "timer_left_of" if is_length(label) else "timer_left_for" if label else "timer_left"
    return phrase(name, language, label=named, left=told_length(left, language))


def _day(scene: DialogState, due: datetime) -> str:
    """Return how the day of a moment at home is added to its time: nothing for today."""
    days = (due.date() - scene.now.date()).days if scene.now else 0
    return phrase(f"day_{days}", scene.language) if days in {1, 2} else ""
