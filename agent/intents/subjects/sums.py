"""Sums and units without a model: what is 17 times 23, 五英里是多少公里; numbers in words or digits."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from agent.intents.intent import Language, language_of
from agent.intents.phrases import phrase
from agent.intents.subjects.sums_chinese import LIANG, in_digits_chinese

if TYPE_CHECKING:
    from pint import UnitRegistry

MOST_CLAUSES: Final = 4
"""Of a sentence, of which one may be a sum."""

LONGEST: Final = 120
"""Characters of what may be a sum."""

_LEAD: Final = re.compile(
    r"^(?:(?:please|can you|could you|tell me|and|so|ok|okay|hey|nakari) )*"
    r"(?:what is|what are|what's|whats|what|how much is|how much are|how much|calculate|compute|work out|convert|change"
    r"|add up)? *"
)
_OPERATORS: Final = (
    (r"([\d.]+) plus ([\d.]+) (?:percent|per cent)", r"\1*(1+\2/100)"),
    (r"([\d.]+) (?:minus|less) ([\d.]+) (?:percent|per cent)", r"\1*(1-\2/100)"),
    (r"([\d.]+) (?:percent|per cent) off ([\d.]+)", r"\2*(1-\1/100)"),
    (r"([\d.]+) out of ([\d.]+)(?: as a (?:percentage|percent)| in percent)?", r"\1/\2*100"),
    (r"([\d.]+) lakhs?", r"\1*100000"),
    (r"([\d.]+) crores?", r"\1*10000000"),
    (r"(?:percent|per cent)(?: [a-z]+)? (?:of|on)", "/100*"),
    (r"percent|per cent", "/100"),
    (r"(?:a |one |1 )?half of", "1/2*"),
    (r"(?:a |one |1 )?(?:third|3rd) of", "1/3*"),
    (r"(?:a |one |1 )?(?:quarter|fourth|4th) of", "1/4*"),
    (r"([\d.]+) (?:quarters|fourths) of", r"\1/4*"),
    (r"([\d.]+) (?:thirds|3rds) of", r"\1/3*"),
    (r"(?:the )?square root of ([\d.]+)", r"(\1)**0.5"),
    (r"(?:the )?cube root of ([\d.]+)", r"(\1)**(1/3)"),
    (r"(?:twice|double) (?=[\d.])", "2*"),
    (r"to the power of|to the", "**"),
    (r"squared", "**2"),
    (r"cubed", "**3"),
    (r"multiplied by|times|x", "*"),
    (r"divided by|over", "/"),
    (r"plus|added to|add|and", "+"),
    (r"minus|less|take away", "-"),
)
"""How English says what a sum does, in the order in which it is read."""

_OPERATORS_ZH: Final = (
    (r"([\d.]+)的百分之([\d.]+)", r"\1*\2/100"),
    (r"百分之([\d.]+)", r"\1/100"),
    (r"([\d.]+)的一半", r"\1/2"),
    (r"([\d.]+)的([\d.]+)分之([\d.]+)", r"\1*\3/\2"),
    (r"([\d.]+)分之([\d.]+)", r"(\2/\1)"),
    (r"([\d.]+)(?:块钱?|元)?[的打]([1-9])折", r"\1*\2/10"),
    (r"([\d.]+)(?:块钱?|元)?[的打]([1-9]{2})折", r"\1*\2/100"),
    (
        r"([\d.]+)(?:块钱?|元)?([\d.]+)个?人(?:平?分|平摊|aa制?)(?:每个?人|一个?人)?(?:[要该]?[付出给]?多少钱?)?",
        r"\1/\2",
    ),
    (r"([\d.]+)的平方根", r"(\1)**0.5"),
    (r"([\d.]+)的平方", r"(\1)**2"),
    (r"加上?", "+"),
    (r"减去?", "-"),
    (r"乘以?|的(?=[\d.]+倍)", "*"),
    (r"除以", "/"),
    (r"倍|(?<=\d)(?:块钱?|元)", ""),
)
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

_STEP: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(r"(?:plus|minus|times|divided by|to the power of|squared|cubed)\b"),
    "zh": re.compile("加|减|乘|除以"),
}

_ORDERS: Final = (
    (r"^divide (.+) by (.+)$", r"\1 divided by \2"),
    (r"^multiply (.+) (?:by|and|with) (.+)$", r"\1 times \2"),
    (r"^add (.+) (?:and|to) (.+)$", r"\1 plus \2"),
    (r"^(?:subtract|take) (.+) from (.+)$", r"\2 minus \1"),
    (r"^(.+?),? (?:split|shared|divided) (\w+) ways$", r"\1 divided by \2"),
    (r"^(.+?),? (?:split|shared|divided) (?:between|among) (?:the )?(\w+)(?: of us| people)?$", r"\1 divided by \2"),
    (r"^(.+?) is (?:what|how (?:much|many)) in (.+)$", r"\1 in \2"),
)
"""Sums said as orders, and how a sum says them."""

_THINGS: Final = re.compile(
    r"(?<=\d) (?:kilos?|kilograms?|grams?|milligrams?|pounds?|euros?|dollars?|bucks|quid|lit(?:re|er)s?|met(?:re|er)s?|"
    r"miles|inches|feet|cups?|hours?|minutes?)(?: of [a-z]+)?\b"
)
"""What is counted in a sum, which does not change it."""

_FEET: Final = re.compile(r"\b(\d+) (?:foot|feet) (\d+(?:\.\d+)?)(?: inch(?:es)?)?\b")

_SPOKEN_SHORT: Final = (
    (re.compile(r"\b(\d{1,3}) (\d\d)(?= divided by)"), r"\1.\2"),
    (re.compile(r"\b([1-9]) ([1-9]\d)(?= (?:fahrenheit|celsius|grams?|calories|miles|millilit(?:er|re)s)\b)"), r"\1\2"),
)
"""Prices and numbers said without what they count: eighty four sixty split two ways; three fifty Fahrenheit."""

_PRICED: Final = re.compile(r"\b(?:pounds?|quid|euros?|dollars?|bucks|each|apiece|come to|cost)\b|\d\.\d\d\b")
"""What shows that so many things are at so much, and not so many people at seven."""

_RATE: Final = re.compile(
    r"^.*?([\d.]+) ([a-z]+?)s?,? at ([\d.]+)(?: (pence|p|cents?)| [a-z]+)? "
    r"(?:an?|per|each|every) \2\b(?:,? (?:how|what)\b.*)?$"
)
"""So many at so much each: nineteen pounds, at thirteen minutes a pound."""

_UNIT_PRICE: Final = re.compile(
    r"^.*?([\d.]+) [a-z]+ for ([\d.]+)(?: [a-z]+)?,? (?:so )?how much (?:for|is|are|does|would) (?:one|1|an?|each)\b.*$"
)
"""What one costs of so many: twenty four cans for eleven forty, how much for one."""


_ASKED_BEHIND: Final = (
    "how much(?: is (?:that|it))?|"
    "what(?:'s| is| does) (?:that|it)(?: come to| make| cost)?(?: altogether| in total| in all)?"
)
"""How a sum that was told is asked for at its end."""

_SUM: Final = re.compile(r"[\d.+\-*/() ]+")
_HAS_OPERATOR: Final = re.compile(r"[\d)] *[+\-*/]+ *[\d(]")

_NUMBER: Final = r"(?P<number>\d+(?:\.\d+)?|an?)"
_CONVERSIONS: Final = (
    re.compile(rf"{_NUMBER} (?P<unit>[a-z/ ]+?) (?:in|to|into|as) (?P<target>[a-z/ ]+)"),
    re.compile(
        rf"how (?:many|much) (?P<target>[a-z/ ]+?) (?:(?:is|are|makes?|do|does)(?: there)?(?: in)?|in|to) "
        rf"{_NUMBER} (?P<unit>[a-z/ ]+?)(?: have| make)?"
    ),
    re.compile(
        r"(?P<number>-?\d+(?:\.\d+)?)(?P<unit>[^\d.是等有]+?)"
        r"(?:(?:是|等于|有|合|换成|换算成)(?:多少|几)?|多少|几)(?P<target>[^\d.啊呀呢]+)[啊呀呢]?"
    ),
)
_UNITS: Final = {
    **{"c": "degC", "celsius": "degC", "centigrade": "degC", "f": "degF", "fahrenheit": "degF", "kilo": "kilogram"},
    **{"kilos": "kilogram", "kmh": "km/h", "km/h": "km/h", "mph": "mile/hour", "fluid ounces": "fluid_ounce"},
    **{
        "公里": "km",
        "千米": "km",
        "英里": "mile",
        "米": "m",
        "厘米": "cm",
        "公分": "cm",
        "毫米": "mm",
        "英尺": "foot",
        "英寸": "inch",
    },
    **{"公斤": "kg", "千克": "kg", "克": "g", "斤": "jin", "磅": "pound", "盎司": "ounce", "升": "liter"},
    **{"毫升": "ml", "加仑": "gallon", "摄氏度": "degC", "华氏度": "degF", "摄氏": "degC", "华氏": "degF"},
    **{"钟头": "hour", "尺": "chi", "寸": "cun", "亩": "mu", "平方米": "m**2", "平米": "m**2", "公顷": "hectare"},
    **{
        "平方公里": "km**2",
        "吨": "tonne",
        "坪": "ping",
        "公尺": "m",
        "平方公尺": "m**2",
        "刻钟": "ke",
        "刻": "ke",
        "星期": "week",
        "个星期": "week",
        "个小时": "hour",
        "度": "degC",
    },
    **{"小时": "hour", "分钟": "minute", "秒": "second", "天": "day", "周": "week", "年": "year", "码": "yard"},
}
"""Units as people say them, where pint calls them otherwise."""


def continued(value: str, words: str, language: Language) -> str:
    """Return the sum that words go on with from a value: 168 and "plus thirty"; "" where they do not go on."""
    rest = words.lower()
    for pattern, instead in _GOING_ON[language]:
        rest = re.sub(pattern, instead, rest)
    return f"{value} {rest}" if _STEP[language].match(rest) else ""


def answer_sum(words: str) -> str:
    """Return the sentence that answers a sum or a conversion, "" when the words are neither."""
    if len(words) > LONGEST or len(re.findall("等于|是多少", words)) > 1:  # two sums are none
        return ""
    language = language_of(words)
    text = _in_digits(words, language)
    if not re.search(r"\d|\b(?:in|is|are) an? |^an? [a-z]+ (?:in|to|into) ", text) or re.fullmatch(
        r"[\d.]+ (?:percent|per cent)", text
    ):
        return ""
    found = _converted(text, language) or _calculated(text, language)
    return found or _calculated(_THINGS.sub("", text), language)


def answer_clause(words: str) -> str:
    """Return the answer to the one clause of a sentence that is a sum or a conversion; "" where none is, or several."""
    clauses = re.split(r"[，。；！？]|[,;.!?]\s+", words)
    found = [told for clause in clauses[:MOST_CLAUSES] if (told := answer_sum(clause))] if len(clauses) > 1 else []
    return found[0] if len(found) == 1 else ""


def spoken_number(value: float, *, is_measure: bool = False) -> tuple[str, bool]:
    """Return a number as one would say it, and whether it was rounded: 12.5, 8.05, 1,234,567."""
    if abs(value) >= 100 and is_measure:
        rounded = float(round(value))
    elif abs(value) >= 1 or value == 0:
        rounded = round(value, 2)
    else:
        rounded = float(f"{value:.3g}")
    text = f"{rounded:,.10f}".rstrip("0").rstrip(".") if abs(rounded) < 1e15 else f"{rounded:.3g}"
    return text if abs(rounded) >= 10_000 else text.replace(",", ""), abs(rounded - value) > 1e-9 * abs(value)


def _in_digits(words: str, language: Language) -> str:
    """Return a sentence in small letters with its numbers in digits, without what leads up to them."""
    text = words.lower().replace("’", "'").strip(" \t\n.,?!。？！")
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    if language == "zh":
        return in_digits_chinese(text)
    from text_to_num import alpha2digit

    text = _LEAD.sub("", re.sub(r"\bdegrees?\b( of)?|°|[?!]", " ", text).replace("%", " percent").strip())
    for pattern, instead in _ORDERS:
        text = re.sub(pattern, instead, text)
    text = re.sub(r"\b(thirds?|quarters?|fourths?)\b", r"~\1", text)  # else they became 3rd, and a sum of ordinals
    text = alpha2digit(" ".join(text.split()), "en", threshold=0).replace("~", "")
    text = re.sub(r"\ban? (?=\d)", "", text.replace("a dozen", "12").replace("dozen", "* 12"))
    text = re.sub(r"(\d+) and (?:a|1) half\b", r"\1.5", text)
    text = re.sub(r"(\d+) and (?:a|1) quarter\b", r"\1.25", text)
    text = re.sub(r"\b(\d+) quarters? of an? (?=[a-z])", lambda part: f"{int(part[1]) / 4} ", text)
    text = re.sub(r"\b(\d+) (?:pounds?|quid|euros?|dollars?|bucks) (\d\d)\b", r"\1.\2", text)
    text = re.sub(r"\b(?:a |an? )?half (?:an? )?(?!of\b)(?=[a-z])", "0.5 ", text)
    text = _FEET.sub(lambda two: f"{12 * int(two[1]) + float(two[2]):g} inches", text)
    for short, number in _SPOKEN_SHORT:
        text = short.sub(number, text)
    if _PRICED.search(text):
        text = re.sub(r"([\d.]+)(?: [a-z]+){1,4} at ([\d.]+)(?: (?:each|apiece|a piece))?", r"\1 times \2", text)
    text = _RATE.sub(lambda rate: f"{rate[1]} times {rate[3]}{' divided by 100' if rate[4] else ''}", text)
    text = _UNIT_PRICE.sub(r"\2 divided by \1", text)
    text = re.sub(rf",? (?:{_ASKED_BEHIND})$", "", text)
    return re.sub(r"\b(?:equals?|make[s]?|altogether|in total)$|(?<=\d) (?:is|are)$", "", text).strip()


def _calculated(text: str, language: Language) -> str:
    *before, last = text.split("再")  # what is done again is done to all before it
    text = "".join(["(" * len(before), *(f"{each})" for each in before), last])
    for pattern, operator in _OPERATORS_ZH if language == "zh" else _OPERATORS:
        bounded = pattern if language == "zh" or pattern.startswith("(") else rf"\b(?:{pattern})\b"
        text = re.sub(bounded, operator, text)
    if not _SUM.fullmatch(text) or not _HAS_OPERATOR.search(text):
        return ""
    from simpleeval import simple_eval

    try:
        value = float(simple_eval(text))
    except ZeroDivisionError:
        return phrase("sum_zero", language)
    except Exception:  # noqa: BLE001  a sum may be wrong, or too large, in as many ways as Python has
        return ""
    said, is_rounded = spoken_number(value)
    return phrase("sum_about" if is_rounded else "sum", language, value=said)


def _converted(text: str, language: Language) -> str:
    found = next((each for form in _CONVERSIONS if (each := form.fullmatch(text))), None)
    if found is None:
        return ""
    unit, target = found["unit"].strip(), found["target"].strip()
    number = 1.0 if found["number"] in {"a", "an"} else float(found["number"])
    import pint

    try:
        quantity = _registry().Quantity(number, _unit(unit))
        value = float(quantity.to(_unit(target)).magnitude)
    except (pint.errors.PintError, AttributeError, AssertionError, ValueError, TypeError, KeyError):
        return ""  # no units, or of two kinds
    said, is_rounded = spoken_number(value, is_measure=True)
    name = f"degrees {target.capitalize()}" if language == "en" and _unit(target) in {"degC", "degF"} else target
    return phrase("converted_about" if is_rounded else "converted", language, value=said, unit=name)


def _unit(said: str) -> str:
    return _UNITS.get(said, said)


@lru_cache(maxsize=1)
def _registry() -> "UnitRegistry[float]":
    """Return pint's units; making them takes a fifth of a second, so at the first question."""
    from pint import UnitRegistry

    registry: UnitRegistry[float] = UnitRegistry()
    registry.define("jin = 0.5 kilogram")
    registry.define("ke = 15 minute")
    registry.define("ping = 400 / 121 * meter ** 2")
    registry.define("chi = meter / 3")
    registry.define("cun = meter / 30")
    registry.define("mu = 2000 / 3 * meter ** 2")
    registry.define(f"{LIANG} = 0.05 kilogram")
    return registry
