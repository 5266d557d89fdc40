"""Timers and alarms without a model: what is asked for becomes calls of the timer tools, their results become words."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from agent.model.messages import Json
from agent.model.offline.meaning import Meaning
from agent.model.offline.phrases import phrase
from agent.model.offline.scene import Done, Move, Scene
from agent.model.offline.spoken import clock, length, to_second_person, told_length

_DUE: Final = re.compile(r"(?P<kind>Timer|Alarm)(?: '(?P<label>.*)')? \((?P<what>[^()]+)\) is due\.", re.DOTALL)
"""The content of a timer's event, as the timer tools write it."""

MOST_CANCELLED: Final = 8
"""Timers cancelled at one word; the budget of an event is ten calls."""

_SECONDS: Final = (("hours", 3600), ("minutes", 60), ("seconds", 1))


def start(scene: Scene, meaning: Meaning) -> list[Move] | str:
    """Set a timer; without a name its length is its label, so that it can be named by it."""
    seconds = _seconds(meaning, "")
    named = meaning.text("label") or meaning.text("name")
    if not (results := scene.results("set_timer")):
        return [scene.move("set_timer", seconds=seconds, label=named or length(seconds, scene.language))]
    if results[-1].has_failed:
        return phrase("timer_too_long", scene.language)
    label = to_second_person(named, scene.language)
    name = "timer_set_for" if named else "timer_set"
    return phrase(name, scene.language, length=length(seconds, scene.language), label=label)


def cancel(scene: Scene, meaning: Meaning) -> list[Move] | str:
    """Cancel the timer that is meant by its name or its length, else the next one."""
    seconds = _seconds(meaning, "start_")
    which = meaning.text("label") or meaning.text("name") or length(seconds, scene.language)
    if not (results := scene.results("cancel_timer")):
        return [scene.move("cancel_timer", which=which)]
    if not results[-1].has_failed:
        return phrase("timer_cancelled", scene.language)
    is_empty = "no timer is set" in results[-1].result
    return phrase("timer_none" if is_empty else "timer_not_that", scene.language)


def cancel_all(scene: Scene, _: Meaning) -> list[Move] | str:
    """List the timers, then cancel each."""
    if not (listed := scene.results("list_timers")):
        return [scene.move("list_timers")]
    timers = _timers(listed[-1])[:MOST_CANCELLED]
    if not timers:
        return phrase("timer_none", scene.language)
    if not (results := scene.results("cancel_timer")):
        return [scene.move("cancel_timer", which=timer["id"]) for timer in timers]
    count = sum(not result.has_failed for result in results)
    return phrase("timer_cancelled" if count == 1 else "timers_cancelled", scene.language, count=count)


def status(scene: Scene, _: Meaning) -> list[Move] | str:
    """Say how long each timer still has."""
    if not (listed := scene.results("list_timers")):
        return [scene.move("list_timers")]
    lines = [_left(scene, timer) for timer in _timers(listed[-1])]
    return " ".join(lines) or phrase("timer_none", scene.language)


def alarm(scene: Scene, meaning: Meaning) -> list[Move] | str:
    """Set an alarm at the next time of day that fits what was said."""
    now = scene.now
    if now is None:
        return phrase("no_clock", scene.language)
    due = next_moment(meaning, now)
    label = meaning.text("label")
    if not (results := scene.results("set_alarm")):
        return [scene.move("set_alarm", at=f"{due:%Y-%m-%dT%H:%M}", label=label)]
    if results[-1].has_failed:
        return phrase("failed", scene.language, reason=results[-1].result)
    return phrase(
        "alarm_set_for" if label else "alarm_set",
        scene.language,
        clock=clock(due, scene.language),
        day=phrase("tomorrow", scene.language) if due.date() > now.date() else "",
        label=to_second_person(label, scene.language),
    )


def announce(scene: Scene) -> str:
    """Say that a timer or an alarm is due, and how late it comes when it does."""
    found = _DUE.fullmatch(scene.words)
    if found is None:
        return scene.words
    label = to_second_person(found["label"] or "", scene.language)
    late = scene.turn.block.situation.get("Late_Seconds", "")
    words = [_due(scene, found["kind"], label, found["what"])]
    if late.isdecimal() and int(late) >= 60:
        words.append(phrase("was_due", scene.language, length=length(int(late) // 60 * 60, scene.language)))
    return " ".join(words)


def next_moment(meaning: Meaning, now: datetime) -> datetime:
    """Return the next moment after `now` that the words can mean: seven is the next seven, of morning or evening."""
    hours = _hours(meaning.number("hour"), meaning.text("period") or meaning.text("day"))
    minutes = meaning.number("minute")
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = [
        midnight + timedelta(days=day, hours=hour, minutes=minutes)
        for day in ((1,) if "tomorrow" in meaning.text("day") else (0, 1))
        for hour in hours
    ]
    return next((moment for moment in moments if moment > now), moments[-1])


def _hours(hour: int, period: str) -> list[int]:
    """Return the hours of the day that a spoken hour can mean, the likeliest first."""
    if hour > 12 or hour == 0:
        return [hour % 24]
    if "evening" in period:
        return [hour % 12 + 12]
    if "morning" in period or period == "tomorrow":
        return [hour % 12 if "morning" in period else hour]
    return sorted((hour % 12, hour % 12 + 12))


def _due(scene: Scene, kind: str, label: str, what: str) -> str:
    language = scene.language
    if kind == "Timer":
        told = told_length(what, language)
        is_named = label and label not in {what, told}
        return phrase("timer_up_for" if is_named else "timer_up", language, label=label, length=told)
    if scene.now is None:
        return scene.words
    return phrase("alarm_up_for" if label else "alarm_up", language, label=label, clock=clock(scene.now, language))


def _seconds(meaning: Meaning, prefix: str) -> int:
    return sum(meaning.number(prefix + unit) * size for unit, size in _SECONDS)


def _timers(listed: Done) -> Sequence[dict[str, Json]]:
    found = listed.value
    return [timer for timer in found if isinstance(timer, dict) and "id" in timer] if isinstance(found, list) else []


def _left(scene: Scene, timer: dict[str, Json]) -> str:
    label, left = str(timer.get("label", "")), told_length(str(timer.get("left", "")), scene.language)
    name = "timer_named" if label else "timer_unnamed"
    named = phrase(name, scene.language, label=to_second_person(label, scene.language))
    return phrase("timer_left", scene.language, label=named, left=left)
