"""What words mean after those before them: and another for ten; no, make that fifteen; plus thirty."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from agent.intents.dialog_state import DialogState, Turn
from agent.intents.intent import Intent, Language, Understand
from agent.intents.phrases import phrase
from agent.intents.questions import is_question
from agent.intents.subjects.sums import continued
from agent.intents.wording import anywhere, beginning, ending, without_fillers

_TIMERS: Final = frozenset({"set_timer", "set_alarm", "list_timers", "cancel_timer"})
"""Tools by which a turn was about what rings."""

_LONGEST_THING: Final = 10
"""Characters of what is asked the same of as of the thing before it."""

_PLACES: Final = frozenset({"time", "time_there"})

_OPEN: Final = frozenset({"unknown", "recall", "yes", "no", "never_mind", "ask_when", "timer_start", "alarm", "hello"})
"""What words may be taken for, alone, that mean something else after a timer was set."""

_FRAMES: Final[dict[Language, tuple[str, ...]]] = {
    "en": ("set a timer for {}", "set an alarm {}", "set an alarm for {}", "set an alarm at {}", "remind me {}"),
    "zh": ("设一个{}计时器", "{}提醒我"),
}
"""Whole sentences of which a time, or a time and what it is for, may be the rest."""

_COUNTED: Final[dict[Language, str]] = {"en": "set a timer for {} minutes", "zh": "设一个{}分钟的计时器"}
_ASKED_THERE: Final[dict[Language, str]] = {"en": "what time is it in {}", "zh": "{}现在几点"}


_ASKED_OF_DAY: Final[dict[str, str]] = {"date": "{}是星期几", "days_until": "离{}还有多少天"}
"""How that is asked in Chinese which was asked of another day, by its intent."""

_DATE: Final = re.compile(r"(?:\d{4}年)?([\d一二三四五六七八九十]{1,3}月[\d一二三四五六七八九十]{1,3})[日号]?")

_COUNT_ZH: Final = r"[\d零一二两三四五六七八九十]+"

_PAUSE: Final = " ,，、"


def in_full(state: DialogState, understand: Understand) -> DialogState:
    """Return the state with the words as they would be alone: 护照呢 after 户口本在哪儿 asks where the passport is."""
    before = _before(state)
    full = _in_full(state.words, before, state.language, understand) if before is not None else ""
    turn = state.turn
    return replace(state, turn=replace(turn, block=replace(turn.block, words=full))) if full else state


def _in_full(words: str, before: Turn, language: Language, understand: Understand) -> str:
    """Return the words with what those before them, or their answer, said already; "" where nothing was left out."""
    if that_day := anywhere(language, "that_day").search(words):
        told = _DATE.search("".join(before.replies)) or _DATE.search(before.words)
        return f"{words[: that_day.start()]}{told[1]}号{words[that_day.end() :]}" if told else ""
    opened = beginning("opening", language).match(words)
    asked = ending("as_before", language).search(words)
    thing = words[opened.end() if opened else 0 : asked.start()].strip(_PAUSE) if asked else ""
    if not 0 < len(thing) <= _LONGEST_THING or understand(words).name not in {"unknown", "recall"}:
        return ""
    meant = understand(before.words)
    if meant.name == "time_there":
        return _ASKED_THERE[language].format(thing)
    if meant.name in _ASKED_OF_DAY:
        return _ASKED_OF_DAY[meant.name].format(thing)
    topic = meant.text("topic") if meant.name == "recall" else ""
    return before.words.replace(topic, thing, 1) if topic else ""


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
    if {result.tool for result in before.results} & _TIMERS:
        return next(_of_timers(words, language, intent, understand), intent)
    if intent.name == "unknown" and _goes_on_telling(words, language) and understand(before.words).name == "remember":
        return Intent("remember", {"fact": without_fillers(words, language)})
    asked = beginning("elsewhere", language).match(words)
    if asked and understand(before.words).name in _PLACES:
        return understand(_ASKED_THERE[language].format(without_fillers(words[asked.end() :], language)))
    return intent


def _goes_on_telling(words: str, language: Language) -> bool:
    """Say whether words tell one thing more after something that was to be kept."""
    if is_question(words) or beginning("ordering", language).match(without_fillers(words, language)):
        return False
    return anywhere(language, "states").search(words) is not None


def _of_timers(words: str, language: Language, intent: Intent, understand: Understand) -> Iterator[Intent]:
    """Yield what the words may mean where the last turn set, told or cancelled a timer, the likeliest first."""
    if ending("cancel_it", language).search(words):
        yield Intent("timer_cancel", {"newest": 1})
    if called := beginning("call_it", language).match(words):
        yield Intent("timer_change", {"called": without_fillers(words[called.end() :], language)})
    corrected = beginning("correcting", language).match(words) or beginning("changing", language).match(words)
    if corrected and intent.name not in {"timer_start", "alarm"}:
        rest = words[corrected.end() :]
        changing = beginning("changing", language).match(rest)
        when = without_fillers(rest[changing.end() if changing else 0 :], language)
        yield from (Intent("timer_change", each.slots) for each in _timed(when, language, understand))
        if number := _number(when, language, understand):
            yield Intent("timer_change", {"count": number})
    if intent.name not in {"timer_start", "alarm"} and not is_question(without_fillers(words, language)):
        yield from _one_more(words, language, understand)


def _one_more(words: str, language: Language, understand: Understand) -> Iterator[Intent]:
    """Yield the further timer or alarm that the words ask for, at their beginning or anywhere in them."""
    if another := beginning("another", language).match(words):
        yield from _timed(without_fillers(words[another.end() :], language), language, understand)
    if one_more := anywhere(language, "one_within").search(words):
        rest = f"{words[: one_more.start()]}{words[one_more.end() :].lstrip(_PAUSE)}"
        yield from _timed(without_fillers(rest, language), language, understand)


def _timed(when: str, language: Language, understand: Understand) -> Iterator[Intent]:
    """Yield the timer or the alarm that a time is, with what is said beside it."""
    for frame in _FRAMES[language] if when else ():
        found = understand(frame.format(when))
        if found.name in {"timer_start", "alarm"}:
            yield found


def _number(words: str, language: Language, understand: Understand) -> int:
    """Return a number that stands alone, 0 where none does."""
    is_short = 0 < len(words.split()) < 3 if language == "en" else re.fullmatch(_COUNT_ZH, words) is not None
    return understand(_COUNTED[language].format(words)).number("minutes") if is_short else 0


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
    before = next((turn for turn in reversed(state.earlier) if turn.block.is_human), None)
    return before if before is not None and state.follows(before) else None
