"""How far away a day is whose date somebody told: how many days until my birthday."""

import re
from collections.abc import Mapping
from typing import Final

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent, Language, Understand
from agent.intents.language.dates import date_in
from agent.intents.saying.phrases import phrase
from agent.intents.subjects import almanac, recall

_WHEN: Final[Mapping[Language, str]] = {"en": "when is {}", "zh": "{}是哪天"}
_UNTIL: Final[Mapping[Language, str]] = {"en": "how many days until {}", "zh": "离{}还有多少天"}


_HOW_LONG: Final = re.compile(
    r"^how (?:long|much longer)(?: is (?:it|there))?(?= (?:until|till|to|before) )", re.IGNORECASE
)
"""What asks how far away something is, which may be a timer as well as a day that was told."""


def in_days(words: str, understand: Understand) -> Intent | None:
    """Return what words ask that name no timer, as a question for days: how long until my birthday; None for others."""
    asked = understand(_HOW_LONG.sub("how many days", words)) if _HOW_LONG.match(words) else None
    return asked if asked is not None and asked.number("until") else None


def days_until(state: DialogState, intent: Intent, understand: Understand) -> str:
    """Tell how many days there are until what the topic names, by the date that was told of it; the journal is asked.

    What was told without a date is quoted.
    """
    language = state.language
    told = recall.recall(state.in_words(_WHEN[language].format(intent.text("topic"))), understand)
    meant = understand(_UNTIL[language].format(date_in(told, language)))
    if meant.name == "days_until":
        return almanac.days_until(state, meant)
    return told or phrase("not_found", language)
