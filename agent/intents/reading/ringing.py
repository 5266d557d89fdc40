"""What words want of something that rings, however they put it: its name is among them, or it was just spoken of."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agent.intents.dialog_state import DialogState, ToolResult
from agent.intents.intent import TIMED, UNKNOWN, Intent, Language, Understand, language_of
from agent.intents.language.questions import is_question, tokens, word_classes
from agent.intents.language.wording import anywhere, beginning, ending, is_story, mended, without_fillers
from agent.intents.saying.spoken import is_length
from agent.intents.subjects.needed import result_of
from agent.intents.subjects.rings.timers import timers_in
from agent.intents.subjects.rings.which_timer import EMPTY, RINGING, Timer, label_of, meant, spoken_of

LIST: Final = "list_timers"

VAGUE: Final = frozenset({"unknown", "recall", "outside"})
"""What words may be taken for, alone, that are said of something that rings."""

_CUES: Final = ("later", "earlier", "not_needed", "how_long", "changes")

_MOVES: Final = ("later", "earlier", "changes")

_WAKE: Final = "wake me {}"
"""A whole sentence of which any English words with a time in them may be the rest."""

_NUMBER_ZH: Final = r"[\d零一二两三四五六七八九十百半]"
_TIMES_ZH: Final = (
    (rf"(?:{_NUMBER_ZH}+个?半?(?:小时|钟头|分钟|分|秒钟?|刻钟))+", "设一个{}的计时器"),
    (
        rf"(?:(?:今天|明天|后天|凌晨|早上|上午|中午|下午|傍晚|晚上|夜里|(?:周|星期|礼拜)[一二三四五六日天])*)"
        rf"{_NUMBER_ZH}+点(?:半|[一三]刻|零?{_NUMBER_ZH}+分?)?",
        "{}提醒我",
    ),
)
"""What a length and a time of day look like in Chinese, and a whole sentence that each may be a part of."""

_MORE: Final = re.compile(
    r"\b(?:another|an extra|add|plus)\s+(\w+(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?)\b"
)
"""Minutes of which only the number is said: give the soup another five."""

_TO: Final = re.compile(r"\b(?:to|until|till)\s+(.+)$", re.IGNORECASE)
"""Before the time at which it is to ring instead."""

_RELATIVE: Final = re.compile(r"\b(?:later|earlier|sooner|more|longer|extra|less)\b", re.IGNORECASE)
"""What a length is counted from a time by, and does not belong to it."""

_THING: Final = re.compile(r"(?:about )?(?:the|my|our) ((?:\w+ ){0,3}\w+)", re.IGNORECASE)
"""A thing and nothing that is told of it, which may be what something rings for: forget the candles."""

_LEAST_ZH: Final = 2
"""Characters in a row by which a Chinese name shows."""


def of_ringing(state: DialogState, intent: Intent, understand: Understand) -> Intent:
    """Return what words want of something that rings. Raises First with the call that lists what does.

    `intent` is what they mean by themselves, and what is returned where that is plain, or nothing that rings is meant.
    """
    is_vague = intent.name in VAGUE and anywhere(state.language, *_CUES).search(mended(state.words, state.language))
    has_set = any(each.tool in RINGING for turn in state.earlier for each in turn.results)
    forgets = _THING.fullmatch(intent.text("fact")) if intent.name == "forget_other" and has_set else None
    if not (is_vague or forgets) or not state.has(LIST) or is_story(state.words, state.language):
        return intent
    listed = result_of(state, LIST)
    if listed.has_failed or listed.is_uncertain:
        return intent
    return (_no_more(state, listed, forgets[1]) if forgets else _of_listed(state, listed, understand)) or intent


def _no_more(state: DialogState, listed: ToolResult, thing: str) -> Intent | None:
    """Return the end of what rings for a thing that is to be forgotten, where something does."""
    timer = meant(state, timers_in(listed), Intent("timer_cancel", {"label": thing}))
    return Intent("timer_cancel", {"id": str(timer.get("id", ""))}) if timer else None


def _of_listed(state: DialogState, listed: ToolResult, understand: Understand) -> Intent | None:
    words, timers = _of_order(mended(state.words, state.language), state.language), timers_in(listed)
    if (timer := _named(words, timers)) is not None:
        return _wanted(words, timer, understand)
    just_said = replace(state, earlier=tuple(state.last_said()))
    timer = None if ending("done", state.language).search(words) else spoken_of(just_said, timers)
    is_it = beginning("of_it", state.language).match(words) is not None
    return _moved(words, timer, understand) if timer is not None and is_it else None


def _of_order(words: str, language: Language) -> str:
    """Return the words up to the clause that wants something: what is told behind it may name another one."""
    words = anywhere(language, "reason").sub("", words)
    clauses = re.split(r"(?<=[,，;；。])", words)
    wanting = (place for place, each in enumerate(clauses, 1) if anywhere(language, *_CUES).search(each))
    return "".join(clauses[: next(wanting, len(clauses))]).rstrip(",，;；。 ")


def _wanted(words: str, timer: Timer, understand: Understand) -> Intent | None:
    """Return what is wanted of a timer: to know of it, less or more of its time, another time, or that it is off."""
    language, of_it = language_of(words), {"id": str(timer.get("id", ""))}
    asks = anywhere(language, "how_long").search(words) is not None
    if asks and anywhere(language, "later", "earlier").search(words) is None:
        return Intent("timer_status", {**of_it, "named": 1})
    if anywhere(language, "not_needed").search(words) and not is_question(without_fillers(words, language)):
        return Intent("timer_cancel", of_it)
    return _moved(words, timer, understand) or (Intent("timer_status", {**of_it, "named": 1}) if asks else None)


def _moved(words: str, timer: Timer, understand: Understand) -> Intent | None:
    """Return the change of a timer that words ask for: so much more or less of its time, or another one."""
    language, of_it = language_of(words), {"id": str(timer.get("id", ""))}
    clauses = re.split(r"[,，;；。]\s*", words)  # another one may tell why, with a time of its own
    words = next((each for each in clauses if anywhere(language, *_MOVES).search(each)), words)
    when = _when(words, understand)
    sign = -1 if anywhere(language, "earlier").search(words) else 1 if anywhere(language, "later").search(words) else 0
    if sign and anywhere(language, "beside").search(words):
        return None  # one more is wanted
    if sign and when is not None and when.name == "timer_start":
        units = {name: sign * value for name, value in when.slots.items() if isinstance(value, int | float)}
        return Intent("timer_change", {**of_it, **units, "adds": 1})
    if when is not None and anywhere(language, "changes").search(words):
        slots = {name: value for name, value in when.slots.items() if name not in {"wakes", "label"}}
        return Intent("timer_change", {**of_it, **slots})
    return None


def _when(words: str, understand: Understand) -> Intent | None:
    """Return the time that stands anywhere in the words, as a timer's length or the moment of an alarm."""
    language = language_of(words)
    if language == "en" and (number := _MORE.search(words.lower())):
        found = understand(f"set a timer for {number[1]} minutes")
        if found.name == "timer_start" and found.seconds() and "label" not in found.slots:
            return found
    if language == "zh":
        told = ((re.search(pattern, words), frame) for pattern, frame in _TIMES_ZH)
        found = next((understand(frame.format(time.group())) for time, frame in told if time), UNKNOWN)
    else:
        to = _TO.search(words)
        found = understand(_WAKE.format(f"at {to[1]}")) if to else UNKNOWN
        if found.name not in TIMED:
            found = understand(_WAKE.format(without_fillers(_RELATIVE.sub("", words), language)))
    return found if found.name in TIMED else None


def _named(words: str, timers: Sequence[Timer]) -> Timer | None:
    """Return the timer of whose name most is among the words; None where of none anything is that tells."""
    shares = [(_share(label_of(timer), words), timer) for timer in timers]
    best, timer = max(shares, key=lambda each: each[0], default=(0.0, None))
    return timer if best else None


def _share(label: str, words: str) -> float:
    """Return how much of a label is among the words, 0 to 1."""
    if not label or is_length(label):
        return 0.0
    if language_of(label) == "zh":
        parts = (label[start:end] for start in range(len(label)) for end in range(start + 1, len(label) + 1))
        longest = max((len(part) for part in parts if part in words), default=0)
        return longest / len(label) if longest >= max(_LEAST_ZH, len(label) / 4) else 0.0
    wanted = {token.stem for token in tokens(label)} - EMPTY - word_classes()["small"] - word_classes()["empty"]
    said = {token.stem for token in tokens(words)}
    return len(wanted & said) / len(wanted) if wanted else 0.0
