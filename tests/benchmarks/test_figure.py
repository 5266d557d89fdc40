"""How a figure is reckoned, printed and written into docs/figures.md and README."""

import ast
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES, main, module_of
from benchmarks.figure import Figure, Series, milliseconds, run, short
from benchmarks.processes import (
    all_megabytes,
    children_of,
    cpu_seconds,
    line_of,
    resident_megabytes,
    seconds_to_first_output,
    speaking,
)
from benchmarks.table import FIGURES, IN_FULL, IN_README, PAGE_HEAD, conditions, front, page, write
from tests.architecture.source import ROOT

FAST = Series("ours", "ms", (3.0, 1.0, 2.0, 9.0, 2.5))
SLOW = Series("a floor", "ms", (10.0, 20.0))
FIGURE = Figure("Going there", FAST, SLOW, ("on foot", "in the rain"))


def test_the_median_counts_and_the_quartiles_tell_how_much_it_varies() -> None:
    assert FAST.median == 2.5
    assert FAST.spread == (2.0, 3.0)
    assert SLOW.spread == (10.0, 20.0)
    assert FIGURE.ratio == 2.5 / 15.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.0123, "0.012"),
        (0.96, "1.0"),
        (0.8, "0.80"),
        (1.25, "1.2"),
        (9.96, "10"),
        (1234.5, "1234"),
        (-0.04, "-0.040"),
    ],
)
def test_a_number_has_two_figures(value: float, text: str) -> None:
    assert short(value) == text


def test_a_figure_is_printed_whole() -> None:
    assert str(FIGURE).splitlines() == [
        "Going there: 0.17 ×",
        "  2.5 ms (2.0–3.0)  ours, n = 5",
        "  15 ms (10–20)  a floor, n = 2",
        "  on foot",
        "  in the rain",
    ]


def test_a_figure_survives_its_json() -> None:
    assert Figure.from_json(FIGURE.to_json()) == FIGURE


def test_seconds_become_milliseconds() -> None:
    assert milliseconds("x", [0.001, 0.25]).values == (1.0, 250.0)


def test_a_benchmark_prints_text_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[bool] = []

    def measure(*, quick: bool = False) -> Figure:
        asked.append(quick)
        return FIGURE

    run(measure, [])
    assert capsys.readouterr().out == f"{FIGURE}\n"
    run(measure, ["--quick", "--json"])
    assert Figure.from_json(capsys.readouterr().out) == FIGURE
    assert asked == [False, True]


def test_readme_s_lines_stand_between_the_markers_and_nothing_else_changes(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# one\n<!-- figures -->\nold\n<!-- /figures -->\n## two\n", encoding="utf-8")
    figures = dict.fromkeys(NAMES, FIGURE)
    write(readme, front(figures, "A machine."))
    write(readme, front(figures, "Another machine."))
    line = "| Going there | 2.5 ms (2.0–3.0) | 15 ms (10–20), a floor | 0.17 × |"
    assert readme.read_text(encoding="utf-8").splitlines() == [
        "# one",
        "<!-- figures -->",
        "| figure | here | held against | ratio |",
        "|---|---|---|---|",
        *[line] * len(IN_README),
        "",
        "Medians, quartiles in brackets. Another machine.",
        "<!-- /figures -->",
        "## two",
    ]


def test_the_page_has_a_table_and_every_figure_as_it_was_printed() -> None:
    assert page([FIGURE, FIGURE], "A machine.") == (
        f"{PAGE_HEAD}\nA machine.\n\n| figure | here | held against | ratio | also |\n|---|---|---|---|---|\n"
        + "| Going there | 2.5 ms (2.0–3.0) | 15 ms (10–20), a floor | 0.17 × | on foot |\n" * 2
        + f"\n{IN_FULL}\n"
        + f"\n```\n{FIGURE}\n```\n" * 2
    )


def test_a_readme_without_markers_is_refused_and_left_alone(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# one\n", encoding="utf-8")
    with pytest.raises(ValueError, match="<!-- figures -->"):
        write(readme, "new")
    assert readme.read_text(encoding="utf-8") == "# one\n"


def test_the_conditions_name_machine_day_and_load() -> None:
    told = conditions()
    assert f"Python {sys.version_info.major}.{sys.version_info.minor}" in told
    assert "cores" in told
    assert "UTC, load" in told


def test_one_figure_is_measured_by_name(capfd: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "mailbox"])
    assert "Durable put, take and acknowledge: " in capfd.readouterr().out


@pytest.mark.parametrize("arguments", [["speed"], ["--readme", "mailbox"], ["--readme", "--quick"]])
def test_a_wrong_call_measures_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "scripts/bench: error:" in capsys.readouterr().err


def rows(text: str) -> list[str]:
    """Return the name of the figure in each line of a table."""
    return [
        line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.endswith(" |") and " × |" in line
    ]


def texts(name: str) -> set[str]:
    """Return every text that stands in a benchmark: the name of its figure is one of them."""
    tree = ast.parse((ROOT / f"{module_of(name).replace('.', '/')}.py").read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_every_line_of_the_page_is_a_benchmark_s_figure() -> None:
    listed = rows((ROOT / "docs/figures.md").read_text(encoding="utf-8"))
    assert len(listed) == len(NAMES)
    assert [row for name, row in zip(NAMES, listed, strict=True) if row not in texts(name)] == []


def test_readme_repeats_at_most_five_lines_of_the_page() -> None:
    written = FIGURES.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert written is not None
    page_lines = (ROOT / "docs/figures.md").read_text(encoding="utf-8").splitlines()
    lines = [line for line in written[0].splitlines() if " × |" in line]
    assert len(lines) == len(IN_README) <= 5
    assert [line for line in lines if not any(each.startswith(line) for each in page_lines)] == []
    assert [row for name, row in zip(IN_README, rows(written[0]), strict=True) if row not in texts(name)] == []


NO_PROCESS = 2**31 - 1
"""As one that has ended meanwhile: no kernel gives that number."""


def test_a_process_s_memory_time_and_children_are_the_kernel_s() -> None:
    program = (
        "import subprocess, sys\nbig = b'x' * 50_000_000\nsum(range(3_000_000))\n"
        "child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\nprint(child.pid, flush=True)\nsys.stdin.read()"
    )
    with speaking([sys.executable, "-c", program]) as process:
        child = int(line_of(process))
        assert children_of(process.pid) == [child]
        assert resident_megabytes(process.pid) > 50 > all_megabytes([child, NO_PROCESS]) > 0
        assert 0.01 < cpu_seconds(process.pid) < 30
    assert process.returncode is not None


def test_a_program_that_says_nothing_is_no_figure() -> None:
    with pytest.raises(EOFError, match="ended with 3 before it said anything"):
        seconds_to_first_output([sys.executable, "-c", "raise SystemExit(3)"])
    with speaking([sys.executable, "-c", ""]) as process, pytest.raises(EOFError):
        line_of(process)
