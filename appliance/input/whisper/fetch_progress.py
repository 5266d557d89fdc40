"""How a fetch goes on, for people: one line rewritten on a terminal, a line at each tenth elsewhere."""

import time
from collections.abc import Callable
from typing import Final, TextIO

REWRITE_SECONDS: Final = 0.2
"""Between two looks of the line on a terminal."""


class FetchProgress:
    """Writes how far the fetch of one model is. Is an `audio.recognizer.hub.Audience`."""

    def __init__(self, name: str, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._stream = stream
        self._clock = clock
        self._is_terminal = stream.isatty()
        self._began: tuple[float, int] | None = None
        """When bytes began to come, and how many were here then."""
        self._shown = (-1.0, -1)
        """When a line was written last, and at which tenth."""
        self._width = 0
        """Of the line that stands on the terminal."""

    def waits(self) -> None:
        """Say that somebody else is at it."""
        self._write(f"another nakari is fetching into the same folder; {self._name} waits for it")
        self.end()

    def has(self, here: int, in_all: int) -> None:
        """Write a line if it is time for one."""
        now = self._clock()
        began, first = self._began = self._began or (now, here)
        tenth, is_whole = here * 10 // max(in_all, 1), here == in_all
        last_at, last_tenth = self._shown
        is_due = now - last_at >= REWRITE_SECONDS if self._is_terminal else tenth != last_tenth
        if is_due or (is_whole and self._is_terminal):
            self._shown = (now, tenth)
            rate = max(here - first, 0) / (now - began) if now > began else 0.0
            self._write(progress_line(self._name, here, in_all, rate))

    def end(self) -> None:
        """Leave the line as it is; what follows stands below."""
        if self._width:
            self._stream.write("\n")
            self._width = 0

    def _write(self, line: str) -> None:
        if self._is_terminal:
            self._stream.write(f"\r{line:<{self._width}}")
            self._width = len(line)
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()


def progress_line(name: str, here: int, in_all: int, rate: float) -> str:
    """Return how far it is; `rate` in bytes a second, 0 when it is not known yet."""
    line = f"{name}: {here / 1e6:.1f} of {in_all / 1e6:.1f} MB, {here * 100 // max(in_all, 1)} %"
    if rate and here < in_all:
        line += f", {rate / 1e6:.1f} MB/s, {duration((in_all - here) / rate)} left"
    return line


def duration(seconds: float) -> str:
    """Return a time for people, rounded up: `8 s`, `2 min`, `3 h 20 min`."""
    whole = int(seconds) + 1
    if whole < 100:
        return f"{whole} s"
    minutes = whole // 60 + 1
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
