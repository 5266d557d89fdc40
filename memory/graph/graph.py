"""`Graph`: read, write and schema, in explicit transactions within limits, on either store."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from memory.errors import GraphRefused, MemoryFailure, WriteNotAllowed
from memory.graph import refusals
from memory.graph.by_itself import is_by_itself
from memory.graph.connections import Bulk, Connections
from memory.graph.cypher import Statement, quoted
from memory.graph.dump.definitions import makes_index
from memory.graph.embedded.refusals import NameTaken
from memory.graph.results import COUNTERS, Limits, Result, Written, collected, stats, wrote
from memory.graph.store import Endpoint, Made, Refused, Store
from memory.graph.survey import Schema, survey
from memory.json_value import Json, listed
from memory.kept import Kept

if TYPE_CHECKING:
    from neo4j import AsyncTransaction, SummaryCounters
    from neo4j.exceptions import DriverError, Neo4jError

GRACE: Final = 2.0
"""Seconds past its limit after which a statement counts as one that the store itself cannot stop."""

COMMIT_SECONDS: Final = 10.0
"""A commit is an fsync; on an SD card that is busy it was seen to take seconds."""

SLACK: Final = 11.0
"""Seconds that all of a statement, beginning and commit too, may take beyond its limit: just less than a tool has, so
that what became of it is said here."""

ATTEMPTS: Final = 3
"""Of a write that collides with another client's, or meets names that can give way."""

UNANSWERED: Final = 2
"""Statements in a row that a store may leave without a greeting, 2 to 4 s each, before it counts as standing still."""

LONGEST_INDEXED: Final = 2_000
"""Characters of a text that any store keeps in an index, whatever script it is in."""

Overdue: TypeAlias = Callable[[], MemoryFailure]


class Witness:
    """Who has to know of a write before it happens, and before it is kept. What it raises stops the write."""

    async def attempted(self, number: int) -> None:
        """Take note of the first, second … attempt; nothing of it has happened yet, an earlier one came to nothing."""

    async def counted(self, counters: Mapping[str, int]) -> None:
        """Take note of what the statement did, each of `COUNTERS`; its transaction is still open."""


NOBODY: Final = Witness()
"""Witness of writes that nobody has to know of."""


class _Run(Struct, frozen=True):
    """One statement to be run, and as what."""

    statement: Statement
    params: Mapping[str, object]
    writes: bool
    witness: Witness = NOBODY


class Graph(Kept[str | Statement, Result, Written]):
    """The memory. No connection is made before the first statement; a store that comes back is found by itself.

    Guarantees: one statement is one transaction; what `write` returned is durable; `read` changes nothing whatever its
    text; writes of this process run one after another. Both raise `GraphUnavailable` when the store is down, at once or
    within `Limits.begin_seconds`, and `GraphRefused` (`WriteNotAllowed`, `TooLarge`) when the statement is at fault.
    Not guaranteed: that a write that was cancelled, or broke during its commit, did not happen.
    """

    def __init__(self, store: Store, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.dialect, self.indexes = store.dialect, store.indexes
        """What is true of the store's Cypher, and what it knows of its indexes that SHOW INDEXES leaves out."""
        self._store = store
        self._writing = asyncio.Lock()
        self._connections = Connections()
        self._unanswered = 0
        """Who asked in a row and was not greeted."""

    async def __aenter__(self) -> Self:
        """Give it for a block, after which its connections are closed."""
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def until_idle(self) -> None:
        """Return when no statement runs."""
        await self._connections.until_unused()

    async def read(self, cypher: str | Statement, params: Mapping[str, object] | None = None) -> Result:
        """Run a statement that only reads; its transaction is rolled back in any case.

        Raises `WriteNotAllowed` for one that would write, and what the class says.
        """
        statement = Statement.parse(cypher, self.limits.statement)
        if self._store.shim(statement) is not None:
            raise WriteNotAllowed(refusals.READ_ONLY)
        result, _ = await self._run(_Run(statement, params or {}, writes=False), self.limits)
        return result

    async def write(
        self, cypher: str | Statement, params: Mapping[str, object] | None = None, witness: Witness = NOBODY
    ) -> Written:
        """Run a statement in a transaction of its own and commit it.

        Raises what the class says and what the witness raises; nothing is kept then, but with `CommitUncertain` nobody
        knows.
        """
        statement = Statement.parse(cypher, self.limits.statement)
        shim = self._store.shim(statement)
        async with self._writing:
            await self._give_way(statement, params or {})
            if shim is not None:
                return await _made(shim, witness)
            run = _Run(statement, params or {}, writes=True, witness=witness)
            result, counters = await self._run(run, self.limits)
        written = Written(result.records, result.truncated, stats(counters))
        self.indexes.wrote(written.stats)
        return written

    async def schema(self) -> Schema:
        """Return what is in use: all of it up to `memory.graph.survey.WHOLE`, in a larger graph what `note` says."""
        found = await survey(self._all)
        there = await self._all("SHOW INDEXES")
        indexes = [self._described(index) for index in there if index["type"] == "VECTOR"]
        listed = {index["name"] for index in there if index["type"] == "VECTOR"}
        indexes += [self._described(index) for index in there if is_by_itself(index["name"])]
        states = self.indexes.states
        indexes += [{"name": name, "state": state} for name, state in states.items() if name not in listed]
        return replace(found, vector_indexes=indexes)

    @asynccontextmanager
    async def transaction(self, *, writes: bool, seconds: float) -> AsyncIterator[Bulk]:
        """Open a bare transaction, committed at the end if it writes: for dumping and loading whole graphs.

        Without limits but `seconds`, and that the store may not fall silent for long; without a witness. Raises
        `GraphUnavailable`, `CommitUncertain`, and `GraphRefused` with the store's own words.
        """
        endpoint = await self._store.endpoint()
        await self._connections.load()
        from neo4j.exceptions import DriverError, Neo4jError

        silent = partial(refusals.no_answer, self.limits.quiet_seconds)
        try:
            async with self._opened(endpoint, silent, writes=writes, seconds=seconds) as (transaction, deadline):
                yield Bulk(transaction, deadline, self.limits.quiet_seconds)
        except Neo4jError as error:
            raise refusals.refusal(error, seconds, writes) from error
        except DriverError as error:
            await self._note_silence(error)
            raise refusals.lost(error, endpoint.uri) from error

    async def load(self) -> None:
        """Import the driver ahead of the first statement, beside the event loop."""
        await self._connections.load()

    async def close(self) -> None:
        """Close the connections; a later statement opens new ones."""
        await self._connections.close()

    def _described(self, index: dict[str, Json]) -> dict[str, Json]:
        known = self.indexes.states.get(str(index["name"]), "")
        state = known or ("ready" if index["state"] == "ONLINE" else f"{index['state']}".lower())
        return {
            "name": index["name"],
            "labels": index["labelsOrTypes"],
            "properties": index["properties"],
            "state": state,
        }

    async def _give_way(self, statement: Statement, params: Mapping[str, object]) -> None:
        """Drop what was made by itself where the agent's own index or constraint, or a long text, is to be.

        Neither store keeps every text in an index: a server none of 8 kB.
        """
        keys, longest = _keys_and_longest(params)
        is_long = longest > LONGEST_INDEXED
        if not is_long and not makes_index(statement):
            return
        named, columns = statement.names | keys, ("properties",) if is_long else ("labelsOrTypes", "properties")
        for index in await self._all("SHOW INDEXES"):
            covers = {str(name) for column in columns for name in listed(index[column])}
            if is_by_itself(index["name"]) and str(index["name"]) not in named and covers <= named:
                drop = Statement.parse(f"DROP INDEX {quoted(str(index['name']))}")
                await self._run(_Run(drop, {}, writes=True), self.limits)

    async def _all(self, cypher: str) -> list[dict[str, Json]]:
        limits = replace(self.limits, rows=100_000, characters=100_000_000)
        result, _ = await self._run(_Run(Statement.parse(cypher), {}, writes=False), limits)
        return result.records

    async def _run(self, run: _Run, limits: Limits) -> tuple[Result, "SummaryCounters"]:
        """Run a statement, again if that may help; see the class for what is raised."""
        attempt = 1
        while True:
            endpoint = await self._store.endpoint()
            await self._connections.load()
            from neo4j.exceptions import DriverError, Neo4jError

            await self.indexes.ready_for(run.statement, run.params)
            await run.witness.attempted(attempt)
            began = time.monotonic()
            try:
                return await self._once(run, limits, endpoint)
            except Neo4jError as error:
                is_last = not run.writes or attempt == ATTEMPTS
                if is_last or not refusals.collided(error):
                    refused = await self._refusal(error, run, endpoint, time.monotonic() - began)
                    if is_last or not (isinstance(refused, NameTaken) and await self._store.frees_name(refused.name)):
                        raise refused from error
            except DriverError as error:
                await self._note_silence(error)
                raise refusals.lost(error, endpoint.uri) from error
            attempt += 1

    async def _note_silence(self, error: "DriverError") -> None:
        """Count who asked and was not even greeted, and tell the store: one that stands still does not end by itself.

        A new connection is given up by the driver, sooner than `Limits.begin_seconds`: once may be a busy machine.
        """
        if not refusals.is_silence(error):
            return
        self._unanswered += 1
        if self._unanswered >= UNANSWERED:
            self._unanswered = 0
            await self._store.overran()

    async def _refusal(self, error: "Neo4jError", run: _Run, endpoint: Endpoint, seconds: float) -> MemoryFailure:
        refused = refusals.refusal(error, self.limits.seconds, run.writes)
        if type(refused) is not GraphRefused:
            return refused
        login = endpoint.writer if run.writes else endpoint.reader
        return await self._store.explained(Refused(login, run.statement.text, run.params, str(refused), seconds))

    async def _once(self, run: _Run, limits: Limits, endpoint: Endpoint) -> tuple[Result, "SummaryCounters"]:
        now = asyncio.get_running_loop().time
        slow, last = partial(refusals.too_slow, limits.seconds), now() + limits.seconds + SLACK
        opened = self._opened(endpoint, slow, writes=run.writes, seconds=limits.seconds, last=last)
        async with opened as (transaction, deadline):
            deadline.reschedule(now() + limits.seconds + GRACE)
            try:
                answer = await transaction.run(run.statement.text, dict(run.params))
            except (TypeError, ValueError, OverflowError) as error:
                raise refusals.unfit(error) from error
            result = await collected(answer, limits)
            summary = await answer.consume()
            if run.writes:
                await run.witness.counted(stats(summary.counters))
        if not run.writes and wrote(summary):
            raise WriteNotAllowed(refusals.READ_ONLY)
        return result, summary.counters

    @asynccontextmanager
    async def _opened(
        self, endpoint: Endpoint, overdue: Overdue, *, writes: bool, seconds: float, last: float = math.inf
    ) -> AsyncIterator[tuple["AsyncTransaction", asyncio.Timeout]]:
        """Open a transaction, with the deadline of the block, and commit it at the end if it writes, by `last`.

        `overdue` says what it means that the block did not end in time. `last` is of the loop's clock.
        """
        late: Overdue = partial(refusals.no_answer, self.limits.begin_seconds)
        try:
            async with (
                asyncio.timeout(self.limits.begin_seconds) as deadline,
                self._connections.transaction(endpoint, writes=writes, seconds=seconds) as transaction,
            ):
                late, self._unanswered = overdue, 0
                try:
                    yield transaction, deadline
                finally:
                    if not deadline.expired():
                        deadline.reschedule(min(asyncio.get_running_loop().time() + COMMIT_SECONDS, last))
                if writes:
                    late = refusals.uncertain
                    await transaction.commit()
                else:
                    await transaction.rollback()
        except TimeoutError as error:
            await self._store.overran()
            raise late() from error


def _keys_and_longest(value: object) -> tuple[set[str], int]:
    """Return the keys of the maps in a value, and the length of its longest text in characters."""
    match value:
        case str():
            return set(), len(value)
        case Mapping():
            inner = [_keys_and_longest(item) for item in value.values()]
            own = {str(key) for key in value}
        case list() if not (value and isinstance(value[0], float)):
            inner, own = [_keys_and_longest(item) for item in value], set()
        case _:
            return set(), 0
    return own.union(*(keys for keys, _ in inner)), max((longest for _, longest in inner), default=0)


async def _made(make: Callable[[], Awaitable[Made]], witness: Witness) -> Written:
    """Make, or unmake, an index by the store's own way, which knows no transaction."""
    await witness.attempted(1)
    made = await make()
    changed = {"indexesAdded": made.added, "indexesRemoved": made.removed, "constraintsAdded": made.constraints}
    counters = dict.fromkeys(COUNTERS, 0) | changed
    await witness.counted(counters)
    return Written([{"note": made.note}] if made.note else [], 0, counters)
