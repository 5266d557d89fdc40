"""A year of a household in virtual time: questions, timers, an alarm, outages of model and disk, clocks that are set.

`python -m benchmarks.appliance.year` takes about an hour, `--days 30` five minutes. The whole box lives, but for sound
card, clock and language model: what is heard comes as words (the ears' own hours are `room_soak`), and there is no
graph. With root and leave to mount the disk is one of its own that fills up and fails in turn, else it only fails.
It prints, and fails where anything was left unanswered, rang at the wrong time or grew. tests/year is its sample.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Final

from appliance.logs.configure import configure
from tests.room.virtual_time import run_virtually
from tests.service.test_full_disk import failing, full, small_disk
from tests.year.box import Home
from tests.year.life import Disk, Ledger, Life, Plan
from tests.year.test_year import assert_all_was_answered, assert_nothing_grew, summary

DISK: Final = "size=300m"

STATE_BYTES_A_DAY: Final = 400_000
"""A day's dozen turns, timers and steps may add so much to the state, on the average of a year."""

LONG_ENOUGH: Final = 240
"""Days after which the state has to grow evenly: what [state] keep_details_days lets go makes room for what comes."""


def main() -> None:
    """Let the days pass, tell of every tenth, and end with what was not as promised."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.appliance.year", description=__doc__)
    parser.add_argument("--days", type=int, default=Plan().days, help=f"default: {Plan().days}")
    wanted, began = parser.parse_args(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="nakari-year-") as folder, own_disk(Path(folder)) as disks:
        lived = run_virtually(live(Path(folder), Plan(wanted.days), disks))
    print(f"{summary(lived)}; in {(time.monotonic() - began) / 60:.0f} minutes")
    try:
        assert_all_was_answered(lived)
        assert_nothing_grew(lived)
        assert_as_predicted(lived)
    except AssertionError as error:
        sys.exit(f"not as promised: {error}")


async def live(folder: Path, plan: Plan, disks: list[Disk]) -> Ledger:
    """Live a plan in a folder."""
    home = Home(folder)
    configure(home.config, StringIO())
    return await Life(home, plan, disks).live(_tell)


@contextmanager
def own_disk(folder: Path) -> Iterator[list[Disk]]:
    """Give the state a disk of its own where that may be; yield the ways in which it refuses."""
    try:
        with small_disk(folder / "state", DISK):
            yield [full, failing]
    except BaseException as refused:
        if type(refused).__name__ != "Skipped":
            raise
        yield [failing]


def assert_as_predicted(lived: Ledger) -> None:
    """Raise AssertionError where the state grew by more than is said, or faster and faster."""
    sizes = [day.state_bytes for day in lived.days]
    quarter = len(sizes) // 4
    assert (sizes[-1] - sizes[0]) / len(sizes) < STATE_BYTES_A_DAY, f"{sizes[-1] / 1e6:.0f} MB after {len(sizes)} days"
    if len(sizes) < LONG_ENOUGH:
        return
    third, fourth = (sizes[n] - sizes[n - quarter] for n in (3 * quarter - 1, 4 * quarter - 1))
    assert fourth < third * 1.2, f"{third / 1e6:.1f} MB in the third quarter, {fourth / 1e6:.1f} MB in the fourth"


def _tell(lived: Ledger) -> None:
    if len(lived.days) % 10 == 0:
        print(summary(lived), flush=True)


if __name__ == "__main__":
    main()
