"""Terms of a text for the index and for a question: stems of words, pairs of characters where none are between."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol
from unicodedata import combining, normalize

from memory.chinese import simplified
from memory.recall.languages import CHINESE_STOPS, STOP_WORDS, language_of
from memory.state.words import pairs, storable

DEFAULT_LANGUAGE: Final = "english"
"""Of a text too short to tell."""

MOST_TERMS: Final = 24
"""Terms of one question; what a person or a model asks for has fewer."""

CHARACTER: Final = 0.5
"""Weight of a single character of a spaceless script beside its pair with the next one."""

_SPACELESS: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
"""Kana, Han and Hangul: no spaces between the words, or endings glued to them."""

_TOKEN: Final = re.compile(rf"[{_SPACELESS}]+|[^\W_{_SPACELESS}]+(?:['’][^\W_{_SPACELESS}]+)?")
_ENDING: Final = re.compile("['’](s|ll|re|ve|d|m|t)$")


class _Stemmer(Protocol):
    """What Snowball's stemmers are like."""

    def stemWord(self, word: str) -> str:  # noqa: N802  the library's name
        """Return the stem."""


@dataclass(frozen=True, slots=True)
class Term:
    """Something to be found in the index by any of its forms."""

    text: str
    """As it was asked for, in lower case."""
    forms: tuple[str, ...]
    weight: float = 1.0
    """How much it counts beside others that are as rare; what is no whole word has less."""


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, runs of a spaceless script whole and in simplified characters."""
    return [_ENDING.sub("", each) for each in _TOKEN.findall(simplified(storable(text)).lower())]


def index_terms(text: str) -> list[str]:
    """Return what a text is found by, in its order, stop words left out unless it has nothing else."""
    words = tokens(text)
    language = language_of(frozenset(words), DEFAULT_LANGUAGE)
    kept = [word for word in words if not _is_stop(word, language)] or words
    return [term for word in kept for term in _of_word(word, language)]


def question_terms(text: str, languages: tuple[str, ...] = (DEFAULT_LANGUAGE,)) -> list[Term]:
    """Return the terms of a question, each once; `languages` are those that the index holds texts of."""
    words = tokens(text)
    language = language_of(frozenset(words), DEFAULT_LANGUAGE)
    telling = [part for word in words for part in _parted(word)]
    kept = [word for word in telling if not _is_stop(word, language)] or words
    found: dict[tuple[str, ...], Term] = {}
    for word in kept:
        if _is_spaceless(word):
            for piece in (*pairs(word), *word):
                found.setdefault((piece,), Term(piece, (piece,), CHARACTER if len(piece) < min(2, len(word)) else 1.0))
        else:
            forms = tuple(dict.fromkeys(_stem(word, each) for each in (language, *languages)))
            found.setdefault(forms, Term(word, forms))
    return list(found.values())[:MOST_TERMS]


def _parted(word: str) -> list[str]:
    """Return what is left of a word of a question without what tells nothing; of a language with spaces, itself."""
    return CHINESE_STOPS.sub(" ", word).split() if _is_spaceless(word) else [word]


def _of_word(word: str, language: str) -> list[str]:
    if not _is_spaceless(word):
        return [_stem(word, language)]
    return [*word, *pairs(word)] if len(word) > 1 else [word]


def _is_spaceless(word: str) -> bool:
    return re.match(f"[{_SPACELESS}]", word) is not None


def _is_stop(word: str, language: str) -> bool:
    return word in STOP_WORDS[language]


@lru_cache(maxsize=20_000)
def _stem(word: str, language: str) -> str:
    """Return the stem of a word without its accents, "Straße" and "strasse" the same."""
    stem = _stemmer(language).stemWord(word)
    return "".join(each for each in normalize("NFKD", stem.replace("ß", "ss")) if not combining(each)) or word


@lru_cache(maxsize=len(STOP_WORDS))
def _stemmer(language: str) -> _Stemmer:
    import snowballstemmer

    made: _Stemmer = snowballstemmer.stemmer(language)
    return made
