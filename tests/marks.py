"""Marks that tests get by what they use, so that none can be forgotten: the stores, real processes, the room."""

from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Final

import pytest

from tests.workers import known_seconds, name_of

TESTS: Final = Path(__file__).parent

BY_FOLDER: Final = {"service": "process", "crash": "process", "room": "room", "year": "room"}
"""Folders of this one whose tests all need the same."""

BY_FIXTURE: Final = {
    "neo4j": "neo4j",
    "neo4j_uri": "neo4j",
    "embedded_store": "store",
    "hurried_store": "store",
    "another": "store",
    "home_assistant": "home_assistant",
    "own_home_assistant": "home_assistant",
}
"""Fixtures that start something, and the mark of whoever uses one, be it by another fixture."""

BY_NAME: Final = {
    "memory.graph.embedded.store.EmbeddedStore": "store",
    "tests.memory.embedded_parent": "store",
    "tests.memory.graph_fixtures.emptied": "store",
    "tests.processes.child": "process",
    "tests.agent.llama_cpp.llama_cpp": "process",
    "tests.engine_servers.nats_server": "nats",
    "tests.engine_servers.redis_server": "redis",
    "tests.appliance.command.nakari": "process",
    "tests.appliance.command.started": "process",
    "tests.service.process.Household": "process",
    "tests.room.house.live": "room",
}
"""What starts a store or a process when it is called, and the mark of each test whose file imports it."""

LONG_SECONDS: Final = 2.0
"""A file that takes so long on a quiet machine is no part of a fast run: `tests/data/seconds.txt` has them."""

REAL: Final = (
    "sound",
    "systemd",
    "debian",
    "neo4j",
    "nats",
    "redis",
    "browser",
    "home_assistant",
    "network",
    "room",
    "process",
    "store",
    "long",
)
"""Marks of tests that need something real, or that take long: `scripts/test --fast` leaves them out."""


def mark(items: list[pytest.Item]) -> None:
    """Give each test the marks of what it uses."""
    long = long_files()
    for item in items:
        if name_of(item.path) in long:
            item.add_marker("long")
        for name in sorted(_of_folder(item.path) | _of_fixtures(item) | _of_module(getattr(item, "module", None))):
            item.add_marker(name)


def is_never_fast(file: Path) -> bool:
    """Say whether a fast run has none of this file's tests, whatever they are: it need not be imported for them."""
    return name_of(file) in long_files() or bool(_of_folder(file))


@cache
def long_files() -> frozenset[str]:
    """Return the files that take long, by their path in the repository."""
    return frozenset(path for path, seconds in known_seconds().items() if seconds >= LONG_SECONDS)


@cache
def _of_folder(file: Path) -> frozenset[str]:
    below = file.relative_to(TESTS).parts if file.is_relative_to(TESTS) else ()
    return frozenset(BY_FOLDER[top] for top in below[:1] if top in BY_FOLDER)


def _of_fixtures(item: pytest.Item) -> set[str]:
    return {BY_FIXTURE[name] for name in getattr(item, "fixturenames", ()) if name in BY_FIXTURE}


@cache
def _of_module(module: object) -> frozenset[str]:
    used = vars(module).values() if isinstance(module, ModuleType) else ()
    return frozenset(BY_NAME[name] for name in map(_full_name, used) if name in BY_NAME)


def _full_name(used: object) -> str:
    if isinstance(used, FunctionType | type):
        return f"{used.__module__}.{used.__qualname__}"
    return used.__name__ if isinstance(used, ModuleType) else ""
