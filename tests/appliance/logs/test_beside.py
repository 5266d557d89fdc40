"""Lines that a thread writes: in their order, counted where they are lost, and waited for by nobody."""

import fcntl
import logging
import os
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from appliance.logs.configure import MOST_WAITING, Writer, flush, handlers_here, written_beside
from tests.service.process import NAKARI, SECONDS, Household


class Reader(logging.Handler):
    """Keeps the lines it is given, and stands still while it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.stands_still = threading.Event()
        self.goes_on = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it; the line "stop" only once it may go on."""
        if record.getMessage() == "stop":
            self.stands_still.set()
            assert self.goes_on.wait(120)
        self.lines.append(record.getMessage())


@contextmanager
def a_log(reader: Reader) -> Iterator[logging.Logger]:
    """Give a logger whose lines a thread writes to the reader; nothing else is written meanwhile."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers[:] = [reader]
    root.setLevel(logging.INFO)
    try:
        with written_beside():
            yield root
    finally:
        root.handlers[:] = before
        root.setLevel(level)


def test_lines_come_in_their_order_and_all_are_written_at_the_end() -> None:
    reader = Reader()
    with a_log(reader) as log:
        for number in range(1000):
            log.info("line %d", number)
    assert reader.lines == [f"line {number}" for number in range(1000)]


def test_who_logs_does_not_wait_for_who_reads_and_what_is_lost_is_told() -> None:
    reader = Reader()
    with capture_logs() as told, a_log(reader) as log:
        log.info("stop")
        assert reader.stands_still.wait(120)
        for number in range(MOST_WAITING + 20):
            log.info("line %d", number)
        assert reader.lines == []
        reader.goes_on.set()
        flush()
    assert reader.lines == ["stop", *(f"line {number}" for number in range(MOST_WAITING))]
    assert [(each["event"], each["lines"]) for each in told] == [("log_lines_lost", 20)]


def test_a_line_below_what_a_handler_wants_is_not_written() -> None:
    reader = Reader()
    reader.setLevel(logging.WARNING)
    with a_log(reader) as log:
        log.info("small")
        log.warning("large")
    assert reader.lines == ["large"]


def test_what_writes_lines_can_be_exchanged_meanwhile() -> None:
    one, other = Reader(), Reader()
    with a_log(one) as log:
        log.info("first")
        flush()
        handlers_here()[:] = [other]
        assert [type(each) for each in log.handlers] == [Writer]
        log.info("second")
    assert (one.lines, other.lines) == (["first"], ["second"])


@pytest.mark.shows("H2", "H9")
def test_a_service_answers_although_nobody_reads_its_log(tmp_path: Path) -> None:
    home = Household(tmp_path, {"log": {"level": "debug"}})
    reads, writes = os.pipe()
    room = fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    command = [*NAKARI, "--config", str(home.write()), "run", "--output", str(tmp_path / "answer.wav")]
    with os.fdopen(reads, encoding="utf-8") as log:
        service = subprocess.Popen(command, env=home.variables(), stdin=subprocess.DEVNULL, stderr=writes)
        os.close(writes)
        try:
            assert any("service_started" in line for line in log)
            for _ in range(10):  # some 700 bytes of log each
                asked = home.run("ask", "what time is it")
                assert asked.stdout.startswith("It is "), asked.stderr
            assert waiting_in(reads) > room / 2, "nearly full: lines are written whole"
        finally:
            service.kill()
            service.wait(SECONDS)


def waiting_in(pipe: int) -> int:
    """Return how many bytes nobody has read yet."""
    answer = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
    return int.from_bytes(answer, sys.byteorder)
