"""What is done to the value of the last sum: plus thirty; take forty off that; half of that."""

import re
from typing import Final

from agent.intents.intent import Language
from agent.intents.language.patterns import patterns

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


def continued(value: str, words: str, language: Language) -> str:
    """Return the sum that words go on with from a value: 168 and "plus thirty"; "" where they do not go on."""
    rest = words.lower()
    for pattern, instead in _GOING_ON[language]:
        rest = re.sub(pattern, instead, rest)
    return f"{value} {rest}" if _STEP[language].match(rest) else ""
