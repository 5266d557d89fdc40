"""Lines of the log on their way out: a thread writes them, so that whoever logs never waits for whoever reads them."""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Full, Queue
from typing import Final

import structlog

log = structlog.get_logger()

MOST_WAITING: Final = 2_000
"""Lines that wait for a reader, a few MB; those that come while so many do are counted, and told of afterwards."""

FAREWELL: Final = 2.0
"""Seconds in which the last lines can be written before the process ends without them."""


class Writer(logging.Handler):
    """Hands lines to a thread, which gives them to the handlers, in order.

    A terminal that was stopped (Ctrl-S), a journal that hangs and a disk that does not answer hold up no loop: the
    thread alone waits for them. A kill loses what it has not written yet, a few milliseconds' worth.
    """

    def __init__(self, handlers: Sequence[logging.Handler]) -> None:
        super().__init__()
        self.handlers = [*handlers]
        """As of a `logging.Logger`."""
        self._lines: Queue[logging.LogRecord | threading.Event | None] = Queue(MOST_WAITING)
        """None ends them; an event is set where it stands."""
        self._lost = 0
        threading.Thread(target=self._write_all, name="log: lines to whoever reads them", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a line, at once."""
        try:
            self._lines.put_nowait(record)
        except Full:
            self._lost += 1

    def flush(self) -> None:
        """Return when all that waits is written, or could not be for `FAREWELL` seconds."""
        written = threading.Event()
        with suppress(Full):
            self._lines.put(written, timeout=FAREWELL)
            written.wait(FAREWELL)

    def close(self) -> None:
        """Write what waits, as `flush` does, and end the thread."""
        self.flush()
        with suppress(Full):
            self._lines.put_nowait(None)
        super().close()

    def _write_all(self) -> None:
        while (line := self._lines.get()) is not None:
            if isinstance(line, threading.Event):
                line.set()
                continue
            for handler in self.handlers[:]:
                if line.levelno >= handler.level:
                    handler.handle(line)
            if self._lost:
                lost, self._lost = self._lost, 0
                log.warning("log_lines_lost", lines=lost, reason="whoever reads the log did not for a while")


@contextmanager
def written_beside() -> Iterator[None]:
    """Have the lines of this process written by a thread in the block; for a service, in which nothing may wait."""
    root = logging.getLogger()
    writer = Writer(root.handlers)
    root.handlers[:] = [writer]
    try:
        yield
    finally:
        root.handlers[:] = writer.handlers
        writer.close()


def flush() -> None:
    """Return when the lines are written that were logged so far; where nobody reads them, after `FAREWELL`."""
    for handler in logging.getLogger().handlers:
        handler.flush()


def handlers_here() -> list[logging.Handler]:
    """Return the list of what writes lines in this process, to look into or to change."""
    root = logging.getLogger()
    return next((each.handlers for each in root.handlers if isinstance(each, Writer)), root.handlers)
