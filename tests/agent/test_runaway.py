"""A model that always makes more events: it is stopped within its bounds, and people are answered meanwhile."""

from pathlib import Path

import pytest

from agent.mailbox import Allowance
from tests.agent.runaway import THOUGHT, runaway

TIMERS_OF_PEOPLE = 4
"""Timers that it sets in the first question, which a person asked for as far as anybody can tell."""


@pytest.mark.shows("A16", "B7", "A20")
def test_a_runaway_stops_within_its_bounds_and_a_question_is_answered_in_its_usual_time(tmp_path: Path) -> None:
    allowance = Allowance(depth=2, per_minute=12, calls_per_task=500, calls_per_day=20)
    told = runaway(tmp_path, allowance, 130, questions=[3.05, 9, 30, 58, 61.03, 90])
    assert told.own_calls == {"2026-11-21": 20, "2026-11-22": 20}, "of each day, of which one ends after a minute"
    assert told.most_per_minute <= 12
    assert told.deepest <= 2
    assert told.refusals
    assert len(told.waits) == 6
    assert told.calls_meanwhile[0] == 0
    assert max(told.calls_meanwhile) <= TIMERS_OF_PEOPLE, "a thought for each timer of theirs that is due just then"
    assert max(told.waits) <= (1 + TIMERS_OF_PEOPLE) * THOUGHT + 0.01
