"""What is left out of a wish for all: cancel all timers except the pasta, 除了面包全部去掉."""

import re
from typing import Final

from msgspec import Struct

from agent.intents.dialog_state import DialogState
from agent.intents.intent import UNKNOWN, Intent, Language, Understand
from agent.intents.language.patterns import patterns
from agent.intents.language.wording import anywhere, bare, mended, without_fillers
from agent.intents.subjects.lists import spoken_of


class AllBut(Struct, frozen=True):
    """A wish for all, and what is left out of it."""

    wish: str
    but: str


_ZH_BUT: Final = "^(?P<front>(?:把|将)?(?:.{0,4}?(?:清单|单子)[上里]?面?)?)除[了去开]?(?P<but>.{1,12}?)"
_ALL_BUT: Final[dict[Language, tuple[re.Pattern[str], ...]]] = {
    "en": (
        re.compile(
            r"^(?P<wish>.*\b"
            r"(?:all|every|everything|both|list|lists|timers|alarms|reminders|the lot)\b.*?),?\s*\b"
            r"(?:except|excluding|but|bar|barring|apart from|other than|aside from|besides|save)"
            r"(?: for| not| keep| leave)?,? "
            r"(?P<but>.+)$",
            re.IGNORECASE,
        ),
        re.compile(
            r"^(?P<wish>.*\b(?:all|every|everything|both|the lot)\b.*?), (?:just |only |and |but )*not (?P<but>.+)$",
            re.IGNORECASE,
        ),
        re.compile(
            r"^(?P<wish>.+?)(?:,? (?:but|and|only|just)|,)(?: (?:please|just))? "
            r"(?:leave|keep|(?:don't|do not) (?:touch|cancel|stop)) (?P<but>.+)$",
            re.IGNORECASE,
        ),
    ),
    "zh": tuple(
        map(
            re.compile,
            (
                f"{_ZH_BUT}(?:以外|之外|外)[，,]?(?P<wish>.+)$",
                f"{_ZH_BUT}[，,]?(?P<wish>(?:把|将)?(?:其他|其它|其余|别的|剩下|所有|全部|全都?|都|取消|删).+)$",
                "^(?P<wish>.+?)[，,](?:但是?|不过)?(?:除[了去开]?|只?留着?|只?保留|别动|不要动)"
                "(?P<but>.+?)(?:以外|之外|外)?$",
                "^(?P<wish>.+?)[，,](?P<but>.{1,12}?)(?:除外|留着|保留|不要动|别动|不动)$",
            ),
        )
    ),
}
"""A wish for all with what is left out of it: before it or behind it."""

_TAKES_OFF: Final = patterns(
    en=r"^(?:(?:take|cross|strike|get|tick|clear|delete|remove|wipe|erase|empty|scrap|drop) "
    r"(?:off )?(?:everything|all(?: of it| of them| the things)?|it all|them all)(?: else)?"
    r"(?: (?:off|from|out of|out))*"
    r"|(?:clear|empty|wipe|erase|delete|scrap)(?= .*\blist$))"
    r"(?: (?:the|my|our|it)\b(?: (?P<list>[\w-]+))??(?: list)?)?$",
    zh="^(?:把|将)?(?:(?P<list>.{1,4}?)?(?:清单|单子)[上里]?面?的?)?"
    "(?:其他|其它|其余|别的|剩下|所有|全部|全都?|都|东西|的|里面)*"
    "(?:去掉|删掉|删了|划掉|拿掉|去了|删除|清掉|清空|不要|不用买|不要买|不买)了?(?:(?:购物)?清单|单子)?$",
)
"""What takes all off a list, besides an exception."""

_OF_ONE: Final = frozenset({"timer_cancel", "alarm_skip"})
"""What is wanted of one that rings."""

_OF_ALL: Final = re.compile(
    r"\b(?:all|every\w*|both|rest|others?|lot|timers|alarms|reminders)\b|[全都每]|所有|其|别的|剩", re.IGNORECASE
)
"""What names no one thing."""

_CALLED_ZH: Final = re.compile("(?:那个|这个|那条)?的?(?:计时器|定时器|闹钟|提醒|倒计时)?$")
_CALLED: Final = re.compile(
    r"^(?:(?:the|my|our|for|keep|leave|not) )+|(?: (?:timer|alarm|reminder|one)s?)?(?: (?:alone|on|running|on it))?$",
    re.IGNORECASE,
)


def named_alone(state: DialogState, understand: Understand) -> DialogState:
    """Return the state without what is only named to stay, where what is to go is named too: stop the pasta timer."""
    language = state.language
    found = _parts(without_fillers(mended(state.words, language), language), language)
    meant = understand(found.wish) if found else UNKNOWN
    is_one = meant.name in _OF_ONE and meant.slots and _OF_ALL.search(meant.text("label")) is None
    return state.in_words(found.wish) if found and is_one else state


def all_but(state: DialogState, understand: Understand) -> Intent | None:
    """Return what takes all away but something; None where nothing is left out, or it is not known of what."""
    language = state.language
    words = without_fillers(mended(state.words, language), language)
    found = _parts(words, language)
    if found is None:
        return None
    listed = _TAKES_OFF[language].match(found.wish)
    meant = understand(found.wish)
    of_timers = any("timer" in each.tool or "alarm" in each.tool for turn in state.last_said() for each in turn.results)
    before = [reply for turn in state.last_said() for reply in turn.replies]
    rings = anywhere(language, "ringing").search(words) is not None
    if listed and not rings and (meant.name != "timer_cancel_all" or spoken_of(before, language) or not of_timers):
        return Intent("list_remove", {"but": found.but, **({"list": listed["list"]} if listed["list"] else {})})
    if meant.name == "timer_cancel_all" or (rings and anywhere(language, "cancelling").search(found.wish)):
        return Intent("timer_cancel_all", {"but": found.but, "of": found.wish})
    return None


def _parts(words: str, language: Language) -> AllBut | None:
    found = next((each for pattern in _ALL_BUT[language] if (each := pattern.match(bare(words)))), None)
    if found is None:
        return None
    called = _CALLED_ZH.sub("", found["but"]) if language == "zh" else _CALLED.sub("", found["but"])
    wish = (found.groupdict().get("front") or "") + found["wish"].strip(" ,，")
    return AllBut(wish, called.strip(" ，,")) if called else None
