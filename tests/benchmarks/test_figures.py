"""Every benchmark gives a figure of the right shape; how fast anything is, no test says."""

import importlib
import math
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES, module_of
from benchmarks.figure import Figure

# litellm sets this filter when it is imported; pytest takes it back after each test.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the .* attribute on the instance:DeprecationWarning")

FOLDER = Path(importlib.import_module("benchmarks").__path__[0])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.browser) if name == "console_start" else name for name in NAMES]
)
def test_a_benchmark_gives_a_figure(name: str) -> None:
    figure = importlib.import_module(module_of(name)).measure(quick=True)
    assert isinstance(figure, Figure)
    assert figure.ours.unit == figure.against.unit
    for series in (figure.ours, figure.against):
        assert series.what
        assert series.values
        assert all(value > 0 and math.isfinite(value) for value in series.values)
    assert Figure.from_json(figure.to_json()) == figure
    assert str(figure).startswith(f"{figure.name}: ")


def test_every_figure_is_in_the_table() -> None:
    measuring = {path.stem for path in FOLDER.rglob("*.py") if "\ndef measure(" in path.read_text(encoding="utf-8")}
    assert measuring == set(NAMES)


def test_a_spoken_question_costs_one_call() -> None:
    assert importlib.import_module("benchmarks.model.model_calls").measure(quick=True).ratio == 1.0
