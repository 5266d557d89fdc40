"""What words put right of what was just set to ring: no, make that eight; not at seven, at eight; not on Saturday."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from agent.intents.dialog_state import Turn
from agent.intents.follow_up.afterwards import AT_NOON
from agent.intents.follow_up.bare_times import has_time, minute_alone, number_alone, timed
from agent.intents.intent import TIMED, UNKNOWN, Intent, Language, Understand, language_of
from agent.intents.language.patterns import patterns
from agent.intents.language.wording import anywhere, beginning, ending, without_fillers
from agent.intents.saying.spoken import is_length, moment_told
from agent.intents.subjects.days import but_for, names_day
from agent.intents.subjects.rings.timers import same_half
from agent.intents.subjects.rings.which_timer import RINGING
from memory.json_value import Json, fields

_DAY: Final = patterns(en=r"\b(?:\w+days?|tomorrow|tonight|weekends?)\b", zh="周|星期|礼拜|[今明后]天|[今明][早晚]")
"""What names a day."""

_PART: Final = patterns(
    en=r"(?:(?:no|nope|sorry|oh|oops|wait|actually|i (?:mean|meant|said)|make (?:it|that)|that's|for|and|"
    r"not (?:in the \w+|tonight|at night))[\s,.]+)*"
    r"(?P<part>in the (?:morning|afternoon|evening)|at night|tonight|this (?:evening|afternoon)|[ap][.]?m[.]?)"
    r"(?:,? (?:please|i (?:mean|meant)|not (?:in the \w+|tonight|at night)))?[\s.!]*",
    zh="(?:不对|不是(?:早上|上午|下午|晚上)?|不|错了|我(?:说的?|指的?|要的?)?(?:是|要)|应该是|是|改成|要|哦|[，,。 ])*"
    "(?P<part>(?:今天?|明天?)?(?:早上|早晨|上午|中午|下午|傍晚|晚上|晚|早))[的吧啦啊呀。]*",
)
"""A part of the day and nothing else."""

_SATURDAY: Final = 5
_SUNDAY: Final = 6

_WEEKEND: Final = patterns(en=r"(?:on |at )?(?:the )?weekends?", zh="周末|双休日")
"""Saturday and Sunday, and nothing else."""

_ONLY: Final = patterns(en=r"^(?:but |and |just |only )+| only$", zh="^(?:就|只|仅)在?|(?:才|再)?[叫响]我?$")
"""What days are said with on which alone it is to ring."""

_IS: Final = re.compile("(?:it|that)(?:'s| is)|是", re.IGNORECASE)
"""What tells rather than asks which day it is."""

_VAGUE: Final = frozenset({"unknown", "recall"})


def alarm_set(last: Turn) -> tuple[dict[str, Json], datetime | None]:
    """Return the alarm that a turn set last, as its tool tells of it, and when it rings; {} and None without one."""
    set_ = next((fields(each.value) for each in reversed(last.results) if each.tool == "set_alarm"), {})
    return set_, moment_told(str(set_.get("due", "")))


def _spoken_of(last: Turn) -> dict[str, Json]:
    """Return the alarm that a turn set last, or of which it left a day out."""
    left_out = (fields(fields(each.value).get("left_out")) for each in last.results if each.tool == "cancel_timer")
    return alarm_set(last)[0] or next((each for each in left_out if each), {})


def repeating(words: str, intent: Intent, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield the change of how often the one just set rings: can you do that every Tuesday; not on Fridays though.

    One day alone is the coming one, as it is of what was set long ago; on Fridays, or never on Friday, is for good.
    """
    if intent.name in TIMED:
        return
    language = language_of(words)
    plain = without_fillers(words, language)
    for wording, said in (("never_on", words), ("not_on", plain)):
        left_out = beginning(wording, language).match(said)
        behind = ending("not_then", language).search(said)
        clause = re.split("[,，]", said[left_out.end() :], maxsplit=1)[0] if left_out else ""
        clause = said[: behind.start()] if behind else clause
        named = without_fillers(clause, language).removesuffix(" either").removesuffix(" this week")
        if _WEEKEND[language].fullmatch(named):
            yield _without_weekends(str(_spoken_of(last).get("repeats", "")))
            return
        day = understand(AT_NOON[language].format(named.removesuffix("s"))) if named else UNKNOWN
        if day.name != "alarm" or not {"day", "weekday"} & day.slots.keys() or day.text("label"):
            continue
        if "day" in day.slots:
            yield Intent("timer_cancel", {"on_day": day.number("day"), "newest": 1})
            return
        if wording == "never_on" or named.endswith("s"):
            yield Intent("timer_change", {"without": day.number("weekday"), "newest": 1})
        elif _spoken_of(last).get("repeats"):
            yield Intent("timer_cancel", {"weekday": day.number("weekday"), "newest": 1})
        return
    again = beginning("do_that", language).match(plain)
    days = plain[again.end() :] if again else _ONLY[language].sub("", plain)
    every = understand(AT_NOON[language].format(days)) if again or intent.name in _VAGUE else UNKNOWN
    if every.name == "alarm" and every.text("repeat") and not every.text("label"):
        yield Intent("timer_change", {"repeat": every.text("repeat"), "newest": 1})


def _without_weekends(rule: str) -> Intent:
    """Return the change of what repeats by a rule to one without Saturday and Sunday; what rings on neither is told."""
    left = but_for(but_for(rule, _SATURDAY), _SUNDAY)
    if left == rule:
        return Intent("timer_status", {"named": 1, "newest": 1})
    return Intent("timer_change", {"repeat": left, "without": _SATURDAY, "newest": 1})


def of_its_part(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield the change of the alarm just set to the same hour of the clock in the part of the day that words name."""
    found, (_, due) = _PART[language].fullmatch(words.strip()), alarm_set(last)
    if found is None or due is None:
        return
    hour, minute = due.hour % 12 or 12, due.minute
    part = found["part"].replace(".", "")
    told = f"{part}{hour}点{minute}分提醒我" if language == "zh" else f"remind me at {hour}:{minute:02} {part}"
    meant = understand(told.replace("点0分", "点"))
    if meant.name == "alarm" and not meant.text("label") and meant.text("period"):
        of_no_day = {} if names_day(understand(last.words)) else {"anew": 1}
        yield Intent("timer_change", {**meant.slots, **of_no_day, "newest": 1})


def corrected(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield the changes of the timer just set that the words may be: no, make that eight; sorry, Monday."""
    opened = beginning("correcting", language).match(words)
    instead = _instead(words, language)
    rest = instead or words[opened.end() if opened else 0 :]
    has_no_time = understand(last.words).name == "ask_when"  # reminded of a day, at an hour of ours
    is_objecting = opened is not None and anywhere(language, "objecting").search(opened.group()) is not None
    changing = beginning("changing", language).match(rest)
    if (instead or is_objecting) and not changing:
        changing = beginning("wanting", language).match(rest)
    is_settled = ending("settling", language).search(words) and not beginning("another", language).match(words)
    if not (instead or changing or has_no_time or is_objecting or is_settled):
        return
    if anywhere(language, "as_well").search(words):
        return  # of another day, or for something else
    when = without_fillers(ending("settling", language).sub("", rest[changing.end() if changing else 0 :]), language)
    when = _last_clause(when, language, understand) or when  # no, I like it softer, four minutes
    first = without_fillers(re.split("[,，]", when, maxsplit=1)[0], language)  # make it eight, she has vespers
    if number := number_alone(when, language, understand) or number_alone(first, language, understand):
        yield Intent("timer_change", {"count": number, "newest": 1})
    if (minute := minute_alone(when, language, understand)) is not None:
        yield Intent("timer_change", {"minute": minute, "newest": 1})
    day = understand(AT_NOON[language].format(when))
    is_told = changing and not (instead or is_objecting) and _IS.match(changing.group())  # it's Sunday
    is_day = day.name == "alarm" and names_day(day) and not is_told
    of_day = {name: value for name, value in day.slots.items() if name != "exact_hour"} if is_day else {}
    whole = [found for each in dict.fromkeys((when, first)) for found in timed(each, language, understand)]
    as_said = understand(when) if instead else UNKNOWN  # wake me at eight
    for slots in (*(each.slots for each in (as_said, *whole) if each.name in TIMED), of_day):
        label = str(slots.get("label", "")).strip("要")
        if slots and (not label or label in last.words):  # no, the essay needs half an hour
            times_ = {name: value for name, value in slots.items() if name not in {"label", "wakes"}}
            yield Intent("timer_change", {**times_, "newest": 1})


def set_anew(change: Intent, last: Turn) -> Intent:
    """Return a change of what the turn before cancelled as what sets it at another time: well, maybe nine then."""
    called = next((each for each in reversed(last.results) if each.tool == "cancel_timer"), None)
    is_moved = any(each.tool in RINGING for each in last.results)  # it was set at another time already
    gone = fields(fields(called.value).get("cancelled")) if called and not is_moved else {}
    due = moment_told(str(gone.get("due", "")))
    if change.name != "timer_change" or due is None or "without" in change.slots:
        return change
    slots = {name: value for name, value in change.slots.items() if name not in {"newest", "count"}}
    is_alarm = gone.get("kind") == "alarm"
    if number := change.number("count"):
        slots["hour" if is_alarm else "minutes"] = number
    label = str(gone.get("label", ""))
    named = {"label": label} if label and not is_length(label) else {}
    if Intent("", slots).seconds():
        return Intent("timer_start", slots | named)
    day = {} if names_day(Intent("", slots)) else {"date": due.day, "month": due.month}
    at = slots if {"hour", "exact_hour"} & slots.keys() else {"exact_hour": due.hour, "minute": due.minute, **slots}
    return Intent("alarm", {**day, **same_half(dict(at), due), **named})


def denies(words: str, language: Language) -> bool:
    """Say whether words deny one time and tell another: I don't want it at seven, I want it at eight."""
    return bool(_instead(words, language))


def _instead(words: str, language: Language) -> str:
    """Return the clause that tells what is meant where another one tells what is not, before it or behind it."""
    correcting, denying, wanting = (beginning(name, language) for name in ("correcting", "denying", "wanting"))
    parts = re.split(r"[,，;；。]\s*|[.] | but ", words)
    clauses = [each if denying.match(each) else correcting.sub("", each) for each in parts]
    denied = [each for each in clauses if denying.match(each) and _is_time(denying.sub("", each), language)]
    wanted = [each for each in clauses if each and each not in denied]
    if not denied or not wanted:
        return ""
    likely = (each for each in reversed(wanted) if wanting.match(each) or _is_time(each, language))
    return next(likely, wanted[-1])


def _is_time(words: str, language: Language) -> bool:
    """Say whether words name a time or a day, and nothing that rings: the alarm tomorrow is one of several."""
    names_time = has_time(words, language) or _DAY[language].search(words) is not None
    return names_time and anywhere(language, "ringing").search(words) is None


def _last_clause(words: str, language: Language, understand: Understand) -> str:
    """Return the last clause of the words where it is a time and nothing else; "" where it is not."""
    *before, last = re.split(r"[，；。]|[,;.!?]\s+", words)
    if not before:
        return ""
    clause = without_fillers(beginning("changing", language).sub("", last, count=1), language)
    return clause if any(not each.text("label") for each in timed(clause, language, understand)) else ""
