"""Five thousand audited writes, replayed into an empty store: equal or not, and how long it takes.

`python -m benchmarks.memory.replay` takes some minutes; `--writes 200` some seconds. It prints, and fails where the
graphs differ. tests/memory/history/test_writer.py is its sample.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from memory.graph.dump.dump import write_dump
from memory.graph.dump.fingerprint import fingerprint
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin
from memory.history.replay import replay
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer

KINDS: tuple[str, ...] = (
    "CREATE (:A {i: $i, at: datetime(), text: $text})",
    "MERGE (a:B {i: $i % 100}) ON CREATE SET a.first = $i ON MATCH SET a.seen = coalesce(a.seen, 0) + 1, a.on = date()",
    "MATCH (a:A) WHERE a.i % 50 = $i % 50 WITH a ORDER BY a.i LIMIT 3 MERGE (b:B {i: $i % 100}) "
    "MERGE (a)-[:near {i: $i}]->(b)",
    "UNWIND $rows AS row MERGE (c:C {n: row.n}) SET c += row.p",
    "MATCH (a:A {i: $i - 40}) SET a:Old REMOVE a.text",
    "MATCH (a:A {i: $i - 80}) DETACH DELETE a",
)
"""As a model writes: creating, merging, linking, in rows, relabelling, deleting."""


def written(number: int, chance: random.Random) -> tuple[str, dict[str, object]]:
    """Return a statement of a kind, and its parameters."""
    rows = [{"n": chance.randrange(300), "p": {"x": chance.random(), "中文": "小明"}} for _ in range(3)]
    return chance.choice(KINDS), {"i": number, "text": f"sentence {number}", "rows": rows}


async def measure(folder: Path, writes: int) -> bool:
    """Write, replay, compare; return whether the graphs are equal."""
    audit = AuditLog(folder / "audit")
    snapshots, chance = Snapshots(folder / "snapshots", audit), random.Random(7)
    async with EmbeddedStore(folder / "graph") as store, EmbeddedStore(folder / "again") as other:
        graph, again = Graph(store), Graph(other)
        writer = Writer(graph, audit, snapshots)
        began = time.monotonic()
        for number in range(writes):
            await writer.write(*written(number, chance), Origin(f"event-{number}"))
        wrote = time.monotonic() - began
        began = time.monotonic()
        done = await replay(audit, snapshots, again)
        replayed = time.monotonic() - began
        for one, name in ((graph, "written"), (again, "replayed")):
            await write_dump(one, folder / name, datetime.now(UTC))
            await one.close()
    audit.close()
    is_equal = fingerprint(folder / "written") == fingerprint(folder / "replayed")
    print(f"{writes} writes in {wrote:.1f} s, {done.writes} replayed in {replayed:.1f} s, exact {done.is_exact}")
    print(f"records verified, snapshots taken on the way {len(await snapshots.listed())}, graphs equal: {is_equal}")
    return is_equal and done.is_exact


def main() -> None:
    """Run it in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=int, default=5_000)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nakari-replay-") as folder:
        sys.exit(0 if asyncio.run(measure(Path(folder), wanted.writes)) else "the replay is not equal")


if __name__ == "__main__":
    main()
