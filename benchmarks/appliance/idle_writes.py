"""What a box that nobody speaks to writes to its disk, which may be an SD card: its first hour, and every later one."""

import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Final

from benchmarks.figure import Figure, Series, run, short
from benchmarks.processes import children_of
from benchmarks.sound import quiet_room, write_wav
from tests.service.process import Household, Running

SHOWS = ("H9",)

HOUR: Final = 3600.0

SETTLING: Final = 30.0
"""Seconds after the start in which indexes are still made and what is loaded ahead is."""

ASKED_FOR: Final = 5.0
"""Megabytes an idle hour: 44 GB a year, of the terabytes that even a small card takes."""


def measure(*, quick: bool = False) -> Figure:
    """Count what service, store and log wrote at the start, and then while nothing happens; take that for the hour."""
    windows, seconds, settling = (1, 1.0, 0.0) if quick else (6, 60.0, SETTLING)
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        room = write_wav(Path(name) / "room.wav", quiet_room(settling + windows * seconds))
        home = Household(Path(name), {"memory": {"enabled": True}})
        with home.running("run", "--input", str(room), "--output", str(Path(name) / "answer.wav")) as running:
            for ready in ("service_started", "recognizer_ready", "graph_store_started"):
                running.until(ready)
            time.sleep(settling)
            start = _written(running)
            looks = [start, *(_after(seconds, running) for _ in range(windows))]
    hourly = [
        tuple((after - before) / seconds * HOUR for before, after in zip(*pair, strict=True))
        for pair in pairwise(looks)
    ]
    first = tuple((sum(start) + sum(each)) / 1e6 for each in hourly)
    service, store, log = (Series("", "MB", tuple(each / 1e6 for each in part)) for part in zip(*hourly, strict=True))
    every = Series("", "MB", tuple(sum(each) / 1e6 for each in hourly))
    notes = (
        f"every later hour {every}: service {service}, store {store}, log {log}; taken for an hour from {windows} "
        f"windows of {seconds:g} s each, so without what happens once a day",
        f"of the first hour the start is {short(sum(start) / 1e6)} MB: service {short(start[0] / 1e6)}, "
        f"store {short(start[1] / 1e6)}, log {short(start[2] / 1e6)}",
        "bytes of pages that the kernel is to write (`write_bytes` in /proc/PID/io), without the file system's own",
    )
    ours = Series("written by an idle box in its first hour", "MB", first)
    return Figure("Disk writes of an idle hour", ours, Series("what is asked for", "MB", (ASKED_FOR,)), notes)


def _after(seconds: float, running: Running) -> tuple[float, float, float]:
    time.sleep(seconds)
    return _written(running)


def _written(running: Running) -> tuple[float, float, float]:
    """Return the bytes written so far by the service, by its store, and to the log, which systemd writes down."""
    pid = running.process.pid
    log = sum(len(line) + 1 for line in running.lines)
    return _bytes(pid), sum(map(_bytes, children_of(pid))), float(log)


def _bytes(pid: int) -> float:
    counts = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    return float(counts["write_bytes"])


if __name__ == "__main__":
    run(measure)
