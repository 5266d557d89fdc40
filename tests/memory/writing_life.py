"""A process that writes into her graph until it is killed: `python -m tests.memory.writing_life FOLDER FIRST`.

It says `N` for each write that was acknowledged, N counting up from FIRST.
"""

import asyncio
import sys
from itertools import count
from pathlib import Path

import structlog

from memory.errors import GraphUnavailable
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer

CREATE = "CREATE (n:W {i: $i, at: datetime(), t: $t})-[:NEXT {i: $i}]->(:End {i: $i})"
MARK = "MATCH (n:W {i: $i - 1}) SET n.seen = $i"


def is_mark(number: int) -> bool:
    """Say whether this write marks what the one before created."""
    return number % 5 == 4


def writer(store: EmbeddedStore, folder: Path) -> Writer:
    """Return a writer over a store, its audit log and snapshots beside it."""
    audit = AuditLog(folder / "audit")
    return Writer(Graph(store), audit, Snapshots(folder / "snapshots", audit))


async def started(store: EmbeddedStore) -> None:
    """Start a store whose last owner was killed a moment ago."""
    async with asyncio.timeout(20):
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
    hand = writer(store, folder)
    for number in count(first):
        cypher = MARK if is_mark(number) else CREATE
        await hand.write(cypher, {"i": number, "t": "文" * (number % 50)}, Origin(f"event-{number}"))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
