"""What is looked for in either language, each by an expression of its own."""

import re
from collections.abc import Mapping

from agent.intents.intent import Language


def patterns(*, en: str, zh: str) -> Mapping[Language, re.Pattern[str]]:
    """Return what finds these expressions, whatever the case of the letters."""
    return {"en": re.compile(en, re.IGNORECASE), "zh": re.compile(zh, re.IGNORECASE)}
