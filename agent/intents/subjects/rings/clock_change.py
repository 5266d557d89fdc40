"""What is said of a time of day that a change of the clocks skips, or brings twice."""

from datetime import datetime
from zoneinfo import ZoneInfo

from agent.intents.dialog_state import DialogState
from agent.intents.saying.phrases import phrase


def at_change(state: DialogState, due: datetime) -> str:
    """Return a sentence on a time at home that is skipped, or comes twice; "" for any other, or an unknown zone."""
    name = state.turn.block.situation.get("Timezone", "").partition(" ")[0]
    try:
        wall = due.replace(tzinfo=ZoneInfo(name))
    except (ValueError, OSError, KeyError):  # no zone is called so, or its name is no name of a file
        return ""
    first, second = (wall.replace(fold=fold).utcoffset() for fold in (0, 1))
    if first is None or second is None or first == second:
        return ""
    return phrase("clocks_skip" if first < second else "clocks_twice", state.language)
