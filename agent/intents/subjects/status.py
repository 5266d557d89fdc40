"""How it is, without a model: what waits, what was put aside or given up, and how many timers are set."""

from agent.intents.dialog_state import Action, DialogState
from agent.intents.intent import Intent
from agent.intents.saying.phrases import phrase


def told(state: DialogState, _: Intent) -> list[Action] | str:
    """Count what is in the mailbox, and the timers."""
    mailbox, timers = state.result("check_mailbox"), state.result("list_timers")
    if mailbox is None or timers is None:
        return [state.action("check_mailbox"), state.action("list_timers")]
    if failed := next((each for each in (mailbox, timers) if each.has_failed), None):
        return phrase("failed", state.language, reason=failed.reason)
    counts = mailbox.value.get("waiting") if isinstance(mailbox.value, dict) else None
    told = {"pending": 0, "suspended": 0, "dead": 0, **(counts if isinstance(counts, dict) else {})}
    count = len(timers.value) if isinstance(timers.value, list) else 0
    return phrase("status", state.language, well=phrase("how_are_you", state.language), timers=count, **told)
