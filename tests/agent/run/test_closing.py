"""How a run really ends: what was decided, against why it was stopped and whether anything was heard."""

import pytest

from agent.mailbox import Wake
from agent.run.closing import in_the_end
from agent.run.run import Why
from agent.run.run_state import Completion, Ending, GivenUp, Superseded, Suspension

DONE = Completion("said the time", 0.7, "they asked")
LATER = Suspension("half done", Wake("idle"))
LOST = GivenUp("the budget was used up")


@pytest.mark.shows("D16", "B10")
@pytest.mark.parametrize(
    ("decided", "stopped", "was_heard", "ending"),
    [
        (DONE, None, True, DONE),
        (DONE, "preempted", False, DONE),
        (DONE, "interrupted", True, Completion("interrupted: said the time", 0.7, "they asked")),
        (LATER, "interrupted", True, LATER),
        (LOST, "timed_out", False, LOST),
        (DONE, "superseded", False, Superseded()),
        (Superseded(), "superseded", False, Superseded()),
        (DONE, "superseded", True, DONE),
        (Superseded(), "superseded", True, Completion("superseded too late: some of the answer was heard")),
    ],
)
def test_a_decision_stands_unless_the_words_went_on_before_anything_was_heard(
    decided: Ending, stopped: Why | None, was_heard: bool, ending: Ending
) -> None:
    assert in_the_end(decided, stopped, was_heard=was_heard) == ending
