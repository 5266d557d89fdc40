"""Words for the full-text index, of languages with spaces and without."""

import re
from typing import Final

from memory.chinese import simplified, traditional

MAX_TERMS: Final = 32
"""Terms of one question; what a person or a model asks for has fewer."""

LEAST_BEGINNING: Final = 3
"""Letters of a word that is matched by its beginning: fewer begin half of all words, and all of those are read."""

_SPACELESS: Final = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3\U00020000-\U0003ffff]"
"""Kana, Han and Hangul: no spaces between the words, or endings glued to them."""

_CHARACTER: Final = re.compile(f"({_SPACELESS})")
_TERM: Final = re.compile(rf"{_SPACELESS}+|(?:(?!{_SPACELESS})\S)+")


def segmented(text: str) -> str:
    """Return the text with every character of a spaceless script standing alone, so that each is a token.

    A phrase of such tokens then finds any run of characters, also of two, which trigrams cannot; what UTF-8 or SQLite
    cannot hold is replaced.
    """
    return _CHARACTER.sub(r" \1 ", storable(text.replace("\0", " ")))


def storable(text: str) -> str:
    """Return the text as SQLite can hold it: half a pair of surrogates, as a broken stream leaves, becomes `?`."""
    return text.encode(errors="replace").decode()


def all_words(text: str) -> str:
    """Return the FTS5 query for entries with every term of the text, "" when it has none."""
    return " AND ".join(_phrase(term) for term in _terms(text))


def any_words(text: str) -> str:
    """Return the FTS5 query for entries with at least one term; a long spaceless run gives its pairs of characters."""
    pieces = [piece for term in _terms(text) for piece in (pairs(term) if _CHARACTER.match(term) else [term])]
    return " OR ".join(dict.fromkeys(_phrase(piece) for piece in pieces[: 2 * MAX_TERMS]))


def _terms(text: str) -> list[str]:
    return [term for term in _TERM.findall(text) if any(character.isalnum() for character in term)][:MAX_TERMS]


def pairs(run: str) -> list[str]:
    """Return every two characters of a run that follow each other, and a single one as it is."""
    return [run[start : start + 2] for start in range(max(1, len(run) - 1))]


def _phrase(term: str) -> str:
    """Return one term as a quoted phrase, matched by its beginning where words have one, in either Chinese."""
    forms = dict.fromkeys((term, simplified(term), traditional(term)))
    quoted = ['"' + " ".join(segmented(form).split()).replace('"', '""') + '"' for form in forms]
    if len(quoted) > 1:
        return f"({' OR '.join(quoted)})"
    is_whole = len(term) < LEAST_BEGINNING or _CHARACTER.match(term) is not None
    return quoted[0] if is_whole else f"{quoted[0]}*"
