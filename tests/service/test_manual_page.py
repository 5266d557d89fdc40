"""The package's manual page: it tells of every command, and roff has nothing to complain of."""

import runpy
import shutil
import subprocess
from collections.abc import Iterator

import click
import pytest

from appliance.cli import nakari
from tests.service.bare_debian import ROOT

PAGE = "\n".join(runpy.run_path(str(ROOT / "systemd/debian/manual.py"))["page"]()) + "\n"


def commands(group: click.Group, before: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if not command.hidden:
            yield f"{before} {name}"
        if isinstance(command, click.Group):
            yield from commands(command, f"{before} {name}")


def test_every_command_has_its_place_in_it() -> None:
    told = [line.removeprefix(".SS ").replace("\\-", "-") for line in PAGE.splitlines() if line.startswith(".SS ")]
    assert [
        name for name in commands(nakari, "nakari") if not any(f"{each} ".startswith(f"{name} ") for each in told)
    ] == []


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed: apt-get install groff")
@pytest.mark.shows("H2")
def test_roff_reads_it_without_a_warning() -> None:
    read = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-P-cbou"], input=PAGE.encode(), capture_output=True, check=True
    )
    assert read.stderr == b""
    assert "--attach FILE" in read.stdout.decode()
