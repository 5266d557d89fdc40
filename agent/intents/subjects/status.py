"""How it is, without a model: what waits, what was put aside or given up, and how many timers are set."""

from agent.intents.dialog_state import Action, DialogState
from agent.intents.intent import Intent
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.needed import worked
from memory.json_value import fields, listed


def told(state: DialogState, _: Intent) -> list[Action] | str:
    """Count what is in the mailbox, and the timers."""
    mailbox, timers = state.result("check_mailbox"), state.result("list_timers")
    if mailbox is None or timers is None:
        return [state.action("check_mailbox"), state.action("list_timers")]
    counts = fields(fields(worked(state, mailbox).value).get("waiting"))
    told = {"pending": 0, "suspended": 0, "dead": 0, **counts, "timers": len(listed(worked(state, timers).value))}
    return phrase("status", state.language, well=phrase("how_are_you", state.language), **told)
