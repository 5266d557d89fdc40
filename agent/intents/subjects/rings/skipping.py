"""What is left out for one day: don't wake me tomorrow; what comes again is skipped, and rings on the days after."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from agent.intents.dialog_state import Action, DialogState, ToolResult
from agent.intents.intent import Intent, Language
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import clock
from agent.intents.saying.spoken import date as date_told
from agent.intents.subjects.days import days_ahead, names_day, names_span, span
from agent.intents.subjects.needed import done, now_at, result_of, worked
from agent.intents.subjects.rings import timers
from agent.intents.subjects.rings.all_at_once import MOST_CANCELLED
from agent.intents.subjects.rings.timers import listed, none_of_kind, timers_in
from agent.intents.subjects.rings.which_timer import (
    Timer,
    due_of,
    kinds_in,
    meant,
    of_kind_said,
    of_one_day,
    on_that_day,
    wakes,
)
from agent.time.series import BadRule, first
from memory.json_value import Json
from memory.json_value import listed as list_of

_SAID_BESIDE: Final = frozenset({"guessed"})
"""Slots that tell nothing of which timer is meant."""

_NEAR: Final = {ahead: f"on_day_{ahead}" for ahead in range(3)}
"""Days that have a name, by how far ahead they are."""


def skip(state: DialogState, intent: Intent) -> list[Action] | str:
    """Leave out the alarms of a day that wake; what reminds of something rings on.

    The day is in the slots of one, or in on_day: 0 is today.
    """
    now = now_at(state)
    there = [each for each in timers_in(worked(state, listed(state))) if wakes(each)]
    if names_span(intent):
        return _over_days(state, there, intent, now.date())
    days = _days(intent, now.date())
    if not days:
        return phrase("no_such_day", state.language)
    day = next((day for day in days if any(_comes_on(each, day) for each in there)), days[0])
    return _left_out(state, [each for each in there if _comes_on(each, day)], day)


def cancel(state: DialogState, intent: Intent) -> list[Action] | str:
    """Cancel the timer that is meant; of what comes again on several days, where one names it, only that of the day."""
    found, now = state.result("list_timers"), state.now
    is_named = bool(intent.slots.keys() - _SAID_BESIDE)
    if not is_named and len(kinds_in(state.words)) == 1 and state.has("list_timers"):
        return _of_kind(state, intent)
    is_of_day = not intent.slots.keys().isdisjoint({"on_day", "weekday"})
    if now is None or found is None or found.has_failed or found.is_uncertain or not is_of_day:
        return timers.cancel(state, intent)
    there = timers_in(found)
    days = _days(intent, now.date())
    day = next((day for day in days if any(_comes_on(each, day) for each in there)), days[0])
    chosen = _named(state, intent, there, day)
    if not chosen:
        coming = [each for each in there if "repeats" in each and _comes_on(each, day)]
        waking = [each for each in coming if wakes(each)]
        chosen = waking if len(waking) == 1 else coming
        if len(chosen) > 1:
            return phrase("timer_several", state.language, told=timers.all_of_them(state))
    only = chosen[0] if len(chosen) == 1 else None
    is_one_day = not intent.slots.keys().isdisjoint({"on_day", "newest"})
    if only is None and "newest" in intent.slots:
        return _left_out(state, [], day)  # what was just set does not come then
    if only is None or "repeats" not in only or (_is_of_one_weekday(only) and not is_one_day):
        return timers.cancel(state, intent)
    return _left_out(state, [only], day)


def _named(state: DialogState, intent: Intent, there: Sequence[Timer], day: date) -> Sequence[Timer | None]:
    """Return what is named of that day: by its id, as the one just set if it comes then, or by the day alone."""
    if "id" not in intent.slots and "newest" not in intent.slots:
        return on_that_day(state, there, intent)
    one = meant(state, there, intent)
    return [one] if one is not None and ("id" in intent.slots or _comes_on(one, day)) else []


def _of_kind(state: DialogState, intent: Intent) -> list[Action] | str:
    """Cancel what was only called by its kind; where nothing is of that kind, what is set is told.

    The list is looked at first: of that the tool alone would take the next, whatever it is.
    """
    found = result_of(state, "list_timers")
    there = [] if found.is_uncertain else [*timers_in(found)]
    fitting = of_kind_said(state, there, intent)
    if there and not fitting:
        return none_of_kind(state)
    timer = meant(state, fitting, intent)
    return timers.cancel(state, intent if timer is None else Intent(intent.name, {"id": str(timer["id"])}))


def _days(intent: Intent, today: date) -> list[date]:
    """Return the days that may be meant, the nearest first."""
    ahead = days_ahead(intent, today) if names_day(intent) else [intent.number("on_day")]  # this morning is of today
    return [today + timedelta(days=each) for each in ahead]


def _over_days(state: DialogState, there: Sequence[Timer], intent: Intent, today: date) -> list[Action] | str:
    """Leave out what comes on days on end; on Monday and Thursday are none."""
    if "span_next" in intent.slots and (intent.number("span_next") - intent.number("span_first")) % 7 != 1:
        return phrase("not_done", state.language)
    first, last = span(intent, today)
    within = [first + timedelta(days=ahead) for ahead in range((last - first).days + 1)]
    return _left_out(state, [each for each in there if any(_comes_on(each, day) for day in within)], first, last)


def _left_out(state: DialogState, wanted: Sequence[Timer], day: date, last: date | None = None) -> list[Action] | str:
    """Leave out these on a day, or on the days up to the last, and say what came of it."""
    language = state.language
    results = state.results("cancel_timer")
    ahead = (day - state.now.date()).days if state.now else 0
    named = "on_days" if last else _NEAR.get(ahead, "on_day")
    told = [date_told(datetime.combine(each, time()), language) for each in (day, last) if each]
    dates = phrase("days_on_end", language, first=told[0], last=told[1]) if last else told[0]
    if not wanted:
        return phrase("alarm_none_on", language, day=phrase(named, language) if named in _NEAR.values() else dates)
    if not results:
        return [
            state.action("cancel_timer", which=each["id"], **_only_on(each, day, last, ahead))
            for each in wanted[:MOST_CANCELLED]
        ]
    for each in results:
        done(state, each)
    return _told(list(zip(wanted, results, strict=False)), phrase(named, language, date=dates), language)


def _only_on(timer: Timer, day: date, last: date | None, ahead: int) -> dict[str, Json]:
    """Return what a call that cancels says of the day, or the days on end, that are meant of what comes again."""
    if near := of_one_day(timer, Intent("timer_cancel", {"on_day": ahead})) if last is None else {}:
        return near
    days = (each.isoformat() for each in (day, last) if each)
    return {"day": "/".join(days)} if "repeats" in timer else {}


def _told(done: Sequence[tuple[Timer, ToolResult]], day: str, language: Language) -> str:
    """Say which come again after that day, and which were cancelled for good."""
    dues = [(each, due) for each, _ in done if (due := due_of(each))]
    told = (
        ("alarm_left_out", [due for each, due in dues if "repeats" in each]),
        ("alarm_off_on", [due for each, due in dues if "repeats" not in each]),
    )
    sentences = [phrase(name, language, day=day, clocks=_clocks(those, language)) for name, those in told if those]
    return ("" if language == "zh" else " ").join(sentences) or phrase("timer_cancelled", language)


def _clocks(dues: Sequence[datetime], language: Language) -> str:
    return ("和" if language == "zh" else " and ").join(clock(due, language) for due in dues)


def _comes_on(timer: Timer, day: date) -> bool:
    """Say whether it rings on a day: it is due then, or comes again then after an earlier day."""
    due, rule = due_of(timer), str(timer.get("repeats", ""))
    if due is None or due.date() >= day or not rule:
        return due is not None and due.date() == day
    if day.isoformat() in list_of(timer.get("left_out")):
        return False
    with suppress(BadRule):
        then = first(rule, due, UTC, datetime.combine(day, time(), UTC) - timedelta(microseconds=1))
        return then is not None and then.date() == day
    return False


def _is_of_one_weekday(timer: Timer) -> bool:
    """Say whether it comes once a week, so that the day of the week names all of it."""
    rule = str(timer.get("repeats", ""))
    return rule.startswith("FREQ=WEEKLY") and "," not in rule
