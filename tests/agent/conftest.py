"""What tests of the mind share: folders in memory, each kind of mailbox, and a talk with the offline model."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent import buses
from tests.agent.mailboxes import KINDS, Rig
from tests.agent.offline_talk import OFFLINE, Talk
from tests.in_memory import tmp_path

__all__ = ["rig", "talk", "tmp_path"]


@pytest.fixture(params=KINDS)
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """A mailbox that must keep the promises of all; whoever takes it runs once with each kind."""
    async with KINDS[request.param](tmp_path) as rig:
        yield rig


@pytest.fixture
def talk() -> Talk:
    """A talk in which nothing was said yet."""
    return Talk(OFFLINE)


@pytest.fixture(params=buses.KINDS)
async def pair(request: pytest.FixtureRequest) -> AsyncIterator[buses.Pair]:
    """A bus on which is published, and one that has to show it; whoever takes it runs once with each kind."""
    async with buses.KINDS[request.param]() as pair:
        yield pair
