"""Chance without a model: a coin, a die, a number between two others."""

from random import Random
from typing import Final

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent
from agent.intents.saying.phrases import phrase

INTENTS: Final = frozenset({"coin", "draw"})

_MOST: Final = 10**9


def coin(state: DialogState, _: Intent) -> str:
    """Flip a coin."""
    return phrase("tails" if _random(state).randrange(2) else "heads", state.language)


def number(state: DialogState, intent: Intent) -> str:
    """Roll a die of six sides, or several, or draw a number between two, both among them."""
    if dice := intent.number("dice"):
        random = _random(state)
        rolled = [str(random.randint(1, 6)) for _ in range(dice)]
        return phrase("drawn", state.language, number=("、" if state.language == "zh" else ", ").join(rolled))
    low, high = (intent.number("low"), intent.number("high")) if "high" in intent.slots else (1, 6)
    low, high = sorted((max(-_MOST, low), min(_MOST, high)))
    return phrase("drawn", state.language, number=_random(state).randint(low, high))


def _random(state: DialogState) -> Random:
    """Return the luck of this event: the same when it is handled once more after a crash."""
    return Random(state.turn.block.event_id or state.words)
