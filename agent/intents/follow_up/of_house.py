"""What words order of a house that name nothing in it: turn it off again; and the hall light; 关了吧."""

import re
from typing import Final

from agent.intents.dialog_state import DialogState
from agent.intents.language.house import names_device
from agent.intents.language.questions import is_question
from agent.intents.subjects.home import HOME_SAY
from memory.json_value import fields

_OPENING: Final = re.compile(
    r"^(?:and|also|then|now|oh|ok|okay|no|please|actually|could you|can you|,| )+ |^[再那]+", re.IGNORECASE
)
_CLOSING: Final = re.compile(r" (?:again|now|please|too|as well)$")

_SWITCHED: Final = re.compile(
    r"^(?:(?P<verb>turn|switch|put) (?:(?P<on>on|off|up|down) (?P<thing>.+)|(?P<thing2>.+?) (?P<on2>on|off|up|down))|"
    r"(?P<verb3>open|close|shut|lock|unlock|dim|brighten|start|stop) (?P<thing3>.+?)(?: up)?)$",
    re.IGNORECASE,
)
_IT: Final = frozenset({"it", "that", "them", "those", "the lot"})
_LOCKED: Final = re.compile(r"\b(?:doors?|gates?|garage|locks?|windows?|car|shed)\b", re.IGNORECASE)
_ALONE: Final = re.compile(
    r"^(?:the |all the |all |my )?(?P<thing>[\w']+(?: [\w']+){0,2}) (?P<on>on|off)$", re.IGNORECASE
)
"""Lights off."""

_NO_PART: Final = re.compile(
    r"\b(?:i|we|he|she|they|it|the|an?|is|are|was|were|be|not?|left|leave|keep|ha[sd]|have|get|got|put|turn|switch|never)\b"
)
"""What stands in the name of no device."""

_SWITCHED_ZH: Final = re.compile(
    "^把?(?:打开|开一下|关掉|关上|关一下|锁上|拉上|拉开|开|关|锁)(?P<thing>.{1,8})$|"
    "^把(?P<thing2>.{1,8}?)(?:打开|关掉|关上|关了|开了|锁上|拉上|拉开)$"
)
_VERBS_ZH: Final = {"开": "打开", "关": "关掉", "锁": "锁上"}
_VERB_ZH: Final = re.compile("^(?:把它)?(?P<verb>打开|关掉|关上|锁上|拉开|拉上|关|开|锁)它?(?:了|一下)?吧?$")


def said_in_full(state: DialogState) -> str:
    """Return an order as a house understands it alone, with what was named in the one before; "" for other words."""
    words = _plain(state.words)
    if is_question(words) or is_question(state.words):
        return ""  # is the heating on
    return _chinese(words, state) if state.language == "zh" else _english(words, state)


def _english(words: str, state: DialogState) -> str:
    alone, order, before = _ALONE.match(words), _SWITCHED.match(words), _order_before(state)
    thing = _thing(before)
    if alone and order is None and _is_device(alone["thing"]):
        return f"turn {alone['on'].lower()} the {alone['thing']}"
    if order is not None and thing and _thing(words).lower() in _IT:
        is_meant = not re.match("(?:un)?lock", words, re.IGNORECASE) or _LOCKED.search(thing)  # nobody locks the lights
        return re.sub(rf"\b{re.escape(_thing(words))}\b", lambda _: thing, words, count=1) if is_meant else ""
    if order is None and thing and _is_device(re.sub("^(?:the|my) ", "", words)):
        return before.replace(thing, _with_article(words), 1)
    return words if order is not None and _OPENING.match(state.words) else ""


def _is_device(words: str) -> bool:
    """Say whether words only name what stands in a house: the kitchen light."""
    said = words.lower().split()
    return len(said) <= 3 and not _NO_PART.search(words.lower()) and names_device(said[-1], "en")


def _chinese(words: str, state: DialogState) -> str:
    verb, before = _VERB_ZH.match(words), _SWITCHED_ZH.match(_plain(_order_before(state)))
    thing = (before["thing"] or before["thing2"]) if before else ""
    if not (verb and thing and names_device(thing, "zh")):
        return ""
    return f"{_VERBS_ZH.get(verb['verb'], verb['verb'])}{thing}"


def _plain(words: str) -> str:
    return _CLOSING.sub("", _OPENING.sub("", words.strip(" .?!。！？，,")))


def _order_before(state: DialogState) -> str:
    """Return what was said to the house in the last turn; "" where nothing was."""
    for turn in state.last_said():
        said = [result for result in turn.results if result.tool == HOME_SAY and not result.has_failed]
        if said and fields(said[-1].value).get("understood") is True:
            return _plain(said[-1].asked("sentence"))
    return ""


def _thing(order: str) -> str:
    found = _SWITCHED.match(order)
    return (found["thing"] or found["thing2"] or found["thing3"] or "") if found else ""


def _with_article(thing: str) -> str:
    return thing if re.match(r"(?:the|my|our|all|every)\b", thing, re.IGNORECASE) else f"the {thing}"
