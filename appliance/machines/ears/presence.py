"""Whether a mind is there: it tells so again and again, and a silence means that it is away."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from time import monotonic
from typing import Final

import structlog

from agent.event import utc_now
from audio.loops import until_set
from memory.json_value import Json

log = structlog.get_logger()

AWAY_AFTER: Final = 5.0
"""Seconds without a word of a mind after which none is there."""


class MindPresence:
    """Follows the words of minds. On the event loop; `run` notices the silence."""

    def __init__(self, clock: Callable[[], float] = monotonic, now: Callable[[], datetime] = utc_now) -> None:
        """`clock` is in seconds, `now` aware."""
        self._clock = clock
        self._now = now
        self._seen_at = float("-inf")
        self._heard = asyncio.Event()
        self._observers: list[Callable[[], object]] = []
        self._since = clock()
        """When it began to listen: until `AWAY_AFTER` later nobody knows whether a mind is there."""
        self._was: tuple[bool, bool] = (False, False)
        self._changed_at = now()
        self.name = ""
        """Of the machine that was heard last."""

    def observe(self, observer: Callable[[], object]) -> None:
        """Call an observer whenever a mind comes or goes; for good."""
        self._observers.append(observer)

    @property
    def is_there(self) -> bool:
        """Whether a mind was heard in the last `AWAY_AFTER` seconds."""
        return self._clock() - self._seen_at <= AWAY_AFTER

    @property
    def is_missed(self) -> bool:
        """Whether none is there, and one that is would have been heard by now."""
        return self._clock() - max(self._since, self._seen_at) > AWAY_AFTER

    def heard(self, name: str) -> None:
        """Take that the mind of this machine lives."""
        self._seen_at, self.name = self._clock(), name
        self._heard.set()
        self._look()

    def left(self) -> None:
        """Take that the mind said that it goes."""
        self._seen_at = self._since = float("-inf")
        self._look()

    async def run(self) -> None:
        """Notice that nothing is heard any more, until cancelled."""
        while True:
            self._heard.clear()
            left = max(self._since, self._seen_at) + AWAY_AFTER - self._clock()
            await until_set(self._heard, None if self.is_missed else max(0.0, left) + 0.01)
            self._look()

    def describe(self) -> dict[str, Json]:
        """Return whether one is there, which, and since when, for the status."""
        since = self._changed_at.isoformat(timespec="seconds")
        return {"mind": "there" if self.is_there else "away", "mind_name": self.name, "mind_since": since}

    def _look(self) -> None:
        now = self.is_there, self.is_missed
        if now == self._was:
            return
        self._was, self._changed_at = now, self._now()
        log.info("mind_came" if self.is_there else "mind_away", machine=self.name)
        for observer in self._observers:
            observer()
