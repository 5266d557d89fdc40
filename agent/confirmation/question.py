"""A question whose yes is waited for, and what a person's next words are to it."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from agent.confirmation.consent import NAMES, consent_in
from agent.event import ASR_TRANSCRIPT, Event
from memory.json_value import Json, fields, read_as
from memory.state.journal import Stored

Verdict = Literal["yes", "no", "again", "doubtful", "late", "gone", "other", "beside"]
"""What words are to a question: a yes that counts; a no; a yes to be asked for again, or that is in doubt after that; a
yes too late; any other words when its time is over, or before, which ends it; words that were said before it was asked,
so that it still waits."""

WITHIN: Final = timedelta(seconds=60)
"""How long after the end of its question a yes counts, and how long after it was said it is acted upon."""

SURE_SCORE: Final = 0.7
"""Of all evidence that somebody said it; a yes with less is asked for once more."""

MOST_ECHO: Final = 0.3
"""Suspicion of its own voice up to which a yes is somebody else's."""

MOST_QUIETER_DB: Final = 8.0
"""How much quieter than the order a yes may be: whoever is further away is another, or a television."""


class Question(Struct, frozen=True):
    """A call that was not carried out, and the question that was asked instead."""

    id: str
    """Of its entry in the journal."""
    tool: str
    arguments: str
    """The JSON text of the call."""
    phrase: str
    """What it is about to do, as words after "to"."""
    asked_at: datetime
    """Aware; when the question was over."""
    clock: float
    """The same in seconds on the clock of the ears."""
    is_heard: bool
    """Whether it was heard to its end."""
    times: int = 1
    """How often it was asked."""
    level_dbfs: float | None = None
    """How loud the order was; None for a written one."""


def body_of(question: Question) -> dict[str, Json]:
    """Return what the journal keeps of a question."""
    kept = ("tool", "arguments", "phrase", "clock", "is_heard", "times", "level_dbfs")
    return {name: getattr(question, name) for name in kept}


def question_of(entry: Stored) -> Question | None:
    """Return the question of an entry, None for one that was erased."""
    try:
        return read_as({**entry.body, "id": entry.id, "asked_at": entry.at}, Question) if entry.is_whole else None
    except ValueError:  # the disk has changed it
        return None


def verdict_on(question: Question, event: Event, now: datetime, names: Collection[str] = NAMES) -> Verdict:
    """Return what a person's words are to a question of their own session; `names` are what they may call it."""
    said = consent_in(event.content, question.phrase, names)
    if event.created_at - question.asked_at > WITHIN or now - event.created_at > WITHIN:
        return "late" if said == "yes" else "gone"
    if said == "no":
        return "no"
    is_after = _begins_after(question, event)
    if not said:
        return "other" if is_after or not question.is_heard else "beside"
    if question.is_heard and is_after and _is_sure(question, event):
        return "yes"
    return "again" if question.times == 1 else "doubtful"


def level_of(event: Event) -> float | None:
    """Return how loud an event's words were (dBFS), None for words that were not heard."""
    return number(_evidence(event), "level_dbfs")


def _begins_after(question: Question, event: Event) -> bool:
    """Whether the words began when the question was over: for what was heard by the ears' own clock."""
    if event.type != ASR_TRANSCRIPT:
        return event.created_at >= question.asked_at
    began = number(fields(event.metadata.get("timing")), "speech_started")
    return began is not None and began >= question.clock


def _is_sure(question: Question, event: Event) -> bool:
    """Whether a yes was surely said, by whoever was asked, to nakari; what is written is."""
    if event.type != ASR_TRANSCRIPT:
        return True
    evidence = _evidence(event)
    score, echo, level = (number(evidence, name) for name in ("score", "echo_suspicion", "level_dbfs"))
    is_addressed = str(evidence.get("addressed", "unknown")) != "unknown"
    is_heard = evidence.get("confidence") == "normal" and score is not None and score >= SURE_SCORE
    is_no_echo = echo is not None and echo <= MOST_ECHO
    is_as_near = question.level_dbfs is None or (level is not None and question.level_dbfs - level < MOST_QUIETER_DB)
    return is_addressed and is_heard and is_no_echo and is_as_near


def _evidence(event: Event) -> Mapping[str, Json]:
    return fields(event.metadata.get("evidence"))


def number(told: Mapping[str, Json], name: str) -> float | None:
    """Return a number of a mapping, None where it is none."""
    value = told.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
