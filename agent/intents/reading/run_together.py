"""Several that ring, said without a pause between them: an alarm for six seven and eight; 六点七点各一个闹钟."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from agent.intents.intent import Language, language_of
from agent.intents.language.clock_times import CLOCK_ZH, DAY_ZH, PART_ZH, SOME_ZH
from agent.intents.language.dates import WEEKDAY
from agent.intents.language.lengths import NUMBER, number_chinese
from agent.intents.language.wording import anywhere
from agent.intents.reading.series import each_ordered, nameless
from memory.chinese import simplified

MOST: Final = 4
"""Wishes in one sentence."""

MOST_RINGING: Final = 8
"""Alarms or timers in one sentence: each takes one of the ten calls of an event."""

LONGEST: Final[Mapping[Language, int]] = {"en": 200, "zh": 80}
"""Characters of a sentence that is looked through: each part is understood by itself, and that takes time."""

_HOURS: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_HOUR: Final = rf"(?:{'|'.join(_HOURS)}|noon|midnight|1[0-2]|[1-9])"
_HALF_DAY: Final = r"(?: ?[ap][.]?m\b[.]?| in the (?:morning|afternoon|evening)\b| at night\b)"
_CLOCK: Final = (
    rf"(?:(?:half(?: past)?|(?:(?:a )?quarter|five|ten|twenty|5|10|20|25) (?:past|to)) )?{_HOUR}\b(?::\d\d)?"
    rf"(?: (?:fifteen|thirty|forty.five|o'clock))?{_HALF_DAY}?"
)
_HAS_HALF: Final = re.compile(rf"{_HALF_DAY}|midnight", re.IGNORECASE)
_DAY: Final = (
    rf"(?: (?:tomorrow|today|tonight|(?:on |this |next )?{WEEKDAY}s?|daily|(?:every|each) (?:day|weekday|{WEEKDAY})|"
    r"on weekdays|the day after tomorrow)(?: (?:morning|afternoon|evening|night))?)"
)
_BETWEEN: Final = r",? and |, | "
_ONE_MORE: Final = r"(?:(?:another|one|an alarm|alarm)(?: one)? (?:for|at) |(?:for|at) )"
_COURTESY: Final = "(?:(?:please|can you|could you|so|and|oh|ok|okay|right),? )*"
_ORDERED: Final = rf"{_COURTESY}(?:set|put|give|make|do|start|have|i need|i want)(?: me| up| on)*"
_MANY: Final = r"(?: an?| some| my| two| three| four| five| six| seven| eight| [2-8])"


def _alarms_at(clock: str, between: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return a pattern for alarms at several of these times, and one for the next of them."""
    whole = (
        rf"(?:{_ORDERED}{_MANY}? (?P<kind>alarms?)(?: on)?[,:]? (?:for|at)|"
        rf"(?P<order>{_COURTESY}(?:wake|remind|call|get) me(?: up)?)(?P<early>{_DAY}?)"
        rf"(?P<told>(?: (?:to|about) [^,]+?)?)(?P<late>{_DAY}?) at) (?P<first>{clock})"
        rf"(?P<others>(?>(?:{between}){_ONE_MORE}?{clock})++)(?P<day>{_DAY}?)"
        r"(?P<what>(?: (?:to|about|that) [^,]+)?)(?: please)?[.!]?"
    )
    following = rf"(?P<pause>{between})(?P<more>{_ONE_MORE}?)(?P<when>{clock})"
    return re.compile(whole, re.IGNORECASE), re.compile(following, re.IGNORECASE)


_ALARMS: Final = _alarms_at(_CLOCK, _BETWEEN)
"""Alarms at several hours: set an alarm for six and one for seven and one for eight tomorrow."""

_ORDER_LAST: Final = re.compile(
    rf"(?P<day>(?:every (?:day|weekday)|tomorrow|today)?) ?(?P<times>\bat {_HOUR}\b.*?),? "
    r"(?P<order>(?:wake|remind|call|get) me(?: up)?) ?(?P<rest>(?:(?:to|about) .+)?)",
    re.IGNORECASE,
)
"""The order behind the hours: every day at eight, twelve and six remind me to take my pills."""

_OF_MINUTES: Final = _alarms_at(rf"(?:{_CLOCK}(?=,| and |$)|{_HOUR} (?:oh )?{NUMBER}(?=,| and |$))", ",? and |, ")
"""The same to the minute, each behind a comma: six, six ten, six twenty and six fifty."""

_SINGLE: Final = re.compile(rf"(?:{'|'.join(_HOURS[:9])}|[1-9]){_HALF_DAY}?", re.IGNORECASE)
"""An hour that is no number of minutes behind another one: six seven, which nobody says for 6:07."""

_LENGTH: Final = rf"{NUMBER}[ -](?P<unit>minute|hour|second)s?"
_ITEM: Final = re.compile(
    rf"(?P<pause>^|,? and |, | )(?P<article>(?:an?|another|one) )?(?P<length>{_LENGTH})(?P<timer> timers?)?",
    re.IGNORECASE,
)
_TIMERS: Final = re.compile(
    rf"{_ORDERED} (?P<items>.{{1,150}} timers?)(?: please)?[.!]?",
    re.IGNORECASE,
)
"""Timers of several lengths: set a five minute timer, a ten minute timer and a fifteen minute timer."""

_COUNTS: Final = re.compile(
    rf"{_ORDERED}{_MANY}? timer(?P<many>s)?(?: for| of|[,:])+ "
    rf"(?P<counts>{NUMBER}(?:(?:{_BETWEEN}){NUMBER}){{2,}}|(?(many){NUMBER}(?:,? and |, ){NUMBER}|(?!)))"
    r"[ -](?P<unit>minute|hour|second)s(?: please)?[.!]?",
    re.IGNORECASE,
)
"""The same with one unit for all: set timers for five, ten and fifteen minutes."""

_WHEN_ZH: Final = rf"(?P<day>{DAY_ZH}?)的?(?P<part>{PART_ZH}?)(?P<clock>{CLOCK_ZH})"
_LENGTH_ZH: Final = (
    rf"(?:{SOME_ZH}{{1,4}}个?半?(?:小时|钟头)(?:{SOME_ZH}{{1,3}}分钟?)?|半个?(?:小时|钟头)|{SOME_ZH}{{1,4}}分(?:半钟?|钟)?|"
    rf"{SOME_ZH}{{1,4}}秒钟?|[一三]刻钟)"
)
_AFTER_ZH: Final = rf"(?:再?[过等])?{_LENGTH_ZH}[以之]?后"
_RING_ZH: Final = "(?:再|也|还要?|就|记得|请|帮我|给我)*(?:提醒|叫醒?|喊|通知)我(?![爸妈哥姐弟妹爷奶家老儿女孙])"

_ORDER_ZH: Final = re.compile(
    rf"(?P<joint>[，。,；、和]|还有|然后)*(?P<order>再?(?:{_AFTER_ZH}|{nameless(_WHEN_ZH)}){_RING_ZH}|(?:^|给)[^，。给点]{{1,6}}定一?个?{_LENGTH_ZH})"
)
"""The beginning of an order that tells its time first, or the whole of one that tells its length."""

_THEN_ZH: Final = re.compile(
    rf"[，,、]?(?:再|然后)?(?P<after>{_AFTER_ZH})(?P<what>(?:(?!{_AFTER_ZH})[^，,、。]){{1,12}}?)(?=[，,、]?(?:再|然后)?{_AFTER_ZH}|[。]?$)"
)
_EACH_AFTER_ZH: Final = re.compile(
    rf"(?:请|帮我|麻烦你?)*(?:提醒|叫|喊|通知)我(?P<each>(?:{nameless(_THEN_ZH.pattern)}){{2,}})[。]?"
)
"""What one is to be reminded of in so long, and of something else in longer: 提醒我十分钟后关火二十分钟后下饺子."""

_ALIKE_ZH: Final = re.compile(
    rf"(?P<first>(?:请|帮我|麻烦你?)*(?:{nameless(_WHEN_ZH)}{_RING_ZH}|(?:提醒|叫|通知)我{nameless(_WHEN_ZH)}))"
    rf"(?P<what>(?P<begins>[^，。])[^，。]{{0,10}}?(?P<ends>[^，。]))"
    rf"(?P<then>{nameless(_WHEN_ZH)})"
    rf"(?P<what2>(?P=begins)[^，。]{{0,10}}(?P=ends))[。]?"
)
"""Two of a kind, at two hours: 八点提醒我给妈打电话九点给爸打电话; what is not alike may be one."""

_TIME_ZH: Final = rf"(?:{_AFTER_ZH}|{nameless(_WHEN_ZH)})"
_TO_DO_ZH: Final = rf"(?!的|{_RING_ZH}|[^，。]{{0,4}}(?:叫|喊|提醒))[^，。]{{1,12}}"
_EACH_AT_ZH: Final = re.compile(
    rf"(?:请|帮我|麻烦你?)*(?P<each>{_TIME_ZH}提醒我{_TO_DO_ZH}(?:[，,、；;](?:再|然后|还有)*{_TIME_ZH}"
    r"(?![^，。]*(?:[有要是到会得]|[开上][会课班场始]|出发|起飞))"
    rf"{_TO_DO_ZH})+)[。！]?"
)
"""Several things to be reminded of, each behind its time: 六点提醒我做饭，七点关火; 七点有客人 is only told."""

_AT_ZH: Final = re.compile(f"(?:再|然后|还有)*(?P<time>{_TIME_ZH})(?:提醒我)?(?P<what>.+)")
"""One of them."""

_OF_DAY_ZH: Final = re.compile(f"(?P<day>{DAY_ZH})(?={PART_ZH}|{CLOCK_ZH})")
"""The day of an order, which is that of the next one too where no pause parts them: 明天七点叫我晚上十点提醒我吃药."""

_SET_ZH: Final = "(?:设置|设定|设|定|开|订|来|上|要|创建|新建)"
_MANY_ZH: Final = "[一两二三四五六七八2-8]"
_ALARM_ZH: Final = "(?:的?(?:闹钟|闹铃))"
_JOIN_ZH: Final = "(?:[，,、和跟]|还有|以及|再)?"
_ALARMS_ZH: Final = re.compile(
    rf"(?:请|帮我|给我|麻烦你?|再)*(?P<set>{_SET_ZH}?)(?P<count>(?:{_MANY_ZH}?个)?)(?:闹钟[，,：:]?)?(?P<whens>{nameless(_WHEN_ZH)}{_ALARM_ZH}?"
    rf"(?:{_JOIN_ZH}{_SET_ZH}?(?:一?个)?{nameless(_WHEN_ZH)}{_ALARM_ZH}?)+)"
    rf"(?P<each>的?(?:都|各|分别|一共|共)?{_SET_ZH}?(?:{_MANY_ZH}?个)?){_ALARM_ZH}?吧?[。！]?"
)
"""Alarms at several hours: 定一个六点的闹钟和一个七点的闹钟; 明天早上六点七点各一个闹钟."""

_WHENS_ZH: Final = rf"{nameless(_WHEN_ZH)}(?:(?:[，,、和跟]|还有|以及)?{nameless(_WHEN_ZH)}){{2,}}"
_WAKES_ZH: Final = re.compile(
    rf"(?:请|帮我|麻烦你?)*(?P<order>(?:(?:提醒|叫|喊|通知)我)?)(?P<whens>{_WHENS_ZH})"
    rf"(?:各|都|分别)?(?P<what>(?(order)|{_RING_ZH})[^，。]*)[。]?"
)
"""The same at three hours or more: 六点、七点、八点叫我; 提醒我八点十二点六点吃药."""

_ANOTHER: Final = (
    re.compile(
        rf"^(?:in|at|past|for) to\b|^past (?:the hour|{NUMBER})\b|\band an? {_LENGTH}$|"
        rf"\band (?:one|another) (?:for|at|in) (?:{NUMBER}|half|quarter|noon)\b|"
        r"(?<!to )(?<!will )(?<!can )\b(?:remind|wake) me (?:at|in|to|on|tomorrow)\b|^(?:timer|alarm|reminder)s?$|"
        rf"^(?:(?:half|(?:a )?quarter|{NUMBER}) )?(?:past|to)$|\b(?:start|set) (?:one|another|a timer)\b|"
        rf"\bevery (?:{NUMBER} )?(?:minute|hour)s?\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:{_AFTER_ZH}|[过等]{_LENGTH_ZH}|{nameless(_WHEN_ZH)}){_RING_ZH}|^.+{_AFTER_ZH}(?!的)."
        rf"|^[和跟与、]?{SOME_ZH}{{1,3}}点?(?:和|跟|、){SOME_ZH}{{1,3}}点|^[和跟与、]{SOME_ZH}{{1,3}}点|^[和跟]的|^点(?:之?间|左右|多)"
        rf"|[定设]一?个?(?:{_LENGTH_ZH}|{nameless(_WHEN_ZH)}的闹)|各一个?$|[煮蒸炖烤泡焖]{_LENGTH_ZH}$|的闹钟都?(?:取消|删|关)"
        rf"|{nameless(_WHEN_ZH)}(?:叫|喊)[他她它孩娃爸妈老小宝]|^(?:叫|喊)[^，。]{{1,4}}{nameless(_WHEN_ZH)}$"
    ),
)
"""What the name of something that rings has of another order: 给鸡蛋定五分钟给米饭; in to put the bins out."""


def are_too_many(words: str) -> bool:
    """Say whether words order more alarms or timers at once than are set at one word: all are kept, or none."""
    whole = each_ordered(words) or parted(words)
    return (
        whole != words
        and len(re.findall("(?:set an?|wake me|remind me|call me|get me) |提醒我|叫我|喊我|闹钟|定", whole))
        > MOST_RINGING
    )


def holds_another(label: str) -> bool:
    """Say whether what was taken for a name is rather another thing that is to ring."""
    return any(each.search(label) for each in _ANOTHER)


def parted(words: str) -> str:
    """Return words that order several that ring without a pause with each of them whole; others as they are."""
    language = language_of(words)
    if len(words) > LONGEST[language]:
        return words
    if language == "zh":
        return _each_at_zh(simplified(words)) or _parted_zh(simplified(words))
    return _alarms(words) or _timers(words) or words


def _alarms(words: str) -> str:
    words = _ORDER_LAST.sub(lambda found: " ".join(filter(None, found.group("order", "day", "times", "rest"))), words)
    whole, following = _ALARMS if _ALARMS[0].fullmatch(words) else _OF_MINUTES
    found = whole.fullmatch(words)
    if found is None or (whole is _OF_MINUTES[0] and "," not in words):
        return ""
    others = list(following.finditer(found["others"]))
    is_several = (found["kind"] or "").lower() == "alarms" or (found["order"] and len(others) > 1)
    told = found["told"] or found["what"]
    days = [*filter(None, found.group("early", "late", "day"))]
    if len(days) > 1:
        return ""
    for each in others:
        is_plain = each["pause"].strip() or each["more"]
        if not is_plain and not (is_several and _SINGLE.fullmatch(each["when"])):
            return ""  # set an alarm for six ten
    has_half = told or found["day"] or re.search(_HALF_DAY, words)
    if len(others) == 1 and others[0]["pause"].strip() and not has_half:
        return ""  # two, of which the second goes on with the first
    whens = _of_one_half([found["first"], *(each["when"] for each in others)])
    day = "".join(days)
    if told:
        return ", ".join(f"{found['order']}{day} at {when}{told}" for when in _past_noon(whens))
    order = f"{found['order']} at" if found["order"] else "set an alarm for"
    return " and ".join(f"{order} {when}{day}" for when in whens)


def _past_noon(whens: Sequence[str]) -> Sequence[str]:
    """Return hours of one day of which a later one has the smaller number with the half of the day it is in."""
    turn = _turn([_hour(each) for each in whens])
    if any(_HAS_HALF.search(each) for each in whens):
        return whens
    after = [each if each.lower() == "noon" else f"{each} in the afternoon" for each in whens[turn:]]
    return [*whens[:turn], *after]


def _turn(hours: Sequence[int]) -> int:
    """Return the place from which hours of the clock, 0 for twelve, are past noon; their number where none is."""
    turns = [place for place, (one, next_) in enumerate(pairwise(hours), 1) if next_ < one]
    return turns[0] if len(turns) == 1 else len(hours)


def _past_noon_zh(whens: Sequence[str]) -> Sequence[str]:
    """Return the same in Chinese: 每天八点、十二点、六点."""
    said = [re.findall(rf"({SOME_ZH}+)[点:]", each)[0] for each in whens]
    told = [int(each if each.isdecimal() else number_chinese(each)) for each in said]
    if any(hour > 12 for hour in told) or any(re.search(PART_ZH, each) for each in whens):
        return whens
    hours = [hour % 12 for hour in told]
    turn = _turn(hours)
    after = zip(whens[turn:], hours[turn:], strict=True)
    return [*whens[:turn], *(re.sub(CLOCK_ZH, rf"{'下午' if hour else '中午'}\g<0>", each) for each, hour in after)]


def _of_one_half(whens: Sequence[str]) -> Sequence[str]:
    """Return hours with the half of the day that is said behind the last of them, or is that which begins at noon."""
    if whens[0].lower() == "noon":
        return [whens[0], *(each if _HAS_HALF.search(each) else f"{each} in the afternoon" for each in whens[1:])]
    half = re.search(f"{_HALF_DAY}$", whens[-1], re.IGNORECASE)
    hours = [_hour(each) for each in whens]
    is_of_all = half and hours == sorted(hours) and not any(re.search(_HALF_DAY, each) for each in whens[:-1])
    return [*(f"{each}{half.group()}" for each in whens[:-1]), whens[-1]] if half and is_of_all else whens


def _hour(when: str) -> int:
    """Return the hour of a time on the clock, from 0 for twelve."""
    said = re.findall(rf"\b{_HOUR}\b", re.sub(_HALF_DAY, "", when.lower()))
    last = said[-1] if re.search("past|to|half|quarter", when) else said[0]
    return (int(last) if last.isdecimal() else _HOURS.index(last) + 1 if last in _HOURS else 12) % 12


def _timers(words: str) -> str:
    if of_unit := _COUNTS.fullmatch(words):
        counts = re.findall(NUMBER, of_unit["counts"], re.IGNORECASE)
        return " and ".join(f"set a {each} {of_unit['unit']} timer" for each in counts)
    found = _TIMERS.fullmatch(words)
    items = list(_ITEM.finditer(found["items"])) if found else []
    if found is None or len(items) < 2 or "".join(each.group() for each in items) != found["items"]:
        return ""
    for one, next_ in pairwise(items):
        if not (one["timer"] or next_["article"] or one["unit"].lower() == next_["unit"].lower()):
            return ""  # set a one hour thirty minute timer
    return " and ".join(f"set a {each['length']} timer" for each in items)


def _parted_zh(words: str) -> str:
    if (found := _ALARMS_ZH.fullmatch(words)) and re.search("闹[钟铃]", words):
        is_wanted = found["set"] or re.search("[各个]", found["each"])
        return "，".join(f"设一个{each}的闹钟" for each in _whens_zh(found["whens"])) if is_wanted else words
    if found := _WAKES_ZH.fullmatch(words):
        whens = _past_noon_zh(_whens_zh(found["whens"]))
        return "，".join(f"{each}{found['order']}{found['what']}" for each in whens)
    if found := _EACH_AFTER_ZH.fullmatch(words):
        return "，".join(f"{each['after']}提醒我{each['what']}" for each in _THEN_ZH.finditer(found["each"]))
    if found := _ALIKE_ZH.fullmatch(words):
        return f"{found['first']}{found['what']}，{found['then']}提醒我{found['what2']}"
    orders = list(_ORDER_ZH.finditer(words))
    if len(orders) < 2 or anywhere("zh", "reported").search(words):
        return words
    ends = [*(each.start() for each in orders[1:]), len(words)]
    told, day = [], ""
    for each, end in zip(orders, ends, strict=True):
        own = _OF_DAY_ZH.match(each["order"])
        day = own["day"] if own else day if not each["joint"] else ""
        is_of_clock = re.match(_WHEN_ZH, each["order"])
        told.append(f"{day if is_of_clock and not own else ''}{each['order']}{words[each.end() : end]}")
    return words[: orders[0].start()] + "，".join(told)


def _each_at_zh(words: str) -> str:
    """Return a wish for each thing that stands behind its time; a day and its part hold for those behind it too."""
    found = _EACH_AT_ZH.fullmatch(words)
    if found is None:
        return ""
    clauses = [_AT_ZH.match(each) for each in re.split("[，,、；;]", found["each"])]
    parts = [(each["time"], each["what"]) for each in clauses if each]
    whens = iter(_whens_zh("，".join(time for time, _ in parts if re.fullmatch(_WHEN_ZH, time))))
    times = [next(whens) if re.fullmatch(_WHEN_ZH, time) else time for time, _ in parts]
    return "，".join(f"{time}提醒我{what}" for time, (_, what) in zip(times, parts, strict=True))


def _whens_zh(words: str) -> list[str]:
    """Return the hours in words, each with its day and its part of the day, which may have been said before."""
    told, day, part = [], "", ""
    for each in re.finditer(_WHEN_ZH, words):
        day, part = (each["day"], each["part"]) if each["day"] else (day, each["part"] or part)
        told.append(f"{day}{part}{each['clock']}")
    return told
