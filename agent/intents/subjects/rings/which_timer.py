"""Which timer is meant: by its name, its length, its place in the list, its weekday, or as the one just set."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from agent.intents.dialog_state import DialogState, Turn
from agent.intents.intent import Intent, Language, language_of
from agent.intents.language.lengths import in_digits, number_chinese
from agent.intents.language.questions import tokens
from agent.intents.language.wording import beginning, sentence_file
from agent.intents.saying.spoken import (
    clock,
    is_length,
    length,
    length_timer,
    moment_told,
    to_second_person,
)
from memory.chinese import has_chinese
from memory.json_value import Json, fields

Timer = dict[str, Json]
"""As the tool list_timers tells of it."""

RINGING: Final = frozenset({"set_timer", "set_alarm"})
"""Tools by which something is set that rings."""

BY_LIST: Final = frozenset({"id", "ordinal", "weekday", "newest", "at_hour", "at_period", "on_day"})
"""Slots of which one needs the list to know the timer that is meant."""

LONGEST_NAME: Final = 5
"""Words by which a timer is called."""

NAMING: Final = frozenset({"timer_change", "timer_status", "timer_cancel"})
"""Intents of what is done to a timer that is named."""

EMPTY: Final = frozenset(("the", "a", "an", "my", "i", "our", "one", "timer", "alarm", "remind", "thing", "for"))
"""Stems in what somebody calls a timer that tell nothing."""

_PERIODS: Final = {"morning": (0, 12), "noon": (11, 14), "evening": (12, 19)} | dict.fromkeys(
    ("night", "late"), (18, 24)
)
"""Hours between which a part of the day lies."""

_BY_TIME: Final = frozenset(("weekday", "on_day", "at_hour", "at_period"))

IT: Final = frozenset({"it", "that", "this", "about it", "这个", "这事", "这件事", "那件事", "它"})
"""What stands for something that was told before, and is no name of it."""

_NAMELESS: Final = frozenset({"it", "that", "this", "that one", "this one", "wake-up", "wake up", "起床"})


def is_nameless(label: str) -> bool:
    """Say whether what something that rings is called tells nothing of it: it; that one; my alarm."""
    return label.casefold() in _NAMELESS or {token.stem for token in tokens(label)} <= EMPTY


def label_of(timer: Timer) -> str:
    """Return what a timer is for, "" where nothing was said."""
    return str(timer.get("label", ""))


_ORDER: Final = {
    **dict.fromkeys(("earlier", "earliest", "sooner", "soonest", "早的", "早点的", "早一点的", "早些的"), 0),
    **dict.fromkeys(("later", "latest", "晚的", "晚点的", "晚一点的", "晚些的"), -1),
    **dict.fromkeys(("middle", "middle one", "中间", "中间的", "中间那个", "中间的那个"), 1),
}
"""How the first and the last of those that ring are called beside another one, and which of three stands between."""

_COMPARED_ZH: Final = re.compile("(?<![今明天每])[早晚](?:一?点|些)?的(?=那个|$|取消|闹钟|提醒|不|[删关改])")

_PARTS: Final = {"morning": (0, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 24)}
"""Hours of the part of the day that names one of several: cancel the evening one."""

OTHER: Final = re.compile(r"(?:the )?other(?: one)?|(?:另外?|别的?)的?(?:那|一)?个?", re.IGNORECASE)
"""What one of two is called, and no name of it."""

_PLACED: Final = re.compile(r"^(?:the|my|our) | (?:one|timer|alarm|reminder)$|[个条]?(?:计时器|定时器|闹钟|提醒)?$")
"""What stands around the place by which a timer is called: the second one, 第二个."""

_CLOCK_ZH: Final = re.compile("([一二两三四五六七八九十]{1,3})点(半)?(?:钟)?的?")

_OF_CLOCK: Final = re.compile(r"(?:half|(?:a )?quarter|five|ten|twenty|5|10|20|25) (?:past|to)", re.IGNORECASE)
"""The beginning of a time, and no name: make that ten past seven."""

_KINDS: Final = {
    "timer": re.compile(r"\b(?:timers?|countdowns?)\b|计时器|定时器|倒计时|计时", re.IGNORECASE),
    "alarm": re.compile(r"\balarms?\b|闹钟|闹铃", re.IGNORECASE),
    "reminder": re.compile(r"\breminders?\b|提醒", re.IGNORECASE),
}
"""How each kind is named."""


def due_of(timer: Timer) -> datetime | None:
    """Return when it rings, local time without a zone."""
    return moment_told(str(timer.get("due", "")))


def meant(state: DialogState, timers: Sequence[Timer], intent: Intent) -> Timer | None:
    """Return the timer that is meant; without a name the one set last, or the next; None where none is like that.

    Slots: id, ordinal (from 1, -1 is the last), label, weekday (0 is Monday), on_day (0 is today), at_hour with
    at_minute and at_period, start_hours to start_seconds; `newest` for the one set last, whatever else is told of it.
    """
    if name := intent.text("id"):
        return next((each for each in timers if each.get("id") == name), None)
    wanted = "" if "newest" in intent.slots else intent.text("label") or intent.text("name")
    if place := intent.number("ordinal") or _place_in(wanted):
        row = _set_at_once(state, timers) or timers
        return row[place - (place > 0)] if abs(place) <= len(row) else None
    if not is_nameless(wanted):
        named = next((each for each in timers if _is_called(label_of(each), wanted)), None)
        named = named or _only_one_about(timers, wanted) or _ringing_at(timers, wanted)
        return named or _by_order(timers, wanted) or _other(state, timers, wanted)
    if _BY_TIME & intent.slots.keys() and "newest" not in intent.slots:
        said = _COMPARED_ZH.search(state.words) if "at_period" in intent.slots and len(timers) > 1 else None
        then = next((each for each in timers if (due := due_of(each)) and _rings_then(due, intent, state)), None)
        is_then = said is None or ("at_hour" in intent.slots and then is not None)  # 晚一点的: at one, or the later one
        return then if said is None or is_then else _by_order(timers, said.group())
    if seconds := intent.seconds("start_"):
        return next((each for each in timers if label_of(each) == length(seconds, state.language)), None)
    return spoken_of(state, timers) or (timers[0] if timers else None)


def on_that_day(state: DialogState, timers: Sequence[Timer], intent: Intent) -> list[Timer]:
    """Return the timers of the day that names them, or all where none does."""
    named = {name: intent.slots[name] for name in ("weekday", "on_day") if name in intent.slots}
    if not named:
        return [*timers]
    of_day = Intent(intent.name, named)
    return [each for each in timers if (due := due_of(each)) and _rings_then(due, of_day, state)]


def of_one_day(timer: Timer, intent: Intent) -> dict[str, Json]:
    """Return what a call that cancels says where only one day of what comes again is meant: today's, tomorrow's."""
    of_day = {0: "today", 1: "tomorrow"}.get(intent.number("on_day")) if "on_day" in intent.slots else None
    return {"day": of_day} if of_day and "repeats" in timer else {}


def spoken_of(state: DialogState, timers: Sequence[Timer]) -> Timer | None:
    """Return the one of the timers that the conversation spoke of last: it was set then, or alone told of."""
    each = (_of_turn(turn, timers, state.language) for turn in reversed(state.earlier))
    return next(filter(None, each), None)


def _of_turn(turn: Turn, timers: Sequence[Timer], language: Language) -> Timer | None:
    set_ = [timer for id_ in reversed(_set_in(turn)) for timer in timers if timer.get("id") == id_]
    is_told = any(each.tool == "list_timers" for each in turn.results)
    told = [each for each in timers if is_told and _called_in_reply(each, language) in " ".join(turn.replies)]
    return next(iter(set_), None) or (told[0] if len(told) == 1 else None)


def _called_in_reply(timer: Timer, language: Language) -> str:
    """Return what a timer is told of by: its name, its length, or when it rings."""
    label, due = label_of(timer), due_of(timer)
    if is_length(label):
        return length_timer(label, language)
    return to_second_person(label, language) or (clock(due, language) if due else str(timer.get("left")))


def _other(state: DialogState, timers: Sequence[Timer], wanted: str) -> Timer | None:
    """Return the one of two that was not spoken of last, where it is only called the other one."""
    last = spoken_of(state, timers) if len(timers) == 2 and OTHER.fullmatch(wanted) else None
    return next((each for each in timers if last and each is not last), None)


def names_timer(intent: Intent) -> bool:
    """Whether what an intent calls a timer can be the name of one: what is longer is a sentence."""
    label = intent.text("label")
    is_none = bool(label) and not beginning("correcting", language_of(label)).sub("", label, count=1)
    is_none = is_none or _OF_CLOCK.fullmatch(label) is not None
    return intent.name not in NAMING or (len(label.split()) <= LONGEST_NAME and not is_none)


def _rings_then(due: datetime, intent: Intent, state: DialogState) -> bool:
    """Say whether a timer rings on the day, or at the time of day, that names it: of the morning or of the evening."""
    if "weekday" in intent.slots:
        return due.weekday() == intent.number("weekday")
    if "on_day" in intent.slots:
        return state.now is not None and (due.date() - state.now.date()).days == intent.number("on_day")
    hour, period = intent.number("at_hour"), intent.text("at_period")
    if "at_hour" not in intent.slots:
        first, end = _PERIODS[period]
        return first <= due.hour < end
    halves = {"": (0, 12), "morning": (0,)}.get(period, (12,))
    hours = {hour} if hour > 12 else {hour % 12 + half for half in halves}
    # Ten to seven has minus ten minutes.
    return (due.hour * 60 + due.minute) in {each * 60 + intent.number("at_minute") for each in hours}


def _is_called(label: str, wanted: str) -> bool:
    """Say whether a label has all the words of a name that tell something, or is a part of it."""
    if (minutes := _number_in(wanted)) and is_length(label):
        return label.split()[0] == str(minutes)
    if has_chinese(wanted):
        return wanted in label or (bool(label) and label in wanted)
    words = {token.stem for token in tokens(wanted)} - EMPTY
    return bool(words) and words <= {token.stem for token in tokens(label)}


def _only_one_about(timers: Sequence[Timer], wanted: str) -> Timer | None:
    """Return the only timer whose label has a word of a name that tells more besides: the hens at noon."""
    parted = re.split(r",|\b(?:at|in|on|for)\b", wanted, maxsplit=1)[0]
    words = {token.stem for token in tokens(parted)} - EMPTY
    about = [each for each in timers if words and words <= {token.stem for token in tokens(label_of(each))}]
    return about[0] if len(about) == 1 and parted != wanted else None


def _ringing_at(timers: Sequence[Timer], wanted: str) -> Timer | None:
    """Return the first timer that rings at the Chinese hour that it is called by: 六点的闹钟."""
    clock = _CLOCK_ZH.fullmatch(wanted)
    if clock is None:
        return None
    then = int(float(number_chinese(clock[1]))) % 12, 30 if clock[2] else 0
    dues = ((due_of(timer), timer) for timer in timers)
    return next((timer for due, timer in dues if due is not None and (due.hour % 12, due.minute) == then), None)


def _by_order(timers: Sequence[Timer], wanted: str) -> Timer | None:
    """Return the one that rings before another or after it, or between two; or the only one of a part of the day."""
    dues = sorted((due, str(timer.get("id", "")), timer) for timer in timers if (due := due_of(timer)))
    if (order := _ORDER.get(wanted.lower().removeprefix("the "))) is not None and len(dues) == len(timers):
        of_many = len(dues) > 1 and wanted.lower().endswith("est")
        is_plain = of_many or len(dues) == (3 if order == 1 else 2)
        return dues[order][2] if is_plain else None
    hours = _PARTS.get(wanted.lower().removeprefix("the "))
    fitting = [timer for due, _, timer in dues if hours and hours[0] <= due.hour < hours[1]]
    return fitting[0] if len(fitting) == 1 else None


def _place_in(wanted: str) -> int:
    """Return the place in the list that a timer is called by, from 1, -1 for the last; 0 where it has a name."""
    places = sentence_file(language_of(wanted))["lists"]["ordinal"]
    name = _PLACED.sub("", wanted.lower())
    return next((int(place) for said, place in places.items() if re.fullmatch(said, name)), 0)


def _number_in(wanted: str) -> int:
    """Return the number that a timer is called by, such as the ten; 0 where it has a name."""
    said = "" if has_chinese(wanted) else in_digits(wanted.lower().removeprefix("the "))
    return int(said) if said.isdecimal() else 0


def _set_at_once(state: DialogState, timers: Sequence[Timer]) -> list[Timer]:
    """Return those of the timers that the words before set in one breath, in their order; [] for one alone."""
    ids = [id_ for turn in state.last_said() for id_ in _set_in(turn)]
    row = [timer for id_ in ids for timer in timers if timer.get("id") == id_]
    return row if len(row) > 1 and len(row) == len(ids) else []


def _set_in(turn: Turn) -> list[str]:
    """Return the ids of the timers that a turn set, in order."""
    set_ = [each for each in turn.results if each.tool in RINGING and not each.has_failed]
    return [str(fields(each.value).get("id", "")) for each in set_]


def kinds_in(words: str) -> set[str]:
    """Return the kinds of what rings that words name."""
    return {kind for kind, named in _KINDS.items() if named.search(words)}


def kind_of(timer: Timer) -> str:
    """Return what people call it: an alarm that is for something reminds of it; "" where its tool does not tell."""
    kind, label = str(timer.get("kind", "")), label_of(timer)
    return "reminder" if kind == "alarm" and label and not is_length(label) else kind


def of_kind_said(state: DialogState, timers: Sequence[Timer], intent: Intent) -> list[Timer]:
    """Return those of the one kind that the words name; all where they name none, or several.

    Who says alarm means what rings at an hour, or what was set under that word: 定十分钟的闹钟; without a name that
    which wakes rather than what reminds. What has a name, or is all that is set, may be called a reminder.
    """
    kinds = kinds_in(as_said(state, intent))
    if len(kinds) != 1:
        return [*timers]
    (kind,) = kinds
    is_named = bool(intent.text("label")) or not BY_LIST.isdisjoint(intent.slots)
    if kind == "reminder":
        found = [each for each in timers if kind_of(each) == kind]
        return [*timers] if is_named or len(timers) == 1 else found
    if kind == "timer":
        return [each for each in timers if each.get("kind") != "alarm"]
    called = {id_ for turn in state.earlier if kind in kinds_in(turn.words) for id_ in _set_in(turn)}
    found = [each for each in timers if each.get("kind") != "timer" or each.get("id") in called]
    return (not is_named and [each for each in found if wakes(each)]) or found


def as_said(state: DialogState, intent: Intent) -> str:
    """Return the words as the person said them, also where they were guessed to mean others."""
    return intent.text("guessed") or state.words


def wakes(timer: Timer) -> bool:
    """Say whether it is an alarm that is for nothing else than to wake."""
    return kind_of(timer) in {"alarm", "reminder"} and is_nameless(label_of(timer))
