"""A pause of what counts down, without a model: it is cancelled, and set anew for what was left when it goes on."""

from typing import Final

from agent.intents.dialog_state import DialogState, Turn
from agent.intents.intent import Intent
from agent.intents.saying.phrases import gaps, phrase
from agent.intents.saying.spoken import is_length, seconds_told, spoken_length, to_second_person
from agent.intents.subjects.needed import done, result_of
from agent.intents.subjects.rings import timers
from agent.intents.subjects.rings.timers import listed, timers_in
from agent.intents.subjects.rings.which_timer import Timer, label_of, meant
from memory.json_value import fields

LOOKED_BACK: Final = 20
"""Turns in which a pause is looked for that is not over."""

_NAMED: Final = ("timer_paused_for", "timer_paused")


def pause(state: DialogState, intent: Intent) -> str:
    """Cancel what counts down, and say how much is left of it; by that sentence it is found when it goes on."""
    counting = [each for each in timers_in(listed(state)) if each.get("kind") != "alarm" and "repeats" not in each]
    timer = meant(state, counting, intent)
    if timer is None:
        return phrase("timer_not_that" if counting else "timer_none", state.language)
    done(state, result_of(state, "cancel_timer", which=timer["id"]))
    return _told_paused(timer, state)


def go_on(state: DialogState, intent: Intent) -> str:
    """Set what was paused anew, for what was left of it."""
    language, paused = state.language, _paused_last(state)
    if paused is None:
        return phrase("timer_none_paused", language)
    left = seconds_told(str(paused.get("left", "")))
    done(state, result_of(state, "set_timer", seconds=left, label=label_of(paused)))
    return phrase("timer_goes_on", language, left=spoken_length(left, language))


def status(state: DialogState, intent: Intent) -> str:
    """Say how long each timer still has; where none is set, but one was paused, how long that one has."""
    told = timers.status(state, intent)
    paused = _paused_last(state) if told == phrase("timer_none", state.language) else None
    return told if paused is None else _told_paused(paused, state)


def _told_paused(timer: Timer, state: DialogState) -> str:
    """Return the sentence that a timer is paused, and for how long it has to run on."""
    language, label = state.language, label_of(timer)
    left = spoken_length(seconds_told(str(timer.get("left", ""))), language)
    if not label or is_length(label):
        return phrase("timer_paused", language, left=left)
    return phrase("timer_paused_for", language, left=left, label=to_second_person(label, language))


def _paused_last(state: DialogState) -> Timer | None:
    """Return the timer that was paused last and did not go on, as it was then; None where there is none."""
    for turn in reversed(state.earlier[-LOOKED_BACK:]):
        if any(gaps("timer_goes_on", reply, state.language) for reply in turn.replies):
            return None
        if is_of_pause(turn, state) and (paused := _cancelled_in(turn)):  # and no answer to how much is left
            return paused
    return None


def is_of_pause(turn: Turn, state: DialogState) -> bool:
    """Say whether a turn paused a timer."""
    return any(gaps(name, reply, state.language) for reply in turn.replies for name in _NAMED)


def _cancelled_in(turn: Turn) -> Timer | None:
    """Return the timer that a turn cancelled, as its tool told of it."""
    done = [each for each in turn.results if each.tool == "cancel_timer" and not each.has_failed]
    return fields(fields(done[-1].value).get("cancelled")) or None if done else None
