"""The day of several times that one breath names: at three, at four and at five are of one day, whatever is over."""

from datetime import datetime
from typing import Final

from agent.intents.dialog_state import DialogState, Turn
from agent.intents.intent import Intent, Understand
from agent.intents.language.wording import beginning
from agent.intents.subjects.days import names_day, next_moment
from agent.intents.subjects.rings.hours import of_its_part
from agent.intents.subjects.rings.which_timer import due_of, label_of
from memory.json_value import fields

_NOON: Final = 12
"""The hour that parts a day in two."""


def of_one_day(state: DialogState, intent: Intent, understand: Understand) -> Intent:
    """Return an alarm that follows another one within a sentence, on the day of that one.

    At half past three the three that was said is tomorrow's, and so is the four behind it. Where a day was named, what
    follows in the same half of it is of that day, and what is said to come then: wake me tomorrow at six and remind me
    at eight. For something of another kind, and where no such time of that day is left, each time is meant by itself.
    """
    if intent.name != "alarm" or names_day(intent) or intent.text("repeat") or state.now is None:
        return intent
    said = _of_this_breath(state)
    before, label = _set_last(said, state.now)
    if before is None:
        return intent
    due = next_moment(of_its_part(intent, state.words, state.now), state.now)
    then = next_moment(of_its_part(intent, state.words, before), before)
    if due is None or then is None or then.date() != before.date():
        return intent
    if any(names_day(understand(turn.words)) for turn in said):
        is_then = beginning("then", state.language).match(state.words) is not None
        follows = is_then or (then.hour < _NOON) == (before.hour < _NOON)
    else:
        follows = bool(label) == bool(intent.text("label")) and not before < due <= then
    if not follows:
        return intent
    slots = {name: value for name, value in intent.slots.items() if name not in {"hour", "period"}}
    of_day = {"date": then.day, "month": then.month, "exact_hour": then.hour, "minute": then.minute}
    return Intent(intent.name, slots | of_day)


def _of_this_breath(state: DialogState) -> list[Turn]:
    """Return what was said in this sentence before, in order."""
    present = state.turn.block.event_id
    return [turn for turn in state.earlier if present and turn.block.event_id == present]


def _set_last(said: list[Turn], now: datetime) -> tuple[datetime | None, str]:
    """Return when the alarm rings that was set last, and what it is for."""
    set_ = [each for turn in said for each in turn.results if each.tool == "set_alarm" and not each.has_failed]
    timer = fields(set_[-1].value) if set_ else {}
    due = due_of(timer)
    return (None if due is None else due.replace(tzinfo=now.tzinfo)), label_of(timer)
