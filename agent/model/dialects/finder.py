"""Finds the next mark in a model's text, of all that there are."""

import re
from functools import lru_cache
from typing import Final

from agent.model.dialects.marks import (
    CALLS,
    ENDS,
    FENCE,
    HARMONY,
    OTHERS_LABELS,
    OWN_LABELS,
    THINKING,
    beginnings,
)

THOUGHT_ENDS: Final = tuple(THINKING.values())
FIXED: Final = (*THINKING, *THOUGHT_ENDS, *CALLS, *HARMONY, *ENDS)
LABELS: Final = (*OWN_LABELS, *OTHERS_LABELS)
TURNS: Final = frozenset((*ENDS, *LABELS))
_ANYWHERE: Final = "|".join(re.escape(mark) for mark in sorted((*FIXED, FENCE, "{"), key=len, reverse=True))


@lru_cache(maxsize=8)
def marks_of(names: tuple[str, ...]) -> tuple[re.Pattern[str], frozenset[str], frozenset[str]]:
    """Return what finds a mark where these tools are known, and the beginnings of marks, anywhere and of lines."""
    either = "|".join(map(re.escape, names))
    bare = rf"|\[(?:{either})\(|^[ \t]*(?!{_ANYWHERE})(?:\[|(?:{either})\()" if names else ""
    labels = rf"|^[ \t]*(?:{'|'.join(map(re.escape, LABELS))})"
    anywhere = beginnings((*FIXED, FENCE, *(f"[{name}(" for name in names)))
    line_starts = beginnings((*(f"{name}(" for name in names), *LABELS))
    return re.compile(_ANYWHERE + bare + labels, re.MULTILINE), anywhere, line_starts
