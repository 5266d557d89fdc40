"""What became of announcements, read off the journal and asked by decisions; and whether two of them say the like."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta, tzinfo
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agent.unasked.announcement import Announcement, Kind
from memory.chinese import simplified
from memory.json_value import Json, read_as
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

Outcome: TypeAlias = Literal["said", "merged", "expired", "unwanted", "ignored"]
"""Said; left to a newer one of the same matter; of no use any more; against a rule of the household; twice ignored."""

ANSWER_WITHIN: Final = timedelta(minutes=2)
"""After it was said; what a person says or writes by then is taken for an answer, later words are not."""

ONE_BREATH: Final = timedelta(seconds=15)
"""At most from the end of one to the end of the next of a breath; between breaths it rests longer."""

REMEMBERED: Final = timedelta(days=30)
"""How long it counts that something was ignored."""

MOST_IGNORED: Final = 2
"""Times that a matter is offered without an answer."""


class Matter(Struct, frozen=True):
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


class Fate(Struct, frozen=True):
    """What became of one announcement."""

    id: str
    words: str
    about: str
    kind: Kind
    outcome: Outcome
    at: datetime
    """Aware; when it was over."""
    session_id: str = "room"
    heard: str | None = None
    """What was heard of it where that was not all of it."""
    is_answered: bool = False

    @property
    def matter(self) -> Matter:
        """What it was about."""
        return Matter(self.words, self.about)

    def to_json(self) -> dict[str, Json]:
        """Return it for the journal; its id and time are the entry's."""
        told: dict[str, Json] = {"outcome": self.outcome, "kind": self.kind, "said": self.words, "about": self.about}
        return told if self.heard is None else {**told, "heard": self.heard}


def fate_from(name: str, body: Mapping[str, Json], at: datetime, session_id: str) -> Fate | None:
    """Return what `Fate.to_json` wrote of the announcement of this id; None for anything else, or what was erased."""
    told = {"about": "", **body, "words": body.get("said", ""), "id": name, "at": at, "session_id": session_id}
    try:
        return read_as(told, Fate)
    except ValueError:
        return None


def said_today(past: Sequence[Fate], now: datetime, zone: tzinfo) -> int:
    """Return how many of the agent's own ideas were said since the household's day began."""
    begins = datetime.combine(now.astimezone(zone).date(), time(), zone)
    return sum(each.outcome == "said" and each.kind == "own" and each.at >= begins for each in past)


def times_ignored(past: Sequence[Fate], announcement: Announcement, now: datetime) -> int:
    """Return how often the same matter was said since it was last answered, and is not waited to be any more."""
    ignored = 0
    for each in reversed(past):
        if now - each.at > REMEMBERED:
            break
        if each.outcome != "said" or not each.matter.is_like(announcement.words, announcement.about):
            continue
        if each.is_answered:
            break
        ignored += 1
    return ignored


def just_said(past: Sequence[Fate], now: datetime) -> tuple[Fate, ...]:
    """Return what was said so lately that words of a person answer it, the oldest first."""
    return tuple(each for each in past if each.outcome == "said" and now - each.at <= ANSWER_WITHIN)


def last_breath(said: Sequence[Fate]) -> tuple[Fate, ...]:
    """Return the last of those said that were one breath; the oldest first, in both."""
    breath: list[Fate] = []
    for each in reversed(said):
        if breath and breath[-1].at - each.at > ONE_BREATH:
            break
        breath.append(each)
    return tuple(reversed(breath))
