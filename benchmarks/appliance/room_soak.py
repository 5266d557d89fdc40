"""Four hours of a household in the simulated room, in accelerated time: memory, clocks and queues at each hour.

`python -m benchmarks.appliance.room_soak` takes about half an hour; `--hours 0.2` a minute. It prints, and fails where
something grew. tests/room/test_soak.py is its sample.
"""

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

import structlog

from tests.room.house import live
from tests.room.soak import AROUND, LOOP_SECONDS, Soak, soak
from tests.room.test_soak import assert_nothing_grew

HOURS = 4.0


def main() -> None:
    """Let the hours pass, tell of each quarter, and end with what grew."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.appliance.room_soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=HOURS, help=f"of the room's time (default: {HOURS})")
    wanted = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    loops, began = round(wanted.hours * 3600 / LOOP_SECONDS), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="nakari-soak-") as folder:
        found = live(Path(folder), lambda house: soak(house, loops, _tell), AROUND)
    print(summary(found, time.monotonic() - began))
    try:
        assert_nothing_grew(found)
    except AssertionError as error:
        sys.exit(f"something grew: {error}")


def summary(found: Soak, seconds: float) -> str:
    """Return the figures in one paragraph."""
    return (
        f"{found.hours:.1f} hours of the room in {seconds / 60:.0f} minutes: "
        f"resident {found.resident[-1]:.0f} MB ({found.growth(found.resident):+.1%} since the 2nd quarter), "
        f"{found.objects[-1]} objects ({found.growth(found.objects):+.1%}), {found.tasks[-1]} tasks, "
        f"{found.dropped_chunks} chunks lost, onsets drift by {found.drift * 1000:+.1f} ms, "
        f"{found.taken_up} of {found.asked} questions taken up"
    )


def _tell(found: Soak) -> None:
    if found.loops % 15 == 0:
        print(
            f"{found.hours:.2f} h: {found.resident[-1]:.0f} MB, {found.objects[-1]} objects, "
            f"last onset {found.onset_errors[-1] * 1000:+.0f} ms, {found.taken_up}/{found.asked} taken up",
            flush=True,
        )


if __name__ == "__main__":
    main()
