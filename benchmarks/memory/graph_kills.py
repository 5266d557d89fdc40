"""What it takes to lose a write: a writing process killed 100 times at random moments, and what was lost by it."""

import argparse
import asyncio
import random
import tempfile
from pathlib import Path
from time import perf_counter

from tests.memory.lives import live, verdict


def main() -> None:
    """Kill, look, tell."""
    parser = argparse.ArgumentParser(description="Kill a writing process again and again.")
    parser.add_argument("--lives", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261121)
    wanted = parser.parse_args()
    chance, began = random.Random(wanted.seed), perf_counter()
    acknowledged: list[int] = []
    with tempfile.TemporaryDirectory(prefix="nakari-kills-") as folder:
        for number in range(wanted.lives):
            acknowledged += live(Path(folder), number * 1000, chance)
        found = asyncio.run(verdict(Path(folder), acknowledged))
    print(
        f"{wanted.lives} lives ended by kill -9, {len(acknowledged)} writes acknowledged, {len(found.missing)} lost, "
        f"audit log of {found.records} records verified, replay "
        f"{'equals the graph' if found.agree else 'DIFFERS from the graph'}, {perf_counter() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
