"""Several that ring, asked for at once: set two timers, ten minutes for pasta and twelve for rice; 七点和七点半叫我."""

import re
from collections.abc import Mapping
from typing import Final

from agent.intents.intent import Language, language_of
from agent.intents.language.lengths import NUMBER
from agent.intents.language.wording import beginning

_ALONE: Final[Mapping[Language, Mapping[str, str]]] = {
    "en": {"several_timers": "set a timer for {}", "several_alarms": "set an alarm for {}"},
    "zh": {"several_timers": "设一个{}的计时器", "several_alarms": "设一个{}的闹钟"},
}
"""How one of several that ring is asked for, by the wording that asks for all of them."""

_NEXT: Final[Mapping[Language, str]] = {
    "en": r",\s*(?:and\s+)?|\s+and\s+",
    "zh": r"[，,、；;和还有再另第]+[一二三]?个?|(?<=[钟时头秒])一个(?=.)",
}
"""Where the next of several begins."""

_DATE_ZH: Final = "[今明后每]天|每?周[一二三四五六日天]|每?个?星期[一二三四五六日天]|(?:每个?)?(?:工作日|周末)"
_PART_ZH: Final = "早上|上午|中午|下午|傍晚|晚上|夜里|早|晚"
_FIRST_ZH: Final = (
    f"(?:请|帮我|给我)*(?P<date>(?:{_DATE_ZH})?)(?P<part>(?:{_PART_ZH})?)"
    "(?P<one>[^，。,]{1,3}点[^，。,和跟叫提喊周工]{0,3})"
)
_SECOND_ZH: Final = f"(?P<part2>(?:{_PART_ZH})?)(?P<two>[^，。,]{{1,3}}点[^，。,叫提喊]{{0,3}}?)"
_WHAT_ZH: Final = "(?:各|都|分别)?(?P<what>(?:叫|喊|提醒).+)"
_AND_ZH: Final = "(?:和|跟|、|还有|以及)"
_TWO_TIMES: Final = (
    f"{_FIRST_ZH}{_AND_ZH}(?P<date2>(?:{_DATE_ZH})?){_SECOND_ZH}{_WHAT_ZH}",
    f"{_FIRST_ZH}[，,]?(?P<date2>{_DATE_ZH}){_SECOND_ZH}{_WHAT_ZH}",
    f"{_FIRST_ZH}(?P<what>(?:叫|喊)我(?:起床)?)[，,](?P<date2>{_DATE_ZH}){_SECOND_ZH}",
)
"""Two times at which the same is wanted: 明天七点和七点半叫我起床; 工作日七点周末九点叫我; 明天七点叫我，周末九点."""

_HOUR: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|[0-9]{1,2}(?::[0-9]{2})?"
_CLOCK: Final = (
    f"(?:(?:half|(?:a )?quarter|five|ten|twenty|5|10|20|25) (?:past|to) )?(?:{_HOUR})"
    "(?: (?:fifteen|thirty|forty.five|o'clock))?(?: ?[ap][.]?m[.]?| in the (?:morning|afternoon|evening)| at night)?"
)
_TWICE: Final = (
    f"(?P<opening>.*\\bremind me(?: [a-z ]+)?) at (?P<one>{_CLOCK}),? and (?:at )?(?P<two>{_CLOCK}) ?"
    "(?P<what>(?:(?:to|about|that) .+)?)[.]?"
)
"""The same in English: remind me every day at eight and nine to take my pills."""

_LENGTHS: Final = (
    r"(?:.*\b(?:set|start|make|want|need|give|have|put)(?: me| on)?) "
    rf"an? (?P<one>{NUMBER}[ -](?:minute|hour|second))(?: timer)? "
    rf"and an? (?P<two>{NUMBER}[ -](?:minute|hour|second)) timer[.]?"
)
"""Two timers in one: set a ten-minute and a twenty-minute timer."""

_LENGTH_LAST_ZH: Final = re.compile(
    r"^([^，]{1,8}?)((?:[一二两三四五六七八九十\d]+个?(?:分钟|小时|钟头|秒)|半个?(?:小时|钟头)))$"
)
"""A length behind what it is for: 鸡蛋八分钟."""

_UNIT: Final = re.compile(r"\b(?:minutes?|hours?|seconds?|mins?)\b", re.IGNORECASE)


def each_alone(words: str) -> str:
    """Return words that ask for several timers or alarms at once as one wish after the other; others as they are.

    In English the first alone, on which the others go on: set two timers, ten minutes for pasta and twelve for rice.
    """
    language = language_of(words)
    if two := next((found for each in _TWO_TIMES if (found := re.fullmatch(each, words))), None):
        day2 = (two["date2"] or two["date"]) + (two["part2"] or two["part"])
        return f"{two['date']}{two['part']}{two['one']}{two['what']}，{day2}{two['two']}{two['what']}"
    if twice := re.fullmatch(_TWICE, words, re.IGNORECASE):
        return ", ".join(f"{twice['opening']} at {twice[time]} {twice['what']}".strip() for time in ("one", "two"))
    if lengths := re.fullmatch(_LENGTHS, words, re.IGNORECASE):
        return f"set a {lengths['one']} timer and set a {lengths['two']} timer"
    for name, alone in _ALONE[language].items():
        if opened := beginning(name, language).match(words):
            first, *others = re.split(_NEXT[language], words[opened.end() :])
            if language == "zh":
                return "，".join(alone.format(_LENGTH_LAST_ZH.sub(r"\2的\1", each)) for each in (first, *others))
            unit = _UNIT.search(" ".join(others)) if name == "several_timers" and not _UNIT.search(first) else None
            return " and ".join((alone.format(f"{first} {unit.group()}" if unit else first), *others))
    return words
