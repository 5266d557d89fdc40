"""A process that writes into its graph until it is killed: `python -m tests.memory.writing_life FOLDER FIRST`.

It says `N` for each write that was acknowledged, N counting up from FIRST.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import structlog

from memory.errors import GraphUnavailable
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_anchor import SCHEMA, AuditAnchors
from memory.history.audit_record import Origin
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.state.database import Database

CREATE = "CREATE (n:W {i: $i, at: datetime(), t: $t})-[:NEXT {i: $i}]->(:End {i: $i})"
MARK = "MATCH (n:W {i: $i - 1}) SET n.seen = $i"


def is_mark(number: int) -> bool:
    """Say whether this write marks what the one before created."""
    return number % 5 == 4


@asynccontextmanager
async def writer(store: EmbeddedStore, folder: Path) -> AsyncIterator[Writer]:
    """Open a writer over a store, its audit log, which the state database anchors, and snapshots beside it."""
    database = Database(folder / "nakari.db")
    await database.open(SCHEMA)
    audit, graph = AuditLog(folder / "audit", anchors=AuditAnchors(database)), Graph(store)
    try:
        yield Writer(graph, audit, Snapshots(folder / "snapshots", audit))
    finally:
        await graph.close()
        audit.close()
        await database.close()


async def started(store: EmbeddedStore) -> None:
    """Start a store whose last owner was killed a moment ago."""
    async with asyncio.timeout(120):
        while True:
            try:
                return await store.start()
            except GraphUnavailable as error:
                if "in use" not in str(error):
                    raise


async def main(folder: Path, first: int) -> None:
    """Write until killed."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    store = EmbeddedStore(folder / "graph")
    await started(store)
    async with writer(store, folder) as hand:
        for number in count(first):
            cypher = MARK if is_mark(number) else CREATE
            await hand.write(cypher, {"i": number, "t": "文" * (number % 50)}, Origin(f"event-{number}"))
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
