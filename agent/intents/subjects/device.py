"""The box itself without a model: how loud it is, and what its verbs do: wait, go on, snooze, mute, forget."""

import re
from collections.abc import Callable
from typing import Final

from agent.intents.dialog_state import DialogState, ToolResult
from agent.intents.intent import Intent
from agent.intents.language.questions import content_words
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.needed import answer_of
from agent.tools.device import DeviceVerb
from memory.json_value import Json, fields

VOLUME_STEP: Final = 15
"""Percent by which louder and quieter change the volume."""

_TELLS_VOLUME: Final = frozenset({"volume_set", "volume_told"})
"""Phrases that say what the volume is."""


def volume_set(state: DialogState, intent: Intent) -> str:
    """Make it as loud as was said."""
    percent = intent.number("percent") or intent.number("volume_level")
    return _changed(state, "volume_set", percent, percent=percent)


def volume_told(state: DialogState, _: Intent) -> str:
    """Say how loud it is."""
    return _changed(state, "volume_told", 0, change=0)


def volume_change(state: DialogState, intent: Intent) -> str:
    """Make it louder or quieter, by a step where none was said."""
    steps = {"volume_up": VOLUME_STEP, "volume_down": -VOLUME_STEP}
    told = {"up": VOLUME_STEP, "down": -VOLUME_STEP}.get(intent.text("volume_step"))
    change = steps.get(intent.name) or told or intent.number("volume_step")
    return _changed(state, "volume_up" if change > 0 else "volume_down", change, change=change)


def _changed(state: DialogState, name: str, said: int, **wanted: int) -> str:
    now = fields(answer_of(state, "set_volume", **wanted).value).get("percent")
    return phrase(name, state.language, percent=now if name in _TELLS_VOLUME and isinstance(now, int) else said)


def acting(verb: DeviceVerb) -> Callable[[DialogState, Intent], str]:
    """Return the skill that acts by the tool `device`, and says the sentence that it answers with."""

    def act(state: DialogState, intent: Intent) -> str:
        minutes = {"minutes": intent.seconds() / 60} if intent.seconds() else {}
        return _answer(answer_of(state, "device", do=verb, **minutes), phrase("nothing_to_do", state.language))

    return act


def forget_about(state: DialogState, intent: Intent) -> str:
    """Have forgotten what was said with some words, or in the last minutes; the runtime asks before."""
    fact, minutes = re.split("[,，]", intent.text("fact"))[0], intent.seconds() / 60
    what: dict[str, Json] = {"minutes": minutes} if minutes else {"about": content_words(fact)}
    result = answer_of(state, "device", do="forget", **what)
    return _answer(result, phrase("nothing_about", state.language, fact=fact))


def _answer(result: ToolResult, nothing: str) -> str:
    """Return the sentence that `device` answered with; `nothing` where there was nothing to do, or nobody knows."""
    return nothing if result.is_uncertain or result.result.startswith("there was nothing") else result.result
