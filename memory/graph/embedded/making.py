"""Makes the indexes of the store of the box: a small one at once, a large one when it is due, a torn one anew."""

import asyncio
from collections.abc import Callable
from functools import partial
from http.client import HTTPException

from memory.errors import CommitUncertain, GraphRefused, GraphUnavailable
from memory.graph.definitions import IndexDefinition
from memory.graph.embedded.deferral import Deferral
from memory.graph.embedded.indexes import Address, create, look
from memory.graph.embedded.stages import Stage, Stages
from memory.graph.embedded.unfinished import Unfinished
from memory.graph.store import Made


class Making:
    """Takes an index to MAKING, and from there to BUILDING, REFUSED or out of the stages: then it is ready.

    Each vector and full-text index is written down before the store hears of it, and crossed out when it is ready.
    """

    def __init__(
        self,
        written: Unfinished,
        deferral: Deferral,
        stages: Stages,
        patience: float,
        changed: Callable[[], None],
    ) -> None:
        """`patience` is in seconds, for a call; `changed` is called when the indexes are to be looked at."""
        self._written = written
        self._deferral = deferral
        self._stages = stages
        self._patience = patience
        self._changed = changed

    async def make(self, wanted: IndexDefinition, at: Address) -> Made:
        """Make an index, or accept it where that takes long; no other is being made.

        Raises `GraphRefused`, `GraphUnavailable` before anything happened, `CommitUncertain` when it broke off.
        """
        name = wanted.known_as
        try:
            is_there, nodes = await asyncio.to_thread(look, wanted, at)
            if is_there or self._deferral.is_waiting(name):
                return _there(wanted)
            if self._deferral.puts_off(nodes):
                await self._deferral.accept(wanted, nodes)
                self._changed()
                return Made(1)
        except (OSError, HTTPException) as error:
            raise GraphUnavailable(f"the memory is not available now: {error}") from error
        self._stages.enter(name, Stage.MAKING, _over(nodes))
        work = asyncio.get_running_loop().run_in_executor(None, self._create, wanted, at)
        work.add_done_callback(partial(self._answered, wanted))
        await asyncio.wait([work], timeout=self._patience)
        return self._outcome(name, work) if work.done() else Made(1)

    async def make_anew(self, wanted: IndexDefinition, at: Address) -> None:
        """Make one that waited, or whose making broke off: what the store has of it may lack anything.

        Raises OSError and HTTPException.
        """
        name = wanted.known_as
        _, nodes = await asyncio.to_thread(look, wanted, at)
        if self._deferral.is_given_up(name):
            return
        if self._deferral.puts_off(nodes):
            self._deferral.wait(wanted, nodes)
            return
        self._stages.enter(name, Stage.MAKING, _over(nodes))
        try:
            await asyncio.to_thread(partial(create, wanted, at, anew=True))
        except GraphRefused as error:
            self._stages.enter(name, Stage.REFUSED, f": {error}")
        except (OSError, HTTPException):
            self._stages.leave([name])
            raise
        else:
            self._stages.enter(name, Stage.BUILDING)

    def _create(self, wanted: IndexDefinition, at: Address) -> Made:
        """Make an index in a worker thread; a vector index stays written down until it is built, too."""
        if wanted.kind == "PLAIN":
            return create(wanted, at)
        self._written.add(wanted)
        made = Made(0)
        try:
            made = create(wanted, at)
        except GraphRefused:
            self._written.cross_out([wanted.known_as])
            raise
        if not (made.added and self._is_to_be_built(wanted)):
            self._written.cross_out([wanted.known_as])
        return made

    def _is_to_be_built(self, wanted: IndexDefinition) -> bool:
        return wanted.kind == "VECTOR" and self._deferral.is_on

    def _answered(self, wanted: IndexDefinition, work: "asyncio.Future[Made]") -> None:
        """Take note of the store's answer, whether the call still waits for it or not."""
        name = wanted.known_as
        error = None if work.cancelled() else work.exception()
        if error is not None:
            self._stages.enter(name, Stage.REFUSED, f": {error}")
        elif self._is_to_be_built(wanted):
            self._stages.enter(name, Stage.BUILDING)
        else:
            self._stages.leave([name])
        self._changed()

    def _outcome(self, name: str, work: "asyncio.Future[Made]") -> Made:
        """Return what became of an index whose call hears it, so that nothing else need tell it."""
        if work.exception() is not None:
            self._stages.leave([name])
        try:
            return work.result()
        except (OSError, HTTPException) as error:
            raise CommitUncertain(
                f"the memory broke off while the index was made ({error}): SHOW INDEXES tells whether it is there, "
                "once the memory is back"
            ) from error


def _there(wanted: IndexDefinition) -> Made:
    """Return what it means that an index is there, or waits. Raises `GraphRefused`."""
    if not wanted.once:
        raise GraphRefused(f"the index {wanted.known_as} already exists: DROP INDEX it first, or say IF NOT EXISTS")
    return Made(0)


def _over(nodes: int) -> str:
    return f" over {nodes} nodes" if nodes else ""
