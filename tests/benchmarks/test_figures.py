"""Every benchmark gives a figure of the right shape; how fast anything is, no test says."""

import importlib
from functools import cache
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES, module_of
from benchmarks.figure import Figure
from tests.benchmarks.shape import is_a_figure
from tests.sample import sample

# litellm sets this filter when it is imported; pytest takes it back after each test.

SHOWN_ELSEWHERE = {"takeovers": "tests/service/test_standby.py"}
"""What needs several real boxes, and is asked for its figure where they are."""

HERE = [
    pytest.param(name, marks=pytest.mark.browser) if name == "console_start" else name
    for name in NAMES
    if name not in SHOWN_ELSEWHERE
]

SOME = 8
"""Benchmarks, others after each commit; `scripts/bench` runs them all."""

FOLDER = Path(importlib.import_module("benchmarks").__path__[0])


@cache
def measured(name: str) -> Figure:
    """Return the figure of a benchmark in its smallest form."""
    figure = importlib.import_module(module_of(name)).measure(quick=True)
    assert isinstance(figure, Figure)
    return figure


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try some of the benchmarks, each as a test of its own: some of them start several boxes."""
    if "name" in metafunc.fixturenames:
        every_step: bool = metafunc.config.getoption("--every-step")
        metafunc.parametrize("name", sample(HERE, SOME, whole=every_step))


def test_a_benchmark_gives_a_figure(name: str) -> None:
    is_a_figure(measured(name))


def test_every_figure_is_in_the_table() -> None:
    measuring = {path.stem for path in FOLDER.rglob("*.py") if "\ndef measure(" in path.read_text(encoding="utf-8")}
    assert measuring == set(NAMES)


def test_a_spoken_question_costs_one_call() -> None:
    assert measured("model_calls").ratio == 1.0
