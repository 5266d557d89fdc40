"""Checks that a Neo4j server still holds this graph, by expected counts, and has an emptied one filled first."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from msgspec import Struct

from memory.clock import within
from memory.errors import GraphRefused, GraphUnavailable
from memory.graph.graph import Graph
from memory.graph.store import Endpoint, Neo4jServer
from memory.history.audit import AuditLog
from memory.history.audit_record import Record
from memory.history.restore import SOURCE

# Looking at what each holds reads the files; a bare count comes out of the store's own notes, which may be whole.
_READ: Final = (
    "MATCH (n) WHERE size(keys(n)) >= 0 RETURN count(*) AS n",
    "MATCH ()-[r]->() WHERE size(keys(r)) >= 0 RETURN count(*) AS n",
)

SEEN_SECONDS: Final = 5.0
"""For so long a look counts: no server stops and starts again in less."""

FILL_SECONDS: Final = 5.0
"""That a statement waits for it to be filled, which goes on beside."""

_ANY: Final = "MATCH (n) RETURN 1 AS one LIMIT 1"

_NOTED: Final = ("MATCH (n) RETURN count(n) AS n", "MATCH ()-[r]->() RETURN count(r) AS n")
"""Out of the server's own notes, at once however many there are."""

_FILLS: Final[ContextVar[bool]] = ContextVar("fills", default=False)
"""Whether it is the filler who asks."""


class Counts(Struct, frozen=True):
    """How many there are."""

    nodes: int
    relationships: int

    @property
    def all(self) -> int:
        """Both together."""
        return self.nodes + self.relationships

    def lacks(self, other: "Counts") -> bool:
        """Say whether there are fewer of either kind than in another."""
        return self.nodes < other.nodes or self.relationships < other.relationships


def expected(records: Iterable[Record]) -> Counts | None:
    """Return what must be there after these records, all from the first on; None where they do not tell.

    A write of which nobody knows whether it was kept counts as one that was not.
    """
    counts: Counts | None = Counts(0, 0)
    for record in records:
        match record.kind:
            case "snapshot":
                counts = Counts(_figure(record.facts, "nodes"), _figure(record.facts, "relationships"))
            case "restoring" | "erased" | "lost":
                counts = None  # until the snapshot that follows
            case "outcome" if counts is not None:
                counts = _after(counts, record.facts.get("stats"))
    return counts


async def counted(graph: Graph) -> Counts | None:
    """Return what is there, by reading all of it (1 s of a core for 100,000); None where that cannot be read.

    Raises `GraphUnavailable`.
    """
    try:
        return await _told_by(graph, _READ)
    except GraphRefused:
        return None


async def _told_by(graph: Graph, statements: tuple[str, str]) -> Counts:
    nodes, relationships = [_figure((await graph.read(each)).records[0], "n") for each in statements]
    return Counts(nodes, relationships)


def _after(counts: Counts, stats: object) -> Counts:
    if not isinstance(stats, dict):
        return counts
    made, gone = _figure(stats, "relationshipsCreated"), _figure(stats, "relationshipsDeleted")
    nodes = counts.nodes + _figure(stats, "nodesCreated") - _figure(stats, "nodesDeleted")
    return Counts(nodes, counts.relationships + made - gone)


def _figure(figures: Mapping[str, object], name: str) -> int:
    return int(str(figures.get(name, 0)))


class ServerIntegrity(Neo4jServer):
    """A Neo4j server as a `Store`: an empty one, where the audit log knows of a graph, serves nobody until it is full.

    A container that is made anew, a volume that was not mounted, another address: nobody hangs up for long, and it
    would know nothing. `memory.history.writer` fills it, from snapshots and audit log. What lacks only a part was
    changed by somebody else: it serves, and that is told (`lacking`).
    """

    def __init__(self, server: Neo4jServer, audit: AuditLog, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(server.uri, server.user, server.password, server.database)
        self.emptied = asyncio.Event()
        """It is empty and should not be, or only half of a fill came to it: `Writer` is to go on."""
        self.lacking = ""
        """What is to be said of a server that holds less than was written to it."""
        self._full = asyncio.Event()
        self._is_being_filled = False
        self._audit = audit
        self._clock = clock
        self._looks = Graph(server)
        self._seen_at = float("-inf")

    async def endpoint(self) -> Endpoint:
        """Return where it answers. Raises `GraphUnavailable` when it does not, or has to be filled first."""
        if not (_FILLS.get() or await self._serves_soon()):
            raise GraphUnavailable(
                "the memory's server is empty, or half full, though much was written to it: it is being filled from "
                "snapshots and audit log, try again in a moment"
            )
        return await super().endpoint()

    async def is_emptied(self) -> bool:
        """Look, if the last look was a while ago, whether it has to be filled. Raises `GraphUnavailable`."""
        if self._full.is_set() and self._clock() - self._seen_at < SEEN_SECONDS:
            return False
        is_emptied = await self._has_to_be_filled()
        self._set(full=not is_emptied)
        if not is_emptied:
            self._seen_at = self._clock()
        return is_emptied

    @contextmanager
    def being_filled(self) -> Iterator[None]:
        """Serve nobody but whoever fills it within the block; what the block breaks off has to be gone on with."""
        self._full.clear()
        self._is_being_filled = True
        filler = _FILLS.set(True)
        is_full = False
        try:
            yield
            is_full = True
        finally:
            _FILLS.reset(filler)
            self._is_being_filled = False
            self._set(full=is_full)

    async def see_whole(self) -> None:
        """Look whether there is as much as was written; nobody writes meanwhile. Raises `GraphUnavailable` if not."""
        should = await asyncio.to_thread(lambda: expected(self._audit.records()))
        found = await _told_by(self._looks, _NOTED)
        self.lacking = "" if should is None else _told(found, should)
        if self.lacking:
            raise GraphUnavailable(self.lacking)

    async def close(self) -> None:
        """Close the connections of the looks."""
        await self._looks.close()

    def _set(self, *, full: bool) -> None:
        (self._full.set if full else self._full.clear)()
        (self.emptied.clear if full else self.emptied.set)()

    async def _serves_soon(self) -> bool:
        if not self._is_being_filled and not await self.is_emptied():
            return True
        await within(FILL_SECONDS, self._full)
        return self._full.is_set()

    async def _has_to_be_filled(self) -> bool:
        is_empty = not (await self._looks.read(_ANY)).records
        should = await asyncio.to_thread(lambda: expected(self._audit.records())) if is_empty else None
        # Asked last: what is pending then is what the look, or the log as it was read, does not have yet.
        pending = await self._audit.open()
        if pending:  # a fill that broke off; or writes: it is not known what was kept, and one may have emptied it
            return any(SOURCE in record.facts for record in pending)
        return should is not None and should.all > 0


def _told(found: Counts, should: Counts) -> str:
    """Return the sentence about a server that holds less than was written to it; "" for one that does not."""
    if not found.lacks(should):
        return ""
    return (
        f"the memory's server holds {found.nodes} nodes and {found.relationships} relationships of {should.nodes} and "
        f"{should.relationships} that were written to it: `nakari memory snapshot` takes it as it is, `nakari memory "
        "replay --to FILE` and `nakari memory restore FILE` bring back what was"
    )
