"""The suite's own parts: who is marked by what it uses, who stays together, and what a test may cost."""

import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.budget import processor_time
from tests.marks import TESTS, is_never_fast
from tests.workers import STORES, TREES, known_seconds, write_seconds

pytest_plugins = ["pytester"]

OPTIONS = ("asyncio_mode=auto", "asyncio_default_fixture_loop_scope=function", f"pythonpath={ROOT}", "markers=neo4j:")

NAMED = "NAKARI_TEST_NEO4J_URI=bolt://127.0.0.1:1"
"""Else the mark alone has Maven fetch a server, into the new home that `pytester` gives a process."""


def run(pytester: pytest.Pytester, *arguments: str, environment: Sequence[str] = ()) -> pytest.RunResult:
    """Run what was made, in a process of its own, under the suite's conftest."""
    pytester.makeconftest("from tests.conftest import *")
    given = [f"--override-ini={option}" for option in OPTIONS]
    plugins = ("-p", "no:cacheprovider", "-p", "no:schemathesis")
    command = ("env", *environment, sys.executable, "-m", "pytest", *plugins)
    return pytester.run(*command, *given, *arguments)


FIXTURE = """
import pytest

@pytest.fixture
def neo4j():
    pytest.fail("it was started")

@pytest.fixture
def by_another(neo4j):
    pass

def test_direct(neo4j):
    pass

def test_by(by_another):
    pass

def test_neither():
    pass
"""


def test_whoever_asks_for_the_server_is_marked_be_it_by_another_fixture(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FIXTURE)
    for left_out in (("-m", "not neo4j"), ("--fast",)):
        run(pytester, *left_out, environment=(NAMED,)).assert_outcomes(passed=1, deselected=2)


SKIPPED = """
import pytest

@pytest.fixture
def neo4j():
    pytest.skip("it did not start")

def test_by_its_fixture(neo4j):
    pass

@pytest.mark.neo4j
@pytest.mark.skip(reason="for now")
def test_by_its_mark():
    pass

def test_of_something_else():
    pytest.skip("no sound card")
"""


@pytest.mark.shows("C18")
@pytest.mark.parametrize("ci", ["true", ""])
def test_a_skip_that_hides_the_server_fails_where_ci_runs(pytester: pytest.Pytester, ci: str) -> None:
    pytester.makepyfile(SKIPPED)
    found = run(pytester, "-ra", environment=(NAMED, f"CI={ci}"))
    outcomes = found.parseoutcomes()
    if ci:
        assert (outcomes["skipped"], outcomes.get("failed", 0) + outcomes.get("errors", 0)) == (1, 2)
        found.stdout.fnmatch_lines(["*CI does without neo4j, which it must not (Skipped: it did not start)*"])
    else:
        assert outcomes == {"skipped": 3}
        found.stdout.fnmatch_lines(["SKIPPED*it did not start"])


@pytest.mark.shows("C18")
def test_the_contract_suite_without_a_server_fails_where_ci_runs(tmp_path: Path) -> None:
    """The suite itself, on a machine that has neither a server nor what fetches one."""
    bare = {"PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path), "CI": "true"}
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-m", "neo4j"]
    suite = ("tests/memory/graph/test_contract.py", "tests/memory/test_store_contract.py")
    ran = subprocess.run([*command, *suite], cwd=ROOT, env=bare, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stdout
    told = r"^(?:FAILED|ERROR) (\S+?)::\S.*CI does without neo4j, which it must not \(Skipped: no Neo4j server: "
    assert {file for file in suite if len(re.findall(told.replace(r"\S+?", file), ran.stdout, re.M)) >= 5} == {*suite}
    assert not re.search(r"\d+ (passed|skipped)", ran.stdout)


SILENCED = """
import structlog

def test_one_silences_the_logs():
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))

def test_the_next_one_looks_at_them():
    with structlog.testing.capture_logs() as logs:
        structlog.get_logger().warning("seen")
    assert logs
"""


def test_what_a_test_does_to_the_logs_ends_with_it(pytester: pytest.Pytester) -> None:
    """Three tests of the Whisper service once waited for a line that another file's test had silenced."""
    pytester.makepyfile(SILENCED)
    run(pytester).assert_outcomes(passed=2)


def test_a_fast_run_does_not_even_import_what_it_leaves_out_whole() -> None:
    for left_out in ("room", "service/test_start.py", "architecture/test_marks.py"):
        assert is_never_fast(TESTS / left_out)
    for wanted in (".", "agent", "agent/test_event.py", "console/test_talk_of_the_future.py"):
        assert not is_never_fast(TESTS / wanted)


def test_processes_keep_each_file_in_one_and_together_what_shares_the_stores(pytester: pytest.Pytester) -> None:
    """As scripts/test starts them: a file's fixtures are made once, one Neo4j is for all, and one set of trees."""
    script = (ROOT / "scripts/test").read_text(encoding="utf-8")
    (options,) = re.findall(r"--numprocesses \S+ (--dist \S+ --no-loadscope-reorder)", script)
    made = "import os, pathlib\nNAME = pathlib.Path(__file__).stem\n"
    leave = "pathlib.Path(f'{NAME}-{os.getpid()}.ran').touch()\n"
    tests = "".join(f"def test_{number}(): {leave}" for number in range(20))
    shares = f"STORES = {STORES!r}\n"
    looks = {f"{TREES}test_{name}": made + tests for name in "de"}
    pytester.makepyfile(test_a=shares + made + tests, test_b=shares + made + tests, test_c=made + tests, **looks)
    run(pytester, "--numprocesses=3", *options.split()).assert_outcomes(passed=100)
    process = dict(ran.stem.split("-") for ran in pytester.path.glob("*.ran"))
    assert len([*pytester.path.glob("*.ran")]) == 5
    assert process["test_a"] == process["test_b"]
    assert process["test_d"] == process["test_e"]


def in_circles() -> None:
    """Never return."""
    for _ in count():
        pass


def test_a_test_that_runs_in_circles_ends_by_its_processor_time() -> None:
    with processor_time(0.05), pytest.raises(pytest.fail.Exception, match="processor time"):
        in_circles()


def test_waiting_costs_no_processor_time() -> None:
    with processor_time(0.5):
        began = time.process_time()
        assert time.process_time() - began < 0.5


def test_the_seconds_are_of_files_that_are_there() -> None:
    assert [path for path in known_seconds() if not (ROOT / path).is_file()] == []


def test_a_run_can_keep_its_seconds(tmp_path: Path) -> None:
    kept = tmp_path / "seconds.txt"
    kept.write_text(
        textwrap.dedent("""\
            90 tests/gone.py
            9 tests/service/test_scripts.py
        """)
    )
    write_seconds({"tests/service/test_unit.py": 11.6, "tests/architecture/test_guard.py": 0.2}, kept)
    assert kept.read_text() == "12 tests/service/test_unit.py\n9 tests/service/test_scripts.py\n"
