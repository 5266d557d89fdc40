"""The states of a run, read off the journal: which follow which, and how each one ends."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, get_args

from memory.state.journal import Entry

Status = Literal[
    "PENDING",
    "BUILDING_CONTEXT",
    "AWAITING_LLM_DECISION",
    "AWAITING_TOOL_RESULT",
    "COMPLETED",
    "FAILED",
    "TIMED_OUT",
    "SUSPENDED",
]

ENDS: Final[frozenset[Status]] = frozenset({"COMPLETED", "FAILED", "TIMED_OUT", "SUSPENDED"})
"""One of these ends every run; nothing follows it."""

_AT_WORK: Final[frozenset[Status]] = ENDS | {"AWAITING_LLM_DECISION", "AWAITING_TOOL_RESULT"}

LEGAL: Final[Mapping[Status, frozenset[Status]]] = {
    "PENDING": frozenset({"BUILDING_CONTEXT", "FAILED"}),
    "BUILDING_CONTEXT": _AT_WORK,
    "AWAITING_LLM_DECISION": _AT_WORK,
    "AWAITING_TOOL_RESULT": _AT_WORK - {"AWAITING_TOOL_RESULT"},
    **dict.fromkeys(ENDS, frozenset[Status]()),
}
"""What may follow. A thought also follows one that broke off; a round that was under way when the process died is
finished without asking the model anew."""

_ENTERED_BY: Final[Mapping[str, Status]] = {
    "runs.new": "PENDING",
    "context.build.request": "BUILDING_CONTEXT",
    "llm.requests": "AWAITING_LLM_DECISION",
    "tools.requests": "AWAITING_TOOL_RESULT",
}


class IllegalTransition(Exception):
    """A run was to go where none may go from where it is: a bug of ours."""


def checked(before: Status, after: Status) -> Status:
    """Return `after`. Raises `IllegalTransition` when it may not follow `before`."""
    if after not in LEGAL[before]:
        raise IllegalTransition(f"a run that is {before} cannot become {after}")
    return after


def states(entries: Iterable[Entry]) -> list[Status]:
    """Return the states one run went through, from its journal entries in order; each stands once until it changes.

    Raises `IllegalTransition` when the journal tells of a run that cannot be.
    """
    found: list[Status] = []
    for entry in entries:
        entered = _ENTERED_BY.get(entry.topic) or _end(entry)
        if entered is None or (found and found[-1] == entered):
            continue
        found.append(checked(found[-1], entered) if found else entered)
    return found


def _end(entry: Entry) -> Status | None:
    if entry.topic != "ui.events" or entry.body.get("event") != "run_finished":
        return None
    return next((status for status in get_args(Status) if status == entry.body.get("status")), None)
