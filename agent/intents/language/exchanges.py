"""One thing put in place of another, whatever it was said of: not oolong, it's jasmine; 不是电视柜，是书桌上."""

import re
from typing import Final

from agent.intents.intent import Language
from agent.intents.language.patterns import patterns
from agent.intents.language.questions import is_statement

_NOT_BUT: Final = patterns(
    en=r"\bnot (?:the |on |for )?(?P<gone>[\w' -]{2,30}?)(?:,? (?:but|it's|it is|it was|i meant?|that's)|,) (?:the )?"
    r"(?P<instead>[\w' -]{2,30})[.!]?$",
    zh="不是(?P<gone>[^，,]{1,12}?)[，,]?(?:而)?是(?P<instead>[^，,。！]{1,12}?)[了啊。！]?$",
)


def exchanged(words: str, language: Language) -> tuple[str, str]:
    """Return what is not meant, and what is instead; "" for both where words tell only why: not eggs, we have some."""
    found = _NOT_BUT[language].search(words)
    if found is None or (language == "en" and is_statement(found["instead"])):
        return "", ""
    return found["gone"], found["instead"]


def with_exchanged(told: str, words: str, language: Language) -> str:
    """Return what was told with the one thing in place of the other; "" where it does not have it.

    What is said of both stands there once: 书桌上 for the 电视柜 of 在电视柜上.
    """
    gone, instead = exchanged(words, language)
    edge = "" if language == "zh" else r"\b"
    found = re.search(rf"{edge}{re.escape(gone)}{edge}", told, re.IGNORECASE) if gone else None
    if found is None:
        return ""
    before, after = told[: found.start()], told[found.end() :]
    return f"{before}{instead[_shared(before, instead) : len(instead) - _shared(instead, after)]}{after}"


def _shared(left: str, right: str) -> int:
    """Return how many characters at the end of one are the beginning of the other."""
    most = min(len(left), len(right))
    return next((size for size in range(most, 0, -1) if left.endswith(right[:size])), 0)
