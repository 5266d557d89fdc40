"""The box itself without a model: how loud it is, and what its verbs do: wait, go on, snooze, mute, forget."""

import re
from collections.abc import Callable
from typing import Final

from agent.intents.dialog_state import Action, DialogState, ToolResult
from agent.intents.intent import Intent
from agent.intents.language.questions import content_words
from agent.intents.saying.phrases import phrase
from agent.tools.device import DeviceVerb

VOLUME_STEP: Final = 15
"""Percent by which louder and quieter change the volume."""

_TELLS_VOLUME: Final = frozenset({"volume_set", "volume_told"})
"""Phrases that say what the volume is."""


def volume_set(state: DialogState, intent: Intent) -> list[Action] | str:
    """Make it as loud as was said."""
    percent = intent.number("percent") or intent.number("volume_level")
    return _changed(state, state.action("set_volume", percent=percent), "volume_set", percent)


def volume_told(state: DialogState, _: Intent) -> list[Action] | str:
    """Say how loud it is."""
    return _changed(state, state.action("set_volume", change=0), "volume_told", 0)


def volume_change(state: DialogState, intent: Intent) -> list[Action] | str:
    """Make it louder or quieter, by a step where none was said."""
    steps = {"volume_up": VOLUME_STEP, "volume_down": -VOLUME_STEP}
    told = {"up": VOLUME_STEP, "down": -VOLUME_STEP}.get(intent.text("volume_step"))
    change = steps.get(intent.name) or told or intent.number("volume_step")
    name = "volume_up" if change > 0 else "volume_down"
    return _changed(state, state.action("set_volume", change=change), name, change)


def _changed(state: DialogState, action: Action, name: str, percent: int) -> list[Action] | str:
    result = state.result("set_volume")
    if result is None:
        return [action]
    if result.has_failed:
        return phrase("failed", state.language, reason=result.reason)
    now = result.value.get("percent") if isinstance(result.value, dict) else None
    return phrase(name, state.language, percent=now if name in _TELLS_VOLUME and isinstance(now, int) else percent)


def acting(verb: DeviceVerb) -> "Callable[[DialogState, Intent], list[Action] | str]":
    """Return the skill that acts by the tool `device`, and says the sentence that it answers with."""

    def act(state: DialogState, intent: Intent) -> list[Action] | str:
        result = state.result("device")
        if result is None:
            minutes = intent.seconds() / 60 or None
            return [state.action("device", do=verb, **({"minutes": minutes} if minutes else {}))]
        return _answer(state, result, phrase("nothing_to_do", state.language))

    return act


def forget_about(state: DialogState, intent: Intent) -> list[Action] | str:
    """Have forgotten what was said with some words, or in the last minutes; the runtime asks before."""
    fact, result = re.split("[,，]", intent.text("fact"))[0], state.result("device")
    if result is None and (minutes := intent.seconds() / 60):
        return [state.action("device", do="forget", minutes=minutes)]
    if result is None:
        return [state.action("device", do="forget", about=content_words(fact))]
    return _answer(state, result, phrase("nothing_about", state.language, fact=fact))


def _answer(state: DialogState, result: ToolResult, nothing: str) -> str:
    """Return the sentence that `device` answered with; `nothing` where there was nothing to do, or nobody knows."""
    if result.has_failed:
        return phrase("failed", state.language, reason=result.reason)
    return nothing if result.is_uncertain or result.result.startswith("there was nothing") else result.result
