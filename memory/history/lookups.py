"""Plain indexes that nobody asked for: where lookups by a text scan many nodes, made and dropped in quiet moments."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from memory.clock import utc_now
from memory.errors import GraphRefused, MemoryFailure
from memory.graph.by_itself import is_by_itself
from memory.graph.cypher import Statement, quoted
from memory.graph.dump.definitions import create_lookup
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.name_usage import Lookup, NameUsage, lookup_name
from memory.history.writer import Writer
from memory.json_value import Json, listed

MANY_NODES: Final = 5_000
"""Of a label: over fewer a scan takes milliseconds."""

OFTEN: Final = 5
"""Lookups since the process began that make an index worth its while."""

LONGEST_TEXT: Final = 1_000
"""Characters: what holds longer ones is no name, and a server indexes none of 8,000 bytes."""

UNUSED: Final = timedelta(days=30)
"""Without a lookup, after which an index is dropped."""

FIRST, PERIOD, BUSY_PAUSE = 300.0, 900.0, 20.0
"""Seconds before the first look, between two, and between two looks whether somebody speaks."""

log = structlog.get_logger()


class LookupIndexes:
    """Indexes by themselves over what statements compare by equality on nodes with a label.

    Guarantees: no label and no property is made by it, no value is changed, now or later; an index of the agent's own
    is never touched, and takes the place of one of these; they are in no snapshot and no audit log. Numbers, times and
    long texts get none.
    """

    def __init__(
        self,
        writer: Writer,
        store: EmbeddedStore | None,
        usage: NameUsage,
        is_busy: Callable[[], bool],
        *,
        now: Callable[[], datetime] = utc_now,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`store` is the box's own, None at a server; `is_busy` says whether somebody speaks or something is done."""
        self._writer = writer
        self._store = store
        self._usage = usage
        self._is_busy = is_busy
        self._now = now
        self._pause = pause

    async def run(self) -> None:
        """Look now and then, while it is quiet, until cancelled."""
        await self._pause(FIRST)
        while True:
            while self._is_busy():
                await self._pause(BUSY_PAUSE)
            try:
                await self.once()
            except MemoryFailure as error:
                log.warning("lookup_indexes_not_kept", kind=type(error).__name__)
            await self._pause(PERIOD)

    async def once(self) -> None:
        """Make what is worth it, and drop what nothing looks up any more. Raises `MemoryFailure`."""
        there = (await self._writer.graph.read("SHOW INDEXES")).records
        wanted = [each for each, count in self._usage.lookups.items() if count >= OFTEN]
        worth = [each for each in wanted if await self._is_worth(each, there)]
        for each in wanted:
            del self._usage.lookups[each]  # to be counted anew: what is looked at again was looked up again
        if worth:
            await self._make(worth)
        await self._drop_unused(there)

    async def _make(self, lookups: list[Lookup]) -> None:
        async with self._writer.exclusively():
            if self._store is not None:
                await self._store.make_lookups(lookups)
            else:
                for label, key in lookups:
                    await self._writer.graph.write(create_lookup(label, key))
        log.info("lookup_indexes_made", count=len(lookups))

    async def _drop_unused(self, there: list[dict[str, Json]]) -> None:
        by_itself = {str(row["name"]): lookup for row in there if is_by_itself(row["name"]) and (lookup := _over(row))}
        if not by_itself:
            return
        days, today = await self._usage.last_looked_up(by_itself.values()), self._now().date()
        for name, lookup in by_itself.items():
            if lookup not in days:
                self._usage.note("", [lookup_name(lookup)])  # nobody knows since when: from today on
            elif today - days[lookup] > UNUSED:
                async with self._writer.exclusively():
                    await self._writer.graph.write(f"DROP INDEX {name}")
                log.info("lookup_index_dropped")

    async def _is_worth(self, lookup: Lookup, there: list[dict[str, Json]]) -> bool:
        """Say whether it scans many nodes, whose values are short texts, and no index is over that property."""
        label, key = lookup
        if any(label in _names(row, "labelsOrTypes") and key in _names(row, "properties") for row in there):
            return False
        nodes, value = f"MATCH (n:{quoted(label)})", f"n.{quoted(key)}"
        if (await self._row(f"{nodes} RETURN count(n) AS nodes"))["nodes"] < MANY_NODES:
            return False
        kind = f"CASE WHEN valueType({value}) STARTS WITH 'STRING' THEN size({value}) > {LONGEST_TEXT} ELSE true END"
        values = f"{nodes} WHERE {value} IS NOT NULL RETURN count(*) AS held, sum(CASE WHEN {kind} THEN 1 ELSE 0 END)"
        try:
            found = await self._row(f"{values} AS unfit")
        except GraphRefused:
            return False  # too much for one statement
        return found["held"] > 0 and not found["unfit"]

    async def _row(self, cypher: str) -> dict[str, int]:
        [row] = (await self._writer.graph.read(Statement.parse(cypher))).records
        return {name: int(str(value)) for name, value in row.items()}


def _over(row: dict[str, Json]) -> Lookup | None:
    labels, properties = _names(row, "labelsOrTypes"), _names(row, "properties")
    return (labels[0], properties[0]) if labels and properties else None


def _names(row: dict[str, Json], column: str) -> list[str]:
    return [str(each) for each in listed(row[column])]
