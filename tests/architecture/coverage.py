"""Which row of docs/rows.toml is shown by what, read off the tests' marks; run it to write build/coverage.md."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from tests.architecture.source import ROOT, files, tree

PAGE = ROOT / "build" / "coverage.md"
"""Written by CI after the tests, and kept out of git: it changes with every test."""

ROWS = ROOT / "docs" / "rows.toml"
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

MARK = "pytest.mark.shows"

BENCHMARK_ROWS = "SHOWS"
"""The name of the tuple in which a benchmark says which rows its figure belongs to."""

HEAD = """\
# What is shown, and by what

Each row is a mechanism that nakari is meant to have, each entry a test or a benchmark whose result bears on it. A row
with entries is shown as far as these go, which may be a part of it; a row with "—" is shown by nothing yet. The entries
are the marks on the tests themselves, so that this page cannot drift: `python -m tests.architecture.coverage` writes
it, as CI does after the tests.
"""


class Evidence(Struct, frozen=True, order=True):
    """One test, or one benchmark, that names a row."""

    file: Path
    """Relative to the root."""
    name: str
    """The test's name, read as words; empty for a benchmark."""


class LooseMark(Exception):
    """A mark stands where it belongs to no test: it would show nothing."""


def rows() -> dict[str, dict[str, str]]:
    """Return the rows: section -> row -> what it is about."""
    listed: dict[str, dict[str, str]] = tomllib.loads(ROWS.read_text(encoding="utf-8"))
    return listed


@cache
def evidence() -> dict[str, set[Evidence]]:
    """Return everything that names a row, by the row."""
    found: dict[str, set[Evidence]] = defaultdict(set)
    for path in files("tests/*.py"):
        for row, name in marked(tree(path)):
            found[row].add(Evidence(path, name))
    for path in files("benchmarks/*.py"):
        for row in declared(tree(path)):
            found[row].add(Evidence(path, ""))
    return found


def marked(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each row that a test names, with the test's name in words; marks of a class or the module count for all.

    Raises `LooseMark` for a mark that is on no test.
    """
    loose = set(_marks([module]))
    for test, marks in _tests(module.body, _marks(_pytestmark(module.body))):
        loose.difference_update(marks)
        for row in {str(ast.literal_eval(argument)) for mark in marks for argument in mark.args}:
            yield row, test.name.removeprefix("test_").replace("_", " ")
    if loose:
        raise LooseMark(f"on no test: {', '.join(f'{ast.unparse(mark)} in line {mark.lineno}' for mark in loose)}")


def declared(module: ast.Module) -> list[str]:
    """Return the rows that a benchmark names."""
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == BENCHMARK_ROWS:
            return list(ast.literal_eval(node.value))
    return []


def page(listed: Mapping[str, Mapping[str, str]], found: Mapping[str, Iterable[Evidence]]) -> str:
    """Return the page."""
    known = [row for section in listed.values() for row in section]
    shown = sum(1 for row in known if found.get(row))
    lines = [HEAD, f"{shown} of {len(known)} rows have entries."]
    for section, titles in listed.items():
        lines += [f"\n## {section}\n", "| row | about | tests and benchmarks |", "|---|---|---|"]
        lines += [f"| {row} | {title} | {cell(found.get(row, ()))} |" for row, title in titles.items()]
    return "\n".join(lines) + "\n"


def cell(found: Iterable[Evidence]) -> str:
    """Return what shows a row, file by file."""
    by_file: dict[Path, list[str]] = {}
    for each in sorted(found):
        by_file.setdefault(each.file, []).append(each.name)
    entries = [
        f"[{path.with_suffix('')}](../{path})" + (f": {'; '.join(names)}" if any(names) else "")
        for path, names in by_file.items()
    ]
    return "<br>".join(entries) or "—"


def _tests(body: Iterable[ast.stmt], inherited: list[ast.Call]) -> Iterator[tuple[Function, list[ast.Call]]]:
    """Yield each test with its marks, those of its class and module included."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node, [*inherited, *_marks(node.decorator_list)]
        elif isinstance(node, ast.ClassDef):
            yield from _tests(node.body, [*inherited, *_marks(node.decorator_list), *_marks(_pytestmark(node.body))])


def _pytestmark(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    return [node for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"]


def _marks(nodes: Iterable[ast.AST]) -> list[ast.Call]:
    inside = (node for top in nodes for node in ast.walk(top))
    return [node for node in inside if isinstance(node, ast.Call) and _is_shows(node.func)]


def _is_shows(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "shows" and ast.unparse(function) == MARK


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(rows(), evidence()), encoding="utf-8")
