"""What words mean after those before them: and another for ten; no, make that fifteen; plus thirty."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from agent.intents.dialog_state import DialogState, Turn
from agent.intents.intent import TIMED, UNKNOWN, Intent, Language, Slot, Understand, language_of
from agent.intents.phrases import gaps, phrase
from agent.intents.questions import is_question, is_statement
from agent.intents.spoken import is_length, moment_told
from agent.intents.subjects import chance
from agent.intents.subjects.days import day_of, names_day
from agent.intents.subjects.lists import spoken_of
from agent.intents.subjects.recall import put_right
from agent.intents.subjects.sums import continued
from agent.intents.wording import anywhere, bare, beginning, ending, is_story, mended, without_fillers
from memory.json_value import Json, fields

_RINGING: Final = frozenset({"set_timer", "set_alarm"})
_TIMERS: Final = _RINGING | {"list_timers", "cancel_timer"}
"""Tools by which a turn was about what rings."""

_LONGEST_THING: Final = 10
"""Characters of what is asked the same of as of the thing before it."""

_PLACES: Final = frozenset({"time", "time_there"})

_OPEN: Final = frozenset(
    {"unknown", "recall", "yes", "no", "never_mind", "ask_when", "timer_start", "alarm", "hello", "outside", "repeat"}
)
"""What words may be taken for, alone, that mean something else after a timer was set."""

MOST_WORDS: Final = 6
"""Words of a question after one of several timers."""

LONGEST_NAME: Final = 25
"""Characters of what a further timer is for, where only its length is said with it."""

_BESIDE: Final[dict[Language, int]] = {"en": 30, "zh": 2}
"""Characters that may stand before "cancel it" without being the name of another one."""

LONGEST_ITEM: Final = 60
"""Characters of what is put on a list without the list being named."""

_FRAMES: Final[dict[Language, tuple[str, ...]]] = {
    "en": ("set a timer for {}", "remind me {}", "remind me at {}", "remind me in {}"),
    "zh": ("设一个{}计时器", "{}提醒我"),
}
"""Whole sentences of which a time, or a time and what it is for, may be the rest."""

_AT_NOON: Final[dict[Language, str]] = {"en": "remind me {} at noon", "zh": "{}正午提醒我"}
"""A whole sentence of which a day alone may be a part."""

_OF_HOUR: Final[dict[Language, dict[int, str]]] = {
    "en": {1: "remind me at {} one", 11: "remind me at {} eleven"},
    "zh": {1: "一点{}提醒我", 11: "十一点{}提醒我"},
}
"""Whole sentences of which the minutes of an hour alone may be a part, by that hour."""

_IT: Final = frozenset({"it", "that", "them", "those"})
"""What is put back that was just taken off."""

_OFF: Final[dict[Language, str]] = {"en": r",| off\b| and put\b", "zh": "[，,]"}
"""Behind what is taken off a list."""

_COUNTED: Final[dict[Language, str]] = {"en": "set a timer for {} minutes", "zh": "设一个{}分钟的计时器"}
_ASKED_THERE: Final[dict[Language, str]] = {"en": "what time is it in {}", "zh": "{}现在几点"}


_ASKED_OF_DAY: Final[dict[str, str]] = {"date": "{}是星期几", "days_until": "离{}还有多少天"}
"""How that is asked in Chinese which was asked of another day, by its intent."""

_DATE: Final = re.compile(r"(?:\d{4}年)?([\d一二三四五六七八九十]{1,3}月[\d一二三四五六七八九十]{1,3})[日号]?")

_DAY: Final = re.compile(
    r"\b(?:on )?(?:(?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|"
    r"the \w+(?:-\w+)? of (?:jan|febr|march|april|may|june|july|august|sept|octo|novem|decem)\w*)\b",
    re.IGNORECASE,
)
"""A day in what was told, which "that day" means then."""

_COUNT_ZH: Final = r"[\d零一二两三四五六七八九十]+"

_ARTICLE: Final = re.compile(r"\ban?\s+$", re.IGNORECASE)

_PAUSE: Final = " ,，、"

_SHARE: Final = re.compile(r"(?:what about |how about )?([\w.-]+ ?(?:%|percent|per cent))[?.]?", re.IGNORECASE)
_OF: Final = re.compile(r"\bof [\d.,]+", re.IGNORECASE)
"""A share alone, and what the one before it was of."""


def in_full(state: DialogState, understand: Understand) -> DialogState:
    """Return the state with the words as they would be alone: 护照呢 after 户口本在哪儿 asks where the passport is."""
    before = next(iter(state.last_said()), None)
    if before is None or is_story(state.words, state.language):
        return state
    full = _in_full(state.words, before, state.language, understand)
    return state.in_words(full) if full else state


def _in_full(words: str, before: Turn, language: Language, understand: Understand) -> str:
    """Return the words with what those before them, or their answer, said already; "" where nothing was left out."""
    if language == "en" and (that_day := anywhere(language, "that_day").search(words)):
        told = _DAY.search(before.words)
        return f"{words[: that_day.start()]}{told.group()}{words[that_day.end() :]}" if told else ""
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
    before = next(iter(state.last_said()), None)
    replies = before.replies if before is not None else ()
    value = next((found for reply in reversed(replies) if (found := _value(reply, state.language))), "")
    words = without_fillers(state.words, state.language)
    if before is not None and (share := _SHARE.fullmatch(words)) and (whole := _OF.search(before.words)):
        return f"{share[1]} {whole.group()}"  # and 23 percent, after 17 percent of 340
    return continued(value, words, state.language) if value else ""


def asked_back(state: DialogState) -> tuple[str, bool]:
    """Return the words of the person that were asked back just before ("": something else), and whether twice."""
    people = [turn for turn in state.earlier if turn.block.is_human][-2:]
    if not people or not state.follows(people[-1]):
        return "", False
    for name, turn in (("did_you_say", people[-1]), ("to_be_sure", people[0])):
        words = turn.words
        questions = {phrase(name, language, words=bare(words)) for language in ("en", "zh")}
        if questions & set(people[-1].replies):
            return words, name == "to_be_sure"
    read = (gaps("did_you_mean", reply, language) for language in ("en", "zh") for reply in people[-1].replies)
    return next((each["words"] for each in read if each), ""), False


def said_yes_to(state: DialogState, understand: Understand) -> str:
    """Return the words that were asked back, where the present ones are the yes to it; else ""."""
    asked, _ = asked_back(state)
    return asked if asked and understand(state.words).name == "yes" else ""


def follow_up(state: DialogState, intent: Intent, understand: Understand) -> Intent:
    """Return what the words mean after those before them; the intent that they have alone where that is all."""
    before = next(iter(state.last_said()), None)
    # "Make that half past seven" calls no timer "half past".
    opened = beginning("correcting", state.language).sub("", state.words, count=1)
    is_change = intent.name == "timer_change" and beginning("changing", state.language).match(opened)
    is_open = bool(is_change) or intent.name in _OPEN
    if before is None or not is_open or is_story(state.words, state.language):
        return intent
    words, language = mended(state.words, state.language), state.language
    is_of_lists = bool(spoken_of(before.replies, language))
    if any(_is_of_timers(turn) for turn in state.last_said(1 if is_of_lists else 2)):
        return next(_of_timers(words, intent, before, understand), intent)
    meanings = _of_lists if is_of_lists else _of_others
    return next(meanings(words, before, intent, understand), intent)


def _of_others(words: str, last: Turn, intent: Intent, understand: Understand) -> Iterator[Intent]:
    """Yield what the words may mean after a change of the volume, something to be kept, or the time of a place."""
    language, before = language_of(words), understand(last.words)
    if any(each.tool == "set_volume" for each in last.results) and beginning("more_of_it", language).match(words):
        yield from [before] * (before.name in {"volume_up", "volume_down"})
    is_again = intent.name in {"repeat", "unknown"} and anywhere(language, "once_more").search(words)
    if is_again and before.name in chance.INTENTS:
        yield before
    if intent.name == "unknown" and (fact := put_right(words, last, language)):
        yield Intent("put_right", {"fact": fact})
    if intent.name == "unknown" and _goes_on_telling(words, language) and before.name == "remember":
        yield Intent("remember", {"fact": without_fillers(words, language)})
    asked = beginning("elsewhere", language).match(words)
    if asked and before.name in _PLACES:
        yield understand(_ASKED_THERE[language].format(without_fillers(words[asked.end() :], language)))


def _is_of_timers(turn: Turn) -> bool:
    """Say whether a turn was about what rings: where it was looked for in all that was said, it was not."""
    called = {result.tool for result in turn.results}
    return bool(_TIMERS & (called - {"list_timers"} if "recall" in called else called))


def _goes_on_telling(words: str, language: Language) -> bool:
    """Say whether words tell one thing more after something that was to be kept."""
    if is_question(words) or beginning("ordering", language).match(without_fillers(words, language)):
        return False
    return anywhere(language, "states").search(words) is not None


def _of_timers(words: str, intent: Intent, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield what the words may mean where the last turns set, told or cancelled a timer, the likeliest first."""
    language = language_of(words)
    if beginning("more_time", language).match(words):
        return  # of what was spoken of, which the list tells
    cancelled = ending("cancel_it", language).search(words)
    if cancelled and len(without_fillers(words[: cancelled.start()], language)) <= _BESIDE[language]:
        yield Intent("timer_cancel", {"newest": 1})
    if called := beginning("call_it", language).match(words):
        yield Intent("timer_change", {"called": without_fillers(words[called.end() :], language), "newest": 1})
    asked = beginning("asking_after", language).match(words)
    if asked and len(words.split()) <= MOST_WORDS:
        yield Intent("timer_status", {"label": without_fillers(words[asked.end() :], language), "named": 1})
    yield from _another_of_minutes(words, language, last, understand)
    if intent.name in TIMED or is_question(without_fillers(words, language)):
        return
    yield from _same_on(words, language, last, understand)
    yield from _later_than_last(words, language, last, understand)
    yield from _corrected(words, language, understand)
    if intent.name == "outside" and (ended := beginning("end_it", language).match(words)):
        yield Intent("timer_cancel", {"label": without_fillers(re.split(",", words[ended.end() :])[0], language)})
    if intent.name != "outside":
        yield from _another(words, language, last, understand)
        yield from _another_within(words, language, understand)


def _corrected(words: str, language: Language, understand: Understand) -> Iterator[Intent]:
    """Yield the changes of the timer just set that the words may be: no, make that eight; sorry, Monday."""
    opened = beginning("correcting", language).match(words)
    rest = words[opened.end() if opened else 0 :]
    changing = beginning("changing", language).match(rest)
    if not changing and not (opened and anywhere(language, "objecting").search(opened.group())):
        return
    if anywhere(language, "as_well").search(words):
        return  # of another day, or for something else
    when = without_fillers(rest[changing.end() if changing else 0 :], language)
    when = _last_clause(when, language, understand) or when  # no, I like it softer, four minutes
    if number := _number(when, language, understand):
        yield Intent("timer_change", {"count": number, "newest": 1})
    if (minute := _minute(when, language, understand)) is not None:
        yield Intent("timer_change", {"minute": minute, "newest": 1})
    day = understand(_AT_NOON[language].format(when))
    is_day = day.name == "alarm" and names_day(day)
    of_day = {name: value for name, value in day.slots.items() if name != "exact_hour"} if is_day else {}
    for slots in (*(each.slots for each in _timed(when, language, understand)), of_day):
        if slots and not slots.get("label"):
            yield Intent("timer_change", {**slots, "newest": 1})


def _last_clause(words: str, language: Language, understand: Understand) -> str:
    """Return the last clause of the words where it is a time and nothing else; "" where it is not."""
    *before, last = re.split(r"[，；。]|[,;.!?]\s+", words)
    if not before:
        return ""
    clause = without_fillers(beginning("changing", language).sub("", last, count=1), language)
    return clause if any(not each.text("label") for each in _timed(clause, language, understand)) else ""


def _same_on(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield an alarm at the time of the last one on another day, or in another part of it: and the same on Thursday."""
    as_well = anywhere(language, "as_well").search(words)
    set_, due = _alarm_set(last)
    if as_well is None or due is None:
        return
    day = understand(
        _AT_NOON[language].format(without_fillers(f"{words[: as_well.start()]}{words[as_well.end() :]}", language))
    )
    if day.name == "alarm" and names_day(day) and not day.text("label"):
        label = {"label": str(set_["label"])} if set_.get("label") else {}
        yield Intent("alarm", {**day_of(day), "exact_hour": due.hour, "minute": due.minute, **label})


def _alarm_set(last: Turn) -> tuple[dict[str, Json], datetime | None]:
    """Return the alarm that a turn set last, as its tool tells of it, and when it rings; {} and None without one."""
    set_ = next((fields(each.value) for each in reversed(last.results) if each.tool == "set_alarm"), {})
    return set_, moment_told(str(set_.get("due", "")))


def _later_than_last(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield one more alarm so long after, or before, the one just set: and another one ten minutes after that."""
    opened, hung = beginning("another", language).match(words), anywhere(language, "after_that").search(words)
    _, due = _alarm_set(last)
    if not opened or not hung or due is None:
        return
    length = next(_timed(without_fillers(words[opened.end() : hung.start()], language), language, understand), UNKNOWN)
    if length.name == "timer_start" and not length.text("label"):
        is_before = re.search("before|前", hung.group())
        then = due + timedelta(seconds=-length.seconds() if is_before else length.seconds())
        yield Intent("alarm", {"date": then.day, "month": then.month, "exact_hour": then.hour, "minute": then.minute})


def _another_of_minutes(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield one more timer where a number follows one: "another for twelve" is no alarm at noon then."""
    opened = beginning("another", language).match(words)
    if not opened or not any(each.tool == "set_timer" for each in last.results):
        return
    count, _, label = without_fillers(words[opened.end() :], language).partition(" for ")
    if number := _number(count, language, understand):
        named: dict[str, Slot] = {"label": without_fillers(label, language)} if label else {}
        yield Intent("timer_start", {"minutes": number, **named})


def _another(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield one more timer or alarm, as the words may ask for it: and another for ten; and the garlic bread, eight."""
    opened = beginning("another", language).match(words)
    if opened is None:
        return
    when = without_fillers(words[opened.end() :], language)
    is_asked = beginning("time_first", language).match(when) or anywhere(language, "one_more").search(opened.group())
    before = understand(last.words)
    # Seven tomorrow, and half past: of the same day, and to wake as well.
    same = day_of(before) | {name: value for name, value in before.slots.items() if name == "wakes"}
    is_told = is_statement(when) or (anywhere(language, "is_so").search(when) is not None)
    article = _ARTICLE.search(opened.group())  # of "an hour", which "another" may have too
    whole = [when, *([f"{article.group()}{when}"] if article else [])]
    may_be = (
        [found for each in whole for found in _timed(each, language, understand)] if is_asked or not is_told else []
    )
    for found in sorted(may_be, key=lambda each: (each.name != before.name, len(each.text("label")))):
        is_alarm = found.name == before.name == "alarm" and not names_day(found)
        again = {"repeat": before.text("repeat")} if before.text("repeat") and not found.text("label") else {}
        each = Intent(found.name, {**same, **again, **found.slots}) if is_alarm else found
        if not each.text("label") and (label := _reminded_of(last, language)):
            yield Intent(each.name, {**each.slots, "label": label})
        elif is_asked or len(each.text("label")) <= LONGEST_NAME:
            yield each


def _reminded_of(last: Turn, language: Language) -> str:
    """Return what a turn was to remind of, "" where it rings for nothing: "and again at eight" is for the same."""
    if anywhere(language, "remind").search(last.words) is None:
        return ""
    labels = (str(fields(each.value).get("label", "")) for each in last.results if each.tool in _RINGING)
    return next((label for label in labels if not is_length(label)), "")


def _another_within(words: str, language: Language, understand: Understand) -> Iterator[Intent]:
    """Yield one more timer or alarm that is asked for in the middle of the words."""
    if one_more := anywhere(language, "one_within").search(words):
        rest = f"{words[: one_more.start()]}{words[one_more.end() :].lstrip(_PAUSE)}"
        yield from _timed(without_fillers(rest, language), language, understand)


def _timed(when: str, language: Language, understand: Understand) -> Iterator[Intent]:
    """Yield the timer or the alarm that a time is, with what is said beside it."""
    for frame in _FRAMES[language] if when else ():
        found = understand(frame.format(when))
        if found.name in TIMED:
            yield found


def _of_lists(words: str, last: Turn, intent: Intent, understand: Understand) -> Iterator[Intent]:
    """Yield what the words may mean where a list was just spoken of."""
    language = language_of(words)
    if back := anywhere(language, "put_back").search(words):
        gone = next(filter(None, (gaps("list_removed", reply, language).get("items") for reply in last.replies)), "")
        yield Intent("list_add", {"item": gone if back["back"] in _IT else back["back"]})
    is_it = beginning("put_it_on", language).fullmatch(words.rstrip(".!?。！？"))
    if is_it and (asked := understand(last.words).text("item")):
        yield Intent("list_add", {"item": asked})
    bare = without_fillers(words, language)
    if off := beginning("take_off", language).match(bare):
        item = re.split(_OFF[language], bare[off.end() :], maxsplit=1)[0]
        yield Intent("list_remove", {"item": ending("off_it", language).sub("", item)})
    also = beginning("also", language).match(words)
    item = without_fillers(words[also.end() :], language) if also else ""
    if (
        item
        and intent.name in {"unknown", "recall", "remember"}
        and len(item) <= LONGEST_ITEM
        and not is_question(item)
    ):
        yield Intent("list_add", {"item": item})


def _minute(words: str, language: Language, understand: Understand) -> int | None:
    """Return the minutes that words name without their hour: half past; None where they name an hour, or nothing."""
    found = [(hour, understand(frame.format(words))) for hour, frame in _OF_HOUR[language].items()]
    is_minute = all(each.name == "alarm" and each.slots.get("hour") == hour for hour, each in found)
    minute = found[0][1].slots.get("minute")
    return int(minute) if is_minute and minute is not None and not found[0][1].text("label") else None


def _number(words: str, language: Language, understand: Understand) -> int:
    """Return a number that stands alone, 0 where none does."""
    is_short = 0 < len(words.split()) < 3 if language == "en" else re.fullmatch(_COUNT_ZH, words) is not None
    counted = understand(_COUNTED[language].format(words)) if is_short else UNKNOWN
    return counted.number("minutes") if counted.slots.keys() == {"minutes"} else 0  # "eight thirty" is none


def _value(reply: str, language: Language) -> str:
    """Return the number in the answer to a sum, "" where it is another sentence."""
    read = (gaps(name, reply, language).get("value", "").replace(",", "") for name in ("sum", "sum_about"))
    return next((number for number in read if re.fullmatch(r"-?\d+(?:\.\d+)?", number)), "")
