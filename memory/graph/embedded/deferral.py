"""Large indexes put off to a quiet moment, because the store of the box answers nobody while it makes one."""

import asyncio
from typing import Final

from memory.graph.definitions import IndexDefinition, as_cypher
from memory.graph.embedded.stages import Stage, Stages
from memory.graph.embedded.unfinished import Unfinished

MANY_NODES: Final = 10_000
"""Of the label of an index: over fewer the store makes it in about a second."""


class Deferral:
    """What is written down and not made yet waits here; whoever keeps the indexes makes it when `until_due` returns."""

    def __init__(self, written: Unfinished, stages: Stages) -> None:
        self._written = written
        self._stages = stages
        self.is_on = False
        """Whether anybody makes later what waits; else nothing is put off."""
        self._given_up: set[str] = set()

    def puts_off(self, nodes: int) -> bool:
        """Say whether an index over so many nodes is to wait."""
        return self.is_on and nodes >= MANY_NODES and self._stages.quiet_in() > 0

    def wait(self, wanted: IndexDefinition, nodes: int) -> None:
        """Let one wait that is written down."""
        self._stages.enter(wanted.known_as, Stage.WAITING, f" (over {nodes} nodes)")

    async def accept(self, wanted: IndexDefinition, nodes: int) -> None:
        """Write one down, durably, and let it wait. Raises OSError."""
        self._given_up.discard(wanted.known_as)
        self.wait(wanted, nodes)
        try:
            await asyncio.to_thread(self._written.add, wanted)
        except OSError:
            self._stages.leave([wanted.known_as])
            raise

    def is_waiting(self, name: str) -> bool:
        """Say whether an index waits."""
        return self._stages.of(name) is Stage.WAITING

    async def forget(self, name: str) -> bool:
        """Have one made no more; say whether it waited yet. Raises OSError."""
        if not self.is_waiting(name):
            return False
        self._stages.leave([name])
        self._given_up.add(name)
        await asyncio.to_thread(self._written.cross_out, [name])
        return True

    def is_given_up(self, name: str) -> bool:
        """Say whether one was forgotten that somebody may have read of before."""
        return name in self._given_up

    async def statements(self) -> dict[str, str]:
        """Return the Cypher of all that is written down, by name: some of it may be made already."""
        return {each.known_as: as_cypher(each) for each in await asyncio.to_thread(self._written.read)}

    async def until_due(self, woken: asyncio.Event) -> None:
        """Return when somebody is woken, or what waits may be made."""
        while self._stages.names(Stage.WAITING):
            left = self._stages.quiet_in()
            if left <= 0 or await within(left, woken):
                return
        await woken.wait()


async def within(seconds: float, event: asyncio.Event) -> bool:
    """Wait so long for an event; say whether it came."""
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            await event.wait()
    except TimeoutError:
        return False
    return True
