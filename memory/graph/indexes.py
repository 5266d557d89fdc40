"""Makes vector and full-text indexes in the store of the box, whose Cypher does not take them, by its own SQL."""

import asyncio
import json
from http.client import HTTPException
from pathlib import Path
from typing import Final

from memory.errors import CommitUncertain, GraphRefused, GraphUnavailable
from memory.graph.definitions import IndexDefinition
from memory.graph.http import OK, Door
from memory.graph.server import DATABASE
from memory.graph.store import Login, VectorOptions

BUILD_SECONDS: Final = 10.0
"""A call waits so long for an index to be built: about 2,000 vectors of 384 numbers on two busy cores."""

_THERE: Final = "already exists"


async def make(wanted: IndexDefinition, port: int, login: Login) -> int:
    """Make an index, durably; return 1, or 0 when it was there and the definition allows that.

    `port` is the store's HTTP door, `login` one that may change the schema. Raises `GraphRefused`, `GraphUnavailable`,
    and `CommitUncertain` when building takes longer than a call may.
    """
    return await asyncio.to_thread(_make, wanted, port, login)


def _make(wanted: IndexDefinition, port: int, login: Login) -> int:
    try:
        with Door(port, DATABASE, login, BUILD_SECONDS) as door:
            answers = (door.command("sql", sql) for sql in wanted.sql)
            refused = next((answer.detail for answer in answers if answer.status != OK), None)
    except TimeoutError as error:
        raise CommitUncertain(
            "the index is still being built (about 5 s for each 1000 vectors): memory_schema lists it once it is "
            "there; compare with vector.similarity.cosine meanwhile"
        ) from error
    except (OSError, HTTPException) as error:
        raise GraphUnavailable(f"the memory broke off while the index was made ({error}): try again") from error
    if refused is None:
        return 1
    if _THERE in refused and wanted.once:
        return 0
    raise GraphRefused(refused or "the store refused this index without a reason")


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
