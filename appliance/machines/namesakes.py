"""Namesakes: two machines of one name that both run, of which everybody else sees only one."""

import asyncio
from typing import Final

import structlog

from appliance.machines.wire import PRESENCE_SECONDS, Presence

log = structlog.get_logger()

WITHIN: Final = 4 * PRESENCE_SECONDS
"""Seconds in which two that both run are each heard, and for which they are told of afterwards."""

MEND: Final = (
    "give one of them another name: `nakari machines invite NAME`, and `nakari join INVITATION --force` on it; where "
    "it joined with a login that somebody gave, `nakari config set machines.name NAME`"
)


class Namesakes:
    """Finds them by the ids of their processes, and logs each name once. On the event loop, by its clock.

    A machine that is started again has another id too. What tells the two cases apart: a process that has ended is
    never heard again, so one that speaks after another of its name did has not ended. Not found: an older nakari,
    which sends no id.
    """

    def __init__(self) -> None:
        self._heard: dict[tuple[str, str], float] = {}
        """When each process of each name was heard last, the latest behind; none longer ago than `WITHIN`."""
        self._found: dict[str, float] = {}
        """When two of a name were heard last."""

    def hear(self, presence: Presence) -> None:
        """Take that a machine tells that it lives."""
        if not presence.process:
            return
        now, name = self._now(), presence.machine
        self._heard = {each: at for each, at in self._heard.items() if now - at <= WITHIN}
        before = self._heard.pop((name, presence.process), None)
        others = [at for (other, _), at in self._heard.items() if other == name]
        self._heard[name, presence.process] = now
        if before is None or not any(at > before for at in others):
            return
        if name not in self._found:
            log.warning("two_machines_of_one_name", machine=name, fix=MEND)
        self._found[name] = now

    @property
    def names(self) -> tuple[str, ...]:
        """The names that two machines have now."""
        now = self._now() if self._found else 0.0
        return tuple(sorted(name for name, at in self._found.items() if now - at <= WITHIN))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def two_called(name: str) -> str:
    """Return the sentence about one name, without its mend."""
    return f"two machines are called {name}, and only one of them is seen"
