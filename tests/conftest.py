"""House rules of every test: nothing leaves this machine, no task is left behind, what is skipped says why."""

import asyncio
import gc
import inspect
import os
import signal
from collections import defaultdict
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import settings
from xdist.remote import Producer  # type: ignore[import-untyped]  # it tells no types

from tests.budget import processor_time
from tests.figures import FIGURES
from tests.guard import refuse_the_network
from tests.marks import REAL, is_never_fast, mark
from tests.needs import hidden_in_ci, reason_to_skip
from tests.workers import Together, Worker, alone_at_the_server, compiled_once, hand_in, share, take_in, write_seconds

for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
    os.environ.pop(name, None)
# Tests that show what the product itself sets start it in an environment of their own (tests/service/privacy.py).
os.environ |= {"ORT_DISABLE_TELEMETRY": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
# Threads of OpenMP (Whisper's) that wait for each other spin, which processes beside them pay for: a third of the time.
os.environ["OMP_NUM_THREADS"] = "1"

# A shell that runs the suite in the background leaves SIGINT ignored, and every child would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Likewise nohup and SIGHUP, which this process goes on to outlive: what is handled here is not ignored by its children.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

# The same examples every time, and no deadline for a loaded machine to miss; HYPOTHESIS_PROFILE=search goes further.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

# rich, which schemathesis brings, would draw every variable of every frame of a traceback that is logged: seconds each.
_plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _plain])

reached = refuse_the_network()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what `scripts/test` passes on."""
    group = parser.getgroup("nakari")
    group.addoption("--fast", action="store_true", help="leave out the tests that need something real, or take long")
    group.addoption("--every-step", action="store_true", help="try all of what is sampled: crashes, voices, clips")
    group.addoption("--write-seconds", action="store_true", help="keep how long the files took, for sharing them out")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import for a fast run what it leaves out whole; None leaves it to others."""
    return True if config.getoption("--fast") and is_never_fast(collection_path) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Collect after whoever compiles the test files, with Python's collector off: it would look at all that stays."""
    gc.disable()
    with compiled_once():
        try:
            return (yield)
        finally:
            gc.freeze()
            gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark and share out the tests, before anybody chooses by the marks; skip what this machine cannot run.

    `-ra` prints the reasons at the end.
    """
    mark(items)
    share(items)
    if config.getoption("--fast"):
        _leave_out(config, items)
    for item in items:
        for marker in item.iter_markers():
            if reason := reason_to_skip(marker.name):
                item.add_marker(pytest.mark.skip(reason=reason))


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    real = {item for item in items if any(marker.name in REAL for marker in item.iter_markers())}
    config.hook.pytest_deselected(items=list(real))
    items[:] = [item for item in items if item not in real]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keep tests of two processes apart at a server that they share."""
    with alone_at_the_server(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Limit the processor time of a test; pytest-timeout's limit by the clock only ends what waits for ever."""
    marker = item.get_closest_marker("processor_seconds")
    with processor_time(*(marker.args if marker else ())):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail what CI skipped and must not, with the reason it was skipped for."""
    report = yield
    marker = hidden_in_ci(marker.name for marker in item.iter_markers())
    if report.skipped and marker and not hasattr(report, "wasxfail"):
        why = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CI does without {marker}, which it must not ({why})"
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand in what a worker measured."""
    hand_in(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together | None:
    """Keep together what shares what is dear, where files are to stay whole."""
    return Together(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Worker) -> None:
    """Take in what a worker measured."""
    take_in(node)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what was measured on the way: word errors per recognizer, above all."""
    if config.getoption("--write-seconds"):
        write_seconds(_seconds(terminalreporter))
    if FIGURES:
        terminalreporter.section("figures")
        for line in FIGURES:
            terminalreporter.write_line(line)


def _seconds(reporter: pytest.TerminalReporter) -> dict[str, float]:
    """Sum up how long each file took, fixtures included, in seconds."""
    took: defaultdict[str, float] = defaultdict(float)
    reports = (report for found in reporter.stats.values() for report in found)
    for report in reports:
        if isinstance(report, pytest.TestReport):
            took[report.nodeid.partition("::")[0]] += report.duration
    return took


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine() -> Iterator[None]:
    """Fail the test that tried to reach another machine, even when its code took the refusal in its stride."""
    reached.clear()
    yield
    if reached:
        pytest.fail(f"reached beyond loopback: {', '.join(reached)}")


@pytest.fixture(autouse=True)
def logs_are_set_up_as_before() -> Iterator[None]:
    """Take back what a test set: the next one, of whatever file, may look at what is logged."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture(autouse=True)
def no_task_is_left_behind(request: pytest.FixtureRequest) -> None:
    """Fail the asynchronous test that ends before its tasks do."""
    if isinstance(request.node, pytest.Function) and inspect.iscoroutinefunction(request.node.obj):
        request.getfixturevalue("tasks_end_with_the_test")


@pytest.fixture
async def tasks_end_with_the_test() -> AsyncIterator[None]:
    """Look, after every other fixture was torn down, for tasks that still run."""
    yield
    left = sorted(task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task())
    if left:
        pytest.fail(f"tasks left behind: {', '.join(left)}")


@pytest.fixture(scope="session")
def every_step(request: pytest.FixtureRequest) -> bool:
    """Say whether all is to be tried that a run of the suite takes a sample of."""
    return bool(request.config.getoption("--every-step"))


@pytest.fixture
def sdk_as_it_comes() -> Iterator[None]:
    """Give OpenAI's SDK back what the adapter of litellm takes from it in its process (`_send_as_it_is`)."""
    from openai import _utils
    from openai.resources.chat.completions import completions

    client: Any = completions
    before = client.async_maybe_transform
    client.async_maybe_transform = _utils.async_maybe_transform
    yield
    client.async_maybe_transform = before
