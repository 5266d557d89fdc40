"""What the offline model says, in English and Chinese."""

import re
from functools import cache
from string import Formatter

from agent.intents.intent import Language
from agent.tables import table


def phrase(name: str, language: Language, **values: object) -> str:
    """Return a sentence with its gaps filled and a capital at its beginning.

    Raises KeyError for a name or a gap that is missing.
    """
    english, chinese = _both(name)
    words = (chinese if language == "zh" else english).format_map(values)
    return words[:1].upper() + words[1:] if english.startswith("{") else words


def gaps(name: str, said: str, language: Language) -> dict[str, str]:
    """Return what stands in the gaps of a phrase that was said, perhaps behind others; {} where it was not."""
    found = _pattern(name, language).search(said)
    return found.groupdict() if found else {}


def _both(name: str) -> tuple[str, str]:
    """Return a sentence in English and Chinese, as phrases.yaml has it."""
    english, chinese = table(__package__, "phrases.yaml")[name]
    return str(english), str(chinese)


@cache
def _pattern(name: str, language: Language) -> re.Pattern[str]:
    """Return what finds a phrase: the last gap takes all that it can, an enumeration or a number with a full stop."""
    english, chinese = _both(name)
    parts = list(Formatter().parse(chinese if language == "zh" else english))
    last = [gap for _, gap, _, _ in parts if gap][-1]
    wide = {gap: f"(?P<{gap}>.+{'' if gap == last else '?'})" for _, gap, _, _ in parts if gap}
    return re.compile("".join(re.escape(before) + (wide[gap] if gap else "") for before, gap, _, _ in parts))
