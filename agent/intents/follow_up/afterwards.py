"""What is to ring after something else: once a timer is over, or on another day than the one that was left out."""

from collections.abc import Iterator, Mapping
from typing import Final

from agent.intents.dialog_state import Turn
from agent.intents.intent import UNKNOWN, Intent, Language, Understand
from agent.intents.language.patterns import patterns
from agent.intents.language.wording import bare, without_fillers
from agent.intents.saying.spoken import moment_told
from agent.intents.subjects.days import day_of, names_day
from memory.json_value import fields

AT_NOON: Final[Mapping[Language, str]] = {"en": "remind me {} at noon", "zh": "{}正午提醒我"}
"""A whole sentence of which a day alone may be a part."""

_FOR: Final[Mapping[Language, tuple[str, ...]]] = {
    "en": ("set a timer for {}", "set a timer for {} minutes"),
    "zh": ("设一个{}的计时器", "设一个{}计时器"),
}
"""Whole sentences of which a length, or the number of its minutes, may be the rest."""

_ON_DAY_AGAIN: Final = patterns(
    en=r"(?:and |then |but |just |please )*(?:wake|call|get) me (?:up )?(?:again )?(?P<day>(?:on )?[a-z ]{5,30}?)"
    r"(?: again| instead| then)*",
    zh="(?:然后|就)*(?P<day>[^，。点]{2,6}?)(?:早上|早)?(?:再|才|照常|照旧)*(?:叫|喊|响)(?:醒?我)?(?:起床)?[了吧]?",
)
"""On which day alone something is to ring that was just left out."""

_ONCE_OVER: Final = patterns(
    en=r"(?:and |then |, )*(?:when|once|as soon as) (?:that|it|that one|the first(?: one)?)(?:'s| is| has)? "
    r"(?:done|up|over|finished|finishes|rings|rung|goes off|gone off|ends|run out)[, ]+"
    r"(?:then |set |start |give me |do |I want |I need )*(?:another|a second|a new)?(?: one| timer)?(?: for| of)?"
    r"(?= )",
    zh="(?:等|然后)*(?:[它这]个?)?(?:到点?|到时间|响|好|完|结束)了?(?:以后|之后)?[，,]?"
    "(?:就|再)+(?:[来定设开要]|计时)(?:一?个)?",
)
"""What asks for one more timer behind the one just set, and not beside it."""


def on_day_instead(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield what is to ring on another day than the one that was just left out: wake me on Monday instead; 后天再叫.

    What repeats rings then anyhow, and is told; what was cancelled is set for that day, at its time.
    """
    asked = _ON_DAY_AGAIN[language].fullmatch(bare(words))
    gone = next((each for each in reversed(last.results) if each.tool == "cancel_timer"), None)
    day = understand(AT_NOON[language].format(asked["day"])) if asked and gone else UNKNOWN
    if gone is None or day.name != "alarm" or not names_day(day) or day.text("label"):
        return
    told = fields(gone.value)
    timer = fields(told.get("cancelled"))
    due = moment_told(str(timer.get("due", "")))
    if "left_out" in told:
        yield Intent("timer_status", day_of(day))
    elif due is not None or not gone.result:  # not called yet
        label = {"label": str(timer["label"])} if timer.get("label") else {}
        at = {"exact_hour": due.hour, "minute": due.minute} if due else {}
        yield Intent("alarm", {**day_of(day), **at, **label})


def once_over(words: str, language: Language, last: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield the timer that is to run once the one just set is over: and when that's done another one for five."""
    opened, before = _ONCE_OVER[language].match(words), understand(last.words)
    if opened is None or before.name != "timer_start" or not any(each.tool == "set_timer" for each in last.results):
        return
    rest = without_fillers(words[opened.end() :], language).removesuffix("的")
    found = next((each for frame in _FOR[language] if (each := understand(frame.format(rest))).seconds()), UNKNOWN)
    if found.name == "timer_start":
        yield Intent("timer_start", {**found.slots, "seconds": before.seconds() + found.number("seconds")})
