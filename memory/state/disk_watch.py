"""A watch on a disk: who asks something of it need not wait for ever."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic


class DiskWatch:
    """Notices that a disk answers none of the threads that are at it, by a clock that nobody sets."""

    def __init__(self, patience: float) -> None:
        """`patience` is the seconds that it may take for one thing."""
        self._patience = patience
        self._since: dict[int, float] = {}
        """Since when each thread is at it."""

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the seconds of what is short, from the thread that does it."""
        thread = threading.get_ident()
        self._since[thread] = monotonic()
        try:
            yield
        finally:
            self._since.pop(thread, None)

    @contextmanager
    def untimed(self) -> Iterator[None]:
        """Count, within what is timed or not, no seconds of what takes its time."""
        was_timed = self._since.pop(threading.get_ident(), None) is not None
        try:
            yield
        finally:
            if was_timed:
                self._since[threading.get_ident()] = monotonic()

    @property
    def is_silent(self) -> bool:
        """Whether it has not answered for longer than it should."""
        return self._left <= 0.0

    async def answers(self, asked: asyncio.Future[None]) -> bool:
        """Wait for what is asked of it; False when it has not answered anything for too long."""
        while not asked.done():
            if self.is_silent:
                return False
            await asyncio.wait((asked,), timeout=self._left)
        return True

    @property
    def _left(self) -> float:
        """Seconds that it may take yet."""
        since = min([*self._since.values()], default=None)
        return self._patience if since is None else self._patience - (monotonic() - since)
