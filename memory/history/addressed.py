"""What a write names by the store's own ids, told by what it is: by that a replay finds it, which gives other ids."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from memory.graph.connections import Bulk
from memory.graph.cypher import quoted
from memory.graph.dump.serialization import serialized
from memory.graph.graph import Graph
from memory.json_value import Json

BY_ID: Final = "elementId()"
"""How `Deterministic.inexact` names it."""

MOST: Final = 1_000
"""Ids in one write that are looked up."""

SECONDS: Final = 10.0

_ID: Final = re.compile(r"#-?\d+:\d+|\d+:[0-9a-fA-F-]{36}:\d+")
"""As the embedded store writes them, and as Neo4j does."""

_NODE: Final = "MATCH (n) WHERE elementId(n) = $id RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS has"
_LINK: Final = (
    "MATCH (a)-[r]->(b) WHERE elementId(r) = $id RETURN elementId(r) AS id, type(r) AS type, properties(r) AS has, "
    "labels(a) AS from_labels, properties(a) AS from_has, labels(b) AS to_labels, properties(b) AS to_has"
)
_NODES: Final = "MATCH (n{label}) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS has"
_LINKS: Final = _LINK.replace("[r]", "[r:{type}]").replace(" WHERE elementId(r) = $id", "")


async def addressed(graph: Graph, params: Mapping[str, object]) -> dict[str, Json]:
    """Return, by id, what the ids among parameters are the ids of: label or type, and a digest without any word.

    Raises what `Graph.transaction` raises.
    """
    named = list(dict.fromkeys(_ids_in(params)))[:MOST]
    found: dict[str, Json] = {}
    if not named:
        return found
    async with graph.transaction(writes=False, seconds=SECONDS) as transaction:
        for name in named:
            async for row in await transaction.run(_NODE, {"id": name}):
                found[name] = {"label": min(row["labels"], default=""), "digest": _of_node(row)}
            if name in found:
                continue
            async for row in await transaction.run(_LINK, {"id": name}):
                found[name] = {"type": row["type"], "digest": _of_link(row)}
    return found


async def found_again(graph: Graph, named: Mapping[str, Json], params: object) -> object | None:
    """Return parameters with the ids that the same things have in this graph; None where one is not there alone.

    Raises what `Graph.transaction` raises.
    """
    ids: dict[str, str] = {}
    async with graph.transaction(writes=False, seconds=SECONDS) as transaction:
        for old, told in named.items():
            new = await _found(transaction, told) if isinstance(told, Mapping) else []
            if len(new) != 1:
                return None
            ids[old] = new[0]
    return _with(params, ids)


async def _found(transaction: Bulk, told: Mapping[str, Json]) -> list[str]:
    if "type" in told:
        statement, digest_of = _LINKS.format(type=quoted(str(told["type"]))), _of_link
    else:
        label = f":{quoted(str(told['label']))}" if told.get("label") else ""
        statement, digest_of = _NODES.format(label=label), _of_node
    return [str(row["id"]) async for row in await transaction.run(statement) if digest_of(row) == told.get("digest")]


def _of_node(row: Mapping[str, Any]) -> str:
    return _digest([sorted(row["labels"]), row["has"]])


def _of_link(row: Mapping[str, Any]) -> str:
    ends = [_digest([sorted(row[f"{end}_labels"]), row[f"{end}_has"]]) for end in ("from", "to")]
    return _digest([row["type"], row["has"], *ends])


def _digest(value: object) -> str:
    text = json.dumps(serialized(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _ids_in(value: object) -> Iterator[str]:
    match value:
        case str() if _ID.fullmatch(value):
            yield value
        case Mapping():
            for each in value.values():
                yield from _ids_in(each)
        case list() | tuple():
            for each in value:
                yield from _ids_in(each)


def _with(value: object, ids: Mapping[str, str]) -> object:
    match value:
        case str():
            return ids.get(value, value)
        case dict():
            return {key: _with(each, ids) for key, each in value.items()}
        case list():
            return [_with(each, ids) for each in value]
    return value
