"""The line that tells how far a fetch is: on a terminal, in a file, on a clock of its own."""

import io

import pytest

from appliance.input.whisper.models import FetchProgress, duration, progress_line

MB = 1_000_000


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Moves on by a step at each look."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def shown(progress: FetchProgress, stream: io.StringIO) -> list[str]:
    """Return what a fetch of 145 MB, from 20 MB on, writes."""
    for here in range(20, 146):
        progress.has(here * MB, 145 * MB)
    progress.end()
    return stream.getvalue().replace("\r", "\n").splitlines()


def test_a_file_gets_a_line_at_each_tenth() -> None:
    stream = io.StringIO()
    lines = shown(FetchProgress("base", stream, Clock(0.5)), stream)
    assert lines[0] == "base: 20.0 of 145.0 MB, 13 %"
    assert lines[1] == "base: 29.0 of 145.0 MB, 20 %, 2.0 MB/s, 59 s left"
    assert lines[-1] == "base: 145.0 of 145.0 MB, 100 %"
    assert len(lines) == 10


def test_a_terminal_gets_one_line_again_and_again_but_not_too_often() -> None:
    stream = Terminal()
    lines = shown(FetchProgress("base", stream, Clock(0.05)), stream)
    assert "\r" in stream.getvalue()
    assert stream.getvalue().count("\n") == 1
    assert 25 < len(lines) < 40
    assert lines[-1].rstrip() == "base: 145.0 of 145.0 MB, 100 %"
    assert {len(line) for line in lines[-2:]} == {len(lines[-1])}, "a shorter line leaves nothing of a longer one"


def test_what_was_here_before_is_not_counted_as_speed() -> None:
    stream = io.StringIO()
    progress = FetchProgress("base", stream, Clock(1.0))
    progress.has(100 * MB, 145 * MB)
    progress.has(102 * MB, 145 * MB)
    progress.has(104 * MB, 145 * MB)
    progress.has(117 * MB, 145 * MB)
    assert "5.7 MB/s" in stream.getvalue()


def test_a_file_that_is_fetched_again_from_the_start_has_no_speed_below_zero() -> None:
    stream = io.StringIO()
    progress = FetchProgress("base", stream, Clock(1.0))
    progress.has(100 * MB, 145 * MB)
    progress.has(0, 145 * MB)
    assert stream.getvalue().splitlines()[-1] == "base: 0.0 of 145.0 MB, 0 %"


def test_somebody_else_at_it_is_said_on_a_line_of_its_own() -> None:
    for stream in (Terminal(), io.StringIO()):
        progress = FetchProgress("base", stream, Clock(1.0))
        progress.waits()
        progress.has(MB, 2 * MB)
        assert stream.getvalue().replace("\r", "").splitlines() == [
            "another nakari is fetching into the same folder; base waits for it",
            "base: 1.0 of 2.0 MB, 50 %",
        ]


def test_an_end_without_a_beginning_writes_nothing() -> None:
    stream = Terminal()
    FetchProgress("base", stream, Clock(1.0)).end()
    assert stream.getvalue() == ""


def test_nothing_in_all_is_no_division() -> None:
    assert progress_line("x", 0, 0, 0.0) == "x: 0.0 of 0.0 MB, 0 %"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "1 s"), (7.2, "8 s"), (98.9, "99 s"), (99.5, "2 min"), (3599, "61 min"), (12_000, "3 h 21 min")],
)
def test_a_time_for_people(seconds: float, words: str) -> None:
    assert duration(seconds) == words
