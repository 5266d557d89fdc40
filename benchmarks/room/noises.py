"""Half an hour of noise, music, silence and noises of people in the simulated room: no word of it is taken up.

`python -m benchmarks.room.noises` takes a minute or two. It prints, and fails where words were made of noise.
tests/room/test_noises.py is its sample.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

import structlog

from tests.figures import FIGURES
from tests.room.test_noises import KINDS, PART_SECONDS, made_of_noise

MINUTES = 30.0


def main() -> None:
    """Let all kinds sound in turn, and tell of each what came of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.room.noises", description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"of the room's time (default: {MINUTES})")
    wanted = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    parts = max(1, round(wanted.minutes * 60 / PART_SECONDS / len(KINDS)))
    with tempfile.TemporaryDirectory(prefix="nakari-noises-") as folder:
        taken_up = made_of_noise(Path(folder), parts)
    print("\n".join(FIGURES))
    if taken_up:
        sys.exit(f"made of noise: {taken_up}")


if __name__ == "__main__":
    main()
