"""What people told, weighed against a question: how much of it a statement answers, and whether it says yes or no."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from agent.intents.intent import Language, language_of
from agent.intents.questions import LIGHT, SELF, Asked, Question, Token, pieces, tokens

Verdict: TypeAlias = Literal["yes", "no", ""]
"""What a statement says to a question of yes or no; "" when it says nothing plain."""

ENOUGH: Final = 0.6
"""Share of a question's words that a statement must have to be quoted: two of three, but not one of two."""

_ENDING: Final = 3
"""Letters by which two forms of a word may differ at the end: allergic and allergies."""

_NUMBER_WORDS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half dozen first "
    "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth twentieth thirtieth"
).split()
_WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTHS: Final = "january february march april may june july august september october november december".split()
_COLORS: Final = (
    "red orange yellow green blue purple violet pink brown black white gray silver gold golden beige turquoise teal "
    "cyan magenta crimson scarlet navy maroon olive ivory cream transparent colorless"
).split()
_TIMES: Final = (
    "today tomorrow tonight noon midnight morning afternoon evening night week weekend month year day hour daily weekly "
    "monthly spring summer autumn fall winter christmas easter birthday o'clock always"
).split()
_PLACES: Final = (
    "in on under at behind beside near next between by from inside outside upstairs downstairs home here there left "
    "right above below against around opposite over to with where level"
).split()


def _stems(words: Sequence[str]) -> frozenset[str]:
    return frozenset(token.stem for word in words for token in tokens(word))


@dataclass(frozen=True)
class _Classes:
    """Words of which one excludes another: what is red is not blue."""

    colors: frozenset[str]
    weekdays: frozenset[str]
    months: frozenset[str]
    numbers: frozenset[str]
    times: frozenset[str]
    places: frozenset[str]

    def of(self, stem: str) -> str:
        """Return the name of the class of a word, "" for most."""
        names = ("colors", "weekdays", "months", "numbers")
        found = next((name for name in names if stem in getattr(self, name)), "")
        return found or ("numbers" if stem.isdecimal() else "")


def _classes() -> _Classes:
    """Return the classes, stemmed at first use."""
    if not _CLASSES:
        sorts = (_COLORS, _WEEKDAYS, _MONTHS, _NUMBER_WORDS, _TIMES, _PLACES)
        _CLASSES.append(_Classes(*(_stems(words) for words in sorts)))
    return _CLASSES[0]


_CLASSES: Final[list[_Classes]] = []

_COPULAS: Final = frozenset({"is", "are", "am", "was", "were", "be", "re", "m"})
_AUXILIARY: Final = _COPULAS | {"has", "have", "had", "do", "does", "did", "will", "can", "would", "should"}
_SMALL: Final = frozenset(
    "a an the of that this it now still just very really not again already also too called named mr mrs ms dr s".split()
)
_REST: Final = frozenset("in on under at behind beside near insid outsid upstair downstair home abov below".split())
"""Where a thing is that is nowhere else, as stems."""

_ONE_VALUE: Final = re.compile(r"\b(favou?rite|password|passcode|code|pin|birthday|called|named)\b", re.IGNORECASE)
"""What has one value at a time."""


@dataclass(frozen=True)
class Fact:
    """Something a person stated."""

    text: str
    was_to_be_kept: bool
    when: str
    """In our time format, which sorts by time, in seconds."""
    nearness: int
    """Of two at the same time the one found first is the newer: less for each place further down."""

    @property
    def age(self) -> tuple[bool, str, int]:
        """A key that is greatest for what was asked to be kept, and last."""
        return self.was_to_be_kept, self.when, self.nearness

    @property
    def language(self) -> Language:
        """In which it was said."""
        return language_of(self.text)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Its words."""
        return tuple(tokens(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its words, in no order."""
        return frozenset(token.stem for token in self.tokens)

    @property
    def is_negative(self) -> bool:
        """Whether it says that something is not so."""
        return "not" in self.stems if self.language == "en" else re.search("[不没别]", self.text) is not None

    def holds(self, stem: str) -> bool:
        """Say whether a word is in it, in any of its forms; a Chinese run as it is."""
        if language_of(stem) == "zh":
            return stem in self.text
        return any(_same(stem, own) for own in (self.stems if self.language == "en" else tokens_of(self.text)))

    def share_of(self, question: Question) -> float:
        """Return how much of the question's words it has, 0.0 to 1.0."""
        weighed = [(piece, weight) for word, weight in question.words for piece in pieces(word)]
        total = sum(weight for _, weight in weighed)
        if not total:
            return 0.0
        share = sum(weight for piece, weight in weighed if self.holds(piece)) / total
        return share * (0.5 if question.kind != "all" and self._is_anothers(question) else 1.0)

    def _is_anothers(self, question: Question) -> bool:
        """Say whether it tells of Ada's what was asked of mine."""
        mine = {after.stem for before, after in _neighbours(question.tokens) if before.stem == SELF}
        theirs = {after.stem for before, after in _neighbours(self.tokens) if before.is_owner}
        own = {after.stem for before, after in _neighbours(question.tokens) if before.is_owner}
        return bool(mine & (theirs - own))

    def fits(self, asked: Asked) -> bool:
        """Say whether it can be an answer of the sort that is asked for."""
        if self.language == "zh":
            pattern = _FITTING_ZH.get(asked)
            return pattern is None or pattern.search(self.text) is not None
        classes, stems = _classes(), self.stems
        has_number = any(classes.of(stem) == "numbers" or stem[0].isdecimal() for stem in stems)
        match asked:
            case "where":
                return bool(stems & classes.places) or not stems & _COPULAS
            case "when":
                return has_number or bool(stems & (classes.times | classes.weekdays | classes.months))
            case "color":
                return bool(stems & classes.colors) or self._is_short_predicate()
            case "number":
                return has_number or "no" in self.text.lower().split()
            case "measure":
                return has_number and bool(stems & (_COPULAS | {"turn", "measur", "weigh", "born", "age"}))
        return True

    def _is_short_predicate(self) -> bool:
        """Say whether it calls its subject one thing: the bike is mauve."""
        words = self.text.lower().split()
        at = next((place for place, word in enumerate(words) if word in _COPULAS), len(words))
        return 0 < len(words) - at - 1 <= 2 and not self.stems & _classes().places

    def verdict(self, question: Question) -> Verdict:
        """Return what it says to a question of yes or no, where that is plain."""
        if self.language != question.language:
            return ""
        if self.language == "zh":
            return _verdict_chinese(self, question)
        wanted = [(word, weight) for word, weight in question.words if word != SELF]
        if not wanted or self._is_anothers(question) or not self._is_of_same_person(question):
            return ""
        missing = [word for word, _ in wanted if not self.holds(word)]
        asks_not = any(token.stem == "not" for token in question.tokens)
        if not missing:
            if not self._head() <= {word for word, _ in question.words} | {SELF}:
                return ""
            return "yes" if self.is_negative == asks_not else "no"
        if len(missing) == len(wanted) or self.is_negative or asks_not or not self._excludes(question, missing):
            return ""
        return "no"

    def _is_of_same_person(self, question: Question) -> bool:
        """Say whether both are about the one who speaks, or neither, where a verb has no other subject."""
        first = next((token for token in self.tokens if token.stem not in _SMALL), None)
        if first is None:
            return False
        asks_self = len(question.tokens) > 1 and question.tokens[1].stem == SELF
        starts_self = first.stem == SELF
        return asks_self == starts_self or any(_same(first.stem, word) for word, _ in question.words)

    def _head(self) -> set[str]:
        """Return the content words of its subject, where a copula or an auxiliary shows its end; else none."""
        plain = [token.stem for token in self.tokens]
        at = next((place for place, stem in enumerate(plain) if stem in _AUXILIARY), 0)
        return {stem for stem in plain[:at] if stem not in _SMALL}

    def _excludes(self, question: Question, missing: Sequence[str]) -> bool:
        """Say whether it gives another value, of the same closed class, to what the question names."""
        classes, words = _classes(), {word for word, _ in question.words}
        sorts = {classes.of(word) for word in missing}
        own = [stem for stem in (token.stem for token in self.tokens) if stem not in _SMALL | _AUXILIARY]
        known = words | {SELF} | classes.places | {"come", "go"}
        if len(sorts) == 1 and (sort := sorts.pop()):
            values = {stem for stem in own if classes.of(stem) == sort}
            others = [stem for stem in own if classes.of(stem) != sort]
            return bool(values) and sum(any(_same(stem, word) for word in known) for stem in others) >= 1
        said = [token.stem for token in question.tokens]
        places = _REST & set(said)
        if places and _REST & set(own):
            last = max(place for place, stem in enumerate(said) if stem in places)
            head = own[: next(place for place, stem in enumerate(own) if stem in _REST)]
            is_of_place = all(stem in said[last:] for stem in missing)
            return is_of_place and all(any(_same(stem, word) for word in known) for stem in head)
        if _ONE_VALUE.search(self.text) and _ONE_VALUE.search(question.text):
            return self._head() <= words | {SELF} and len(missing) <= 2
        return False


def tokens_of(text: str) -> set[str]:
    """Return the words written with letters in a Chinese text."""
    return {token.stem for token in tokens(" ".join(re.findall(r"[A-Za-z0-9']+", text)))}


def _same(one: str, other: str) -> bool:
    """Say whether two stems are forms of one word."""
    if one == other:
        return True
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= 5 and max(len(one), len(other)) - shared <= 1


def _neighbours(said: Sequence[Token]) -> list[tuple[Token, Token]]:
    return list(zip(said, said[1:], strict=False))


_FITTING_ZH: Final[dict[str, re.Pattern[str]]] = {
    "where": re.compile("[在里上下住停放到边旁]|处"),
    "when": re.compile("[点号日月周年天早晚半0-9]|星期|[一二三四五六七八九十]"),
    "color": re.compile("色|[红橙黄绿蓝紫黑白灰棕粉]"),
}

_VALUES_ZH: Final = (
    re.compile("[红橙黄绿蓝紫黑白灰棕粉青][色的]?色?"),
    re.compile("(?:星期|周|礼拜)[一二三四五六日天]"),
    re.compile("[0-9零一二两三四五六七八九十百]+(?:点|号|月|楼|层|岁|个|块)"),
)


def _verdict_chinese(fact: Fact, question: Question) -> Verdict:
    wanted = [piece for word, _ in question.words for piece in pieces(word)]
    if not wanted:
        return ""
    if all(fact.holds(piece) for piece in wanted):
        asks_not = re.search("[不没]", question.text.replace("是不是", "").replace("有没有", "")) is not None
        return "yes" if fact.is_negative == asks_not else "no"
    for values in _VALUES_ZH:
        asked, told = values.search(question.text), values.search(fact.text)
        if asked and told and asked.group() != told.group():
            rest = [run for run, _ in question.words for run in values.sub(" ", run).split()]
            known = [piece for run in rest for piece in pieces(run)]
            return "no" if known and all(fact.holds(piece) for piece in known) else ""
    asked_at, told_at = question.text.find("在"), fact.text.find("在")
    if asked_at > 0 and told_at > 0 and not fact.is_negative:
        named = [piece for word, _ in question.words if word in question.text[:asked_at] for piece in pieces(word)]
        return "no" if named and all(piece in fact.text[:told_at] for piece in named) else ""
    return ""


__all__ = ["ENOUGH", "LIGHT", "Fact", "Verdict"]
