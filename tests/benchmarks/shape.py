"""What the figure of a benchmark has to be, whatever it says."""

import math

from benchmarks.figure import Figure


def is_a_figure(measured: Figure) -> None:
    """See that it is of the right shape."""
    assert measured.ours.unit == measured.against.unit
    for series in (measured.ours, measured.against):
        assert series.what
        assert series.values
        assert all(value > 0 and math.isfinite(value) for value in series.values), f"{series.what}: {series.values}"
    assert Figure.from_json(measured.to_json()) == measured
    assert str(measured).startswith(f"{measured.name}: ")
