"""What every released nakari left behind is gone on with: its state folder, its configuration, all of it."""

import asyncio
import json
import shutil
import tarfile
from pathlib import Path

import pytest

from appliance.admin import upgrade
from appliance.version import version
from appliance.wiring.memory.state import open_state
from tests.appliance.admin.test_exchange import ROOT
from tests.appliance.command import nakari

FOLDER = ROOT / "tests/data/state"
RELEASES = [file.name.removesuffix(".tar.xz") for file in sorted(FOLDER.glob("*.tar.xz"))]


@pytest.fixture(params=RELEASES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with state and configuration of a release."""
    with tarfile.open(FOLDER / f"{request.param}.tar.xz") as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12's Python knows no `filter=`
        archive.extractall(tmp_path / "state")
    shutil.copy(FOLDER / f"{request.param}.toml", tmp_path / "nakari.toml")
    return tmp_path


def typed(home: Path, *words: str) -> str:
    """Run the command as its owner would type it; return what it says."""
    ran = nakari(home, "--config", home / "nakari.toml", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


async def was_typed(state: Path, word: str) -> int:
    """Return how many sentences with this word the journal has."""
    async with open_state(state) as opened:
        return len(await opened.journal.search(word, "household"))


@pytest.mark.shows("H7")
def test_all_that_it_knew_is_known(home: Path) -> None:
    assert typed(home, "ask", "what colour is my bike") == "You told me: your bike is red.\n"
    assert asyncio.run(was_typed(home / "state", "Orestes")) >= 2
    assert "Ada" in typed(home, "identity", "list")
    assert "mind.tool_calls           owner    7" in typed(home, "settings", "list")
    found = json.loads(typed(home, "memory", "query", "--json", "MATCH (:Person)-[:KEEPS]->(c) RETURN c.name, c.since"))
    assert found["records"] == [{"c.name": "Orestes", "c.since": "2024-05-01"}]
    assert typed(home, "memory", "audit", "verify").startswith("records: ")
    assert "asked for" in typed(home, "memory", "list")
    typed(home, "memory", "write", "MATCH (c:Cat) SET c.colour = 'grey'")
    assert "grey" in typed(home, "memory", "query", "MATCH (c:Cat) RETURN c.colour")
    assert json.loads((home / "state/switches.json").read_text())["volume"] == 40
    assert json.loads((home / "state" / upgrade.FILE).read_text())["layout"] == len(upgrade.STEPS) + 1


def test_this_version_left_one_too() -> None:
    assert version() in RELEASES, "pack a state folder of this version: tests/data/state/README.md"
