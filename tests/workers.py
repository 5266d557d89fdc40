"""How the suite is shared between two processes: which tests stay together, and how their figures come home."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Protocol

import pytest

from tests.figures import FIGURES

ONE_SERVER: Final = "neo4j"
"""Their server has one graph, which each test finds empty: never two of them at a time."""

LONGEST_FIRST: Final = ("service", "room", "memory", "crash")
"""Folders whose files take minutes; started last, one of them would run on alone at the end."""


class Worker(Protocol):
    """A process that ran a part of the suite, as pytest-xdist tells of it."""

    workeroutput: dict[str, list[str]]


def share(items: list[pytest.Item]) -> None:
    """Keep a file's tests in one process, for their fixtures, and order the files so that both end together.

    Does nothing to a run in one process but for the order.
    """
    for path, tests in _by_file(items).items():
        asks_the_server = any(test.get_closest_marker("neo4j") for test in tests)
        for test in tests:
            test.add_marker(pytest.mark.xdist_group(ONE_SERVER if asks_the_server else str(path)))
    items.sort(key=_rank)


def hand_in(config: pytest.Config) -> None:
    """At the end of a worker: give its figures to the process that tells them."""
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output["figures"] = FIGURES


def take_in(worker: Worker) -> None:
    """Keep the figures of a worker that has ended; one that died has none."""
    FIGURES.extend(getattr(worker, "workeroutput", {}).get("figures", []))


def _by_file(items: Iterable[pytest.Item]) -> dict[Path, list[pytest.Item]]:
    found: dict[Path, list[pytest.Item]] = {}
    for item in items:
        found.setdefault(item.path, []).append(item)
    return found


def _rank(item: pytest.Item) -> int:
    folder = item.path.parent.name
    return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)
