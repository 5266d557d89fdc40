"""A thousand questions of two model servers that fail in every way: all are answered, and none is left in silence.

`python -m benchmarks.model.failing_server` runs in virtual time, a minute of real time; it prints, and fails where a
question was closed unanswered or the silence before a first sound was too long. Its sample:
tests/agent/run/thinking/test_patience.py.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path
from random import Random

import structlog

from tests.agent.failing_server import FAULTS, Account, a_house, go_through
from tests.room.virtual_time import run_virtually

EVENTS = 1000
SHARE = 0.5
"""Of the servers' answers that are faults."""
MOST_SILENCE = 2.5
"""Seconds before a sign or a word, for 95 of 100."""


def main() -> None:
    """Go through all questions, and judge."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model.failing_server", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--share", type=float, default=SHARE, help="of answers that are faults")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with tempfile.TemporaryDirectory(prefix="nakari-failing-") as folder:
        account = run_virtually(measure(Path(folder), wanted.events, wanted.share, wanted.seed))
    silences = account.silences
    print(f"{wanted.events} questions, two models, {wanted.share:.0%} of answers faulty ({', '.join(FAULTS)})")
    print(f"requests: {account.requests}; questions that waited for a model in between: {account.waited}")
    print(f"silence before a sign or a word: median {silences[len(silences) // 2]:.2f} s, p95 {account.p95:.2f} s,")
    print(f"  longest {silences[-1]:.2f} s; closed unanswered, answered twice or untold: {len(account.wrong)}")
    arrived = account.since_arrival
    print(f"  from its arrival, others in hand: median {arrived[len(arrived) // 2]:.2f} s, ", end="")
    print(f"p95 {arrived[int(len(arrived) * 0.95)]:.2f} s, longest {arrived[-1]:.2f} s")
    answered = account.answered_after
    print(f"answered after: median {answered[len(answered) // 2]:.1f} s, ", end="")
    print(f"p95 {answered[int(len(answered) * 0.95)]:.1f} s, longest {answered[-1]:.1f} s")
    sys.exit("\n".join(account.wrong) or (f"p95 is above {MOST_SILENCE} s" if account.p95 > MOST_SILENCE else 0))


async def measure(folder: Path, events: int, share: float, seed: int) -> Account:
    """Return what became of the questions."""
    async with a_house(folder, seed=seed) as house:
        return await go_through(house, events, share, Random(seed))


if __name__ == "__main__":
    main()
