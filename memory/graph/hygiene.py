"""How tidy the names in the graph are: nearly alike ones, and those that are used once."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

_NOT_TELLING: Final = re.compile(r"[\W_]+")


def alike(names: Iterable[str]) -> list[list[str]]:
    """Return groups of names that differ only in case, in marks between their words, or in a plural's s."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[_key(name)].append(name)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def used_once(counts: Mapping[str, int]) -> list[str]:
    """Return the names that one node or relationship has."""
    return sorted(name for name, count in counts.items() if count == 1)


def _key(name: str) -> str:
    plain = _NOT_TELLING.sub("", unicodedata.normalize("NFKC", name).casefold()) or name
    return plain.removesuffix("s") if len(plain) > 3 else plain
