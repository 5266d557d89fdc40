"""Several that ring, asked for at once: set two timers, ten minutes for pasta and twelve for rice; 七点和七点半叫我."""

import re
from collections.abc import Mapping
from typing import Final

from agent.intents.intent import Language, language_of
from agent.intents.language.dates import WEEKDAY
from agent.intents.language.lengths import LENGTH_ZH, NUMBER, UNIT
from agent.intents.language.wording import anywhere, beginning

_ALONE: Final[Mapping[Language, Mapping[str, str]]] = {
    "en": {"several_timers": "set a timer for {}", "several_alarms": "set an alarm for {}"},
    "zh": {"several_timers": "设一个{}的计时器", "several_alarms": "设一个{}的闹钟"},
}
"""How one of several that ring is asked for, by the wording that asks for all of them."""

_NEXT: Final[Mapping[Language, str]] = {
    "en": r",\s*(?:and\s+)?|\s+and\s+|\s+(?=the other\b)",
    "zh": r"[，,、；;和还有再另第]+[一二三]?个?|(?<=[钟时头秒])一个(?=.)",
}
"""Where the next of several begins."""

_OTHER: Final = re.compile(r"^(?:the (?:other|second|third|last)|another)(?: one)?\b(?= )", re.IGNORECASE)
"""What the next of several is called, and no name of it: one for five minutes and the other for seven."""

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
    f"{_FIRST_ZH}(?P<what>(?:叫|喊)我(?:起床)?)[，,](?P<date2>{_DATE_ZH}){_SECOND_ZH}(?:(?P=what))?",
)
"""Two times at which the same is wanted: 明天七点和七点半叫我起床; 工作日七点周末九点叫我; 明天七点叫我，周末九点."""

_HOUR: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|[0-9]{1,2}(?::[0-9]{2})?"
CLOCK: Final = (
    f"(?:(?:half|(?:a )?quarter|five|ten|twenty|5|10|20|25) (?:past|to) )?(?:{_HOUR})"
    "(?: (?:fifteen|thirty|forty.five|o'clock))?(?: ?[ap][.]?m[.]?| in the (?:morning|afternoon|evening)| at night)?"
)
_EVERY: Final = re.compile(r"\b(?:every|each) day\b|\bdaily\b", re.IGNORECASE)
_WEEKDAYS: Final = f"{WEEKDAY}s?|weekends?|the weekend"
_OTHERWISE: Final = re.compile(
    rf"(?P<first>(?=.*\bat {CLOCK}\b)(?=.*\b(?:(?:every|each) day|daily)\b).*?)"
    rf"(?:,| and| but)+(?: on| at)? (?:(?P<days>{_WEEKDAYS})(?: at)? (?P<when>{CLOCK})|"
    rf"(?:at )?(?P<when2>{CLOCK}) (?:on |at )(?P<days2>{_WEEKDAYS}))(?: instead| please)?[.!]?",
    re.IGNORECASE,
)
"""A time of every day, and another one of some: every day at seven, on Sunday at nine."""

_THING: Final = r"(?:to|about) (?:(?!,| and (?:to|about) ).)+?"
ON_DAY: Final = (
    rf"(?:tomorrow|tonight|(?:on )?(?:next |this )?{WEEKDAY})"
    r"(?: morning| afternoon| evening| night)?"
)
_EACH_AT: Final = rf"{_THING} (?:{ON_DAY}(?: at {CLOCK})?|at {CLOCK})"
_WHEN: Final = rf"(?:{ON_DAY} )?at {CLOCK}(?: {ON_DAY})?"
_EVENT: Final = r"(?!again\b)(?:(?!\b(?:and|at|remind)\b|,).)+?"
_BOTH: Final = re.compile(
    rf"(?P<a>{_EVENT})(?: is| are)? (?P<one>{_WHEN})(?:,? and|,) (?P<b>{_EVENT})(?: is| are)? (?P<two>{_WHEN}),? "
    "(?:and |so |please |can you )*remind (?:me|us) (?:of|about) (?:both|both of them|them both|them)[.!]?",
    re.IGNORECASE,
)
"""Two that were told, each with its time: the dentist is at three and the vet at five, remind me of both."""

_DONE_AT: Final = re.compile(
    rf"(?<= at )({CLOCK}(?:,? and|,)) (?=(?:turn|switch|lock|unlock|open|close|start|stop)\b[^,]+ at {CLOCK})",
    re.IGNORECASE,
)
"""Before what is to be done then, and is no order to the house now: call mum at six and turn off the oven at seven."""
_THINGS: Final = re.compile(
    rf"(?P<opening>.*\bremind me) (?P<each>{_EACH_AT}(?:(?:,? and|,) {_EACH_AT})+)[.]?", re.IGNORECASE
)
"""Several things, each before its hour: remind me to take my pills at three, to drink at four and to walk at five."""

_DAYS: Final = re.compile(
    rf"(?P<opening>.*\bremind me) (?P<one>{ON_DAY}(?: at {CLOCK})? (?:to|about) .+?),? and "
    rf"(?P<two>{ON_DAY}(?: at {CLOCK})? (?:to|about) .+)",
    re.IGNORECASE,
)
"""Two things, each behind its day: remind me tonight to take the bins out and tomorrow to bring them in."""

_ON: Final = rf"(?:{ON_DAY}(?: at {CLOCK})?|at {CLOCK} {ON_DAY})"
_AGAIN: Final = re.compile(
    r"(?P<opening>.*\bremind me) "
    rf"(?:(?P<one>{_ON}) (?P<what>(?:to|about) .+?)|(?P<what2>(?:to|about) .+?) (?P<one2>{_ON})),? and "
    rf"(?:(?:again|also) (?P<two>{_ON})|(?P<two2>{_ON}) (?:again|too|also|as well))[.!]?",
    re.IGNORECASE,
)
"""The same on one day and on another: remind me on Friday to put the bins out, and again on Saturday."""

_AFTERS: Final = re.compile(
    rf"(?P<opening>.*\b(?:remind|tell|wake|call) me(?: .+?)?) in (?P<first>{NUMBER})(?P<unit>(?: {UNIT})?)"
    rf"(?P<others>(?:(?:,? and(?: again)?|,|,? then)(?: in)? {NUMBER}(?: {UNIT})?)+)"
    "(?P<what>(?: (?:to|about|that) .+)?)[.]?",
    re.IGNORECASE,
)
"""The same after several lengths: remind me in five and in ten minutes to turn the steak."""

_AFTER: Final = re.compile(
    rf"(?P<again> in)? (?P<number>{NUMBER})(?P<unit>(?: {UNIT})?)(?=$|,| and| then)", re.IGNORECASE
)

_KIND: Final = "timer|alarm|reminder|countdown"
_ONE_OF: Final = rf"(?:(?:the|my|our) )?(?:(?!and\b|all\b|every\b)[\w'-]+ ){{0,4}}?(?:{_KIND})"
_CANCELS: Final = re.compile(
    r"(?P<cancel>.*\b(?:cancel|stop|delete|remove|turn off|switch off|end|dismiss|get rid of|kill|scrap)) (?:both )?"
    rf"(?:(?P<each>{_ONE_OF}(?:(?:,? and|,) {_ONE_OF})+)|"
    rf"(?P<one>(?:the|my|our) [\w'-]+) and (?:the |my |our )?(?P<two>[\w'-]+) (?P<kind>{_KIND})s)(?: please)?[.!]?",
    re.IGNORECASE,
)
_NAME_ZH: Final = "[^，。和跟把都全除]{1,8}?"
_KIND_ZH: Final = "计时器|定时器|倒计时|闹钟|闹铃|提醒"
_CANCEL_ZH: Final = "取消|关掉|停掉|删掉|删除|关闭"
_CANCELS_ZH: Final = re.compile(
    rf"(?:请|帮我|给我)*(?:把|将|(?P<cancel>{_CANCEL_ZH}))(?P<one>{_NAME_ZH})[和跟](?P<two>(?:{_NAME_ZH})?)(?P<of>的?(?:{_KIND_ZH}))"
    rf"(?(cancel)|[都全]*(?:{_CANCEL_ZH}|关|停|删))(?:了|掉|吧|一下)*[。！]?"
)
"""Two or more cancelled by one word: cancel the timer and the alarm; 取消煮面和米饭的计时器."""

_AFTERS_ZH: Final = re.compile(
    rf"(?:请|帮我|麻烦你?)*(?P<whens>{LENGTH_ZH}(?:[以之]?后)?"
    rf"(?:(?:[，,、和跟]|还有|以及)+{LENGTH_ZH}(?:[以之]?后)?)*(?<=后))"
    "(?:再|各|都|分别)*(?P<what>(?:叫|喊|提醒|通知)我.*)"
)
"""The same in Chinese: 五分钟后和十分钟后各提醒我一次."""

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
    of_language = (
        (_two_times_zh, _afters_zh, _cancels_zh)
        if language == "zh"
        else (_otherwise, _both, _afters, _again, _things, _cancels)
    )
    return next(filter(None, (read(words) for read in of_language)), "") or _all_at_once(words, language) or words


def _two_times_zh(words: str) -> str:
    two = next((found for each in _TWO_TIMES if (found := re.fullmatch(each, words))), None)
    if two is None:
        return ""
    day, day2 = two["date"], two["date2"] or two["date"]
    if day.startswith("每") and day2 != day:  # 每天七点，周日九点: on that day it does not ring at seven
        day, day2 = f"除了{day2}{day}", f"每{day2.removeprefix('每')}"
    part2 = two["part2"] or two["part"]
    return f"{day}{two['part']}{two['one']}{two['what']}，{day2}{part2}{two['two']}{two['what']}"


def _otherwise(words: str) -> str:
    """Return what rings every day, but at another time on some: every day at seven, on Sunday at nine."""
    found = _OTHERWISE.fullmatch(words)
    if found is None:
        return ""
    days = re.sub("^the |s$", "", found["days"] or found["days2"])
    rings = anywhere("en", "wake", "remind").search(words)
    first = f"{'' if rings else 'wake me '}{found['first']}"
    then = _EVERY.sub(f"every {days}", re.sub(rf"(?<=at ){CLOCK}", found["when"] or found["when2"], first, count=1), 1)
    return f"{_EVERY.sub(lambda every: f'{every.group()} except {days}', first, 1)} and {then}"


def _both(words: str) -> str:
    found = _BOTH.fullmatch(words)
    return f"remind me {found['one']} of {found['a']} and remind me {found['two']} of {found['b']}" if found else ""


def _things(words: str) -> str:
    done = _DONE_AT.sub(r"\1 to ", words)
    if days := _DAYS.fullmatch(words):
        return f"{days['opening']} {days['one']} and {days['opening']} {days['two']}"
    found = _THINGS.fullmatch(done)
    each = re.findall(_EACH_AT, found["each"], re.IGNORECASE) if found else []
    if found and done != words:  # else the second is an order of its own
        each = [re.sub(rf"^(to .+) (at {CLOCK})$", r"\2 \1", one, flags=re.IGNORECASE) for one in each]
    if found and re.search(ON_DAY, found["each"], re.IGNORECASE):
        return " and ".join(f"{found['opening']} {one}" for one in each)  # a day alone asks for nothing
    return f"{found['opening']} {' and '.join(each)}" if found else ""


def _again(words: str) -> str:
    """Return the same on each of two days, at the hour of the first where the second has none."""
    found = _AGAIN.fullmatch(words)
    if found is None:
        return ""
    first, second = found["one"] or found["one2"], found["two"] or found["two2"]
    hour = re.search(rf"\bat {CLOCK}", first, re.IGNORECASE)
    second = second if hour is None or re.search(r"\bat\b", second) else f"{second} {hour.group()}"
    what = found["what"] or found["what2"]
    return " and ".join(f"{found['opening']} {each} {what}" for each in (first, second))


def _cancels(words: str) -> str:
    found = _CANCELS.fullmatch(words)
    if found is None:
        return ""
    pair = [f"{each} {found['kind']}" for each in (found["one"], f"the {found['two']}")] if found["kind"] else []
    each = pair or re.split(r",? and |, ", found["each"])
    return " and ".join(f"{found['cancel']} {one}" for one in each)


def _cancels_zh(words: str) -> str:
    found = _CANCELS_ZH.fullmatch(words)
    if found is None:
        return ""
    is_kind = re.search(f"(?:{_KIND_ZH})$", found["one"])
    return f"取消{found['one']}{'' if is_kind else found['of']}，取消{found['two']}{found['of']}"


def _afters(words: str) -> str:
    """Return a wish after each of several lengths; "" where it is one, in hours and minutes."""
    found = _AFTERS.fullmatch(words)
    others = list(_AFTER.finditer(found["others"])) if found else []
    if found is None or not others[-1]["unit"].strip():
        return ""
    unit = others[-1]["unit"]
    first = found["unit"] or unit
    if not all(each["again"] or first.rstrip("s") == unit.rstrip("s") for each in others):
        return ""
    lengths = [f"{found['first']}{first}", *(f"{each['number']}{each['unit'] or unit}" for each in others)]
    return " and ".join(f"{found['opening']} in {each}{found['what']}" for each in lengths)


def _afters_zh(words: str) -> str:
    found = _AFTERS_ZH.fullmatch(words)
    lengths = list(re.finditer(rf"({LENGTH_ZH})([以之]?后)?", found["whens"])) if found else []
    if found is None or len(lengths) < 2:
        return ""
    units = {each[1].replace("钟", "")[-1] for each in lengths}
    return "，".join(f"{each[1]}后{found['what']}" for each in lengths) if lengths[0][2] or len(units) == 1 else ""


def _all_at_once(words: str, language: Language) -> str:
    """Return each of the timers or alarms that are asked for in one: two timers, ten minutes and twelve."""
    for name, alone in _ALONE[language].items():
        if opened := beginning(name, language).match(words):
            first, *others = re.split(_NEXT[language], words[opened.end() :])
            if language == "zh":
                return "，".join(alone.format(_LENGTH_LAST_ZH.sub(r"\2的\1", each)) for each in (first, *others))
            others = [_OTHER.sub("another", each) for each in others]
            unit = _UNIT.search(" ".join(others)) if name == "several_timers" and not _UNIT.search(first) else None
            return " and ".join((alone.format(f"{first} {unit.group()}" if unit else first), *others))
    return ""
