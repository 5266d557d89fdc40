"""What words mean after something that rings was set, told or cancelled: and another for ten; no, make that eight."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

from agent.intents.dialog_state import Turn
from agent.intents.follow_up.afterwards import AT_NOON, on_day_instead, once_over
from agent.intents.follow_up.bare_times import minute_alone, number_alone, timed
from agent.intents.follow_up.corrections import alarm_set, corrected, denies, of_its_part, repeating, set_anew
from agent.intents.intent import TIMED, UNKNOWN, Intent, Language, Slot, Understand, language_of
from agent.intents.language.dates import WEEKDAY
from agent.intents.language.exchanges import with_exchanged
from agent.intents.language.lengths import NUMBER
from agent.intents.language.questions import is_question, is_statement
from agent.intents.language.wording import PAUSE, anywhere, beginning, ending, without_fillers
from agent.intents.saying.spoken import is_length
from agent.intents.subjects.days import day_of, names_day
from agent.intents.subjects.rings.timers import same_half
from agent.intents.subjects.rings.which_timer import RINGING
from memory.json_value import fields

_MEANS_NOTHING: Final = frozenset({"unknown", "outside"})
"""What words may be taken for that are no sentence of the box's own."""

MOST_WORDS: Final = 6
"""Words of a question after one of several timers."""

LONGEST_NAME: Final = 25
"""Characters of what a further timer is for, where only its length is said with it."""

_BESIDE: Final[dict[Language, int]] = {"en": 30, "zh": 2}
"""Characters that may stand before "cancel it" without being the name of another one."""

_MEASURED: Final = re.compile(r"%|\b(?:percent|per cent|ways)\b|百分之", re.IGNORECASE)
"""What shows that a number is none of a clock: plus eight and a quarter percent; split three ways."""

_WEEKDAY: Final = re.compile(rf"\b{WEEKDAY}\b", re.IGNORECASE)

_ARTICLE: Final = re.compile(r"\ban?\s+$", re.IGNORECASE)

_IN_NUMBER: Final = re.compile(rf"in (?:another )?{NUMBER}(?= (?:to|for|about)\b|[.]?$)", re.IGNORECASE)
_COUNT_LAST: Final = re.compile(
    rf"^(?:and |then |also |one )*(?:for (?P<label>(?:(?!(?:at|to|by|in|past|a|an|half|and|is|are|{NUMBER})\b)"
    rf"[a-z'-]+,? ){{1,3}})|(?P<thing>(?:the |my )[a-z'-]+,? ))(?P<count>{NUMBER})[.]?$",
    re.IGNORECASE,
)
"""What a further timer is for, with the number of its minutes behind it, and no time of day."""

_UNIT: Final = re.compile(r"\b(minute|hour|second)s?\b", re.IGNORECASE)
_OF_AN_HOUR: Final = re.compile(r"\b(?:half|quarters?)(?: of)?(?: an?)? hour\b", re.IGNORECASE)

_KIND: Final = re.compile(r"\b(?:alarm|timer)\b", re.IGNORECASE)

_ONCE_MORE: Final = re.compile(r"\bagain\b|\bonce more\b|再", re.IGNORECASE)
"""What asks for the same once more, at another time."""

_TO_DO: Final = re.compile(r"(?:(?:the |my )?[a-z]+ )?to [a-z]+ ", re.IGNORECASE)
"""What somebody is to be reminded of as well: Anna to feed the rabbits."""

_WHOM_AT: Final = re.compile(r"(?P<whom>(?:the |my )?[a-z]+) at (?P<when>.+)", re.IGNORECASE)


def of_timers(words: str, intent: Intent, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield what the words may mean where the last turns set, told or cancelled a timer, the likeliest first."""
    language = language_of(words)
    label = _reminded_of(last, language) if intent.name in TIMED and not intent.text("label") else ""
    if label and _ONCE_MORE.search(words) and anywhere(language, "remind").search(words):
        yield Intent(intent.name, {**intent.slots, "label": label})
    if beginning("more_time", language).match(words):
        return  # of what was spoken of, which the list tells
    for part in (words, re.split("[，,]", words, maxsplit=1)[0]):  # cancel it, I will do that afterwards
        cancelled = ending("cancel_it", language).search(part)
        if cancelled and len(without_fillers(part[: cancelled.start()], language)) <= _BESIDE[language]:
            yield Intent("timer_cancel", {"newest": 1})
        is_needless = beginning("no_need", language).fullmatch(without_fillers(part, language))
        if is_needless and any(each.tool in RINGING for each in last.results):
            yield Intent("timer_cancel", {"newest": 1})
    if intent.name in _MEANS_NOTHING and beginning("pause_it", language).match(without_fillers(words, language)):
        yield Intent("timer_pause", {"newest": 1})
    yield from _named_anew(words, language, last, understand)
    yield from _asked_after(words, intent, language)
    yield from of_its_part(words, language, last, understand)
    yield from _at_that_time(words, intent, language, last, understand)
    yield from on_day_instead(words, language, last, understand)
    yield from once_over(words, language, last, understand)
    yield from _another_of_minutes(words, language, last, understand)
    yield from repeating(words, intent, last, understand)
    is_change = beginning("asking_to_change", language).match(words) is not None  # can I do it at six instead
    is_else = intent.name in TIMED or (is_question(without_fillers(words, language)) and not is_change)
    if is_else and not denies(words, language):
        return
    yield from _same_on(words, language, last, understand)
    yield from _later_than_last(words, language, last, understand)
    yield from (set_anew(each, last) for each in corrected(words, language, last, understand))
    if intent.name == "outside" and (ended := beginning("end_it", language).match(words)):
        yield Intent("timer_cancel", {"label": without_fillers(re.split(",", words[ended.end() :])[0], language)})
    if intent.name != "outside":
        yield from _another(words, language, last, understand)
        yield from _another_within(words, language, understand)


def _asked_after(words: str, intent: Intent, language: Language) -> Iterator[Intent]:
    """Yield the question after the one spoken of, or one that is named: when was that again; what about the rice."""
    if anywhere(language, "when_is_it").fullmatch(without_fillers(words, language)):
        yield Intent("timer_status", {"named": 1, "newest": 1})
    asked = beginning("asking_after", language).match(words)
    if asked and intent.name not in TIMED and len(words.split()) <= MOST_WORDS:
        yield Intent("timer_status", {"label": without_fillers(words[asked.end() :], language), "named": 1})


def _named_anew(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield what the one just set is to be called, or how long it is to be: call it fifteen; not Margaret, Marjorie."""
    righted = (with_exchanged(label, words, language) for label in _labels_of(last))
    yield from (Intent("timer_change", {"called": each, "newest": 1}) for each in righted if each)
    if called := beginning("call_it", language).match(words):
        name = without_fillers(re.split("[,，]", words[called.end() :], maxsplit=1)[0], language)
        if number := number_alone(name, language, understand):
            yield Intent("timer_change", {"count": number, "newest": 1})
        yield Intent("timer_change", {"called": name, "newest": 1})


def _at_that_time(
    words: str, intent: Intent, language: Language, last: Turn, understand: Understand
) -> Iterator[Intent]:
    """Yield a reminder at the time for which an alarm was just set: at eight, and remind me to bring my lab coat."""
    also = beginning("also", language).match(words)
    if also and intent.name == "unknown" and _TO_DO.match(words, also.end()) and not is_statement(words):
        intent = understand(f"remind me {words[also.end() :]}")  # and Anna to feed the rabbits
    is_timeless = intent.name == "ask_when" and not names_day(intent) and not intent.text("period")
    if not is_timeless or not intent.text("label") or not also:
        return
    before = understand(last.words)
    if before.name == "alarm":
        yield Intent("alarm", {**before.slots, "label": intent.text("label")})


def _same_on(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield an alarm at the time of the last one on another day, or in another part of it: and the same on Thursday."""
    as_well = anywhere(language, "as_well").search(words)
    set_, due = alarm_set(last)
    if as_well is None or due is None:
        return
    day = understand(
        AT_NOON[language].format(without_fillers(f"{words[: as_well.start()]}{words[as_well.end() :]}", language))
    )
    if day.name == "alarm" and names_day(day) and not day.text("label"):
        label = {"label": str(set_["label"])} if set_.get("label") else {}
        yield Intent("alarm", {**day_of(day), "exact_hour": due.hour, "minute": due.minute, **label})


def _later_than_last(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield one more alarm so long after, or before, the one just set: and another one ten minutes after that."""
    opened, hung = beginning("another", language).match(words), anywhere(language, "after_that").search(words)
    _, due = alarm_set(last)
    if not opened or not hung or due is None:
        return
    length = next(timed(without_fillers(words[opened.end() : hung.start()], language), language, understand), UNKNOWN)
    if length.name == "timer_start" and not length.text("label"):
        is_before = re.search("before|前", hung.group())
        then = due + timedelta(seconds=-length.seconds() if is_before else length.seconds())
        yield Intent("alarm", {"date": then.day, "month": then.month, "exact_hour": then.hour, "minute": then.minute})


def _another_of_minutes(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield one more timer where a number follows one: "another for twelve" is no alarm at noon then."""
    opened = beginning("another", language).match(words)
    if not opened or not any(each.tool == "set_timer" for each in last.results) or "alarm" in words.lower():
        return
    wanted = without_fillers(words[opened.end() :], language)
    count, _, label = wanted.partition(" for ")
    if not number_alone(count, language, understand):  # and one for the rice for eight
        label, _, count = wanted.rpartition(" for ")
    if not number_alone(count, language, understand) and (last_word := _COUNT_LAST.search(words)):
        # And for the potatoes twenty.
        label, count = (last_word["label"] or last_word["thing"]).rstrip(", "), last_word["count"]
    if number := number_alone(count, language, understand):
        named: dict[str, Slot] = {"label": without_fillers(label, language)} if label else {}
        yield Intent("timer_start", {"minutes": number, **named})


def _another(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield one more timer or alarm, as the words may ask for it: and another for ten; and the garlic bread, eight."""
    opened = beginning("another", language).match(words)
    if opened is None or _MEASURED.search(words):
        return
    when = without_fillers(anywhere(language, "reason").sub("", words[opened.end() :]), language)
    is_asked = beginning("time_first", language).match(when) or anywhere(language, "one_more").search(opened.group())
    before = _set_before(last, understand)
    when = _in_its_unit(when, last, language)
    # Seven tomorrow, and half past: of the same day, and to wake as well.
    of_before = day_of(before) | {name: value for name, value in before.slots.items() if name == "wakes"}
    is_told = is_statement(when) or (anywhere(language, "is_so").search(when) is not None)
    article = _ARTICLE.search(opened.group())  # of "an hour", which "another" may have too
    whole = [when, *([f"{article.group()}{when}"] if article else [])]
    may_be = [found for each in whole for found in timed(each, language, understand)] if is_asked or not is_told else []
    if named := _KIND.search(opened.group()):  # and an alarm for eight, after a timer
        may_be = [
            each for each in may_be if each.name == ("alarm" if named.group().lower() == "alarm" else "timer_start")
        ]
    named_at = _WHOM_AT.fullmatch(when)  # and Mia at half past
    minutes, whom = (named_at["when"], {"label": f"wake {named_at['whom']}"}) if named_at else (when, {})
    is_of_hour = not may_be and before.name == "alarm"
    if is_of_hour and (minute := minute_alone(minutes, language, understand)) is not None:
        yield Intent("alarm", {**before.slots, "minute": minute, **whom})  # at three, and again at half past
    same = (_day_within(words, language, understand) if may_be else {}) or of_before
    for found in sorted(may_be, key=lambda each: (each.name != before.name, len(each.text("label")))):
        is_alarm = found.name == before.name == "alarm" and not names_day(found)
        again = {"repeat": before.text("repeat")} if before.text("repeat") and not found.text("label") else {}
        each = Intent(found.name, {**same, **again, **_of_its_half(found, last)}) if is_alarm else found
        if not each.text("label") and (label := _reminded_of(last, language)):
            yield Intent(each.name, {**each.slots, "label": label})
        elif is_asked or len(each.text("label")) <= LONGEST_NAME:
            yield each


def _set_before(last: Turn, understand: Understand) -> Intent:
    """Return what the turn before set: by its words, else by its tool, where they leaned on others before them."""
    before = understand(last.words)
    if before.name in TIMED:
        return before
    _, due = alarm_set(last)
    if due is not None:
        return Intent("alarm", {"date": due.day, "month": due.month, "exact_hour": due.hour, "minute": due.minute})
    return Intent("timer_start") if any(each.tool == "set_timer" for each in last.results) else before


def _in_its_unit(when: str, last: Turn, language: Language) -> str:
    """Return a time with the unit that was said before: and in ten to put the bins out, after "in five minutes"."""
    number = _IN_NUMBER.match(when) if language == "en" else None
    if number is None or not any(each.tool == "set_timer" for each in last.results):
        return when
    units = [each[1].lower() for each in _UNIT.finditer(_OF_AN_HOUR.sub("minute", last.words))]
    unit = "minute" if "minute" in units else next(iter(units), "")
    return f"{number.group()} {unit}s{when[number.end() :]}" if unit else ""


def _day_within(words: str, language: Language, understand: Understand) -> dict[str, Slot]:
    """Return the day that is named in the words, apart from the time: Wednesday is the fees, keep it for eleven."""
    named = _WEEKDAY.search(words)
    return day_of(understand(AT_NOON[language].format(f"on {named.group()}"))) if named and language == "en" else {}


def _of_its_half(found: Intent, last: Turn) -> Mapping[str, Slot]:
    """Return the slots of one more alarm, of the half of the day of the one just set, behind which it is said."""
    _, due = alarm_set(last)
    slots = dict(found.slots)
    return slots if due is None or names_day(found) else same_half(slots, due)


def _reminded_of(last: Turn, language: Language) -> str:
    """Return what a turn was to remind of, "" where it rings for nothing: "and again at eight" is for the same."""
    if anywhere(language, "remind").search(last.words) is None:
        return ""
    return next(iter(_labels_of(last)), "")


def _labels_of(last: Turn) -> list[str]:
    """Return what each is for that a turn set; what was called by its length is for nothing."""
    labels = (str(fields(each.value).get("label", "")) for each in last.results if each.tool in RINGING)
    return [label for label in labels if label and not is_length(label)]


def _another_within(words: str, language: Language, understand: Understand) -> Iterator[Intent]:
    """Yield one more timer or alarm that is asked for in the middle of the words."""
    if one_more := anywhere(language, "one_within").search(words):
        rest = f"{words[: one_more.start()]}{words[one_more.end() :].lstrip(PAUSE)}"
        yield from timed(without_fillers(rest, language), language, understand)
