"""Several in a row of which only the first has the order: wake me at six, Ben at seven and the twins at eight."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from agent.intents.intent import language_of
from agent.intents.language.clock_times import CLOCK_ZH, DAY_ZH, PART_ZH
from agent.intents.language.lengths import LENGTH_ZH, NUMBER, UNIT
from agent.intents.reading.several import CLOCK, ON_DAY

_NEXT: Final = "(?:,? and (?:then )?|, (?:then )?)"
_WHOM: Final = (
    r"(?!(?:remind|wake|set|then|again|another|one|maybe|call|it|that|at)\b)(?:(?:the|my|our) )?"
    r"(?!(?:alarm|timer)s?\b)[\w'-]+"
)
_THING: Final = rf"(?:(?!,| and (?:then )?(?:at )?(?:{NUMBER}|half|quarter|noon)\b).)+?"

_DISH: Final = (
    r"(?!(?:i|we|you|he|she|they|it|at|in|for|and|the|an?|my|set|add|put|remind|wake|give|work|sleep|page|room|bus|train|is|are|"
    rf"timer|alarm|another|{NUMBER})\b)[a-z'-]+(?: (?!(?:for|needs|takes?|took|lasts?|is|was|runs?)\b)[a-z'-]+)?"
)

_ITEMS: Final[Mapping[str, str]] = {
    "woken": rf"(?P<whom>{_WHOM})(?: up)?(?P<day>(?: {ON_DAY})?) at (?P<when>{CLOCK})",
    "alarms": rf"(?P<when>{CLOCK}) for (?P<whom>{_WHOM})",
    "reminded": rf"(?P<day>(?:{ON_DAY} )?)(?:at )?(?P<when>{CLOCK}) (?P<what>(?:to|about) {_THING})",
    "timers": rf"(?P<number>{NUMBER})(?P<unit>(?: {UNIT})?) for (?P<what>{_THING})",
    "cooked": rf"(?:the )?(?P<what>{_DISH})(?: for| needs)? (?P<number>{NUMBER})(?P<unit> {UNIT})",
}
"""One of a row, by what is wanted of all."""

_ORDERS: Final[Mapping[str, str]] = {
    "woken": "(?:wake|get) ",
    "alarms": "(?:set|put|make)(?: me)? (?:an? |some )?alarms? (?:for|at) ",
    "reminded": "remind me ",
    "timers": "(?:set|start|give me|put)(?: me)?(?: an?| some)? timers? (?:for|of) ",
    "cooked": "(?:timers? for )?",
}
"""What is said before the first of them alone."""


def nameless(pattern: str) -> str:
    """Return a regular expression with its groups unnamed, so that it may stand in another one more than once."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


_ROWS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(
        rf"(?P<opening>(?:please |can you |could you |so |and )*){_ORDERS[name]}"
        rf"(?P<row>{nameless(item)}(?:{_NEXT}{nameless(item)})+)(?P<day>(?: {ON_DAY})?)(?: please)?[.!]?",
        re.IGNORECASE,
    )
    for name, item in _ITEMS.items()
}

_WHEN_ZH: Final = rf"{DAY_ZH}?的?{PART_ZH}?{CLOCK_ZH}"
_CALL_ZH: Final = (
    rf"(?P<when>{_WHEN_ZH})(?:提醒我)?(?:叫|喊)(?P<whom>我|(?!我|外卖|车|出租|快递|滴滴|救护|代驾|醒)[^，。、；我你的了点]{{1,6}}?)"
    "(?:起床|起来)?(?=[，,、；。！]|再|然后|$)"
)
_ROW_ZH: Final = re.compile(
    rf"(?:请|帮我|麻烦你?)*(?P<row>{nameless(_CALL_ZH)}(?:(?:[，,、；]|再|然后)+{nameless(_CALL_ZH)})+)[。！]?"
)
"""The same in Chinese: 六点叫我，七点叫小明，八点叫双胞胎."""

_BEHIND_ZH: Final = re.compile(
    rf"(?:叫|喊)(?P<whom>[^，。、；的了点\d零一二两三四五六七八九十半今明后周星礼每早晚]{{1,4}})(?P<when>{_WHEN_ZH})(?:起床|起来)?(?=[，,、；。！]|$)"
)
"""A time behind whom it wakes: 叫我七点，叫孩子七点半."""

_COOKED_ZH: Final = (
    r"(?P<what>(?![先再过等还有我你他她它咱]|计时)[^，。、；定设到了\d零一二两三四五六七八九十半]{1,4}?)"
    rf"(?:[再还]?[煮炖蒸焖烤炸煎卤泡腌])?(?P<length>{LENGTH_ZH})"
)
_ROW_COOKED_ZH: Final = re.compile(
    rf"(?:请|帮我)*{nameless(_COOKED_ZH)}(?:(?:[，,、；]|再|然后|还有|和)+{nameless(_COOKED_ZH)})+[。！]?"
)
"""Several that cook, each with its length: 米饭十二分钟，鱼八分钟."""


def each_ordered(words: str) -> str:
    """Return words that order several in a row with an order for each; "" where they are none."""
    if language_of(words) == "zh":
        if _ROW_COOKED_ZH.fullmatch(words):
            return "，".join(f"给{each['what']}定{each['length']}" for each in re.finditer(_COOKED_ZH, words))
        return _calls_zh(words)
    for name, whole in _ROWS.items():
        if row := whole.fullmatch(words):
            item = re.compile(rf"(?:^|{_NEXT}){_ITEMS[name]}(?={_NEXT}|$)", re.IGNORECASE)
            items = list(item.finditer(row["row"]))
            each = _timers(items) if name in {"timers", "cooked"} else [_at(one, row["day"]) for one in items]
            return " and ".join(f"{row['opening']}{one}" for one in each)
    return ""


def _calls_zh(words: str) -> str:
    """Return each of a row that wakes as an order; every day if the first one says so, and none has its own day."""
    row = _ROW_ZH.fullmatch(_BEHIND_ZH.sub(r"\g<when>叫\g<whom>", words))
    calls = list(re.finditer(_CALL_ZH, row["row"])) if row else []
    every = "每天" if calls and calls[0]["when"].startswith("每天") else ""
    if every and any(re.match(DAY_ZH, each["when"]) for each in calls[1:]):
        return ""
    whens = [f"{every if number else ''}{each['when']}" for number, each in enumerate(calls)]
    return "，".join(
        f"{when}叫我起床" if each["whom"] == "我" else f"{when}提醒我叫{each['whom']}起床"
        for when, each in zip(whens, calls, strict=True)
    )


def _at(item: re.Match[str], day: str) -> str:
    """Return one of a row that rings at a time of day, as an order, on the day that is said behind all of them."""
    told = item.groupdict()
    what = told.get("what") or ("" if told["whom"].lower() in {"me", "us"} else f"to wake {told['whom']}")
    day = f" {told['day'].strip()}" if told.get("day") else day
    return f"remind me{day} at {told['when']} {what}" if what else f"wake me{day} at {told['when']}"


def _timers(items: Sequence[re.Match[str]]) -> list[str]:
    """Return each of a row of timers as an order, with the unit that is said with one of them."""
    unit = next((each["unit"] for each in items if each["unit"]), " minutes")
    return [f"set a timer for {each['number']}{each['unit'] or unit} for {each['what']}" for each in items]
