"""The states of a run: which follow which, and which one ends it."""

from collections.abc import Mapping
from typing import Final, Literal

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
    "PENDING": frozenset({"BUILDING_CONTEXT", "FAILED", "SUSPENDED"}),
    "BUILDING_CONTEXT": _AT_WORK,
    "AWAITING_LLM_DECISION": _AT_WORK,
    "AWAITING_TOOL_RESULT": _AT_WORK - {"AWAITING_TOOL_RESULT"},
    **dict.fromkeys(ENDS, frozenset[Status]()),
}
"""What may follow. A thought also follows one that broke off; a round that was under way when the process died is
finished without asking the model anew."""


class IllegalTransition(Exception):
    """A run was to go where none may go from where it is: a bug of ours."""


def checked(before: Status, after: Status) -> Status:
    """Return `after`. Raises `IllegalTransition` when it may not follow `before`."""
    if after not in LEGAL[before]:
        raise IllegalTransition(f"a run that is {before} cannot become {after}")
    return after
