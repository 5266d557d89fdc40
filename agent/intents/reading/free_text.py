"""What the free text of a reading can be, a name, a thing or a fact: one that fits by other text is not meant."""

import re
from typing import Final

from agent.intents.intent import TIMED, Intent, language_of
from agent.intents.language.enumerations import USED_UP_ZH, is_thing, names_things
from agent.intents.language.house import names_device
from agent.intents.language.lengths import NUMBER, UNIT
from agent.intents.language.questions import is_question, is_statement
from agent.intents.language.wording import anywhere, beginning
from agent.intents.reading.reminding import tells
from agent.intents.subjects.listed_things import things
from agent.intents.subjects.rings.which_timer import NAMING, names_timer
from agent.intents.subjects.voices import names_somebody

_NO_ITEMS: Final = frozenset(
    {"it", "that", "this", "them", "those", "one", "some", "here"}
    | {"time", "luck", "ideas", "patience", "options", "space", "breath", "sorts", "touch"}
)
"""What is on no list by itself, also where people have run out of it."""

_ADDED: Final = re.compile(r"\badd\b", re.IGNORECASE)
_PUT_DOWN: Final = re.compile(r"\b(?:put|stick|pop|jot) down (?!that\b)", re.IGNORECASE)
_NAMES_LIST: Final = re.compile(r"\blists?\b|\bshopping\b|\bgroceries\b", re.IGNORECASE)
_NO_THING: Final = re.compile(
    rf"^(?:{NUMBER}|an?)\b(?:[ -]{UNIT}|$)|^\W*(?:{NUMBER}|a hundred)\b.*\band\b|^(?:another|more|me|us|you|him|her)\b|"
    rf"\b(?:to|from|into|with|by|up|together|more|longer|{UNIT}|timer|alarm|reminder|lights?|event|appointment)\b",
    re.IGNORECASE,
)
"""What is added to no list where none is named: ten minutes, five and six, me to the call."""

_WORD: Final = re.compile(
    r"(?!(?:it|that|this|them|my|your|his|her|their|our|me|you|with|without)\b)[a-z'-]+(?: [a-z'-]+){0,2}",
    re.IGNORECASE,
)
"""What can be spelled: a word or a name, and not "that"."""

_USED_UP_ZH: Final = re.compile(f"(?:{USED_UP_ZH}|都要)[吧啊呢呀]*[。！]?$")
"""What says that there is no more, or that all are wanted: a thing of every household is to be bought, time is not."""

_NOTED_ZH: Final = re.compile("^(?:请|你|帮我|给我|麻烦你?)*记(?:一下|下)|^(?:要|去|得)*买.+记(?:一下|下|着)$")
"""What notes down things of a list as well as facts."""

_NO_NAMES: Final = frozenset({"a", "an", "the", "my", "our", "new", "a new"})
"""What no list is called."""

_NO_LABELS: Final = frozenset({"先", "再", "就", "也", "还", "到了再", "other", "the other", "the other one"})
"""What nothing that rings is for."""

_NEEDED_ZH: Final = re.compile("[要得]$")
"""What ends a name of what only is so long, and is told: 面条要煮八分钟."""

_NO_LIST: Final = re.compile(r"\blist\b|\b(?:things?|items?|ones?) (?:on|from|of)\b|清单", re.IGNORECASE)
_NO_LIST_TO_BEGIN: Final = re.compile(r"[.,;:，。；：]|\b(?:it|that|them|to (?:the|my|our))\b", re.IGNORECASE)
"""What shows that more is told of a list than its name: make it two to the list."""

_NO_LIST_TO_ADD_TO: Final = re.compile("[、，,]|加到|记到| (?:to|on) (?:the|my|our) ")
"""What shows that the name of a list is a part of a sentence."""

LONGEST_ASKED: Final = 12
"""Characters of a Chinese fact that is none because it asks; a longer one may tell of a question."""

_RINGS_ZH: Final = re.compile(
    "^(?:[今明后]天|今晚|明早|.{1,4}点).{0,6}(?:叫|喊|提醒|通知)我|(?:分钟|小时|钟头|点半?|点钟|以后|之后|分|后).{0,6}(?:叫|喊|提醒|通知)我(?:起床|一下|一声)?$"
)
"""What is to ring, and no fact."""

_NOT_SAID: Final = re.compile(
    r"(?:everything|all|all of it|whatever|anything)"
    r"(?: (?:that )?(?:(?:i|we|you)(?:'ve)? )?(?:have |ever )*(?:said|told you|know|heard))?$"
    r"|it\b(?!.{0,12}\b(?:said|told)\b)"
    r"|(?!.*\b(?:said|told)\b).*\b(?:timers?|alarms?|reminders?|countdowns?|list)\b|(?:this|that|the(?: other)?) one$"
    r"|(?:我说的|我们说的|我告诉你的)?(?:所有|一切|全部|的话|话)+$",
    re.IGNORECASE,
)
"""All that was ever said, or what rings and is cancelled: no name of a thing to be forgotten."""


_HANGING: Final = re.compile(r" (?:for|at|by)$")
"""What a time should follow, at the end of a name that is none: set an alarm for 99."""


def is_meant(intent: Intent, said: str) -> bool:
    """Say whether a reading's free text can be what it is taken for: a name, a fact, or what a timer is called.

    `said` are the words that were read.
    """
    if intent.name.startswith("list_"):
        return _is_of_list(intent, said)
    if intent.name == "spell":
        return _WORD.fullmatch(intent.text("word")) is not None
    label = intent.text("label").lower().removeprefix("and ")
    if intent.name in TIMED and (label in _NO_LABELS or _NEEDED_ZH.search(label)):
        return False
    topic, fact = intent.text("topic"), intent.text("fact")
    if intent.name == "recall" and topic and beginning("forgetting", language_of(topic)).match(topic):
        return False
    if (intent.name == "remember" and _is_no_fact(fact, said)) or (
        intent.name == "forget_other" and _NOT_SAID.match(fact)
    ):
        return False
    is_told = intent.name in NAMING and tells(intent.text("label"))  # who says that they changed one wants nothing done
    hangs = intent.name == "timer_change" and _HANGING.search(label) is not None
    return (
        names_somebody(intent) and names_timer(intent) and not hangs and not is_told and not _is_of_house(intent, said)
    )


def _is_of_list(intent: Intent, said: str) -> bool:
    """Say whether a reading names a list that can be one, and a thing that can stand there."""
    named, item = intent.text("list"), intent.text("item")
    if _NO_LIST.search(named):
        return False
    match intent.name:
        case "list_add":
            if _PUT_DOWN.search(said) and not _NAMES_LIST.search(said) and not _is_noted(item):
                return False
            is_bare = not named and _ADDED.search(said) and not _NAMES_LIST.search(said)
            is_no_thing = item.casefold() in _NO_ITEMS or _NO_LIST.search(item) or (is_bare and _NO_THING.search(item))
            is_any = _USED_UP_ZH.search(said) or _NOTED_ZH.match(said)
            is_unknown = is_any is not None and not all(map(is_thing, things(item)))
            return not (is_no_thing or is_unknown or _NO_LIST_TO_ADD_TO.search(named))
        case "list_remove":
            return bool(item) and not re.search("了[，,]", item)
        case "list_start":
            return _begins_list(intent)
    return True


def _is_noted(words: str) -> bool:
    """Say whether what is put down is a thing of a list, and no fact."""
    return names_things(words) and not is_statement(words)


def _begins_list(intent: Intent) -> bool:
    """Say whether what begins a list only names it, and tells nothing that goes on it."""
    named = (intent.text("list"), intent.text("whom"))
    return named[0].casefold() not in _NO_NAMES and not any(map(_NO_LIST_TO_BEGIN.search, named))


def _is_of_house(intent: Intent, said: str) -> bool:
    """Say whether what would be done to something that rings is said of what stands in the house: kill the lights."""
    label, language = intent.text("label"), language_of(said)
    if intent.name not in {"timer_change", "timer_cancel"} or not label:
        return False
    return anywhere(language, "ringing").search(said) is None and names_device(label, language)


def _is_no_fact(fact: str, said: str) -> bool:
    """Say whether what is to be kept is a question, or rings, or stands on a list: 记住了吗; put down bin bags."""
    if (_PUT_DOWN.search(said) and _is_noted(fact)) or (_NOTED_ZH.match(said) and all(map(is_thing, things(fact)))):
        return True
    is_asked = language_of(fact) == "zh" and is_question(fact) and len(fact) <= LONGEST_ASKED
    return (
        is_asked or re.match("了吗|on (?:it|there|the list)$", fact) is not None or _RINGS_ZH.search(fact) is not None
    )
