"""Proper names in a graph: what people, pets and places are called in it, those with most relationships first."""

import re
import unicodedata
from collections.abc import Awaitable, Callable
from typing import Final

from memory.graph.cypher import Statement
from memory.graph.results import Result
from memory.json_value import listed

Read = Callable[[str | Statement], Awaitable[Result]]
"""Runs a statement that only reads (`memory.graph.graph.Graph.read`)."""

KEYS: Final = ("name", "firstName", "first_name", "fullName", "full_name", "nickname", "alias", "名字", "姓名", "昵称")
"""Properties that hold what somebody or something is called; no schema is prescribed, so the usual ones."""

LOOKED: Final = 5_000
"""Nodes with such a property that are looked at."""

MOST_NAMED: Final = 200
"""Nodes whose names are returned, those with the most relationships."""

LONGEST: Final = 24
"""Characters of a name."""

MOST_WORDS: Final = 3

_NAMED: Final = f"coalesce({', '.join(f'n.`{key}`' for key in KEYS)}) IS NOT NULL"
_NAMES: Final = (
    f"MATCH (n) WHERE {_NAMED} WITH n LIMIT {LOOKED} OPTIONAL MATCH (n)-[r]-() WITH n, count(r) AS ties "
    f"ORDER BY ties DESC LIMIT {MOST_NAMED} RETURN collect([{', '.join(f'n.`{key}`' for key in KEYS)}]) AS called"
)

_LATIN: Final = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]*)*")
"""One word of a name: letters, with what joins them (O'Neill, Anne-Marie, J.)."""

_JOINING: Final = frozenset(
    {"al", "bin", "da", "de", "del", "della", "der", "di", "dos", "du", "la", "le", "van", "von"}
)
"""What stands in lower case within a name."""


async def proper_names(read: Read) -> list[str]:
    """Return the names in use, each once, the best connected first. Raises what `read` raises."""
    found = await read(_NAMES)
    told = (each for row in found.records for called in listed(row["called"]) for each in listed(called))
    names = (" ".join(each.split()) for each in told if isinstance(each, str))
    return list(dict.fromkeys(name for name in names if is_proper_name(name)))


def is_proper_name(text: str) -> bool:
    """Say whether a text looks like a name and like nothing else: short, letters only, each word with a capital.

    Chinese, Japanese and Korean ones have two to six characters. A sentence, an address, markup or code is none.
    """
    words = text.split(" ")
    if not 2 <= len(text) <= LONGEST or len(words) > MOST_WORDS or not all(map(_LATIN.fullmatch, words)):
        return False
    if script_of(text) in _WITHOUT_CAPITALS:
        return len(text) <= 6 and len(words) == 1
    return words[0][0].isupper() and all(word[0].isupper() or word in _JOINING for word in words)


def script_of(text: str) -> str:
    """Return the script of the first letter as Unicode names it: LATIN, CJK, CYRILLIC …; "" without a letter."""
    first = next((each for each in text if each.isalpha()), "")
    return unicodedata.name(first, "").split(" ")[0].split("-")[0] if first else ""


_WITHOUT_CAPITALS: Final = frozenset(
    {"CJK", "HANGUL", "HIRAGANA", "KATAKANA", "ARABIC", "HEBREW", "DEVANAGARI", "THAI"}
)
