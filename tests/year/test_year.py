"""Four days of the year of `benchmarks/appliance/year.py`, with a mishap on most: all is answered, nothing grows."""

from collections import Counter
from datetime import timedelta
from io import StringIO
from pathlib import Path
from statistics import median
from typing import Final

import pytest

from agent.run.system_replies import phrase
from appliance.logs.configure import FILE_BYTES, FILE_COPIES, configure
from tests.figures import figure
from tests.room.virtual_time import run_virtually
from tests.service.test_full_disk import failing
from tests.year.box import Home
from tests.year.life import Ledger, Life, Plan
from tests.year.mind import DONE

PLAN = Plan(days=4, start=2, outage=2, disk=4, clock=3)
"""Outages of a night or a day are left to the year: what is tried again meanwhile is most of the work."""

LATEST: Final = timedelta(seconds=15)
"""From the moment at which a timer is due to its first sound, while she speaks or another one rings."""

EXCUSES: Final = (
    "no_model",
    "no_model_working",
    "no_model_either",
    "disk_full",
    "disk_unusable",
    "disk_still",
    "disk_too_long",
)
"""What may be said besides answers and rings."""


@pytest.mark.processor_seconds(400.0)
@pytest.mark.shows("A24", "H9", "F26", "X21")
def test_four_days_of_mishaps_leave_nothing_unanswered_and_nothing_behind(tmp_path: Path) -> None:
    async def four_days() -> Ledger:
        home = Home(tmp_path)
        configure(home.config, StringIO())
        return await Life(home, PLAN, [failing]).live()

    lived = run_virtually(four_days())
    figure("four days of a household, with model, disk, clock and box failing in turn", summary(lived))
    assert_all_was_answered(lived)
    assert_nothing_grew(lived)
    assert lived.befallen == {"model": 2, "disk": 1, "clock": 1}


def summary(lived: Ledger) -> str:
    """Return what happened in one line."""
    first, last, befallen = lived.days[len(lived.days) // 4], lived.days[-1], dict(lived.befallen)
    return (
        f"{len(lived.days)} days: {lived.answered.total()} answers to {len(lived.asked)} questions, "
        f"{len(lived.rang)} of {len(lived.due)} timers and {lived.woken.total()} alarms rang, befallen {befallen}; "
        f"{first.resident:.0f} -> {last.resident:.0f} MB, {first.objects} -> {last.objects} objects, "
        f"{first.descriptors} -> {last.descriptors} descriptors, state {first.state_bytes / 1e6:.1f} -> "
        f"{last.state_bytes / 1e6:.1f} MB, log {last.log_bytes / 1e6:.1f} MB"
    )


def assert_all_was_answered(lived: Ledger) -> None:
    assert lived.answered == Counter(lived.asked), "each question that was heard is answered aloud, once"
    for name, answer in lived.written.items():
        assert answer.startswith((f"Item {name}:", *(phrase(excuse, "") for excuse in EXCUSES), "the state database"))
    late = {name: lived.rang[name] - due for name, due in lived.due.items()}
    assert {name: by for name, by in late.items() if not -timedelta(seconds=1) < by < LATEST} == {}
    assert lived.due_told == Counter(lived.due.keys()), "the mind is told of each timer, once"
    assert lived.woken == {"07:00": len(lived.days)}
    assert lived.greeted == len(lived.days)
    excused = " ".join([DONE, *(phrase(excuse, "") for excuse in EXCUSES)])
    assert [sentence for sentence in lived.other if sentence not in excused] == []


def assert_nothing_grew(lived: Ledger) -> None:
    for what, most in (("resident", 0.05), ("objects", 0.05), ("tasks", 0.0), ("descriptors", 0.0)):
        assert growth(lived, what) <= most, [getattr(day, what) for day in lived.days]
    assert lived.days[-1].log_bytes < FILE_BYTES * (FILE_COPIES + 1)


def growth(lived: Ledger, what: str) -> float:
    """Return by what share the last quarter's median exceeds that of the third one: before that it still warms up."""
    values, quarter = [getattr(day, what) for day in lived.days], len(lived.days) // 4
    return float(median(values[-quarter:]) / median(values[2 * quarter : 3 * quarter]) - 1)
