"""What the checks of the repository share: syntax trees that are there while they run, and no longer."""

import gc
from collections.abc import Iterator

import pytest

from tests.architecture.source import forget


@pytest.fixture(autouse=True, scope="package")
def trees_are_looked_at_and_let_go() -> Iterator[None]:
    """Look for no garbage among a million nodes that stay, and have them gone after the last of these files."""
    gc.disable()
    yield
    gc.enable()
    forget()
