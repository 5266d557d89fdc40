"""What is left out for one day: don't wake me tomorrow; what comes again is skipped, and rings on the days after."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final

from agent.intents.dialog_state import Action, DialogState, ToolResult
from agent.intents.intent import Intent, Language
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import clock
from agent.intents.subjects.days import BYDAY
from agent.intents.subjects.rings import timers
from agent.intents.subjects.rings.all_at_once import MOST_CANCELLED, kind_of
from agent.intents.subjects.rings.timers import timers_in
from agent.intents.subjects.rings.which_timer import (
    NAMELESS,
    Timer,
    due_of,
    label_of,
    meant,
    of_one_day,
    on_that_day,
)

_WEEKLY: Final = "FREQ=WEEKLY;BYDAY="


def skip(state: DialogState, intent: Intent) -> list[Action] | str:
    """Leave out the alarms of a day (slot on_day: 0 is today) that wake; what reminds of something rings on."""
    listed, now = state.result("list_timers"), state.now
    if now is None:
        return phrase("no_clock", state.language)
    if listed is None or listed.is_uncertain:
        return [state.action("list_timers")]
    if listed.has_failed:
        return phrase("failed", state.language, reason=listed.reason)
    day = now.date() + timedelta(days=intent.number("on_day"))
    return _left_out(state, [each for each in timers_in(listed) if _wakes(each) and _comes_on(each, day)], intent)


def cancel(state: DialogState, intent: Intent) -> list[Action] | str:
    """Cancel the timer that is meant; of what comes again, where a day names it, only that of the day."""
    listed = state.result("list_timers")
    if "on_day" not in intent.slots or listed is None or listed.has_failed or listed.is_uncertain:
        return timers.cancel(state, intent)
    there = timers_in(listed)
    chosen = [meant(state, there, intent)] if "id" in intent.slots else on_that_day(state, there, intent)
    only = chosen[0] if len(chosen) == 1 else None
    return _left_out(state, [only], intent) if only and "repeats" in only else timers.cancel(state, intent)


def _left_out(state: DialogState, wanted: Sequence[Timer], intent: Intent) -> list[Action] | str:
    """Leave out these, and say what came of it."""
    language, day = state.language, phrase(f"on_day_{intent.number('on_day')}", state.language)
    results = state.results("cancel_timer")
    if not wanted:
        return phrase("alarm_none_on", language, day=day)
    if not results:
        return [
            state.action("cancel_timer", which=each["id"], **of_one_day(each, intent))
            for each in wanted[:MOST_CANCELLED]
        ]
    if refused := next((each for each in results if each.has_failed or each.is_uncertain), None):
        return phrase("perhaps_done" if refused.is_uncertain else "failed", language, reason=refused.reason)
    return _told(list(zip(wanted, results, strict=False)), day, language)


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


def _wakes(timer: Timer) -> bool:
    """Say whether it is an alarm that is for nothing else than to wake."""
    return kind_of(timer) in {"alarm", "reminder"} and label_of(timer).casefold() in NAMELESS


def _comes_on(timer: Timer, day: date) -> bool:
    """Say whether it rings on a day: it is due then, or comes again then after an earlier day."""
    due, rule = due_of(timer), str(timer.get("repeats", ""))
    if due is None or due.date() >= day:
        return due is not None and due.date() == day
    return rule == "FREQ=DAILY" or (
        rule.startswith(_WEEKLY) and BYDAY[day.weekday()] in rule[len(_WEEKLY) :].split(",")
    )
