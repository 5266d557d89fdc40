"""`Graph`: read, write and schema of her memory, in explicit transactions within limits, on either store."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final, Protocol

from neo4j import AsyncTransaction, SummaryCounters
from neo4j.exceptions import DriverError, Neo4jError

from memory.errors import GraphRefused, MemoryFailure, WriteNotAllowed
from memory.graph import refusals
from memory.graph.connections import Connections
from memory.graph.cypher import check
from memory.graph.dialect import Dialect
from memory.graph.results import COUNTERS, Limits, Result, Schema, Written, collected, stats, wrote
from memory.graph.store import Endpoint, Json, Made, Refused, Store, VectorOptions

GRACE: Final = 2.0
"""Seconds past its limit after which a statement counts as one that the store itself cannot stop."""

COMMIT_SECONDS: Final = 10.0
"""A commit is an fsync; on an SD card that is busy it was seen to take seconds."""

ATTEMPTS: Final = 3
"""Of a write that collides with another client's."""

# Grouped by all their names at once: two looks at everything instead of four.
_NODES: Final = "MATCH (n) RETURN labels(n) AS names, keys(n) AS keys, count(*) AS count"
_RELATIONSHIPS: Final = "MATCH ()-[r]->() RETURN [type(r)] AS names, keys(r) AS keys, count(*) AS count"

COMPARED: Final = 20_000
"""Nodes that are looked at for duplicates, 0.4 s; the heap of the box's store holds no more of them at once."""

_ORPHANS: Final = "MATCH (n) WHERE NOT (n)--() RETURN count(n) AS count"
# Lists are left out: vectors would not fit, and whose texts are the same is a double with any vector.
_DOUBLES: Final = (
    f"MATCH (n) WITH n LIMIT {COMPARED} WITH labels(n) AS l, count(*) AS c, "
    "[k IN keys(n) WHERE NOT valueType(n[k]) STARTS WITH 'LIST' | [k, n[k]]] AS p "
    "WHERE c > 1 AND size(p) > 0 RETURN sum(c - 1) AS count"
)


class _Phase(Enum):
    BEGINNING = auto()
    RUNNING = auto()
    COMMITTING = auto()


class Witness(Protocol):
    """Who has to know of a write before it happens, and before it is kept. What it raises stops the write."""

    async def attempted(self, number: int) -> None:
        """Take note of the first, second … attempt; nothing of it has happened yet, an earlier one came to nothing."""

    async def counted(self, counters: Mapping[str, int]) -> None:
        """Take note of what the statement did, each of `COUNTERS`; its transaction is still open."""


class _Nobody:
    async def attempted(self, number: int) -> None:
        return

    async def counted(self, counters: Mapping[str, int]) -> None:
        return


NOBODY: Final = _Nobody()
"""Witness of writes that nobody has to know of."""


@dataclass(frozen=True, slots=True)
class _Statement:
    cypher: str
    params: Mapping[str, object]
    writes: bool
    witness: Witness = NOBODY


class Graph:
    """Her memory. No connection is made before the first statement; a store that comes back is found by itself.

    Guarantees: one statement is one transaction; what `write` returned is durable; `read` changes nothing whatever its
    text; writes of this process run one after another. Both raise `GraphUnavailable` when the store is down, at once or
    within `Limits.begin_seconds`, and `GraphRefused` (`WriteNotAllowed`, `TooLarge`) when the statement is at fault.
    Not guaranteed: that a write that was cancelled, or broke during its commit, did not happen.
    """

    def __init__(self, store: Store, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._store = store
        self._writing = asyncio.Lock()
        self._connections = Connections()

    @property
    def dialect(self) -> Dialect:
        """What is true of the store's Cypher."""
        return self._store.dialect

    async def read(self, cypher: str, params: Mapping[str, object] | None = None) -> Result:
        """Run a statement that only reads; its transaction is rolled back in any case.

        Raises `WriteNotAllowed` for one that would write, and what the class says.
        """
        check(cypher, self.limits.statement)
        if self._store.shim(cypher) is not None:
            raise WriteNotAllowed(refusals.READ_ONLY)
        result, _ = await self._run(_Statement(cypher, params or {}, writes=False), self.limits)
        return result

    async def write(
        self, cypher: str, params: Mapping[str, object] | None = None, witness: Witness = NOBODY
    ) -> Written:
        """Run a statement in a transaction of its own and commit it.

        Raises what the class says and what the witness raises; nothing is kept then, but with `CommitUncertain` nobody
        knows.
        """
        check(cypher, self.limits.statement)
        shim = self._store.shim(cypher)
        async with self._writing:
            if shim is not None:
                return await _made(shim, witness)
            statement = _Statement(cypher, params or {}, writes=True, witness=witness)
            result, counters = await self._run(statement, self.limits)
        written = Written(result.records, result.truncated, stats(counters))
        self._store.indexes.wrote(written.stats)
        return written

    async def schema(self) -> Schema:
        """Return what is in use, by looking at every node and relationship (0.7 s of a core at 100,000 nodes)."""
        nodes, relationships = await self._all(_NODES), await self._all(_RELATIONSHIPS)
        vectors = [self._described(index) for index in await self._all("SHOW INDEXES") if index["type"] == "VECTOR"]
        count = sum(int(str(row["count"])) for row in nodes)
        doubles = await self._doubles()
        return Schema(
            _counted(nodes, "names"),
            _counted(relationships, "names"),
            _counted([*nodes, *relationships], "keys"),
            vectors,
            nodes=count,
            orphans=await self._figure(_ORPHANS),
            duplicates=doubles or 0,
            compared=0 if doubles is None else min(COMPARED, count),
        )

    async def vector_options(self) -> dict[str, VectorOptions]:
        """Return what SHOW INDEXES leaves out of the vector indexes, by name: for writing them down."""
        return await self._store.indexes.vector_options()

    @asynccontextmanager
    async def transaction(self, *, writes: bool, seconds: float) -> AsyncIterator[AsyncTransaction]:
        """Open a bare transaction, committed at the end if it writes: for dumping and loading whole graphs.

        Without limits but `seconds`, without a witness. Raises `GraphUnavailable`, and `GraphRefused` with the store's
        own words.
        """
        endpoint = await self._store.endpoint()
        try:
            async with self._connections.transaction(endpoint, writes=writes, seconds=seconds) as transaction:
                yield transaction
                if not writes:
                    await transaction.rollback()
        except Neo4jError as error:
            raise refusals.refusal(error, seconds, writes) from error
        except DriverError as error:
            raise refusals.lost(error, endpoint.uri) from error

    async def close(self) -> None:
        """Close the connections; a later statement opens new ones."""
        await self._connections.close()

    def _described(self, index: dict[str, Json]) -> dict[str, Json]:
        known = self._store.indexes.states.get(str(index["name"]), "")
        state = known or ("ready" if index["state"] == "ONLINE" else f"{index['state']}".lower())
        return {
            "name": index["name"],
            "labels": index["labelsOrTypes"],
            "properties": index["properties"],
            "state": state,
        }

    async def _doubles(self) -> int | None:
        """Return the number of doubles; None where the store's memory does not hold so long texts."""
        try:
            return await self._figure(_DOUBLES)
        except GraphRefused:
            return None

    async def _figure(self, cypher: str) -> int:
        [row] = await self._all(cypher)
        return int(str(row["count"]))

    async def _all(self, cypher: str) -> list[dict[str, Json]]:
        limits = replace(self.limits, rows=100_000, characters=100_000_000)
        result, _ = await self._run(_Statement(cypher, {}, writes=False), limits)
        return result.records

    async def _run(self, statement: _Statement, limits: Limits) -> tuple[Result, SummaryCounters]:
        """Run a statement, again if it collided with another client's; see the class for what is raised."""
        attempt = 1
        while True:
            endpoint = await self._store.endpoint()
            await self._store.indexes.ready_for(statement.cypher, statement.params)
            await statement.witness.attempted(attempt)
            began = time.monotonic()
            try:
                return await self._once(statement, limits, endpoint)
            except Neo4jError as error:
                if not (statement.writes and refusals.collided(error) and attempt < ATTEMPTS):
                    raise await self._refusal(error, statement, endpoint, time.monotonic() - began) from error
            except DriverError as error:
                raise refusals.lost(error, endpoint.uri) from error
            attempt += 1

    async def _refusal(
        self, error: Neo4jError, statement: _Statement, endpoint: Endpoint, seconds: float
    ) -> MemoryFailure:
        refused = refusals.refusal(error, self.limits.seconds, statement.writes)
        if type(refused) is not GraphRefused:
            return refused
        login = endpoint.writer if statement.writes else endpoint.reader
        return await self._store.explained(Refused(login, statement.cypher, statement.params, str(refused), seconds))

    async def _once(self, statement: _Statement, limits: Limits, endpoint: Endpoint) -> tuple[Result, SummaryCounters]:
        phase = _Phase.BEGINNING
        now = asyncio.get_running_loop().time
        try:
            async with (
                asyncio.timeout(limits.begin_seconds) as deadline,
                self._connections.transaction(endpoint, writes=statement.writes, seconds=limits.seconds) as transaction,
            ):
                phase = _Phase.RUNNING
                deadline.reschedule(now() + limits.seconds + GRACE)
                try:
                    answer = await transaction.run(statement.cypher, dict(statement.params))
                except (TypeError, ValueError, OverflowError) as error:
                    raise refusals.unfit(error) from error
                result = await collected(answer, limits)
                summary = await answer.consume()
                if statement.writes:
                    await statement.witness.counted(stats(summary.counters))
                    phase = _Phase.COMMITTING
                    deadline.reschedule(now() + COMMIT_SECONDS)
                    await transaction.commit()
                else:
                    await transaction.rollback()
        except TimeoutError as error:
            await self._store.overran()
            raise _overrun(phase, limits) from error
        if not statement.writes and wrote(summary):
            raise WriteNotAllowed(refusals.READ_ONLY)
        return result, summary.counters


async def _made(make: Callable[[], Awaitable[Made]], witness: Witness) -> Written:
    """Make an index by the store's own way, which knows no transaction."""
    await witness.attempted(1)
    made = await make()
    counters = dict.fromkeys(COUNTERS, 0) | {"indexesAdded": made.added}
    await witness.counted(counters)
    return Written([{"note": made.note}] if made.note else [], 0, counters)


def _overrun(phase: _Phase, limits: Limits) -> MemoryFailure:
    """Return what it means that the store did not answer in time."""
    match phase:
        case _Phase.BEGINNING:
            return refusals.no_answer(limits.begin_seconds)
        case _Phase.RUNNING:
            return refusals.too_slow(limits.seconds)
        case _Phase.COMMITTING:
            return refusals.uncertain()


def _counted(rows: list[dict[str, Json]], column: str) -> dict[str, int]:
    """Return how often each name in a column's lists occurs, the most frequent first."""
    counts: Counter[str] = Counter()
    for row in rows:
        names = row[column]
        for name in names if isinstance(names, list) else []:
            counts[str(name)] += int(str(row["count"]))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
