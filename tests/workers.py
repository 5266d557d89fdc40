"""How the suite is shared between processes: which tests stay together, and how their figures come home."""

import fcntl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final, Protocol

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # it tells no types

from tests.figures import FIGURES
from tests.needs import named_server

ROOT: Final = Path(__file__).parents[1]

SECONDS_FILE: Final = Path(__file__).parent / "data" / "seconds.txt"
"""Seconds of each slow test file on a quiet machine, `scripts/test --write-seconds` makes it anew."""

SLOW_SECONDS: Final = 2.0
"""Files that take less are not worth a line there."""


STORES: Final = "tests.memory.graph_fixtures"
"""The module of the stores that are started once for all files that name it, by each process that has one of these."""


TREES: Final = "tests/architecture/"
"""The folder whose files look at the syntax trees of the whole repository, which one process makes for all of them."""


class Worker(Protocol):
    """A process that ran a part of the suite, as pytest-xdist tells of it."""

    workeroutput: dict[str, list[str]]


def share(items: list[pytest.Item]) -> None:
    """Start the longest files first, so that the processes end together; `--dist loadfile` keeps files whole."""
    seconds = known_seconds()
    items.sort(key=lambda test: (-seconds.get(name_of(test.path), 0.0), str(test.path)))


class Together(LoadFileScheduling):  # type: ignore[misc]  # of no type that is told
    """Files stay whole, and those that share the stores go to one process: each would start a Neo4j of its own.

    So do those that share the syntax trees.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        if file.startswith(TREES):
            return TREES
        return STORES if _shares_stores(self.config.rootpath / file) else file


@cache
def _shares_stores(file: Path) -> bool:
    return file.is_file() and STORES in file.read_text(encoding="utf-8")


@contextmanager
def compiled_once() -> Iterator[None]:
    """In a fresh clone, let the first process that collects compile the test files, and the others read what it made.

    That is half a minute of a processor for each of them: pytest rewrites every assert, hypothesis reads every module.
    """
    with Path(__file__).open() as lock:
        if not any((ROOT / "tests" / "year" / "__pycache__").glob("*-pytest-*.pyc")):  # the last that is collected
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                fcntl.flock(lock, fcntl.LOCK_SH)
        yield


@contextmanager
def alone_at_the_server(item: pytest.Item) -> Iterator[None]:
    """Let one test at a time, of all processes, use a Neo4j server that somebody named: it has one graph."""
    if not (named_server() and item.get_closest_marker("neo4j")):
        yield
        return
    with (Path(tempfile.gettempdir()) / "nakari-neo4j.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@cache
def name_of(path: Path) -> str:
    """Return the path of a test file as the repository has it."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def known_seconds(file: Path = SECONDS_FILE) -> dict[str, float]:
    """Return how long the slow files take, in seconds by their path in the repository."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {path: float(seconds) for seconds, path in (line.split(maxsplit=1) for line in lines)}


def write_seconds(measured: Mapping[str, float], file: Path = SECONDS_FILE) -> None:
    """Keep how long the files of a run took, in seconds by node path; those of files that did not run stay."""
    seconds = known_seconds(file) | {path: round(took) for path, took in measured.items()}
    there = {path: took for path, took in seconds.items() if took >= SLOW_SECONDS and (ROOT / path).exists()}
    lines = [f"{took:.0f} {path}\n" for path, took in sorted(there.items(), key=lambda each: (-each[1], each[0]))]
    file.write_text("".join(lines), encoding="utf-8")


def hand_in(config: pytest.Config) -> None:
    """At the end of a worker: give its figures to the process that tells them."""
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output["figures"] = FIGURES


def take_in(worker: Worker) -> None:
    """Keep the figures of a worker that has ended; one that died has none."""
    FIGURES.extend(getattr(worker, "workeroutput", {}).get("figures", []))
