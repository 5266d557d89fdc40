"""kill -9 at every step, in full: random stories, each killed at many boundaries, and the verdict on all of them.

`python -m benchmarks.appliance.crashes` kills 600 times and takes ten minutes; it fails where anything was lost,
spoken or done twice. tests/crash/test_crashes.py is its sample, test_elsewhere.py the one of `--engine nats|redis`.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.story import Nursery, boundaries, deaths, nursery, told
from tests.crash.verdict import complaints, remains
from tests.engine_servers import Server, nats_server, redis_server

KILLS = 600

RUNS = 10
"""Of each story, killed elsewhere each time."""


@dataclass
class Tally:
    """What became of the stories so far."""

    stories: int = 0
    runs: int = 0
    kills: int = 0
    events: int = 0
    sentences: int = 0
    boundaries: int = 0
    wrong: list[str] = field(default_factory=list)


def main() -> None:
    """Kill until enough lives have ended, and tell what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.appliance.crashes", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help=f"at least so many (default: {KILLS})")
    parser.add_argument("--seed", type=int, default=1000, help="of the first story")
    parser.add_argument(
        "--engine", choices=("nats", "redis"), help="keep the state in an engine's log, and kill it too"
    )
    parser.add_argument("--keep", type=Path, help="a folder that keeps what went wrong")
    wanted = parser.parse_args()
    tally, began = Tally(), time.monotonic()
    with (
        nursery() as lives,
        tempfile.TemporaryDirectory(prefix="nakari-crash-") as folder,
        engine_of(wanted.engine, Path(folder) / "engine") as server,
    ):
        while tally.kills < wanted.kills:
            tell_story(lives, Path(folder), wanted.seed + tally.stories, tally, wanted.keep, server)
            print(_summary(tally, time.monotonic() - began), flush=True)
    sys.exit("\n".join(tally.wrong) or 0)


@contextmanager
def engine_of(kind: str | None, folder: Path) -> Iterator[Server | None]:
    """Give a server of this kind, which a story starts when it needs it; none where the state stays in its folder."""
    server = {"nats": nats_server, "redis": redis_server}[kind](folder) if kind else None
    try:
        yield server
    finally:
        if server is not None:
            server.kill()


def tell_story(lives: Nursery, folder: Path, seed: int, tally: Tally, keep: Path | None, server: Server | None) -> None:
    """Live through a story without a kill, then with kills, and judge each."""
    whole = folder / f"{seed}-whole"
    most = boundaries(lives, whole, seed, server)
    tally.stories += 1
    tally.boundaries += most
    judge(whole, seed, tally, keep)
    for place in range(RUNS):
        run = folder / f"{seed}-{place}"
        tally.kills += len(told(lives, run, seed, deaths(seed, place, most), server))
        judge(run, seed, tally, keep)


def judge(run: Path, seed: int, tally: Tally, keep: Path | None) -> None:
    """Judge what a run has left, and remove it."""
    left = asyncio.run(remains(run))
    wrong = complaints(left, seed)
    tally.runs += 1
    tally.events += len(left.events)
    tally.sentences += len(left.sound)
    tally.wrong += [f"{run.name}: {what}" for what in wrong]
    if wrong and keep:
        shutil.copytree(run, keep / run.name)
    shutil.rmtree(run)


def _summary(tally: Tally, seconds: float) -> str:
    return (
        f"{tally.kills} kills in {tally.runs} runs of {tally.stories} stories "
        f"(about {tally.boundaries // tally.stories} boundaries each), {tally.events} events, "
        f"{tally.sentences} sentences, {seconds:.0f} s: {len(tally.wrong)} complaints"
    )


if __name__ == "__main__":
    main()
