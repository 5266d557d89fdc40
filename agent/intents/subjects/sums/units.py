"""Conversions without a model, by pint: five miles in kilometres, 五英里是多少公里."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from agent.intents.intent import Language
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import spoken_number
from agent.intents.subjects.sums.chinese import LIANG

if TYPE_CHECKING:
    from pint import UnitRegistry

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
    **{
        "杯": "cup",
        "汤匙": "tablespoon",
        "大勺": "tablespoon",
        "汤勺": "tablespoon",
        "茶匙": "teaspoon",
        "小勺": "teaspoon",
    },
    **{"mls": "ml", "毫升": "ml", "加仑": "gallon", "摄氏度": "degC", "华氏度": "degF", "摄氏": "degC", "华氏": "degF"},
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


def converted(text: str, language: Language) -> str:
    """Return the answer to a conversion in digits, "" where it is none, or one between two kinds of measure."""
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
    """Return pint's units; making them takes a fifth of a second, so once, while the model warms."""
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
