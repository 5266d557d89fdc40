"""The page that says what is shown: about known rows only, and not fooled by a mark in the wrong place."""

import ast
from pathlib import Path

import pytest

from tests.architecture.coverage import PAGE, Evidence, LooseMark, declared, evidence, marked, page, rows
from tests.architecture.source import ROOT, files

TITLES = {"Ears": {"V1": "hearing", "V2": "choosing"}}


def rows_of(source: str) -> list[tuple[str, str]]:
    return sorted(marked(ast.parse(source)))


def test_the_page_is_made_from_the_marks_and_not_committed() -> None:
    listed = page(rows(), evidence())
    assert all(f"\n| {row} | {about} | " in listed for section in rows().values() for row, about in section.items())
    assert "[tests/architecture/test_packages](../tests/architecture/test_packages.py): " in listed
    assert files("docs/coverage.md", str(PAGE.relative_to(ROOT))) == ()
    assert "tests.architecture.coverage" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_marks_name_rows_that_exist() -> None:
    known = {row for section in rows().values() for row in section}
    assert {row: sorted(found)[0].file for row, found in evidence().items() if row not in known} == {}


def test_rows_are_listed_once_and_in_order() -> None:
    listed = [row for section in rows().values() for row in section]
    assert len(listed) == len(set(listed)) == 226
    for section in rows().values():
        assert [int(row[1:]) for row in section] == list(range(1, len(section) + 1))
        assert len({row[0] for row in section}) == 1


def test_a_mark_belongs_to_the_test_below_it() -> None:
    source = "@pytest.mark.shows('V1', 'V2')\n@other\nasync def test_it_hears(): ...\ndef test_unmarked(): ...\n"
    assert rows_of(source) == [("V1", "it hears"), ("V2", "it hears")]


def test_a_mark_of_the_module_or_of_a_class_belongs_to_every_test_in_it() -> None:
    source = (
        "pytestmark = [other, pytest.mark.shows('V1')]\n"
        "@pytest.mark.shows('V2')\nclass TestAll:\n"
        "    pytestmark = pytest.mark.shows('V3')\n    def test_a(self): ...\n"
        "@pytest.mark.shows('V1')\ndef test_b(): ...\ndef nothing(): ...\n"
    )
    assert rows_of(source) == [("V1", "a"), ("V1", "b"), ("V2", "a"), ("V3", "a")]


def test_a_mark_of_one_parameter_belongs_to_its_test() -> None:
    source = "@parametrize('x', [pytest.param(1, marks=pytest.mark.shows('V1'))])\ndef test_x(x): ...\n"
    assert rows_of(source) == [("V1", "x")]


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.shows('V1')\ndef not_collected(): ...\n",
        "@pytest.mark.shows('V1')\n@pytest.fixture\ndef home(): ...\n",
        "MARK = pytest.mark.shows('V1')\n@MARK\ndef test_it(): ...\n",
        "pytestmark = pytest.mark.shows('V1')\n",
    ],
)
def test_a_mark_that_belongs_to_no_test_is_told(source: str) -> None:
    with pytest.raises(LooseMark, match=r"shows\('V1'\) in line 1"):
        rows_of(source)


def test_a_benchmark_declares_its_rows() -> None:
    assert declared(ast.parse("SHOWS = ('V1', 'V2')\n")) == ["V1", "V2"]
    assert declared(ast.parse("def measure(): ...\n")) == []


def test_a_row_says_what_bears_on_it_and_nothing_more() -> None:
    ears, bench = Path("tests/audio/test_ears.py"), Path("benchmarks/ears.py")
    found = {"V1": {Evidence(ears, "b hears"), Evidence(ears, "a hears"), Evidence(bench, "")}}
    lines = page(TITLES, found).splitlines()
    assert "1 of 2 rows have entries." in lines
    shown = "[benchmarks/ears](../benchmarks/ears.py)<br>[tests/audio/test_ears](../tests/audio/test_ears.py): "
    assert lines[-2:] == [f"| V1 | hearing | {shown}a hears; b hears |", "| V2 | choosing | — |"]
