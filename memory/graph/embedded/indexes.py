"""Index operations over the embedded store's HTTP API: create, look up, warm."""

import asyncio
import json
from collections.abc import Iterable
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from memory.errors import CommitUncertain, GraphRefused, GraphUnavailable
from memory.graph.dump.definitions import IndexDefinition
from memory.graph.embedded.http_api import OK, Address
from memory.graph.embedded.refusals import check_label_free, free_name
from memory.graph.store import Made, VectorOptions

BUILD_SECONDS: Final = 3600.0
"""For one index to be built, in the background."""

LOOK_SECONDS: Final = 10.0
"""For asking how the indexes are: milliseconds, but a store that builds one may answer late."""

QUICK: Final = 1_000
"""Vectors. Fewer are built into their index within the question that needs it, 0.5 s; an index of more is brought up to
date by the store itself, beside the questions (its ASYNC_REBUILD_MIN_GRAPH_SIZE)."""

_THERE: Final = ("already exists", "existent index")
_TIME_LIMIT: Final = "command.timeout"
_NEAREST: Final = "CALL db.index.vector.queryNodes($name, 1, $vector) YIELD score RETURN score"


class VectorIndex(Struct, frozen=True):
    """How far one vector index is: all the parts of it that the store keeps, one for each set of labels."""

    name: str
    dimensions: int
    vectors: int
    is_cold: bool
    """Whether the next question would have to read it from the disk, or to build it over more than `QUICK` vectors."""


def create(wanted: IndexDefinition, at: Address, *, anew: bool = False) -> Made:
    """Make an index; nothing is added when it, or its like, was there and the definition allows that. Blocking.

    A vector index knows its vectors on return and is built by the first question (`warm`). `anew` drops first what is
    left of it. Raises `GraphRefused`, OSError and HTTPException.
    """
    with at.open(BUILD_SECONDS) as client:
        if wanted.label:
            check_label_free(wanted.label, client)
        if anew and wanted.kind != "PLAIN":
            client.command("sql", f"DROP INDEX `{wanted.known_as}` IF EXISTS")
        for language, text in wanted.commands:
            answer = client.command(language, text)
            if answer.status == OK:
                continue
            if wanted.once and any(words in answer.detail for words in _THERE):
                return Made(0)
            raise GraphRefused(answer.detail or "the store refused this index without a reason")
    if wanted.kind != "PLAIN":
        return Made(1)
    stats = json.loads(answer.body).get("stats", {})
    return Made(stats.get("indexesAdded", 0), constraints=stats.get("constraintsAdded", 0))


async def made_at_once(wanted: IndexDefinition, at: Address) -> Made:
    """Make an index in a store whose indexes nobody keeps. Raises `GraphRefused`, `CommitUncertain`."""
    try:
        return await asyncio.to_thread(create, wanted, at)
    except (OSError, HTTPException) as error:
        raise CommitUncertain(
            f"the memory broke off while the index was made ({error}): SHOW INDEXES tells whether it is there, "
            "once the memory is back"
        ) from error


def look(wanted: IndexDefinition, at: Address) -> tuple[bool, int]:
    """Say whether an index of this name is there, and how many nodes it is over: nothing is known of a plain one.

    Blocking. Raises OSError and HTTPException.
    """
    if wanted.kind == "PLAIN":
        return False, 0
    with at.open(LOOK_SECONDS) as client:
        is_there = any(row["name"] == wanted.known_as for row in client.rows("SELECT FROM schema:indexes"))
        counted = client.rows(f"SELECT count(*) AS nodes FROM `{wanted.label}`")
    return is_there, sum(row["nodes"] for row in counted)


def free_name_at(name: str, at: Address) -> bool:
    """Take an empty label or relationship type away, as `free_name` does. Blocking; raises what that raises."""
    with at.open(LOOK_SECONDS) as client:
        return free_name(name, client)


def warm(index: VectorIndex, at: Address) -> bool:
    """Ask an index for anything, so that the store reads or builds it; say whether it did. Blocking.

    At the store's time limit for a statement the question ends and the building goes on: ask again. Raises
    `GraphRefused` when it cannot be built, OSError and HTTPException.
    """
    anything = [1.0] + [0.0] * (index.dimensions - 1)
    with at.open(BUILD_SECONDS) as client:
        answer = client.command("opencypher", _NEAREST, {"name": index.name, "vector": anything})
    if answer.status != OK and _TIME_LIMIT not in answer.detail:
        raise GraphRefused(answer.detail or "the store did not say why")
    return answer.status == OK


def vector_indexes(at: Address) -> list[VectorIndex]:
    """Return how the vector indexes are. Blocking. Raises OSError and HTTPException."""
    with at.open(LOOK_SECONDS) as client:
        rows = [row for row in client.rows("SELECT FROM schema:indexes") if row.get("indexType") == "LSM_VECTOR"]
        names = {_place(row): row["name"] for row in rows if "associatedBucketId" not in row}
        parts: dict[str, list[dict[str, Any]]] = {name: [] for name in names.values()}
        for row in rows:
            if "associatedBucketId" in row and _place(row) in names:
                parts[names[_place(row)]] += client.rows(f"SELECT FROM schema:index:`{row['name']}`")
    return [_vector_index(name, found) for name, found in parts.items()]


def _vector_index(name: str, parts: Iterable[dict[str, Any]]) -> VectorIndex:
    known = [part for part in parts if part["totalVectors"]]
    return VectorIndex(
        name,
        max((part["dimensions"] for part in known), default=0),
        sum(part["totalVectors"] for part in known),
        any(_is_cold(part["totalVectors"], part["graphNodeCount"], part["graphState"]) for part in known),
    )


def _is_cold(vectors: int, built: int, state: int) -> bool:
    """Say whether a part of an index is still on the disk (state 0), or lacks many vectors and does not catch up."""
    return state == 0 or (built < QUICK <= vectors - built)


def _place(row: dict[str, Any]) -> str:
    return json.dumps([row["typeName"], row["properties"]])


def vector_options(schema: Path) -> dict[str, VectorOptions]:
    """Return dimensions and function of the vector indexes in the store's list of labels, by name. Blocking.

    Raises `GraphUnavailable` for a file that cannot be read.
    """
    found: dict[str, VectorOptions] = {}
    try:
        kinds = json.loads(schema.read_bytes())["types"].values()
    except (OSError, ValueError, KeyError) as error:
        raise GraphUnavailable(f"the memory's list of labels cannot be read ({error}): try again") from error
    for kind in kinds:
        for index in kind.get("indexes", {}).values():
            if index.get("type") == "LSM_VECTOR":
                given = f"{index['typeName']}[{','.join(index['properties'])}]"
                name = index.get("typeIndexName") or given
                found[name] = VectorOptions(index["dimensions"], index["similarityFunction"])
    return found
