"""A limit of processor time for each test, which a busy machine does not use up."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import pytest

SECONDS: Final = 120.0
"""Seconds of processor time of this process, all threads together, after which a test runs in circles."""

AGAIN_SECONDS: Final = 10.0
"""Where the first failure was swallowed, the next one comes after so much more."""


@contextmanager
def processor_time(seconds: float = SECONDS) -> Iterator[None]:
    """Fail the test that uses more processor time than this inside the block. Only in the main thread."""

    def spent(_: int, __: FrameType | None) -> None:
        pytest.fail(f"more than {seconds:.0f} s of processor time")

    before = signal.signal(signal.SIGPROF, spent)
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
