"""What asks to be rung for, in whatever order it is said: a word that asks, a time, and what is left of the words."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from agent.intents.intent import Intent, Language, language_of
from agent.intents.language.dates import MONTHS
from agent.intents.language.patterns import patterns
from agent.intents.language.questions import is_question
from agent.intents.language.wording import RUNG_FOR, anywhere, beginning, ending, without, without_fillers
from agent.intents.subjects.days import day_of, names_day
from agent.intents.subjects.rings.which_timer import IT, OTHER

Reading: TypeAlias = tuple[int, Intent]
"""How many characters were taken as free text, and what was found."""

LONGEST: Final = 160
"""Characters of what may ask to be rung for; what is longer is a story."""

_FREE: Final = ("before", "middle", "after")
"""Slots of a time's reading that hold the other words, in their order."""

_BEFORE_ORDER: Final = patterns(
    en=r"[,.;!?]\s*(?:(?:so|and|please|then|just)\s+)*$",
    zh=r"(?:[，。,；！\s]|[后点半分刻整候])(?:再|就|记得|请)*$",
)
"""What stands before the word that asks, where it orders rather than tells: a clause begins, or a time ends."""

_JOINED: Final = re.compile(r"\band (?:then |also |please )*$", re.IGNORECASE)

_AT_NOON: Final[Mapping[Language, str]] = {"en": "{} at noon", "zh": "{}正午"}
"""A moment of which words that name a day are the beginning."""

_SURNAME: Final = re.compile(
    "[小晓阿李王张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕]$"
)
"""What the name of somebody begins with who may be called 明."""

_WOKEN_TO: Final = patterns(
    en=r"to (?!(?:the|my|work|school|music)\b|(?:be|get|wake) (?:up|awake)\b)[a-z]{2,}",
    zh="(?:叫|喊)醒我(?!起)[^，。了吧呢啊]{2,8}$",
)
"""What stands behind the time and tells what one is woken for: wake me at seven to feed the cat."""

_WHOM: Final = re.compile(r"(?!both\b)(?:(?:my|the|our) )?[a-z]+", re.IGNORECASE)
"""Somebody who is reminded, and not of what: remind Sam."""

_PARTICLES: Final = "in|on|off|out|up|down|over|away|back"
"""What ends a sentence and belongs to its verb, before no time: shut them in."""

_COUNTED: Final = re.compile(
    r"\s*(?:more|people|persons?|guests?|friends|kids|children|adults|of (?:us|them|you)|servings?|portions?|eggs|cups|"
    r"things|times|days|weeks|months|years|degrees|percent|pounds|euros?|dollars?|miles|kilos?|grams?)\b",
    re.IGNORECASE,
)
"""What stands behind a number that is no time: dinner for six people."""

_NO_HOUR: Final = re.compile(rf"\b(?:another|{MONTHS}(?: the)?)$", re.IGNORECASE)
"""What stands before a number that is no time: another five, June 15."""


def rung_for(words: str, times: Callable[[str], Iterable[Reading]]) -> Intent | None:
    """Return the timer, alarm or reminder that the words ask for; None where they ask for none, or tell no time.

    `times` finds the times in a sentence, each an intent named `length` or `moment`; those that are `bare` stand there
    without a word such as "in" or "at", which only somebody means who says "timer" or "wake me".
    """
    language = language_of(words)
    cue = anywhere(language, *RUNG_FOR).search(words)
    if cue is None or len(words) > LONGEST or _is_behind_another(words[: cue.start()], times):
        return None
    if tells(without_fillers(words, language)) and not _asks(words, language):
        return None
    if language == "zh" and (alone := _in_clause(words, cue.start(), times)):
        return alone
    fitting = [each for each in times(words) if not each[1].number("bare") or cue.lastgroup != "remind"]
    fitting = [each for each in fitting if not _begins_in_name(each[1].text("before"), words)]
    fitting = [each for each in fitting if each[1].name == "length" or not _is_count(each[1])]
    # A day and an hour between which another time stands do not belong together.
    fitting = [each for each in fitting if not (rest := each[1].text("middle")) or _holds_none(times, rest, language)]
    direct = [each for each in fitting if _follows_cue(each[1].text("before"), language)]
    found = min(direct or fitting, key=lambda reading: reading[0], default=(0, None))[1]
    if found is None:
        return None
    slots = {name: value for name, value in found.slots.items() if name not in {*_FREE, "bare"}}
    # On Friday at three, so remind me at two.
    if direct and found.name == "moment" and not names_day(found) and not _ends(found):
        named_days = [each for each in fitting if names_day(each[1])]
        slots |= day_of(min(named_days, key=lambda reading: reading[0])[1]) if named_days else {}
    wakes = {"wakes": 1} if cue.lastgroup == "wake" else {}
    label = _woken_to(found, language) if wakes else _label(found, language)
    named = {"label": label} if label else {}
    return Intent("timer_start" if found.name == "length" else "alarm", slots | wakes | named)


def _is_count(found: Intent) -> bool:
    """Say whether a number counts something, or is a date, and is no time of day: dinner for six people; June 15."""
    return _COUNTED.match(found.text("after")) is not None or _NO_HOUR.search(found.text("before")) is not None


def _is_behind_another(told: str, times: Callable[[str], Iterable[Reading]]) -> bool:
    """Say whether words end a wish of their own, before one: five minutes for the eggs and then remind me at three."""
    return _JOINED.search(told) is not None and any(each.name == "length" for _, each in times(told))


def _begins_in_name(before: str, words: str) -> bool:
    """Say whether a day would begin within a Chinese name: that of 小明七点起床 is 小明, and not tomorrow."""
    return _SURNAME.search(before) is not None and words.partition(before)[2].startswith("明")


def _ends(found: Intent) -> bool:
    """Say whether it repeats up to a day, which may be named twice."""
    return any(name.startswith("until_") for name in found.slots)


def _asks(words: str, language: Language) -> bool:
    """Say whether words ask outright, whatever they tell: I have a meeting at ten, ping me five minutes before."""
    if anywhere(language, "story").search(words):
        return False
    if language == "en" and anywhere(language, "request").search(words):
        return True
    cues = anywhere(language, "remind").finditer(words)
    return any(_BEFORE_ORDER[language].search(words[: cue.start()]) for cue in cues)


def _follows_cue(before: str, language: Language) -> bool:
    """Say whether a time stands right behind the word that asks to be rung for."""
    return any(not before[found.end() :].strip() for found in anywhere(language, *RUNG_FOR).finditer(before))


def _in_clause(words: str, cue: int, times: Callable[[str], Iterable[Reading]]) -> Intent | None:
    """Return what the Chinese clause with the word that asks wants, where that tells a time of its own.

    十一点半来，十一点提醒我备料; a day that was said before it counts, and what was told may be what it is for.
    """
    begins = max(words.rfind(mark, 0, cue) for mark in "，。；！？") + 1
    alone = rung_for(words[begins:], times) if begins else None
    if alone is None:
        return None
    told = without(words[:begins], "before_label", "after_label", "zh")
    is_nameless = told and not alone.text("label") and not alone.number("wakes")
    is_eve = "带" in told and alone.text("period") == "night"  # what is to be taken along tomorrow is packed tonight
    day = {} if is_eve or names_day(alone) else next((day_of(each) for _, each in times(words) if names_day(each)), {})
    return Intent(alone.name, {**day, **alone.slots, **({"label": told} if is_nameless else {})})


def _holds_none(times: Callable[[str], Iterable[Reading]], words: str, language: Language) -> bool:
    """Say whether words hold no time, and no day either."""
    at_noon = times(_AT_NOON[language].format(words))
    return all(each.number("bare") for _, each in times(words)) and not any(names_day(each) for _, each in at_noon)


def told_anew(words: str) -> Intent | None:
    """Return what is to be kept where the words tell of a thing that it is elsewhere, or another one, now."""
    language = language_of(words)
    if is_question(words) or anywhere(language, "moved").search(words) is None:
        return None
    return Intent("remember", {"fact": without(words, "opening", "updating", language)})


def tells(words: str) -> bool:
    """Say whether words ask for what rings already, or tell of it."""
    language = language_of(words)
    if anywhere(language, "story").search(words):
        return True
    return bool(beginning("telling", language).match(words) or ending("asking", language).search(words))


def _woken_to(found: Intent, language: Language) -> str:
    """Return what somebody is woken for, which stands behind the time: to feed the cat."""
    told = found.text("after")
    if _WOKEN_TO[language].match(told) is None:
        return ""
    return _label(Intent(found.name, {"after": told}), language)


def _label(found: Intent, language: Language) -> str:
    """Return what it is for: what is left of the words behind the word that asks, else of those before it."""
    rest = ("" if language == "zh" else " ").join(filter(None, (found.text(name) for name in _FREE)))
    cue = anywhere(language, *RUNG_FOR).search(rest)
    parts = (rest[cue.end() :], rest[: cue.start()]) if cue else (rest,)
    labels = (without(each, "before_label", "after_label", language).removesuffix("'s") for each in parts)
    told = [label for label in labels if label and not OTHER.fullmatch(label)]
    named = [each for each in told if each.lower() not in IT] or told[:1]
    # Take the washing out in an hour, remind Sam: whom it is for, and what.
    is_reminded = cue is not None and cue.lastgroup == "remind" and language == "en"
    is_of_whom = is_reminded and len(named) == 2 and _WHOM.fullmatch(named[0])
    label = ", ".join(reversed(named)) if is_of_whom else next(iter(named), "")
    ends = re.search(rf"{re.escape(label)} ({_PARTICLES})$", found.text("after"), re.IGNORECASE) if label else None
    return f"{label} {ends[1]}" if ends else label
