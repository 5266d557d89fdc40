"""How the code reads, measured against the aims of the house where ruff does not measure it already."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, files, length, nodes, sources, suite, text

MOCKS = {"Mock", "MagicMock", "AsyncMock", "PropertyMock", "create_autospec", "monkeypatch", "mocker"}
VAGUE = re.compile(r"(utils?|helpers?|manager|base|common|misc)(_|\.py$|$)")
PROCESS_ENVIRONMENT = re.compile(r"os\.(environ\.get|environ\[|getenv)")
NO_ADDRESS_IN = (
    "requirements/*",
    "scripts/*",
    "systemd/debian/*.txt",
    ".ci/*",
    ".pre-commit-config.yaml",
    "pyproject.toml",
    "*package-lock.json",
)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield where each function of a file stands and how many lines it has."""
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path}:{node.lineno} {node.name}", (node.end_lineno or node.lineno) - node.lineno + 1


def calls(path: Path, *names: str) -> Iterator[tuple[str, str]]:
    """Yield where a function or method of one of these names is called, and the call."""
    if not any(name in text(path) for name in names):
        return
    for node in nodes(path):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in names:
                yield f"{path}:{node.lineno}", ast.unparse(node)


def names_used(path: Path) -> Iterator[tuple[str, int]]:
    """Yield every name a file mentions, as name, attribute, parameter or import."""
    for node in nodes(path):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                yield name, node.lineno


def test_functions_are_short() -> None:
    lengths = sorted((lines, where) for path in sources() for where, lines in functions(path))
    assert [found for found in lengths if found[0] > 60] == []
    assert lengths[int(len(lengths) * 0.95)][0] <= 40


def test_a_file_is_one_thing() -> None:
    assert [f"{path}: {length(path)}" for path in sources() if length(path) > 400] == []


def test_tasks_start_in_a_group() -> None:
    loose = [
        where
        for path in (*sources(), *suite())
        for where, call in calls(path, "create_task", "ensure_future")
        if re.match(
            r"(self\.|asyncio\.)?(asyncio|_?loop|get_(running|event)_loop\(\))\.(create_task|ensure_future)", call
        )
    ]
    assert loose == []


def test_what_is_raised_is_raised_outside_of_except_star() -> None:
    """Before 3.11.4 (CPython's gh-103590), and so on Debian 12, it would come in a group there."""
    raised = [
        f"{path}:{node.lineno}"
        for path in sources() + suite()
        if "except*" in text(path)
        for star in nodes(path)
        if isinstance(star, ast.TryStar)
        for handler in star.handlers
        for node in ast.walk(handler)
        if isinstance(node, ast.Raise) and node.exc is not None
    ]
    assert raised == []


def test_tests_use_the_real_thing() -> None:
    mocks = [f"{path}:{line} {name}" for path in suite() for name, line in names_used(path) if name in MOCKS]
    mocks += [f"{path}:{line}" for path in suite() for name, line in names_used(path) if name == "unittest.mock"]
    assert mocks == []


def test_tests_wait_for_conditions_not_for_time() -> None:
    yields = {"asyncio.sleep(0)", "sleep(0)"}
    assert [where for path in suite() for where, call in calls(path, "sleep") if call not in yields] == []


@pytest.mark.shows("X22")
def test_what_ends_a_hang_leaves_a_busy_machine_its_time() -> None:
    """A test under a second waits for an end that is to come; one on virtual time counts no real seconds."""
    limits = [
        (where, float(found[1]))
        for path in suite()
        if path.name != "test_virtual_time.py"
        for where, call in calls(path, "timeout")
        if (found := re.fullmatch(r"(?:asyncio|pytest\.mark)\.timeout\(([0-9.]+)\)", call))
    ]
    assert [f"{where}: {limit:g} s" for where, limit in limits if 1 <= limit <= 60] == []


def test_tests_outweigh_the_source() -> None:
    assert sum(map(length, suite())) >= sum(map(length, sources()))


def test_files_are_named_for_what_they_hold() -> None:
    assert [str(path) for path in files("*.py") if any(VAGUE.match(part) for part in path.parts)] == []


def test_only_the_configuration_reads_the_environment() -> None:
    readers = [
        f"{path}:{node.lineno}"
        for path in sources()
        if path != Path("appliance/config/load.py")
        for node in nodes(path)
        if isinstance(node, ast.Call | ast.Subscript)
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and PROCESS_ENVIRONMENT.match(ast.unparse(node))
    ]
    assert readers == []


def test_any_is_rare() -> None:
    uses = [
        f"{path}:{node.lineno}"
        for path in sources()
        for node in nodes(path)
        if isinstance(node, ast.Name) and node.id == "Any"
    ]
    assert len(uses) <= sum(map(length, sources())) / 1000, uses


@pytest.mark.shows("H1")
def test_no_address_of_a_registry_is_committed() -> None:
    committed = [path for path in files(*NO_ADDRESS_IN) if "://" in (ROOT / path).read_text(encoding="utf-8")]
    assert committed == []
    assert files("requirements/*")


def test_scripts_are_explained_in_one_line_each() -> None:
    scripts = [path.name for path in files("scripts/*") if path.suffix != ".md"]
    explained = (ROOT / "scripts/README.md").read_text(encoding="utf-8")
    assert [name for name in scripts if f"| `{name}" not in explained] == []
    purposes = [(ROOT / "scripts" / name).read_text(encoding="utf-8").splitlines()[1] for name in scripts]
    assert [line for line in purposes if not re.match(r"# [A-Z].*\.", line)] == []
