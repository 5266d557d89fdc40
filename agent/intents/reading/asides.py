"""What is only said beside what is to ring, of another time at which nothing changes: Sunday as usual; 晚上就不用了."""

from typing import Final

from agent.intents.dialog_state import DialogState
from agent.intents.intent import TIMED, UNKNOWN, Understand, language_of
from agent.intents.language.dates import WEEKDAY
from agent.intents.language.patterns import patterns
from agent.intents.language.wording import bare, mended
from agent.intents.subjects.days import next_moment
from agent.intents.subjects.rings.hours import of_its_part

_DAY: Final = rf"(?:weekdays|the weekend|weekends|{WEEKDAY}s?|today|tomorrow)"
_ASIDE: Final = patterns(
    en=rf"[,;.] (?:and |but )?(?:on )?{_DAY}(?:'s)?(?: (?:is|are|stays?|goes|go|alarm))*"
    r" (?:as (?:usual|always|normal|before|ever)|unchanged)[.]?$|"
    r"[,;.] (?:and |but |just )*(?:not|never) (?:in the )?(?P<part>morning|afternoon|evening|at night)s?[.]?$",
    zh="[，,。](?:(?:周|星期|礼拜)[一二三四五六日天]|周末|工作日|平时|[今明后]天)(?:那天)?(?:还是|都|就)?(?:照常|照旧|照样|不变)了?[。]?$|"
    "[，,。](?P<part>早上|上午|下午|晚上|夜里)(?:就|都)*(?:不用|不要|别|不必)(?:提醒|叫|响)?我?了?[。]?$",
)
"""What is said at the end of another time."""

_HOURS_OF: Final = {
    **dict.fromkeys(("morning", "早上", "上午"), range(12)),
    **dict.fromkeys(("afternoon", "下午"), range(12, 18)),
    **dict.fromkeys(("evening", "晚上"), range(18, 24)),
    **dict.fromkeys(("at night", "夜里"), (*range(20, 24), *range(5))),
}
"""Hours of a part of the day."""


def aside_in(words: str) -> str:
    """Return what words tell at their end of another time than what is to ring; "" where they tell nothing of one."""
    found = _ASIDE[language_of(words)].search(words)
    return found.group() if found else ""


def without_aside(state: DialogState, understand: Understand) -> tuple[DialogState, str]:
    """Return the state without such an aside, and this, which nobody here can do anything about.

    Of a time within the part of the day that it names it is none: it tells which of two times is meant.
    """
    words = mended(state.words, state.language)
    found = _ASIDE[state.language].search(words)
    order = state.in_words(words[: found.start()]) if found else state
    meant = understand(order.words) if found else UNKNOWN
    if found is None or meant.name not in TIMED or state.now is None:
        return state, ""
    due = next_moment(of_its_part(meant, order.words, state.now), state.now) if meant.name == "alarm" else None
    part = _HOURS_OF.get((found["part"] or "").lower(), ())
    return (state, "") if due is not None and due.hour in part else (order, bare(found.group().lstrip(" ,;.，。")))
