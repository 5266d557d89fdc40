"""What words mean after those before them: and another for ten; no, make that fifteen; plus thirty."""

import re
from collections.abc import Iterator
from typing import Final

from agent.intents.dialog_state import DialogState, Turn
from agent.intents.intent import Intent, Language, Understand
from agent.intents.phrases import phrase
from agent.intents.questions import is_question
from agent.intents.subjects.days import names_day
from agent.intents.subjects.lists import spoken_of
from agent.intents.subjects.sums import continued
from agent.intents.wording import beginning, ending, without_fillers

_TIMERS: Final = frozenset({"set_timer", "set_alarm", "list_timers", "cancel_timer"})
"""Tools by which a turn was about what rings."""

_PLACES: Final = frozenset({"time", "time_there"})

_OPEN: Final = frozenset(
    {"unknown", "recall", "yes", "no", "never_mind", "ask_when", "timer_start", "alarm", "hello", "outside"}
)
"""What words may be taken for, alone, that mean something else after a timer was set."""

LONGEST_ITEM: Final = 60
"""Characters of what is put on a list without the list being named."""

_FRAMES: Final[dict[Language, tuple[str, ...]]] = {
    "en": ("set a timer for {}", "set an alarm {}", "set an alarm for {}", "set an alarm at {}", "remind me {}"),
    "zh": ("设一个{}的计时器", "{}提醒我"),
}
"""Whole sentences of which a time, or a time and what it is for, may be the rest."""

_AT_NOON: Final[dict[Language, str]] = {"en": "set an alarm for {} at noon", "zh": "{}正午提醒我"}
"""A whole sentence of which a day alone may be a part."""

_COUNTED: Final[dict[Language, str]] = {"en": "set a timer for {} minutes", "zh": "设一个{}分钟的计时器"}
_ASKED_THERE: Final[dict[Language, str]] = {"en": "what time is it in {}", "zh": "{}现在几点"}


def sum_on(state: DialogState) -> str:
    """Return the sum that goes on from the last one's value: plus thirty; "" where these words do not."""
    before = _before(state)
    replies = before.replies if before is not None else ()
    value = next((found for reply in reversed(replies) if (found := _value(reply, state.language))), "")
    return continued(value, without_fillers(state.words, state.language), state.language) if value else ""


def follow_up(state: DialogState, intent: Intent, understand: Understand) -> Intent:
    """Return what the words mean after those before them; the intent that they have alone where that is all."""
    before = _before(state)
    if before is None or intent.name not in _OPEN:
        return intent
    words, language = state.words, state.language
    if _TIMERS & {result.tool for turn in _last(state) for result in turn.results}:
        return next(_of_timers(words, language, intent, understand), intent)
    if spoken_of(before.replies, language):
        return next(_of_lists(words, language, intent), intent)
    asked = beginning("elsewhere", language).match(words)
    if asked and understand(before.words).name in _PLACES:
        return understand(_ASKED_THERE[language].format(without_fillers(words[asked.end() :], language)))
    return intent


def _of_timers(words: str, language: Language, intent: Intent, understand: Understand) -> Iterator[Intent]:
    """Yield what the words may mean where the last turn set, told or cancelled a timer, the likeliest first."""
    if ending("cancel_it", language).search(words):
        yield Intent("timer_cancel", {"newest": 1})
    if called := beginning("call_it", language).match(words):
        yield Intent("timer_change", {"called": without_fillers(words[called.end() :], language), "newest": 1})
    corrected = beginning("correcting", language).match(words) or beginning("changing", language).match(words)
    if corrected and intent.name not in {"timer_start", "alarm"}:
        rest = words[corrected.end() :]
        changing = beginning("changing", language).match(rest)
        when = without_fillers(rest[changing.end() if changing else 0 :], language)
        for each in _timed(when, language, understand):
            if not each.text("label"):
                yield Intent("timer_change", {**each.slots, "newest": 1})
        day = understand(_AT_NOON[language].format(when))
        if day.name == "alarm" and names_day(day):
            slots = {name: value for name, value in day.slots.items() if name not in {"exact_hour", "label"}}
            yield Intent("timer_change", {**slots, "newest": 1})
        if number := _number(when, language, understand):
            yield Intent("timer_change", {"count": number, "newest": 1})
    another = beginning("another", language).match(words)
    if another and intent.name not in {"timer_start", "alarm", "outside"}:
        yield from _timed(without_fillers(words[another.end() :], language), language, understand)


def _timed(when: str, language: Language, understand: Understand) -> Iterator[Intent]:
    """Yield the timer or the alarm that a time is, with what is said beside it."""
    for frame in _FRAMES[language] if when else ():
        found = understand(frame.format(when))
        if found.name in {"timer_start", "alarm"}:
            yield found


def _of_lists(words: str, language: Language, intent: Intent) -> Iterator[Intent]:
    """Yield what the words may mean where a list was just spoken of."""
    if off := beginning("take_off", language).match(words):
        item = ending("off_it", language).sub("", words[off.end() :].partition(",")[0])
        yield Intent("list_remove", {"item": item})
    also = beginning("also", language).match(words)
    item = without_fillers(words[also.end() :], language) if also else ""
    if (
        item
        and intent.name in {"unknown", "recall", "remember"}
        and len(item) <= LONGEST_ITEM
        and not is_question(item)
    ):
        yield Intent("list_add", {"item": item})


def _number(words: str, language: Language, understand: Understand) -> int:
    """Return a number that stands alone, 0 where none does."""
    return understand(_COUNTED[language].format(words)).number("minutes") if 0 < len(words.split()) < 3 else 0


def _value(reply: str, language: Language) -> str:
    """Return the number in the answer to a sum, "" where it is another sentence."""
    for name in ("sum", "sum_about"):
        before, _, after = phrase(name, language, value="\0").partition("\0")
        number = reply.removeprefix(before).removesuffix(after).replace(",", "")
        if reply.startswith(before) and re.fullmatch(r"-?\d+(?:\.\d+)?", number):
            return number
    return ""


def _before(state: DialogState) -> Turn | None:
    """Return the last turn of a person, None where it is long ago."""
    return next(iter(_last(state)), None)


def _last(state: DialogState) -> list[Turn]:
    """Return the last two turns of people in this conversation, the newest first."""
    people = [turn for turn in reversed(state.earlier) if turn.block.is_human]
    return [turn for turn in people[:2] if state.follows(turn)]
