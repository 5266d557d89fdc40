"""Erases everything of an owner, step by step: ordered durably first, so that a kill in between only delays it."""

import asyncio
import shutil
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from agent.growth import cursor
from appliance.admin.exchange import ASIDE
from appliance.errors import Exit, Problem
from appliance.owners.owners import Owners
from appliance.owners.visitors import keys_in
from appliance.recorder.store import FOLDER as RECORDINGS
from appliance.recorder.store import Limits, Recordings
from appliance.reflexes.forget import Forgetting
from appliance.speakers.store import VoiceStore
from appliance.wiring.memory.graph import GraphSide
from memory.durable import sync_folder
from memory.errors import GraphUnavailable, MemoryFailure
from memory.history.audit_anchor import forget_anchors
from memory.history.erasure import erase_owner
from memory.identity import is_public_key
from memory.progress import Progress, silently
from memory.state.journal import erase_entries

log = structlog.get_logger()

ORDERS: Final = "forgetting"
"""The folder that has an empty file, named by the key, for each owner who is to be forgotten and is not yet."""

AGAIN_SECONDS: Final = 30.0
"""Between two tries, while something is in the way: a store that starts, a full disk."""

TRIES: Final = 6
"""To end the run of an event of theirs; each waits some seconds."""

MOST_OPEN: Final = 1000
"""Of an owner's events in the mailbox that are looked at one by one."""

LEFT_BY_A_KILL: Final = ("replay-*", "diff-*", "backup-*", "forgetting-*", "restoring")
"""Copies that some work made in the state folder for as long as it took, and that were to go with it."""

WHOLE: Final = 100
"""What progress is told of; the shares of the steps are rough."""
JOURNAL, GRAPH_OF_THEIR_OWN, GRAPH_OF_THE_HOUSE = 40, 50, 90

SWITCHED_OFF: Final = "the graph, which may hold words of theirs, is switched off: set [memory] enabled = true"


class Erased(Struct):
    """What was there of an owner, and is no more."""

    events: int = 0
    entries: int = 0
    writes: int = 0
    """Into the household's graph."""
    had_graph: bool = False
    """Of their own."""
    was_member: bool = False


class OwnerErasure:
    """Takes everything of one owner out of the state folder; everybody else's stays as it is.

    Guarantees: once `erase` has begun it will be done, by this process or, after a kill, by the next one; each step may
    be done twice. One owner at a time. Not reached: backups, and what others said of them.
    """

    def __init__(self, folder: Path, graph: GraphSide, owners: Owners, forgetting: Forgetting) -> None:
        """`folder` is the state's; `forgetting` has that state open, and knows how to end the run of an event."""
        self._folder = folder
        self._state = forgetting.state
        self._graph = graph
        self._owners = owners
        self._forgetting = forgetting
        self._one = asyncio.Lock()
        self._left = asyncio.Event()

    async def erase(self, owner_key: str, told: Progress) -> str:
        """Erase everything of an owner and return the sentence that says what it was; durable on return.

        What is broken off, by what `told` raises too, is gone on with by `run`. Raises ValueError for what is no key,
        `Problem` that says what is in the way, OSError.
        """
        if not is_public_key(owner_key):
            raise ValueError("everything of the household is the state folder itself")
        name = (await asyncio.to_thread(self._owners.identities.find, owner_key)).name or owner_key
        await asyncio.to_thread(self._order, owner_key)
        try:
            async with self._one:
                erased = await self._done(owner_key, told)
        except MemoryFailure as error:
            why = f"not everything of {name} is erased yet: {error}; the service goes on with it by itself"
            raise Problem(why, Exit.UNAVAILABLE) from error
        finally:
            self._left.set()
        return sentence(name, erased, await asyncio.to_thread(lambda: sorted(self._folder.glob(f"{ASIDE}*"))))

    async def run(self) -> None:
        """Go on with what was broken off, before the process began too, until cancelled; tried again while it fails."""
        await asyncio.to_thread(self._remove_left)
        while True:
            self._left.clear()
            for owner_key in await asyncio.to_thread(self.ordered):
                try:
                    async with self._one:  # another one may have done it meanwhile, and they may be back
                        if owner_key in await asyncio.to_thread(self.ordered):
                            await self._done(owner_key, silently)
                except (MemoryFailure, OSError) as error:
                    log.warning("owner_not_erased", reason=str(error))
                    self._left.set()
                    await asyncio.sleep(AGAIN_SECONDS)
            await self._left.wait()

    def _remove_left(self) -> None:
        for place in [place for name in LEFT_BY_A_KILL for place in self._folder.glob(name)]:
            if place.is_dir():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)

    def ordered(self) -> list[str]:
        """Return who is to be forgotten and is not yet. Blocking."""
        return keys_in(self._folder / ORDERS)

    def _order(self, owner_key: str) -> None:
        place = self._folder / ORDERS
        place.mkdir(mode=0o700, exist_ok=True)
        (place / owner_key).touch(0o600)
        sync_folder(place)
        sync_folder(self._folder)

    def _forget_keys(self, owner_key: str) -> bool:
        """Forget voice, name and tokens, and take the order away for good; return whether they were a member.

        Whoever comes again after a cut of the power is not to be forgotten again.
        """
        if name := self._owners.identities.find(owner_key).name:
            VoiceStore(self._folder).forget(name)
        was_member = self._owners.identities.remove(owner_key)
        self._owners.tokens.forget(owner_key)
        (self._folder / ORDERS / owner_key).unlink(missing_ok=True)
        sync_folder(self._folder / ORDERS)
        return was_member

    async def _done(self, owner_key: str, told: Progress) -> Erased:
        """Take every step, each of which finds nothing to do where it was done before."""
        erased = Erased(events=await self._stop(owner_key))
        await self._state.images.forget()
        await self._forget_recordings()
        erased.entries = await self._erase_state(owner_key, told)
        await self._erase_graphs(owner_key, erased, told)
        await self._graph.name_usage.forget(owner_key)
        await forget_anchors(self._state.journal.database, owner_key)
        await self._state.journal.database.rewrite()
        was_member = await asyncio.to_thread(self._forget_keys, owner_key)
        erased.was_member = was_member
        told(WHOLE, WHOLE)
        log.info("owner_erased", entries=erased.entries, graph_statements=erased.writes)
        return erased

    async def _stop(self, owner_key: str) -> int:
        """Take their events out of the mailbox, the one in hand once its run is over; return how many."""
        mailbox = self._state.mailbox
        removed = await mailbox.remove_owner(owner_key)
        for _ in range(TRIES):
            hand = await mailbox.in_hand()
            if hand is None or hand.event.owner_key != owner_key:
                break
            await self._forgetting.stop([hand.event])
        await self._state.bus.publish()  # what is held of theirs goes where it can be erased
        return removed + await mailbox.remove_owner(owner_key, in_hand=True)

    async def _forget_recordings(self) -> None:
        """Remove every recorded turn: whose voice is in them nobody can tell."""
        used = [place for place in self._forgetting.sound if isinstance(place, Recordings)]
        for place in used or [Recordings(self._folder / RECORDINGS, Limits(0, 0))]:
            await asyncio.to_thread(place.forget)

    async def _erase_state(self, owner_key: str, told: Progress) -> int:
        def passed_on(done: int, of: int) -> None:
            told(JOURNAL * done // of, WHOLE)

        recent = self._state.bus.recent
        if (contexts := self._forgetting.contexts) is not None:
            contexts.let_go(owner_key)
        others = [envelope for envelope in recent if envelope.owner_key != owner_key]
        recent.clear()
        recent.extend(others)
        await self._owners.settings.forget(owner_key)
        await self._state.journal.database.write(lambda c: cursor.forget(c, owner_key))
        return await erase_entries(self._state.journal.database, owner_key, passed_on)

    async def _erase_graphs(self, owner_key: str, erased: Erased, told: Progress) -> None:
        graph = self._graph
        if graph.writer is None or graph.visitors is None:
            if any((self._folder / name).exists() for name in ("audit", "owners")):
                raise GraphUnavailable(SWITCHED_OFF)
            return
        told(JOURNAL, WHOLE)
        erased.had_graph = await graph.visitors.remove(owner_key)
        told(GRAPH_OF_THEIR_OWN, WHOLE)
        erased.writes = await erase_owner(graph.writer, graph.store, owner_key)
        told(GRAPH_OF_THE_HOUSE, WHOLE)


def sentence(name: str, erased: Erased, aside: list[Path]) -> str:
    """Return what is told of an erasure; `aside` are older states that a restore left."""
    if erased == Erased():
        what = f"There was nothing of {name} left to erase"
    else:
        own = ", a graph of their own" if erased.had_graph else ""
        what = (
            f"Everything of {name} is erased: {erased.entries} entries of the journal{own} and {erased.writes} writes "
            "into the household's graph; digests stay"
        )
    kept = f" and {', '.join(map(str, aside))}" if aside else ""
    return f"{what}; backups of before{kept} are not reached."
