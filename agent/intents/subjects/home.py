"""The house without a model: what nobody here understands is said to Home Assistant, and its answer spoken."""

import re
from typing import Final

from agent.intents.dialog_state import Action, DialogState, ToolResult
from agent.intents.intent import Language
from agent.intents.saying.phrases import phrase
from agent.tools.tool import unmarked
from memory.json_value import fields

HOME_SAY: Final = "home_say"
HOME_WATCH: Final = "home_watch"

_WATCH: Final = (
    re.compile(
        r"(please )?(tell|remind|let) me (know )?(when|once|as soon as) (?P<thing>.+?) (is|are|has|have) "
        r"(?P<state>done|finished|ready|on|off|open|opened|closed|locked|unlocked)( please)?",
        re.IGNORECASE,
    ),
    re.compile(
        r"(请)?(等)?(?P<thing>.+?)(?P<state>好了|完成了|洗完了|做完了|结束了|开了|打开了|关了|关上了)"
        r"(的时候|以后|之后)?[，,]?(请)?(就)?(告诉|提醒|通知|叫)(我|一下我)(一声|一下)?"
    ),
)
"""What asks to be told of something in the house."""

_AS_SAID: Final = {"opened": "open", "on": "on", "off": "off", "open": "open", "closed": "closed"} | {
    "locked": "locked",
    "unlocked": "unlocked",
}
"""States as Home Assistant calls them; of every other word any change is meant."""

_NO_SUCH: Final = "nothing there has exactly"

_NOT_REACHED: Final = "unavailable"
_REFUSED: Final = "Home Assistant refused"
"""How the reasons begin where nothing was done; with any other it may have been."""

WORDS: Final = "words"
"""Slot of what nobody here understands: the words, where they were said a turn before."""


def said_at_home(state: DialogState, words: str = "") -> list[Action] | str:
    """Return the call, then its answer; "" where Home Assistant did not understand it either, or is away.

    `words` are those that were said before, and were asked back; "" for what was said now.
    """
    result = state.result(HOME_SAY)
    if result is None:
        return [state.action(HOME_SAY, sentence=words or state.turn.block.words)] if state.has(HOME_SAY) else ""
    if result.is_uncertain:
        return phrase("home_uncertain", state.language)
    return answer_of(result, state.language)


def watched_at_home(state: DialogState) -> list[Action] | str:
    """Return the call that has something in the house watched, then what came of it; "" for other words."""
    plain = state.words.strip(" .?!,。？！，")
    found = next(filter(None, (each.fullmatch(plain) for each in _WATCH)), None)
    if found is None or not state.has(HOME_WATCH):
        return ""
    thing, wanted = found["thing"], found["state"].lower()
    name = re.sub(r"^(the|my|our) ", "", thing, flags=re.IGNORECASE)
    result = state.result(HOME_WATCH)
    if result is None:
        tell = f"{thing}{wanted}。" if state.language == "zh" else f"{thing[:1].upper()}{thing[1:]} is {wanted}."
        return [state.action(HOME_WATCH, name=name, tell=tell, state=_AS_SAID.get(wanted, ""))]
    if not result.has_failed:
        return phrase("home_watched", state.language)
    if _NO_SUCH in result.result:
        return phrase("home_no_such", state.language, thing=name)
    return phrase("failed", state.language, reason=unmarked(result.reason))


def answer_of(result: ToolResult, language: Language) -> str:
    """Return what Home Assistant answered, for the ear; "" where it understood nothing."""
    value = fields(result.value)
    if value.get("understood") is not True:
        return ""
    return unmarked(str(value.get("answer") or "")) or phrase("fine", language)


def home_trouble(state: DialogState) -> str:
    """Return what to say where Home Assistant could not do what was said to it, "" where nothing went wrong there."""
    result = state.result(HOME_SAY)
    if result is None or not result.has_failed:
        return ""
    if result.reason.startswith(_NOT_REACHED):
        return phrase("home_away", state.language)
    refused = result.reason.startswith(_REFUSED)
    return phrase("home_refused" if refused else "home_unanswered", state.language)


def told_of_watch(words: str) -> str:
    """Return what to say of something that was waited for: what they wanted to hear, else what is told of it."""
    return words.partition("<From_Outside")[0].strip() or unmarked(words)
