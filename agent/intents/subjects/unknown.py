"""What is said to words that nothing here answers: a model is needed, the house is away, they are kept."""

from typing import Final

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent
from agent.intents.language.questions import is_question, is_statement
from agent.intents.language.wording import without_fillers
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.home import home_trouble

_FOR_A_MODEL: Final = (
    "outside",
    "not_found",
    "told_only",
    "needs_model_still",
    "lost_thread",
    "home_away",
    "home_refused",
)


def told(state: DialogState, _: Intent) -> str:
    """Say what is so of words that nothing here answers: each in full the first time, shorter after that."""
    if trouble := home_trouble(state):
        return trouble
    in_full = abilities_and_need(state)
    if not _is_beginning("".join(state.turn.replies[-1:]), in_full):  # a model began another answer, and broke off
        return phrase("lost_thread", state.language)
    if state.has("recall") and _tells(state):
        return phrase("told_only", state.language)
    said_before = any(in_full in turn.replies for turn in state.earlier)
    return phrase("needs_model_still", state.language) if said_before else in_full


def outside(state: DialogState, intent: Intent) -> str:
    """Say that there is nothing here for it; of a house where something went wrong, that."""
    return home_trouble(state) or phrase("weather_not_here" if "weather" in intent.slots else "outside", state.language)


def abilities_and_need(state: DialogState) -> str:
    """Say that a model is needed, and what can be done without one."""
    return phrase("needs_model", state.language, abilities=phrase("abilities", state.language))


def needs_model(state: DialogState, words: str) -> bool:
    """Say whether the words only tell that a model is needed."""
    return words == abilities_and_need(state) or words in {phrase(name, state.language) for name in _FOR_A_MODEL}


def _tells(state: DialogState) -> bool:
    """Say whether the words tell something that somebody may ask for."""
    return not is_question(state.words) and is_statement(without_fillers(state.words, state.language))


def _is_beginning(part: str, whole: str) -> bool:
    """Say whether a text is the beginning of another, whatever its white space."""
    return "".join(whole.split()).startswith("".join(part.split()))
