"""Whether two texts say the like: by the words they share, in English, Chinese and what is written like them."""

import re
from dataclasses import dataclass
from typing import Final

from memory.chinese import simplified
from memory.state.words import pairs

ALIKE: Final = 0.6
"""Share of all their words that two texts have in common, from which they say the like (Jaccard's index)."""

SAME: Final = 0.8
"""The same, from which one may stand for the other: only a number or a small word differs."""

_PIECE: Final = re.compile(r"[^\W_]+")
_HAN: Final = re.compile("[\u3400-\u9fff]+")
_EMPTY: Final = frozenset(
    {"the", "and", "that", "this", "has", "have", "are", "was", "for", "you", "your", "with", "now", "its", "it", "is"}
    | {"a", "an", "i", "of", "to", "in", "on", "at", "be", "s"}
)


@dataclass(frozen=True, slots=True)
class Matter:
    """What words are about, as far as a program can tell."""

    words: str
    about: str = ""
    """What they came of; "" where nobody knows."""

    def is_like(self, words: str, about: str) -> bool:
        """Whether other words are of the same matter: they came of the same, or say the like."""
        return (bool(about) and about == self.about) or likeness(self.words, words) >= ALIKE


def likeness(one: str, other: str) -> float:
    """Return the share of words in common, 0 to 1; two texts without any are alike only where they are equal."""
    ours, theirs = _terms(one), _terms(other)
    if not ours or not theirs:
        return float(one.strip() == other.strip())
    return len(ours & theirs) / len(ours | theirs)


def _terms(text: str) -> frozenset[str]:
    """Return words in small letters, but for the emptiest; of Chinese every two characters that stand together."""
    plain = simplified(text.casefold())
    words = {word for word in _PIECE.findall(_HAN.sub(" ", plain)) if word not in _EMPTY}
    return frozenset(words.union(*map(pairs, _HAN.findall(plain))))
