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
_NAMES: Final = """
    degC=c|celsius|centigrade|摄氏度|摄氏|度 degF=f|fahrenheit|华氏度|华氏 km/h=kmh|km/h mile/hour=mph
    km=公里|千米 mile=英里 m=米|公尺 cm=厘米|公分 mm=毫米 foot=英尺 inch=英寸 yard=码 chi=尺 cun=寸
    m**2=平方米|平米|平方公尺 km**2=平方公里 hectare=公顷 mu=亩 ping=坪
    kilogram=kilo|kilos kg=公斤|千克 g=克 jin=斤 pound=磅 ounce=盎司 tonne=吨
    liter=升 ml=mls|毫升 cup=杯 tablespoon=汤匙|大勺|汤勺 teaspoon=茶匙|小勺 gallon=加仑
    hour=钟头|小时|个小时 ke=刻|刻钟 minute=分钟 second=秒 day=天 week=周|星期|个星期 year=年
"""
_UNITS: Final = {"fluid ounces": "fluid_ounce"} | {
    said: unit for unit, _, names in (each.partition("=") for each in _NAMES.split()) for said in names.split("|")
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
