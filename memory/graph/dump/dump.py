"""Dumps of a whole graph, the same for every store: written, read, checked, loaded."""

import asyncio
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from memory.errors import GraphRefused, SnapshotBroken
from memory.graph.by_itself import is_by_itself
from memory.graph.connections import Bulk
from memory.graph.cypher import quoted
from memory.graph.dump import definitions
from memory.graph.dump.serialization import given, serialized, setting, zoned
from memory.graph.embedded.refusals import check_names_apart
from memory.graph.graph import Graph
from memory.graph.store import VectorOptions
from memory.json_value import Json
from memory.progress import Progress, silently

if TYPE_CHECKING:
    from neo4j import Record

Row: TypeAlias = list[Any]
"""What stands behind "n" or "r" in a line: JSON."""

Key: TypeAlias = Any
"""Whatever sorts."""

Times: TypeAlias = tuple[tuple[str, str, bool], ...]
"""Properties that hold times with a zone (`memory.graph.dump.serialization.zoned`)."""

FORMAT: Final = 1
PAGE: Final = 20_000
"""Rows asked for in one statement: a store ends one that takes ten seconds."""

BATCH: Final = 500
"""Rows written to the file, or created in one transaction."""

PIECE: Final = 1_000
"""Values sent in one statement: the driver packs them in two or three milliseconds, on the event loop."""

SECONDS: Final = 3600.0
"""For all of a transaction that reads a whole graph."""

CHARACTERS: Final = 500
"""Of a text that count as one value more."""

_VECTOR_INDEX: Final = "CREATE VECTOR INDEX "

_NODES: Final = "MATCH (n) RETURN elementId(n) AS i, labels(n) AS l, properties(n) AS p SKIP $skip LIMIT $limit"
_RELATIONSHIPS: Final = (
    "MATCH (a)-[r]->(b) RETURN type(r) AS t, elementId(a) AS s, elementId(b) AS e, properties(r) AS p "
    "SKIP $skip LIMIT $limit"
)


class Dump(Struct, frozen=True):
    """What a file holds, as its last line says."""

    nodes: int
    relationships: int
    digest: str
    """SHA-256 of the lines before the last."""


class _Writing:
    """A file being written, in a worker thread."""

    def __init__(self, path: Path) -> None:
        self.digest = hashlib.sha256()
        self.raw = path.open("xb")
        path.chmod(0o600)
        self.file = gzip.GzipFile(fileobj=self.raw, mode="wb", compresslevel=1, mtime=0)

    def add(self, *lines: Mapping[str, Json]) -> None:
        text = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
        self.digest.update(text)
        self.file.write(text)

    def add_rows(self, kind: str, rows: Iterable["Record"]) -> None:
        try:
            self.add(*({kind: [serialized(value) for value in row.values()]} for row in rows))
        except TypeError as error:
            raise GraphRefused(f"a snapshot cannot hold all that is in this graph: {error}") from error

    def end(self, nodes: int, relationships: int) -> Dump:
        dump = Dump(nodes, relationships, self.digest.hexdigest())
        self.add({"end": asdict(dump)})
        self.file.close()
        self.raw.flush()
        os.fsync(self.raw.fileno())
        return dump

    def close(self) -> None:
        """Close the file, whole or not. Raises OSError where the disk does not take the rest."""
        with self.raw:
            self.file.close()


async def write_dump(graph: Graph, path: Path, at: datetime) -> Dump:
    """Write the whole graph into a new file, durable on return; nodes first, then relationships, then indexes.

    It is what one reader sees; nobody else should write meanwhile. Raises what `Graph.transaction` raises, OSError, and
    `GraphRefused` for a value of a type that is not known here: a newer server may have one.
    """
    opening = asyncio.get_running_loop().run_in_executor(None, _Writing, path)
    try:
        writing = await asyncio.shield(opening)
        await asyncio.to_thread(writing.add, {"nakari": "graph", "format": FORMAT, "at": at.isoformat()})
        async with graph.transaction(writes=False, seconds=SECONDS) as transaction:
            nodes = await _write_all(writing, transaction, "n", _NODES)
            relationships = await _write_all(writing, transaction, "r", _RELATIONSHIPS)
            options, unmade = await graph.indexes.vector_options(), await graph.indexes.unmade()
            for statement in await _definitions(transaction, options, unmade):
                await asyncio.to_thread(writing.add, {"i": statement})
        return await asyncio.to_thread(writing.end, nodes, relationships)
    finally:
        await asyncio.to_thread((await opening).close)  # whoever is cancelled while it is opened closes it too


async def _write_all(writing: _Writing, transaction: Bulk, kind: str, statement: str) -> int:
    count = 0
    async with aclosing(_batches(transaction, statement)) as batches:
        async for rows in batches:
            count += len(rows)
            await asyncio.to_thread(writing.add_rows, kind, rows)
    return count


async def _batches(transaction: Bulk, statement: str) -> AsyncGenerator[list["Record"], None]:
    skip = 0
    while True:
        answer = await transaction.run(statement, {"skip": skip, "limit": PAGE})
        got = 0
        while rows := await answer.fetch(BATCH):
            got += len(rows)
            yield rows
        if got < PAGE:
            return
        skip += got


async def _definitions(transaction: Bulk, options: Mapping[str, VectorOptions], unmade: Mapping[str, str]) -> list[str]:
    """Return the statements that make the indexes, those to come too, and the uniqueness constraints anew.

    Those made by themselves come by themselves again.
    """
    made = [
        f"CREATE CONSTRAINT {quoted(row['name'])} IF NOT EXISTS FOR (n:{quoted(row['labelsOrTypes'][0])}) "
        f"REQUIRE ({', '.join(f'n.{quoted(name)}' for name in row['properties'])}) IS UNIQUE"
        for row in [row async for row in await transaction.run("SHOW CONSTRAINTS")]
        if "UNIQUENESS" in row["type"] and row["entityType"] == "NODE"
    ]
    indexes = [row async for row in await transaction.run("SHOW INDEXES YIELD *")]
    made += [
        definitions.create_statement(dict(row), options)
        for row in indexes
        if row["owningConstraint"] is None and row["type"] != "LOOKUP" and not is_by_itself(row["name"])
    ]
    return made + [text for name, text in unmade.items() if name not in {row["name"] for row in indexes}]


def read_dump(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file: {"n": [id, labels, properties]}, {"r": [type, start, end, properties]}, {"i": index}.

    Blocking. Raises `SnapshotBroken` at the point where the file turns out torn, changed or of another kind, at the
    latest after its last line.
    """
    digest, counts = hashlib.sha256(), {"n": 0, "r": 0}
    try:
        with gzip.open(path, "rb") as lines:
            head = next(lines, b"{}")
            first = json.loads(head)
            if first.get("nakari") != "graph" or first.get("format") != FORMAT:
                raise SnapshotBroken(f"{path} is no snapshot of a graph that this nakari can read")
            digest.update(head)
            for line in lines:
                row = json.loads(line)
                if "end" in row:
                    if row["end"] != asdict(Dump(counts["n"], counts["r"], digest.hexdigest())):
                        raise SnapshotBroken(f"{path} is not what was written: take an older one")
                    return
                digest.update(line)
                counts.update({kind: counts[kind] + 1 for kind in row if kind in counts})
                yield row
    except (OSError, EOFError, zlib.error, ValueError, AttributeError, TypeError) as error:
        raise SnapshotBroken(f"{path} cannot be read as a snapshot ({error}): take an older one") from error
    raise SnapshotBroken(f"{path} ends in the middle: take an older one")


def check_dump(path: Path) -> Dump:
    """Read a file to its end and return what it holds. Blocking. Raises `SnapshotBroken`."""
    nodes = relationships = 0
    for row in read_dump(path):
        nodes += "n" in row
        relationships += "r" in row
    return Dump(nodes, relationships, "")


async def load_dump(path: Path, graph: Graph, progress: Progress = silently) -> Dump:
    """Create everything a file holds in an empty graph. Raises `SnapshotBroken`, `GraphUnavailable`, `GraphRefused`.

    `progress` is told how many of how many nodes and relationships are there; what it raises ends the work.
    The file is read to its end first, so that a torn one changes nothing. What is created is the graph again but for
    the elementIds, which are the store's. In the middle of an error a part of it is there.
    """
    held = await asyncio.to_thread(check_dump, path)
    if graph.dialect.is_one_kind:
        await asyncio.to_thread(lambda: check_names_apart(path, read_dump(path)))
    await _create_vector_indexes(path, graph)
    ids: dict[str, str] = {}
    rows, done = read_dump(path), 0
    while batch := await asyncio.to_thread(lambda: [row for _, row in zip(range(BATCH), rows, strict=False)]):
        await _create_nodes(graph, [row["n"] for row in batch if "n" in row], ids)
        await _create_relationships(graph, [row["r"] for row in batch if "r" in row], ids)
        for row in batch:
            if "i" in row and not row["i"].startswith(_VECTOR_INDEX):
                await graph.write(row["i"])
        done += sum("i" not in row for row in batch)
        progress(done, held.nodes + held.relationships)
    return held


async def _create_vector_indexes(path: Path, graph: Graph) -> None:
    """Create these first: over thousands of vectors that are there, the store of the box builds them for minutes."""
    made = await asyncio.to_thread(lambda: [row["i"] for row in read_dump(path) if "i" in row])
    for statement in made:
        if statement.startswith(_VECTOR_INDEX):
            await graph.write(statement)


async def _create_nodes(graph: Graph, rows: list[Row], ids: dict[str, str]) -> None:
    def sent(row: Row, times: Times) -> dict[str, object]:
        return {"k": row[0], **given(row[2], times)}

    for (labels, times), pieces in await _sent(rows, lambda row: (tuple(sorted(row[1])), zoned(row[2])), sent):
        names = "".join(f":{quoted(label)}" for label in labels)
        statement = f"UNWIND $rows AS row CREATE (n{names}) SET n = row.p{setting('n', times)} "
        async with graph.transaction(writes=True, seconds=SECONDS) as transaction:
            for piece in pieces:
                answer = await transaction.run(statement + "RETURN row.k AS k, elementId(n) AS i", {"rows": piece})
                ids.update([(record["k"], record["i"]) async for record in answer])


async def _create_relationships(graph: Graph, rows: list[Row], ids: dict[str, str]) -> None:
    def sent(row: Row, times: Times) -> dict[str, object]:
        return {"s": ids[row[1]], "e": ids[row[2]], **given(row[3], times)}

    for (kind, times), pieces in await _sent(rows, lambda row: (row[0], zoned(row[3])), sent):
        statement = (
            "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row.s MATCH (b) WHERE elementId(b) = row.e "
            f"CREATE (a)-[r:{quoted(kind)}]->(b) SET r = row.p{setting('r', times)}"
        )
        created = 0
        async with graph.transaction(writes=True, seconds=SECONDS) as transaction:
            for piece in pieces:
                summary = await (await transaction.run(statement, {"rows": piece})).consume()
                created += summary.counters.relationships_created
        if created != sum(map(len, pieces)):
            raise GraphRefused("not every relationship of the snapshot could be created: empty the graph and try again")


async def _sent(
    rows: list[Row], key: Callable[[Row], tuple[Key, Times]], sent: Callable[[Row, Times], dict[str, object]]
) -> list[tuple[tuple[Key, Times], list[list[dict[str, object]]]]]:
    """Return rows as parameters, those alike together, in pieces that the driver packs without holding the loop up."""

    def made() -> list[tuple[tuple[Key, Times], list[list[dict[str, object]]]]]:
        return [
            (name, list(_pieces(sent(row, name[1]) for row in alike)))
            for name, alike in groupby(sorted(rows, key=key), key)
        ]

    return await asyncio.to_thread(made)


def _pieces(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, object]]]:
    piece, values = list[dict[str, object]](), 0
    for row in rows:
        piece.append(row)
        values += len(row) + sum(map(_weight, row["p"].values()))
        if values >= PIECE:
            yield piece
            piece, values = [], 0
    if piece:
        yield piece


def _weight(value: object) -> int:
    match value:
        case list():
            return len(value)
        case str():
            return 1 + len(value) // CHARACTERS
    return 1
