"""A real Home Assistant for a file of tests; `scripts/home-assistant make` makes it, else they are skipped."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from tests.home.home_assistant import Running, running_in, start, stop


class Home(Struct, frozen=True):
    """A household of one's own: it can be stopped, and started again on what is there."""

    folder: Path

    def start(self, entities: int = 0) -> Running:
        return start(self.folder, entities)

    @property
    def pid(self) -> int:
        return running_in(self.folder).pid

    def stop(self) -> None:
        stop(self.folder)


@pytest.fixture(scope="module")
def home_assistant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One that runs while the tests of a file do, as it is when new at their beginning."""
    folder = tmp_path_factory.mktemp("home")
    yield start(folder)
    stop(folder)


@pytest.fixture
def own_home_assistant(tmp_path: Path) -> Iterator[Home]:
    """One for one test, which starts it."""
    home = Home(tmp_path / "home")
    yield home
    home.stop()
