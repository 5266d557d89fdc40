"""What was left out, as those before said it: and the passport; and 23 percent; how many days is that."""

import re
from typing import Final

from agent.intents.dialog_state import DialogState, Turn
from agent.intents.intent import TIMED, Language, Understand
from agent.intents.language.dates import DATE_EN, DATE_ZH, DATED, WEEKDAY
from agent.intents.language.lengths import NUMBER
from agent.intents.language.patterns import patterns
from agent.intents.language.questions import is_question, is_statement
from agent.intents.language.wording import PAUSE, anywhere, bare, beginning, ending, is_story, without_fillers
from agent.intents.saying.phrases import gaps

_LOOKED_BACK: Final = 3
"""Turns of this conversation in which something may have been asked in full."""

_LONGEST_SHORT: Final = 25
"""Characters of what asks the same of another thing."""

_LONGEST_THING: Final = 10
"""Characters of what is asked the same of as of the thing before it."""

ASKED_THERE: Final[dict[Language, str]] = {"en": "what time is it in {}", "zh": "{}现在几点"}

_ASKED_OF_DAY: Final[dict[str, str]] = {
    "date": "{}是星期几",
    "days_until": "离{}还有多少天",
    "weather": "{}天气怎么样",
}
"""How that is asked in Chinese which was asked of another day, by its intent."""

_ASKED_OF_ANOTHER: Final[dict[str, str]] = {
    "date": "what day is it {}",
    "days_until": "how many days until {}",
    "weather": "what's the weather {}",
    "time": "what time is it in {}",
    "time_there": "what time is it in {}",
}
"""How that is asked in English which was asked of another day or place, by its intent."""

_DAY: Final = re.compile(
    rf"\b(?:on )?(?:{DATED}|(?:next |this )?{WEEKDAY}|(?:the day after )?tomorrow)\b",
    re.IGNORECASE,
)
"""A day in what was told, which "that day" means then."""

_VALUED: Final = ("sum", "sum_about", "converted", "converted_about")
"""Answers with a number that a sum may go on from."""

_SHARE: Final = re.compile(r"(?:what about |how about )?([\w.-]+ ?(?:%|percent|per cent))[?.]?", re.IGNORECASE)

_SHARE_ZH: Final = re.compile(r"(?:那么?|再)?(百分之[\d零一二两三四五六七八九十百点.]+)(?:呢|是多少)?[？?]?")
_WHOLE_ZH: Final = re.compile(r"([\d零一二两三四五六七八九十百千万点.]+)(?:块钱?|元)?的百分之")

_MEASURED: Final = ("converted", "converted_about")
_SOME: Final[dict[Language, str]] = {
    "en": rf"\b(?:\d[\d.]*|(?:an?|one) (?:hundred|thousand)|{NUMBER}(?: hundred| thousand)?|an?)\b",
    "zh": r"[\d零一二两三四五六七八九十百千万点.]+",
}
_ANOTHER_NUMBER: Final = patterns(
    en=rf"(?:and )?(?:(?:what|how) about )?(?P<number>{_SOME['en']})(?: (?P<unit>[a-z]+))?[?.]?",
    zh=rf"(?:那么?)?(?P<number>{_SOME['zh']})个?(?P<unit>[^\d？?呢]{{0,4}}?)呢?[？?]?",
)
"""A number alone, of which the same is asked as of the one before it."""

_OF_TOLD: Final = re.compile(
    r"(?:(?:please|so|and|then|can you|could you),? )*remind (?:me|us) (?:of|about) (?:it|that|both|both of them|them)"
    r"(?: please)?[.!]?",
    re.IGNORECASE,
)
"""What asks to be reminded of what was told just before, at the time that was told with it."""

_OF: Final = re.compile(r"\bof [\d.,]+", re.IGNORECASE)
"""A share alone, and what the one before it was of."""

_GOING_ON: Final[dict[Language, tuple[tuple[str, str], ...]]] = {
    "en": (
        (
            r"^(?:and )?(?:what's|what is|how (?:much|many) is|so) (?:that|it|this) (?=times|plus|minus|divided|over)",
            "",
        ),
        (r"^(?:and )?(?:what (?:did|does|would) (?:that|it) (?:come to|be) )?with (.+? per ?cent) off$", r"minus \1"),
        (r"^(?:and )?if (?:i|we|you) (?:put|add) (.+? per ?cent) (?:on|on top|to (?:it|that))$", r"plus \1"),
        (r"^(?:and )?(?=times|plus|minus|divided)", ""),
        (r"^(?:and )?(?:what's |what is )?(?:twice|double) (?:that|it)$", "times 2"),
        (r"^(?:and )?(?:what's |what is )?half (?:of )?(?:that|it)$", "divided by 2"),
        (r"^(?:and )?(?:what's |what is )?an? third of (?:that|it)$", "divided by 3"),
        (r"^(?:and )?(?:what's |what is )?an? quarter of (?:that|it)$", "divided by 4"),
        (r"^(?:add|and) (?=\S)", "plus "),
        (r"^(?:take|knock) (.+) (?:off|from|away from) (?:that|it)$", r"minus \1"),
        (r"^(?:take away|subtract|take off|minus) ", "minus "),
        (r"^(?:divide|split) (?:that|it|this) (?:by|between|into|among) ", "divided by "),
        (r"^(?:split|divided) (?:between|among) ", "divided by "),
        (r" (?:tax|vat|tip|service|interest)\b(?: (?:on|to|on top)(?: of)?(?: (?:that|it))?)?$", ""),
        (r"^(?:multiply (?:that|it|this) by|times that by) ", "times "),
        (r" (?:to|from|on) (?:that|it)$", ""),
    ),
    "zh": (
        (r"^(?:再|然后)+", ""),
        (r"^(?:给.)?打个?([一二三四五六七八九])折.*$", r"乘以\1除以10"),
        (r"(?:是多少|等于几|等于多少|呢)$", ""),
    ),
}
"""How people say what is to be done to the last value, and how a sum says it."""

_STEP: Final = patterns(en=r"(?:plus|minus|times|divided by|to the power of|squared|cubed)\b", zh="加|减|乘|除以")


def in_full(state: DialogState, understand: Understand) -> DialogState:
    """Return the state with the words as they would be alone: 护照呢 after 户口本在哪儿 asks where the passport is."""
    said = state.last_said(_LOOKED_BACK)
    if not said or is_story(state.words, state.language):
        return state
    # And Sydney, after what about Tokyo: it goes on from what was asked in full.
    before = said[0]
    if _is_short(said[0].words, state.language, understand):
        before = next((each for each in said if not _is_short(each.words, state.language, understand)), said[0])
    full = of_told(state, understand) or _in_full(state.words, before, state.language, understand)
    return state.in_words(full) if full else state


def of_told(state: DialogState, understand: Understand) -> str:
    """Return the words behind what was told just before with a time, of which they ask to be reminded; else ""."""
    told = bare(state.last_said()[0].words) if state.last_said() else ""
    if _OF_TOLD.fullmatch(state.words) is None or is_story(told, "en") or not is_statement(told):
        return ""
    full = f"{told}, {state.words}"
    return full if understand(full).name in TIMED else ""


def _is_short(words: str, language: Language, understand: Understand) -> bool:
    """Say whether words ask the same of another thing, and do not say what."""
    asks = beginning("elsewhere", "en").match(words) if language == "en" else ending("as_before", "zh").search(words)
    return asks is not None and len(words) <= _LONGEST_SHORT and understand(words).name in {"unknown", "recall"}


def _in_full(words: str, before: Turn, language: Language, understand: Understand) -> str:
    """Return the words with what those before them, or their answer, said already; "" where nothing was left out."""
    if language == "en" and (told := _asked_of_another(words, before, understand)):
        return told
    if told := _of_that_day(words, before, language) or _counted_to(words, before, language):
        return told
    opened = beginning("opening", language).match(words)
    asked = ending("as_before", language).search(words)
    thing = words[opened.end() if opened else 0 : asked.start()].strip(PAUSE) if asked else ""
    if not 0 < len(thing) <= _LONGEST_THING or understand(words).name not in {"unknown", "recall"}:
        return ""
    meant = understand(before.words)
    if meant.name == "time_there":
        return ASKED_THERE[language].format(thing)
    if meant.name in _ASKED_OF_DAY:
        return _ASKED_OF_DAY[meant.name].format(thing)
    topic = meant.text("topic") if meant.name == "recall" else ""
    return before.words.replace(topic, thing, 1) if topic else ""


def _asked_of_another(words: str, before: Turn, understand: Understand) -> str:
    """Return what was asked before of another day or place in full: and tomorrow; what about Sydney."""
    asked, meant = beginning("elsewhere", "en").match(words), understand(before.words).name
    frame = _ASKED_OF_ANOTHER.get(meant)
    if asked is None or frame is None or understand(words).name not in {"unknown", "recall", "date", "time_there"}:
        return ""
    thing = without_fillers(words[asked.end() :], "en")
    if is_question(thing):
        return ""  # and what day is it
    if thing.lower() == "the day after":
        thing = "the day after tomorrow" if "tomorrow" in before.words.lower() else "tomorrow"
    full = frame.format(thing)
    return full if understand(full).name in {meant, "time_there"} else ""


def _of_that_day(words: str, before: Turn, language: Language) -> str:
    """Return the words with the day told before in place of "that day"; "" where they have none, or none was told."""
    that_day = anywhere(language, "that_day").search(words)
    if that_day is None:
        return ""
    if language == "en":
        told = DATE_EN.search(" ".join(before.replies)) or _DAY.search(before.words)
        return f"{words[: that_day.start()]}{told.group()}{words[that_day.end() :]}" if told else ""
    told = DATE_ZH.search("".join(before.replies)) or DATE_ZH.search(before.words)
    return f"{words[: that_day.start()]}{told[1]}号{words[that_day.end() :]}" if told else ""


def _counted_to(words: str, before: Turn, language: Language) -> str:
    """Return a question after how far away it is with the day that was told before: how many weeks away is that."""
    told = (*reversed(before.replies), before.words)
    if language == "zh":
        day = next((found for each in told if (found := DATE_ZH.search(each))), None)
        asked = anywhere(language, "until_it").fullmatch(without_fillers(words, language))
        return f"离{day[1]}号还有{asked['unit'] or asked['unit2']}" if asked and day else ""
    day = next((found for each in told if (found := DATE_EN.search(each) or _DAY.search(each))), None)
    if day is None:
        return ""
    plain, named = without_fillers(words, language), re.sub("^on ", "", day.group(), flags=re.IGNORECASE)
    if anywhere(language, "day_of_it").match(plain):
        return f"what day is {named}"
    if anywhere(language, "since_it").fullmatch(plain):
        return f"how many days ago was {named}"
    if asked := anywhere(language, "until_it").fullmatch(plain):
        unit = "many weeks" if "many weeks" in asked.groupdict().values() else "many days"
        return f"how {unit} until {named}"
    return ""


def sum_on(state: DialogState) -> str:
    """Return the sum that goes on from the last one's value: plus thirty; "" where these words do not."""
    before = next(iter(state.last_said()), None)
    replies = before.replies if before is not None else ()
    value = next((found for reply in reversed(replies) if (found := _value(reply, state.language))), "")
    words = without_fillers(state.words, state.language)
    if before is not None and (share := _SHARE.fullmatch(words)) and (whole := _OF.search(before.words)):
        return f"{share[1]} {whole.group()}"  # and 23 percent, after 17 percent of 340
    if before is not None and value and (other := _of_other_number(words, before, state.language)):
        return other
    return _continued(value, words, state.language) if value else ""


def _of_other_number(words: str, before: Turn, language: Language) -> str:
    """Return what was reckoned before of another number: 百分之十五呢 after 八十五的百分之二十; what about twenty."""
    share = _SHARE_ZH.fullmatch(words)
    whole = _WHOLE_ZH.search(before.words) if share else None
    if share and whole:
        return f"{whole[1]}的{share[1]}"
    is_measure = any(gaps(name, reply, language) for name in _MEASURED for reply in before.replies)
    asked = _ANOTHER_NUMBER[language].fullmatch(words) if is_measure else None
    if asked is None:
        return ""
    unit = re.escape(asked["unit"] or "")
    number = rf"{_SOME[language]}(?= ?{unit})" if unit else _SOME[language]
    return (
        re.sub(number, asked["number"], before.words, count=1, flags=re.IGNORECASE)
        if re.search(number, before.words, re.IGNORECASE)
        else ""
    )


def _value(reply: str, language: Language) -> str:
    """Return the number in the answer to a sum or of a measure, "" where it is another sentence."""
    read = (gaps(name, reply, language).get("value", "").replace(",", "") for name in _VALUED)
    return next((number for number in read if re.fullmatch(r"-?\d+(?:\.\d+)?", number)), "")


def _continued(value: str, words: str, language: Language) -> str:
    """Return the sum that words go on with from a value: 168 and "plus thirty"; "" where they do not go on."""
    rest = words.lower()
    for pattern, instead in _GOING_ON[language]:
        rest = re.sub(pattern, instead, rest)
    return f"{value} {rest}" if _STEP[language].match(rest) else ""
