"""A sample of what is large, another one after each commit; `--every-step` and `scripts/bench whole` take all of it."""

import random
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


@cache
def commit(folder: Path = Path(__file__).parent) -> str:
    """Return the commit that a folder is at; "" where there is no clone to ask."""
    asked = ["git", "-c", "safe.directory=*", "rev-parse", "HEAD"]
    return subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False).stdout.strip()


def sample(items: Sequence[Item], count: int, *, whole: bool, seed: str | None = None) -> list[Item]:
    """Return so many items, or the whole, in their order: the same ones in every run of one commit.

    What a commit's sample finds is found again at that commit, and over the commits all are tried.
    """
    if whole:
        return list(items)
    chosen = random.Random(commit() if seed is None else seed).sample(range(len(items)), count)
    return [items[place] for place in sorted(chosen)]
