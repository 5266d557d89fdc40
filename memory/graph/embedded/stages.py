"""Where each index is that the store of the box has yet to make or to build: a handful of named stages."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

Clock: TypeAlias = Callable[[], float]
"""Seconds, from any beginning."""

QUIET: Final = 20.0
"""Seconds without a statement after which the store may be kept from answering; no statement runs so long."""

LONGEST: Final = 600.0
"""Seconds that an index waits for the quiet; then it is made in any case."""


class Stage(StrEnum):
    """Of an index that is not ready; one that is ready, or unknown, has none.

    A small one is made at once, one over many nodes is WAITING until it is quiet: then MAKING, and a vector index
    BUILDING after it. What the store does not take is REFUSED or UNBUILT, until the index is wanted again or dropped.
    When the store starts anew all but REFUSED is forgotten, and what is written down begins again.
    """

    WAITING = "waits to be made in a quiet moment, because the memory answers nobody meanwhile"
    MAKING = "being made"
    BUILDING = "being built"
    REFUSED = "it was not made"
    UNBUILT = "it could not be built"


ON_ITS_WAY: Final = (Stage.WAITING, Stage.MAKING, Stage.BUILDING)
"""What is going to be ready without anybody's doing."""


@dataclass(frozen=True, slots=True)
class _At:
    stage: Stage
    detail: str
    since: float
    """Seconds of the clock."""


class Stages:
    """The stage of each index by its name; whether the store is free, none being made; and how soon it is quiet."""

    def __init__(self, clock: Clock, quiet: float = QUIET) -> None:
        """`quiet` is in seconds."""
        self._clock = clock
        self._quiet = quiet
        self._known: dict[str, _At] = {}
        self._asked_at = clock()
        self.free = asyncio.Event()
        """Set while no index is MAKING: while one is, the store answers nobody."""
        self.free.set()

    def enter(self, name: str, stage: Stage, detail: str = "") -> None:
        """Let an index be in a stage; one that is in it already is in it since before."""
        before = self._known.get(name)
        since = before.since if before and before.stage is stage else self._clock()
        self._known[name] = _At(stage, detail, since)
        self._see_free()

    def leave(self, names: Iterable[str]) -> None:
        """Let these be ready, or unknown."""
        for name in list(names):
            self._known.pop(name, None)
        self._see_free()

    def begin_anew(self) -> None:
        """Forget what was on its way in a store that is no more."""
        self.leave(self.names(*ON_ITS_WAY, Stage.UNBUILT))

    def of(self, name: str) -> Stage | None:
        """Return an index's stage."""
        return self._known[name].stage if name in self._known else None

    def names(self, *stages: Stage) -> list[str]:
        """Return who is in one of these stages."""
        return [name for name, at in self._known.items() if at.stage in stages]

    def since(self, stage: Stage) -> float | None:
        """Return since when somebody is in a stage, seconds of the clock; None when nobody is."""
        return min((at.since for at in self._known.values() if at.stage is stage), default=None)

    def asked(self) -> None:
        """Take note that a statement came."""
        self._asked_at = self._clock()

    def quiet_in(self) -> float:
        """Return the seconds until an index may be made that waits; none or less: now."""
        now, since = self._clock(), self.since(Stage.WAITING)
        left = self._asked_at + self._quiet - now
        return left if since is None else min(left, since + LONGEST - now)

    def told(self) -> dict[str, str]:
        """Return what is to be said of each, by name."""
        return {name: f"{at.stage}{at.detail}" for name, at in self._known.items()}

    def _see_free(self) -> None:
        if self.names(Stage.MAKING):
            self.free.clear()
        else:
            self.free.set()
