"""Times of day as people say them, and one that was taken back in the same breath: 七点叫我，哦不，七点一刻."""

import re
from typing import Final

from agent.intents.intent import Language
from agent.intents.language.lengths import LENGTH_ZH, NUMBER

DAY_ZH: Final = (
    "(?:大?[今明后]天|[今明](?=[早晚])|(?:[这本下]个?)?(?:周|星期|礼拜)[一二三四五六日天]|"
    "每天|每个?(?:周|星期|礼拜)[一二三四五六日天]|(?:每个)?(?:工作日|周末))"
)
PART_ZH: Final = "(?:早上|早晨|上午|中午|下午|傍晚|晚上|夜里|半夜|凌晨|清晨|早|晚)"
SOME_ZH: Final = r"[\d零一二两三四五六七八九十]"
CLOCK_ZH: Final = (
    rf"(?:\d{{1,2}}:\d\d|{SOME_ZH}{{1,3}}点(?:钟|整|半|[一三]刻|零?{SOME_ZH}{{1,3}}(?!{SOME_ZH}|点|个|分钟)分?)?)"
)

_NO_ZH: Final = (
    "[，,。]?(?:(?:[哦噢啊呃哎]*不对|[哦噢啊呃哎]+不(?!是)|说?错了|算了)[，,]?|[哦噢啊呃哎]*(?:不|不是|等等)[，,])"
    "(?:我说的?是|应该是|改成|改到|还是|就|是|要|[定设]一?个?)*"
)
"""What takes back the time before it; 七点不是八点 names the one that is not meant behind it."""

_CORRECTED_ZH: Final = re.compile(
    rf"(?P<day>(?:{DAY_ZH}的?)?)(?P<part>{PART_ZH}?){CLOCK_ZH}(?P<what>[^，,。点]{{0,10}}?){_NO_ZH}"
    rf"(?P<day2>(?:{DAY_ZH}的?)?)(?P<part2>{PART_ZH}?)(?P<clock>{CLOCK_ZH})(?!(?:的|闹钟|那个)*[也都])(?P<anew>(?:的(?:闹钟)?|[叫喊]|提醒|通知)?)"
)

_LENGTH_ANEW_ZH: Final = re.compile(
    rf"{LENGTH_ZH}(?P<what>(?:[以之]?后)?[^，,。]{{0,10}}?){_NO_ZH}(?P<length>{LENGTH_ZH})(?:[以之]?后)?(?:[叫喊]我|提醒我)?"
)
"""A length that was taken back before another one: 三分钟后叫我，不对，五分钟."""

_HOURS: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_MINUTES: Final = "half|(?:a )?quarter|five|ten|twenty(?:[- ]five)?"
_NO: Final = r"(?:(?:no|sorry|wait|actually|oh|i mean|rather|make (?:it|that))[ ,]+)+(?:at )?"
_CORRECTED: Final = re.compile(
    rf"\b(?P<at>at|for|by|until|till) (?:(?:{_MINUTES}) (?:past|to) )?(?P<hour>{_HOURS})\b(?P<what>[^,;.]{{0,30}}?),?"
    rf" {_NO}(?P<minutes>(?:{_MINUTES}) (?:past|to))(?=$|[,.!?]| please\b)",
    re.IGNORECASE,
)
"""Another minute of the hour that was said: at quarter to seven, actually make it ten to."""

_HOUR_ANEW: Final = re.compile(
    rf"\b(?P<at>at|for|by|until|till) (?:(?:{_HOURS}) (?:oh )?{NUMBER}|(?:{_MINUTES}) (?:past|to) (?:{_HOURS})),? {_NO}"
    rf"(?=(?:{_HOURS})\b(?! (?:minute|hour|past\b|to\b)))",
    re.IGNORECASE,
)
"""An hour and its minutes before another hour: at six forty five, no, make that seven."""


def corrected(words: str, language: Language) -> str:
    """Return words with the time that is meant in place of one that was taken back; its day stays where it is."""
    if language == "zh":
        return _LENGTH_ANEW_ZH.sub(r"\g<length>\g<what>", _CORRECTED_ZH.sub(_in_place_zh, words))
    return _CORRECTED.sub(r"\g<at> \g<minutes> \g<hour>\g<what>", _HOUR_ANEW.sub(r"\g<at> ", words))


def _in_place_zh(found: re.Match[str]) -> str:
    day = found["day2"] or found["day"]
    part = found["part2"] or ("" if found["day2"] else found["part"])
    is_short = found["anew"] == "的" and found["what"].startswith("的")  # 定七点的闹钟，不对，八点的
    return f"{day}{part}{found['clock']}{found['what'] if is_short else found['anew'] or found['what']}"
