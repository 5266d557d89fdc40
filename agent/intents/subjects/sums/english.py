"""English sums in digits and in an order that can be reckoned: so many at so much each, split five ways."""

import re
from typing import Final

from agent.intents.language.lengths import in_digits

_LEAD: Final = re.compile(
    r"^(?:(?:please|can you|could you|tell me|and|so|ok|okay|hey|nakari) )*"
    r"(?:what is|what are|what's|whats|what|how much is|how much are|how much|calculate|compute|work out|convert|change"
    r"|add up)? *"
)
OPERATORS: Final = (
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
    (r"multiplied by|multiply (?:it |that )?by|times(?: it| that)?(?: by)?|x", "*"),
    (r"divided by|divide (?:it |that )?by|over", "/"),
    (r"plus|added to|add|and", "+"),
    (r"minus|less|take away|subtract|deduct", "-"),
)
"""How English says what a sum does, in the order in which it is read."""

_ORDERS: Final = (
    (r"^divide (.+) by (.+)$", r"\1 divided by \2"),
    (r"^multiply (.+) (?:by|and|with) (.+)$", r"\1 times \2"),
    (r"^add (.+) (?:and|to) (.+)$", r"\1 plus \2"),
    (r"^(?:subtract|take) (.+) from (.+)$", r"\2 minus \1"),
    (r"^(.+?),? (?:split|shared|divided) (\w+) ways$", r"\1 divided by \2"),
    (r"^(.+?),? (?:split|shared|divided) (?:between|among) (?:the )?(\w+)(?: of us| people)?$", r"\1 divided by \2"),
    (
        r"^(?:split|share) (.+) (?:by|between|among|into) (?:the )?(\w+)(?: of us| people| ways| parts)?$",
        r"\1 divided by \2",
    ),
    (r"^(.+?) is (?:what|how (?:much|many)) in (.+)$", r"\1 in \2"),
)
"""Sums said as orders, and how a sum says them."""

_FEET: Final = re.compile(r"\b(\d+) (?:foot|feet) (\d+(?:\.\d+)?)(?: inch(?:es)?)?\b")

_SPOKEN_SHORT: Final = (
    (re.compile(r"\b(\d{1,3}) (\d\d)(?= divided by)"), r"\1.\2"),
    (re.compile(r"\b(\d) (met(?:re|er)s?) (\d\d)\b"), r"\1.\3 \2"),
    (re.compile(r"\b([1-9]) ([1-9]\d)(?= (?:fahrenheit|celsius|grams?|calories|miles|millilit(?:er|re)s)\b)"), r"\1\2"),
)
"""Prices and numbers said without what they count: eighty four sixty split two ways; one metre eighty."""

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


def in_digits_english(text: str) -> str:
    """Return an English sentence in small letters with its numbers in digits, without what leads up to them."""
    text = _LEAD.sub("", re.sub(r"\bdegrees?\b( of)?|°|[?!]", " ", text).replace("%", " percent").strip())
    for pattern, instead in _ORDERS:
        text = re.sub(pattern, instead, text)
    text = re.sub(r"\b(thirds?|quarters?|fourths?)\b", r"~\1", text)  # else they became 3rd, and a sum of ordinals
    text = re.sub(r"\bones\b", "on~es", text)  # which are no number
    text = in_digits(" ".join(text.split())).replace("~", "")
    text = re.sub(r"\ban? (?=\d)", "", text.replace("a dozen", "12").replace("dozen", "* 12"))
    text = re.sub(r"(\d+) and (?:a|1) half\b", r"\1.5", text)
    text = re.sub(r"(\d+) and (?:a|1) quarter\b", r"\1.25", text)
    text = re.sub(r"\b(\d+) quarters? of an? (?=[a-z])", lambda part: f"{int(part[1]) / 4} ", text)
    text = re.sub(r"\b(\d+) (?:pounds?|quid|euros?|dollars?|bucks) (\d\d)\b", r"\1.\2", text)
    text = re.sub(r"\b(?:a |an? )?half (?:an? )?(?!of\b)(?=[a-z])", "0.5 ", text)
    text = re.sub(r"\b(?:a |1 )?quarter (?:of an? )?(?!of\b|past\b|to\b)(?=[a-z])", "0.25 ", text)
    text = re.sub(r",? (?:and )?then,? ", " then ", text)
    text = _FEET.sub(lambda two: f"{12 * int(two[1]) + float(two[2]):g} inches", text)
    for short, number in _SPOKEN_SHORT:
        text = short.sub(number, text)
    if _PRICED.search(text):
        text = re.sub(r"([\d.]+)(?: [a-z]+){1,4} at ([\d.]+)(?: (?:each|apiece|a piece))?", r"\1 times \2", text)
    text = _RATE.sub(lambda rate: f"{rate[1]} times {rate[3]}{' divided by 100' if rate[4] else ''}", text)
    text = _UNIT_PRICE.sub(r"\2 divided by \1", text)
    text = re.sub(rf",? (?:{_ASKED_BEHIND})$", "", text)
    return re.sub(r"\b(?:equals?|make[s]?|altogether|in total)$|(?<=\d) (?:is|are)$", "", text).strip()
