"""Lists without a model: what is to be bought, packed or done. What stands on one follows from what was said of it.

Nothing is stored beside the journal: each change is told in a sentence of its own, and these, found again and read in
their order, are the list.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from agent.event import SELF_CREATED
from agent.intents.dialog_state import DialogState, ToolResult, Turn
from agent.intents.intent import Intent, Language
from agent.intents.language.questions import tokens
from agent.intents.saying.phrases import gaps, phrase
from agent.intents.subjects.listed_things import things
from agent.intents.subjects.needed import First, result_of, worked
from memory.chinese import has_chinese
from memory.json_value import fields, objects

TOOL: Final = "recall"

LOOKED_BACK: Final = 6
"""Turns of this conversation in which a list was spoken of that is still meant."""

LOOKED_AT: Final = 50
"""Changes of a list that are looked at."""

USUAL: Final[dict[Language, str]] = {"en": "shopping", "zh": "购物"}
"""The list that is meant where none is named."""

_LISTED: Final = re.compile(r"^(?:the|my|our|a|an|new|whole|entire|full)(?: |$)|^(?:现在|那个?|这个?|我的?|我们的?)+")
"""What the name of a list is said with."""

_TO_DO: Final = re.compile(r"^to[ -]?dos?$")
"""One list by the ways in which it is written."""

_CHANGES: Final = ("list_added", "list_removed", "list_cleared", "list_changed")
_TOLD: Final = (*_CHANGES, "list_started", "list_told", "list_empty", "list_has", "list_has_not")

_NAMING_ITEMS: Final = ("list_added", "list_told", "list_changed")
"""Sentences that tell what stands on a list."""

_SENTENCE_ENDS: Final = re.compile(
    r"(?<=[.!?])(?<!\b[DMS][rt]\.)(?<!\bMrs\.)(?<!\bno\.) +(?=[A-Z\d])|(?<=[。！？])\s*(?=.)"
)
"""Between what was told of one wish and of the next."""

_OF_LIST: Final = re.compile(r"\b(?:list|it|there|add|buy|bought|groceries|shopping)\b|[清单买]", re.IGNORECASE)
"""What shows that a list is meant."""


def add(state: DialogState, intent: Intent) -> str:
    """Say that the things are on the list, which is what keeps them; leave an event by which a model notes it too."""
    is_some = bool(things(intent.text("item")))
    return _noted(state, added(state, intent)) if is_some else phrase("left_alone", state.language)


def added(state: DialogState, intent: Intent) -> str:
    """Return the sentence that tells which things are on the list now."""
    items = _joined(things(intent.text("item")), state.language)
    return phrase("list_added", state.language, list=list_of(state, intent), items=items)


def removed(state: DialogState, intent: Intent) -> str:
    """Return the sentence that tells which things are off the list, if they stood there."""
    return phrase("list_removed", state.language, list=list_of(state, intent), items=intent.text("item"))


def remove(state: DialogState, intent: Intent) -> str:
    """Take things off, by the words that they were put on with; all `but` some where that is said."""
    name = list_of(state, intent)
    found = _searched(state, name)
    there, but = standing(found, name, state.language), things(intent.text("but"))
    if missing := [one for one in but if not any(_is_same(each, one) for each in there)]:
        return phrase("list_has_not", state.language, item=_joined(missing, state.language), list=name)
    if but:
        gone = [each for each in there if not any(_is_same(each, one) for one in but)]
        return _taken_off(state, name, gone) if gone else tell(state, Intent("list_tell", {"list": name}))
    gone = [each for each in there for wanted in things(intent.text("item")) if _is_same(each, wanted)]
    gone = gone or [each for each in there if (own := _stems(each)) and own <= _stems(intent.text("item"))]
    if not gone and not _is_of_list(state, intent):
        return ""
    if not gone:
        return phrase("list_has_not", state.language, item=intent.text("item"), list=name)
    return _taken_off(state, name, gone)


def _is_of_list(state: DialogState, intent: Intent) -> bool:
    """Say whether a list is meant where a thing that is not on it is to come off: take off my shoes means none."""
    said = intent.text("guessed") or state.words
    is_named = bool(intent.text("list")) or _OF_LIST.search(said) is not None
    return is_named or bool(spoken_of(replies_in(state.last_said(1)), state.language))


def _taken_off(state: DialogState, name: str, gone: Sequence[str]) -> str:
    return _noted(state, phrase("list_removed", state.language, list=name, items=_joined(gone, state.language)))


def start(state: DialogState, intent: Intent) -> str:
    """Say that there is such a list, and ask for what goes on it."""
    return phrase("list_started", state.language, list=list_of(state, intent))


def change(state: DialogState, intent: Intent) -> str:
    """Say what stands on the list instead of something."""
    told = {"list": list_of(state, intent), "items": intent.text("instead"), "gone": intent.text("item")}
    return _noted(state, phrase("list_changed", state.language, **told))


def clear(state: DialogState, intent: Intent) -> str:
    """Take everything off."""
    return _noted(state, phrase("list_cleared", state.language, list=list_of(state, intent)))


def tell(state: DialogState, intent: Intent) -> str:
    """Say what is on the list, so many of the `first` or the `last` of it, or whether one thing is."""
    name, language = list_of(state, intent), state.language
    found = _searched(state, name)
    there, wanted = standing(found, name, language), things(intent.text("item"))
    if wanted:
        has = all(any(_is_same(each, one) for each in there) for one in wanted)
        return phrase("list_has" if has else "list_has_not", language, item=_joined(wanted, language), list=name)
    if not there:
        return phrase("list_empty", language, list=name)
    first, last = intent.number("first"), intent.number("last")
    part = there[:first] if first else there[-last:]
    return phrase("list_told", language, items=_joined(part, language), list=name)


def names(state: DialogState, intent: Intent) -> str:
    """Say which lists there are: those that something stands on, or that were begun and not emptied since."""
    language = state.language
    found = _searched(state, "")
    there = [name for name, is_there in _begun(found, language).items() if is_there or standing(found, name, language)]
    return phrase("list_names", language, lists=_joined(there, language)) if there else phrase("list_none", language)


def _begun(found: ToolResult, language: Language) -> dict[str, bool]:
    """Return the names of all lists that were told of, each with whether the last of it was that it is ready."""
    begun: dict[str, bool] = {}
    for words in _in_order(found):
        for name in (*_CHANGES, "list_started"):
            if read := gaps(name, _alone(words, language), language):
                begun[read["list"]] = name == "list_started"
    return begun


def list_of(state: DialogState, intent: Intent) -> str:
    """Return the name of the list that is meant: the one that is named, the one just spoken of, or the usual one."""
    named = _LISTED.sub("", intent.text("list").strip().lower())
    named = _TO_DO.sub("to-do", named)
    return named or spoken_of(replies_in(state.last_said(LOOKED_BACK)), state.language) or USUAL[state.language]


def replies_in(said: Sequence[Turn]) -> list[str]:
    """Return what turns were answered with, in order; they are given the newest first, as by `last_said`."""
    return [reply for turn in reversed(said) for reply in turn.replies]


def spoken_of(replies: Sequence[str], language: Language) -> str:
    """Return the name of the list that a reply tells of, "" where it tells of none."""
    found = (gaps(name, reply, language) for reply in reversed(replies) for name in _TOLD)
    return next((each["list"] for each in found if each), "")


def items_told(replies: Sequence[str], language: Language) -> list[str]:
    """Return the things that replies told to stand on a list, each once, the last told first."""
    told = [_alone(reply, language) for reply in reversed(replies)]
    found = (gaps(name, reply, language).get("items", "") for reply in told for name in _NAMING_ITEMS)
    return list(dict.fromkeys(item for items in found for item in reversed(things(items))))


def standing(found: ToolResult, name: str, language: Language) -> list[str]:
    """Return what stands on a list after all the changes that were found, in the order in which it came there."""
    there: list[str] = []
    for change, changed in _changes(found, name, language):
        match change:
            case "list_added":
                there += [each for each in changed if each not in there]
            case "list_removed":
                there = [each for each in there if each not in changed]
            case _:
                there = []
    return there


def _changes(found: ToolResult, name: str, language: Language) -> Iterator[tuple[str, list[str]]]:
    """Yield the changes of a list that were told, the oldest first."""
    for words in _in_order(found):
        for change in _CHANGES:
            read = gaps(change, _alone(words, language), language)
            if not read or read["list"] != name:
                continue
            if change == "list_changed":
                yield "list_removed", [read["gone"]]
                yield "list_added", [read["items"].rstrip(".。")]
            else:
                yield change, things(read.get("items", ""))


def _in_order(found: ToolResult) -> list[str]:
    """Return the sentences that were found, the oldest first; what was told in one event is found as one."""
    hits = objects(fields(found.value).get("hits"))
    of_time = sorted(((str(hit.get("at", "")), -place), str(hit.get("words", ""))) for place, hit in enumerate(hits))
    return [told for _, words in of_time for told in _SENTENCE_ENDS.split(words)]


def _alone(reply: str, language: Language) -> str:
    """Return the sentence by which a list is read, without what was said behind it of words not understood."""
    begun, _, _ = phrase("rest_unclear", language, rest="|").partition("|")
    return reply.partition(begun)[0].strip()


def _searched(state: DialogState, name: str) -> ToolResult:
    """Return what a search for what was told of the list found; what else was sought in this turn is none of it.

    Raises First with the call that searches, or with the words that it failed.
    """
    words = phrase("list_words", state.language, list=name).strip()
    found = next((each for each in reversed(state.results(TOOL)) if each.was_asked(words=words)), None)
    if found is None or found.is_uncertain:
        raise First([state.action(TOOL, words=words, speaker="you", limit=LOOKED_AT)])
    return worked(state, found)


def _noted(state: DialogState, told: str) -> str:
    """Return the sentence by which the list is read again, once an event is left by which a model notes it too."""
    if state.has("create_event"):
        task = f"Note in your memory what you told a person: “{told}”"
        result_of(state, "create_event", type=SELF_CREATED, content=task)
    return told


def _joined(what: Sequence[str], language: Language) -> str:
    return ("、" if language == "zh" else ", ").join(what)


def _stems(words: str) -> set[str]:
    return {token.stem for token in tokens(words)}


def _is_same(there: str, wanted: str) -> bool:
    """Say whether a thing on the list is what somebody calls by a part of its words."""
    if there.casefold() == wanted.casefold():
        return True
    if has_chinese(wanted):
        return wanted in there
    words, own = _stems(wanted), _stems(there)
    return (bool(words) and words <= own) or (not words and wanted in there)
