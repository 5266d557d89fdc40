"""Decides what of that which waits is said now, and what is not said any more: a pure function of facts and time."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final

from msgspec import Struct

from agent.time.quiet import QuietHours
from agent.unasked.announcement import TERMS, Announcement
from agent.unasked.past import MOST_IGNORED, SAME, Fate, Matter, Outcome, likeness, said_today, times_ignored

GAP: Final = 2.0
"""Seconds of silence, after people and after its own voice, that nobody takes for the middle of a talk."""

BREATH: Final = 0.6
"""Seconds of silence that end a sentence, for what is urgent."""

COMPANY: Final = 300.0
"""Seconds since somebody was last understood in a room, within which somebody is there to be told."""

REST: Final = 20.0
"""Seconds between two breaths: what comes meanwhile is said together."""

MOST_IN_BREATH: Final = 5
"""Announcements said in one; the others wait for the next gap."""

LOOK, LOOK_AWAY, LOOK_SELDOM = 0.25, 2.0, 30.0
"""Seconds to the next look: towards a gap; for a room that is away; where only time or words can change anything."""


class Facts(Struct, frozen=True):
    """How it is now."""

    now: datetime
    """Aware."""
    silent_for: float = float("inf")
    """Seconds since anybody's voice was last heard here, or what they said was last understood."""
    is_speaking: bool = False
    """Whether somebody's sentence is under way, or is being recognized."""
    is_engaged: bool = False
    """Whether an answer is due, or sounds, or something rings."""
    rested_for: float = float("inf")
    """Seconds since its own voice was last heard."""
    breath_ago: float = float("inf")
    """Seconds since something was last said unasked."""
    company: Mapping[str, float] | None = {}
    """Rooms in which somebody was understood, and how many seconds ago; None where nothing hears."""
    away: Collection[str] = ()
    """Rooms that something waits for, and where nothing can be heard now."""

    @property
    def room(self) -> str:
        """The room in which somebody was understood last, lately; "" where nobody was."""
        return nearest(self.company or {})

    @property
    def is_gap(self) -> bool:
        """Whether it is silent, and nothing is about to be said."""
        is_busy = self.is_speaking or self.is_engaged
        return not is_busy and min(self.silent_for, self.rested_for) >= GAP


class Rules(Struct, frozen=True):
    """What the household wants."""

    quiet: QuietHours | None = None
    zone: tzinfo = UTC
    per_day: int = 8
    """Ideas of the agent's own that are said in a day of the household."""
    urgent_wait: float = 10.0
    """Seconds for which what is urgent waits for the end of somebody's sentence; 0 speaks over it."""
    unwanted: tuple[Matter, ...] = ()
    """What nobody wants to hear any more, nor the like of it."""


class Decision(Struct, frozen=True):
    """What to do, and when to look again."""

    say: tuple[Announcement, ...] = ()
    """In one breath, the most important first."""
    drop: tuple[tuple[Announcement, Outcome], ...] = ()
    look_in: float | None = None
    """Seconds; None once something else is filed."""


def nearest(company: Mapping[str, float]) -> str:
    """Return the room in which somebody was understood last, lately; "" where nobody was."""
    near = {room: ago for room, ago in company.items() if ago <= COMPANY}
    return min(near, key=near.__getitem__, default="")


def decide(waiting: Sequence[Announcement], facts: Facts, past: Sequence[Fate], rules: Rules) -> Decision:
    """Return what is said now and what never will be; `past` has the oldest first."""
    if not waiting:
        return Decision()
    drop: list[tuple[Announcement, Outcome]] = []
    left: list[Announcement] = []
    for each in sorted(waiting, key=lambda one: one.made_at, reverse=True):
        outcome = _outcome(each, left, facts.now, past, rules)
        if outcome is None:
            left.append(each)
        else:
            drop.append((each, outcome))
    left.sort(key=lambda one: one.rank)
    say = tuple(_urgent(left, facts, rules) or _in_gap(left, facts, past, rules))
    return Decision(say, tuple(drop), _look_in(left, facts, rules))


def _outcome(
    each: Announcement, newer: Sequence[Announcement], now: datetime, past: Sequence[Fate], rules: Rules
) -> Outcome | None:
    """Return why it is not said at all, None where it may be."""
    if now >= each.expires_at:
        return "expired"
    if any(_stands_for(one, each) for one in newer):
        return "merged"
    if each.kind in {"urgent", "answer"}:
        return None
    if any(one.is_like(each.words, each.about) for one in rules.unwanted):
        return "unwanted"
    if each.kind in {"own", "notice"} and times_ignored(past, each, now) >= MOST_IGNORED:
        return "ignored"
    return None


def _stands_for(newer: Announcement, older: Announcement) -> bool:
    """Whether a newer one says what an older one would; what one event had to say twice is two things."""
    is_same = bool(older.about) and newer.about == older.about and newer.cause != older.cause
    is_rival = (newer.kind, newer.room) == (older.kind, older.room)
    return is_rival and (is_same or likeness(newer.words, older.words) >= SAME)


def _urgent(left: Sequence[Announcement], facts: Facts, rules: Rules) -> list[Announcement]:
    """Return what is urgent, as soon as nobody is in the middle of a sentence, or has been for too long."""
    urgent = [each for each in left if each.kind == "urgent"]
    if not urgent:
        return []
    waited = max((facts.now - each.made_at).total_seconds() for each in urgent)
    is_said_over = facts.is_speaking or facts.silent_for < BREATH
    return [] if is_said_over and waited < rules.urgent_wait else urgent


def _in_gap(left: Sequence[Announcement], facts: Facts, past: Sequence[Fate], rules: Rules) -> list[Announcement]:
    if not facts.is_gap or facts.breath_ago < REST:
        return []
    is_quiet = _is_quiet(facts, rules)
    own = rules.per_day - said_today(past, facts.now, rules.zone)
    say: list[Announcement] = []
    for each in left:
        if len(say) == MOST_IN_BREATH or not _is_heard(each, facts) or (is_quiet and each.kind != "answer"):
            continue
        if each.kind == "own":
            own -= 1
            if own < 0:
                continue
        say.append(each)
    return say


def _is_heard(each: Announcement, facts: Facts) -> bool:
    """Whether somebody is there to hear it, or it has waited for them long enough; an answer, whether its room is."""
    if each.kind == "answer":
        return each.room not in facts.away
    alone = TERMS[each.kind].alone
    is_alone_long = alone is not None and facts.now - each.made_at >= alone
    return facts.company is None or bool(facts.room) or is_alone_long


def _is_quiet(facts: Facts, rules: Rules) -> bool:
    return rules.quiet is not None and rules.quiet.until(facts.now) is not None


def _look_in(left: Sequence[Announcement], facts: Facts, rules: Rules) -> float | None:
    if not left:
        return None
    is_urgent = left[0].kind == "urgent"
    is_quiet = _is_quiet(facts, rules)
    can_change = any(_is_heard(each, facts) and (not is_quiet or each.kind == "answer") for each in left)
    if is_urgent or can_change:
        return LOOK
    return LOOK_AWAY if any(each.kind == "answer" for each in left) else LOOK_SELDOM
