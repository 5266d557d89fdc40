"""What people told, weighed against a question: how much of it a statement answers, and whether it says yes or no."""

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agent.intents.intent import Language, language_of
from agent.intents.language.questions import SELF, Asked, Question, Token, pieces, tokens, word_classes

Verdict: TypeAlias = Literal["yes", "no", ""]
"""What a statement says to a question of yes or no; "" when it says nothing plain."""

ENOUGH: Final = 0.6
"""Share of a question's words that a statement must have to be quoted: two of three, but not one of two."""

_CLAUSES: Final = re.compile(
    r"[.;!?]\s+|,?\s+(?:and|but)\s+(?=(?-i:[A-Z])[\w']+ \w+s\b)|"
    r",?\s+and\s+(?=(?:the |my |our |his |her |their )?[\w']+(?:'s| is| are| has| have| was)\b)",
    re.IGNORECASE,
)
"""Between what is told of one thing and what of the next."""

_MAY: Final = re.compile(
    r"\b(can|can't|cannot|could|may|should|shouldn't|allowed|must|mustn't|supposed)\b", re.IGNORECASE
)
"""Asks what may be, which nobody can conclude who was only told what is."""

_ONE_VALUE: Final = re.compile(
    r"\b(favou?rite|password|passcode|code|pin|birthday|called|named)\b|密码|号码|生日|地址", re.IGNORECASE
)
"""What has one value at a time."""


def _closed_class(stem: str) -> str:
    """Return the class of which one word excludes another (what is red is not blue), "" for most words."""
    if stem.isdecimal():
        return "numbers"
    classes = word_classes()
    return next((name for name in ("colors", "weekdays", "months", "numbers") if stem in classes[name]), "")


class Fact(Struct, frozen=True, dict=True):
    """Something a person stated."""

    text: str
    was_to_be_kept: bool
    when: str
    """In our time format, which sorts by time, in seconds."""
    nearness: int
    """Of two at the same time the one found first is the newer: less for each place further down."""

    @property
    def age(self) -> tuple[str, int]:
        """A key that is greatest for what was said last, whether it was asked to be kept or only told."""
        return self.when, self.nearness

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
            return stem in self.text or stem in re.sub("[不没过了的]", "", self.text)
        if stem == "car" and "park" in self.stems:  # nobody says of what they parked that it is one
            return True
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
        mine = {after.stem for before, after in pairwise(question.tokens) if before.stem == SELF}
        theirs = {after.stem for before, after in pairwise(self.tokens) if before.is_owner}
        own = {after.stem for before, after in pairwise(question.tokens) if before.is_owner}
        return bool(mine & (theirs - own))

    def fits(self, question: Question) -> bool:
        """Say whether it can be an answer of the sort that is asked for."""
        if self.language == "zh":
            pattern = _FITTING_ZH.get(question.asked) or _unit_asked(question.text)
            return pattern is None or pattern.search(self.text) is not None
        classes, stems = word_classes(), self.stems
        has_number = any(_closed_class(stem) == "numbers" or stem[0].isdecimal() for stem in stems)
        is_copular = bool(stems & classes["copulas"])
        has_time = bool(stems & (classes["times"] | classes["weekdays"] | classes["months"]))
        other_measures = (stems & classes["measures"]) - {word for word, _ in question.words}
        fitting: dict[Asked, bool] = {
            "where": bool(stems & classes["places"]) or not is_copular,
            "when": has_number or has_time,
            "color": bool(stems & classes["colors"]) or self._is_short_predicate(),
            "number": has_number or "no" in self.text.lower().split(),
            "measure": has_number and not other_measures and (is_copular or "turn" in stems or "weigh" in stems),
        }
        return fitting.get(question.asked, True)

    def _in_one_clause(self, wanted: Sequence[str]) -> bool:
        """Say whether all the words are told of one thing: Mabel's the cat and Biscuit's the dog tells of two."""
        clauses = [Fact(each, was_to_be_kept=True, when="", nearness=0) for each in _CLAUSES.split(self.text)]
        return any(all(each.holds(word) for word in wanted) for each in clauses)

    def _is_short_predicate(self) -> bool:
        """Say whether it calls its subject one thing: the bike is mauve."""
        words = self.text.lower().split()
        at = next((place for place, word in enumerate(words) if word in word_classes()["copulas"]), len(words))
        return 0 < len(words) - at - 1 <= 2 and not self.stems & word_classes()["places"]

    def verdict(self, question: Question) -> Verdict:
        """Return what it says to a question of yes or no, where that is plain."""
        if self.language != question.language:
            return ""
        if self.language == "zh":
            return _verdict_chinese(self, question)
        wanted = [word for word, _ in question.words if word != SELF]
        if not wanted or self._is_anothers(question) or not self._is_of_same_person(question):
            return ""
        missing = [word for word in wanted if not self.holds(word)]
        asks_not = any(token.stem == "not" for token in question.tokens)
        if not missing and self._head() <= {*wanted, SELF}:
            if not self._in_one_clause(wanted) or (_MAY.search(question.text) and not _MAY.search(self.text)):
                return ""
            return "yes" if self.is_negative == asks_not else "no"
        can_exclude = 0 < len(missing) < len(wanted) and not self.is_negative and not asks_not
        return "no" if can_exclude and self._excludes(question, missing) else ""

    def denies(self, other: "Fact", question: Question) -> bool:
        """Say whether it says the contrary of another one to a question, or gives what has one value anew."""
        verdict = self.verdict(question)
        if not verdict and _ONE_VALUE.search(self.text) and _ONE_VALUE.search(question.text):
            return self.share_of(question) >= ENOUGH
        return {verdict, other.verdict(question)} == {"yes", "no"}

    def _is_of_same_person(self, question: Question) -> bool:
        """Say whether both are about the one who speaks, or neither, where a verb has no other subject."""
        first = next((token for token in self.tokens if token.stem not in word_classes()["small"]), None)
        if first is None:
            return False
        asks_self = len(question.tokens) > 1 and question.tokens[1].stem == SELF
        starts_self = first.stem == SELF
        return asks_self == starts_self or any(_same(first.stem, word) for word, _ in question.words)

    def _head(self) -> set[str]:
        """Return the content words of its subject, where a copula or an auxiliary shows its end; else none."""
        plain = [token.stem for token in self.tokens]
        at = next((place for place, stem in enumerate(plain) if stem in word_classes()["auxiliaries"]), 0)
        return {stem for stem in plain[:at] if stem not in word_classes()["small"]}

    def _excludes(self, question: Question, missing: Sequence[str]) -> bool:
        """Say whether it gives another value, of the same closed class, to what the question names."""
        classes, words = word_classes(), {word for word, _ in question.words}
        sorts = {_closed_class(word) for word in missing}
        own = [
            stem
            for stem in (token.stem for token in self.tokens)
            if stem not in classes["small"] | classes["auxiliaries"]
        ]
        known = words | {SELF} | classes["places"] | {"come", "go"}
        if len(sorts) == 1 and (sort := sorts.pop()):
            values = {stem for stem in own if _closed_class(stem) == sort}
            others = [stem for stem in own if _closed_class(stem) != sort]
            return bool(values) and sum(any(_same(stem, word) for word in known) for stem in others) >= 1
        if classes["rests"] & {token.stem for token in question.tokens} and classes["rests"] & set(own):
            return self._is_elsewhere(question, missing, own, known)
        if _ONE_VALUE.search(self.text) and _ONE_VALUE.search(question.text):
            return self._head() <= words | {SELF} and len(missing) <= 2
        return False

    @staticmethod
    def _is_elsewhere(question: Question, missing: Sequence[str], own: Sequence[str], known: set[str]) -> bool:
        """Say whether the same thing is told to be in another place."""
        rests, said = word_classes()["rests"], [token.stem for token in question.tokens]
        last = max(place for place, stem in enumerate(said) if stem in rests)
        head = own[: next(place for place, stem in enumerate(own) if stem in rests)]
        is_of_place = all(stem in said[last:] for stem in missing)
        return is_of_place and all(any(_same(stem, word) for word in known) for stem in head)


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


_FITTING_ZH: Final[dict[str, re.Pattern[str]]] = {
    "where": re.compile("[在里上下住停放到边旁]|处|[回丢扔]"),
    "when": re.compile("[点号日月周年天早晚半0-9]|星期|[一二三四五六七八九十]"),
    "color": re.compile("色|[红橙黄绿蓝紫黑白灰棕粉]"),
}

_MEASURES_ZH: Final = (
    (re.compile("多重"), re.compile("斤|克|吨")),
    (re.compile("多[高长宽深厚远]"), re.compile("米|尺|寸|里")),
    (re.compile("几岁|多大"), re.compile("岁|月大|出生|生日|年|平|号|寸")),
    (re.compile("多快"), re.compile("公里|迈|米")),
)
"""What is asked of a measure, and a unit of which an answer has one."""

_VALUES_ZH: Final = (
    re.compile("[红橙黄绿蓝紫黑白灰棕粉青][色的]?色?"),
    re.compile("(?:星期|周|礼拜)[一二三四五六日天]"),
    re.compile("[0-9零一二两三四五六七八九十百]+(?:点|号|月|楼|层|岁|个|块)"),
)


def _unit_asked(text: str) -> re.Pattern[str] | None:
    """Return the units of which an answer must have one, None where no measure is asked for."""
    return next((units for asked, units in _MEASURES_ZH if asked.search(text)), None)


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
