"""`nakari satellite` as a person types it, against a small device; no service runs."""

import asyncio
from pathlib import Path
from typing import NamedTuple

import pytest

from appliance.errors import Exit
from tests.appliance.command import ROOT, environment, nakari, piped, state_folder
from tests.satellites.device import SmallDevice, new_key

pytestmark = pytest.mark.shows("V28")


class Typed(NamedTuple):
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


async def typed(home: Path, *arguments: str, stdin: str = "") -> Typed:
    """Run the command beside the device."""
    done = await asyncio.to_thread(piped, stdin.encode(), environment(home), "satellite", *arguments)
    return Typed(done.returncode, done.stdout.decode(), done.stderr.decode())


async def test_a_satellite_is_paired_tried_listed_and_forgotten(tmp_path: Path) -> None:
    key = new_key()
    async with SmallDevice(key=key) as device:
        place = f"127.0.0.1:{device.port}"
        wrong = await typed(tmp_path, "add", place, stdin=new_key())
        assert wrong.returncode == Exit.UNAVAILABLE
        assert wrong.stderr.startswith("nakari: this is not the key of kitchen (aa:bb:cc:00:00:01)")
        assert wrong.stderr.count("\n") == 1
        made = await typed(tmp_path, "add", place, "--room", "hall", stdin=f"{key}\n")
        assert made.stdout.startswith("Kitchen (aa:bb:cc:00:00:01) is the satellite in the hall now.")
        assert (made.returncode, made.stderr) == (Exit.OK, "")
        tried = await typed(tmp_path, "test", "hall")
        assert "it says that it played a sound\nwakes on: Okay Nabu\n" in tried.stdout
        listed = await typed(tmp_path, "list", "--paired")
        assert listed.stdout.split()[:4] == ["hall", "paired", "kitchen", place]
        gone = await typed(tmp_path, "remove", "hall")
        assert gone.stdout == "kitchen (aa:bb:cc:00:00:01) is forgotten, its key too.\n"
    assert key not in wrong.stderr + made.stdout + tried.stdout + listed.stdout
    assert (state_folder(tmp_path) / "satellites.json").stat().st_mode & 0o777 == 0o600


def test_a_damaged_list_is_no_empty_one(tmp_path: Path) -> None:
    file = state_folder(tmp_path) / "satellites.json"
    file.parent.mkdir(parents=True)
    file.write_text("[1")
    what = f"nakari: {file} cannot be read: it is damaged; restore it from a backup, or remove it and pair"
    listed = nakari(tmp_path, "satellite", "list", "--paired")
    assert (listed.returncode, listed.stdout) == (Exit.UNAVAILABLE, "")
    assert listed.stderr.startswith(what)
    assert listed.stderr.count("\n") == 1
    assert nakari(tmp_path, "satellite", "list", "--paired", "--json").returncode == Exit.UNAVAILABLE


def test_what_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    missing = nakari(tmp_path, "satellite", "remove", "attic")
    assert (missing.returncode, missing.stderr) == (
        Exit.NO_INPUT,
        "nakari: no satellite is called attic (none is paired)\n",
    )
    both = nakari(tmp_path, "satellite", "add", "127.0.0.1", "--key", new_key(), "--without-key")
    assert both.returncode == Exit.USAGE
    assert str(ROOT) not in both.stderr
