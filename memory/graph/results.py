"""Limits of a statement, and its result."""

import asyncio
import json
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from memory.graph.connections import FEW, QUIET_SECONDS
from memory.graph.cypher import LONGEST_STATEMENT
from memory.json_value import Json

if TYPE_CHECKING:
    from neo4j import AsyncResult, ResultSummary, SummaryCounters

LONGEST_VECTOR: Final = 32
"""Floats of a list that are written out; a longer list of nothing but floats is a vector and says only its length."""

COUNTERS: Final = {
    "nodesCreated": "nodes_created",
    "nodesDeleted": "nodes_deleted",
    "relationshipsCreated": "relationships_created",
    "relationshipsDeleted": "relationships_deleted",
    "propertiesSet": "properties_set",
    "labelsAdded": "labels_added",
    "labelsRemoved": "labels_removed",
    "indexesAdded": "indexes_added",
    "indexesRemoved": "indexes_removed",
    "constraintsAdded": "constraints_added",
    "constraintsRemoved": "constraints_removed",
}
"""Neo4j's counters and the driver's attributes for them; system updates are not the graph's."""


class Limits(Struct, frozen=True):
    """What one statement may cost and return."""

    seconds: float = 10.0
    """For a statement. Must be the store's own limit too, where the store is ours."""
    begin_seconds: float = 6.0
    """For connecting, logging in and beginning; a store that takes connections and then says nothing hangs."""
    quiet_seconds: float = QUIET_SECONDS
    """In the midst of writing down or filling a whole graph."""
    statement: int = LONGEST_STATEMENT
    """Characters."""
    rows: int = 200
    characters: int = 12_000
    """Of the records as JSON; the first record comes whole even if it alone is longer."""
    counted: int = 1_000
    """Rows past those returned that are still counted."""
    longest_vector: int = LONGEST_VECTOR
    """Floats of a list that are returned."""


class Result(Struct, frozen=True):
    """What a statement returned, as far as the limits let it."""

    records: list[dict[str, Json]]
    truncated: int = 0
    """Rows left out; at least so many when it reaches `Limits.counted`."""


class Written(Result, frozen=True):
    """What a statement changed, durably, and returned."""

    stats: dict[str, int] = {}
    """Each of `COUNTERS`, zeros too."""


async def collected(answer: "AsyncResult", limits: Limits) -> Result:
    """Return the records within the limits; what is over is counted, up to a limit of its own."""
    from memory.graph.values import plain

    records: list[dict[str, Json]] = []
    size = left = 0
    async for record in answer:
        if (len(records) + left) % FEW == 0:
            await asyncio.sleep(0)
        if left == 0 and len(records) < limits.rows:
            row = {str(key): plain(value, limits.longest_vector) for key, value in dict(record).items()}
            size += len(json.dumps(row, ensure_ascii=False))
            if not records or size <= limits.characters:
                records.append(row)
                continue
        left += 1
        if left == limits.counted:
            break
    return Result(records, left)


def wrote(summary: "ResultSummary") -> bool:
    """Say whether the store's planner took the statement for a writing one, or counted changes.

    The embedded store names no type for a statement whose rows were not all fetched, hence the counters.
    """
    return summary.query_type in {"w", "rw"} or bool(summary.counters.contains_updates)


def stats(counters: "SummaryCounters") -> dict[str, int]:
    """Return every counter by Neo4j's name."""
    return {name: int(getattr(counters, attribute)) for name, attribute in COUNTERS.items()}
