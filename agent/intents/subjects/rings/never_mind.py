"""What is said to "never mind" and "stop it": nothing is cancelled by that, and what was just set or told rings on."""

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.needed import result_of
from agent.intents.subjects.rings import timers
from agent.intents.subjects.rings.timers import timers_in
from agent.intents.subjects.rings.which_timer import RINGING, spoken_of


def told(state: DialogState, _: Intent) -> str:
    """Say that it is well, and when that rings which was spoken of: "all right" alone might mean that it is off."""
    fine = phrase("fine", state.language)
    is_set = any(result.tool in RINGING | {"list_timers"} for turn in state.last_said() for result in turn.results)
    if not is_set or not state.has("list_timers"):
        return fine
    newest = spoken_of(state, timers_in(result_of(state, "list_timers")))
    if newest is None:
        return fine
    rings = timers.status(state, Intent("timer_status", {"id": str(newest["id"]), "named": 1}))
    return f"{fine}{' ' * (state.language == 'en')}{rings}"
