"""docs/security.md holds: every door and every family of tools is in it, and each row names the tests that show it."""

import re
from pathlib import Path

import pytest

from tests.architecture.documents import text
from tests.architecture.source import ROOT, files

PAGE = Path("docs/security.md")
LISTENS = re.compile(r"\.listen\(BACKLOG|start_server\(|start_unix_server\(|create_server\(|create_datagram_endpoint\(")
"""Whatever waits for others to come."""


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without its first two lines."""
    section = text(PAGE).partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def named(cells: list[list[str]], column: int) -> set[str]:
    return {span for row in cells for span in re.findall(r"`([^`]+)`", row[column])}


def test_whatever_listens_is_a_door_of_the_page() -> None:
    doors = {Path(name) for name in named(rows("Doors"), 0)}
    listening = [path for path in files("appliance/**/*.py") if LISTENS.search((ROOT / path).read_text("utf-8"))]
    assert listening
    assert [path for path in listening if path not in doors and not doors & set(path.parents)] == []


def test_whatever_reads_what_a_stranger_made_is_a_door_of_the_page() -> None:
    doors = {Path(name) for name in named(rows("Doors"), 0)}
    programs = [
        path
        for path in files("*.py")
        if path.parts[0] in ("agent", "appliance") and "reading_child(" in (ROOT / path).read_text("utf-8")
    ]
    readers = [path for path in programs if path != Path("agent/child.py")]
    assert len(readers) >= 4
    assert [path for path in readers if not doors & set(path.parents)] == []


def test_every_family_of_tools_is_in_the_page() -> None:
    families = {
        path.name
        for path in (ROOT / "agent/tools").glob("*.py")
        if re.search(r"^def (\w+_)?tools\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert named(rows("Tools"), 0) == families


@pytest.mark.parametrize("heading", ["Doors", "Tools"])
def test_each_row_names_tests(heading: str) -> None:
    for row in rows(heading):
        shown = re.findall(r"`(tests/[^`]+)`", row[-1])
        assert shown, row
        assert all("def test_" in (ROOT / file).read_text("utf-8") for file in shown)


def test_no_address_is_given_for_reports() -> None:
    section = text(PAGE).partition("## Reporting a weakness")[2]
    assert "private report" in section
    assert "@" not in section
