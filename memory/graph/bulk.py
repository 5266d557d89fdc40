"""A transaction over a whole graph: it may take as long as it takes, but waits for no store that has fallen silent."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neo4j import AsyncResult, AsyncTransaction, Record, ResultSummary

QUIET_SECONDS: Final = 60.0
"""Without a word from the store: the first page of a graph of a million nodes takes a tenth of it."""

BATCH: Final = 64
"""Records asked for in one go where nobody says how many."""


class Bulk:
    """A bare transaction. What is waited for is waited for under a deadline; what its user does between is not."""

    def __init__(self, transaction: "AsyncTransaction", deadline: asyncio.Timeout, quiet_seconds: float) -> None:
        """`deadline` is of the block the transaction is open in, and ends it."""
        self._transaction = transaction
        self._deadline = deadline
        self._quiet_seconds = quiet_seconds
        deadline.reschedule(None)

    async def run(self, cypher: str, params: Mapping[str, object] | None = None) -> "Rows":
        """Run a statement. Raises what the driver raises."""
        with self.waiting():
            return Rows(await self._transaction.run(cypher, dict(params or {})), self)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let the deadline run while the block waits for the store."""
        self._deadline.reschedule(asyncio.get_running_loop().time() + self._quiet_seconds)
        yield
        self._deadline.reschedule(None)


class Rows:
    """What a statement returns, piece by piece."""

    def __init__(self, answer: "AsyncResult", bulk: Bulk) -> None:
        self._answer = answer
        self._bulk = bulk

    async def fetch(self, most: int) -> "list[Record]":
        """Return the next records; none at the end."""
        with self._bulk.waiting():
            return await self._answer.fetch(most)

    async def consume(self) -> "ResultSummary":
        """Leave the rest, and return what the statement did."""
        with self._bulk.waiting():
            return await self._answer.consume()

    async def __aiter__(self) -> "AsyncIterator[Record]":
        while records := await self.fetch(BATCH):
            for record in records:
                yield record
