"""What is in use in a graph and how tidy it is: by looking at all of it, or, in a large one, by the store's counts."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from memory.errors import GraphRefused
from memory.graph.store import Json

Row: TypeAlias = dict[str, Json]
Ask: TypeAlias = Callable[[str], Awaitable[list[Row]]]
"""Runs a statement that only reads."""

WHOLE: Final = 300_000
"""Nodes and relationships that are all looked at: 0.7 s of a core for 100,000 nodes, 9 s for a million."""

LOOKED: Final = 5_000
"""Of a large graph, nodes of each label and relationships of each type whose property keys are looked at."""

COMPARED: Final = 20_000
"""Nodes that are looked at for duplicates, 0.4 s, and of a large graph for orphans."""

TOGETHER: Final = 50
"""Names asked for in one statement."""

# Grouped by all their names at once: two looks at everything instead of four.
_NODES: Final = "MATCH (n) RETURN labels(n) AS names, keys(n) AS keys, count(*) AS count"
_RELATIONSHIPS: Final = "MATCH ()-[r]->() RETURN [type(r)] AS names, keys(r) AS keys, count(*) AS count"
_SOME_WITHOUT_LABEL: Final = (
    f"MATCH (n) WITH n LIMIT {LOOKED} WITH n WHERE size(labels(n)) = 0 RETURN keys(n) AS keys, count(*) AS count"
)
_LABELS: Final = "CALL db.labels() YIELD label AS name RETURN name"
_TYPES: Final = "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name"
_ALL: Final = "MATCH (n) RETURN count(n) AS count"
_ORPHANS: Final = "MATCH (n) WHERE NOT (n)--() RETURN count(n) AS count"
_SOME_ORPHANS: Final = f"MATCH (n) WITH n LIMIT {COMPARED} WITH n WHERE NOT (n)--() RETURN count(n) AS count"
# Lists are left out: vectors would not fit, and whose texts are the same is a double with any vector.
_DOUBLES: Final = (
    f"MATCH (n) WITH n LIMIT {COMPARED} WITH labels(n) AS l, count(*) AS c, "
    "[k IN keys(n) WHERE NOT valueType(n[k]) STARTS WITH 'LIST' | [k, n[k]]] AS p "
    "WHERE c > 1 AND size(p) > 0 RETURN sum(c - 1) AS count"
)


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found; names with how often they occur, the most frequent first."""

    labels: dict[str, int]
    types: dict[str, int]
    keys: dict[str, int]
    nodes: int
    orphans: int
    duplicates: int
    compared: int
    """Nodes looked at for duplicates; 0 where the store's memory does not hold so long texts."""
    note: str = ""
    """What was not looked at, for the model; "" when all was."""


async def survey(ask: Ask) -> Survey:
    """Look at a graph. Raises what `ask` raises."""
    types = await _counts(ask, _TYPES, "()-[n:{name}]->()")
    nodes = await _figure(ask, _ALL)
    if nodes + sum(types.values()) <= WHOLE:
        return await _whole(ask, nodes)
    return await _large(ask, await _counts(ask, _LABELS, "(n:{name})"), types, nodes)


async def _whole(ask: Ask, nodes: int) -> Survey:
    of_nodes, of_relationships = await ask(_NODES), await ask(_RELATIONSHIPS)
    doubles = await _doubles(ask)
    return Survey(
        _counted(of_nodes, "names"),
        _counted(of_relationships, "names"),
        _counted([*of_nodes, *of_relationships], "keys"),
        nodes,
        await _figure(ask, _ORPHANS),
        doubles or 0,
        0 if doubles is None else min(COMPARED, nodes),
    )


async def _large(ask: Ask, labels: Mapping[str, int], types: Mapping[str, int], nodes: int) -> Survey:
    keys = [*await _keys(ask, labels, "(n:{name})"), *await _keys(ask, types, "()-[n:{name}]->()")]
    doubles = await _doubles(ask)
    return Survey(
        _sorted(labels),
        _sorted(types),
        _counted([*keys, *await ask(_SOME_WITHOUT_LABEL)], "keys"),
        nodes,
        await _figure(ask, _SOME_ORPHANS),
        doubles or 0,
        0 if doubles is None else COMPARED,
        f"a large graph: propertyKeys are counted among {LOOKED} of each label and type, orphans among {COMPARED} "
        "nodes; labels and relationshipTypes are exact",
    )


async def _counts(ask: Ask, names: str, pattern: str) -> dict[str, int]:
    """Return how many nodes or relationships have each name; one that nothing has any more is left out."""
    rows = await _each(ask, [str(row["name"]) for row in await ask(names)], f"MATCH {pattern} RETURN", "count(n)")
    return {str(row["name"]): int(str(row["count"])) for row in rows if row["count"]}


async def _keys(ask: Ask, names: Iterable[str], pattern: str) -> list[Row]:
    return await _each(ask, list(names), f"MATCH {pattern} WITH n LIMIT {LOOKED} RETURN keys(n) AS keys,", "count(*)")


async def _each(ask: Ask, names: list[str], statement: str, counted: str) -> list[Row]:
    """Run a statement for each name, many in one; `{name}` in it is the name, and each row says it."""
    rows: list[Row] = []
    for first in range(0, len(names), TOGETHER):
        parts = (
            f"{statement.replace('{name}', _quoted(name))} {_text(name)} AS name, {counted} AS count"
            for name in names[first : first + TOGETHER]
        )
        rows += await ask(" UNION ALL ".join(parts))
    return rows


async def _doubles(ask: Ask) -> int | None:
    """Return the number of doubles; None where the store's memory does not hold so long texts."""
    try:
        return await _figure(ask, _DOUBLES)
    except GraphRefused:
        return None


async def _figure(ask: Ask, cypher: str) -> int:
    [row] = await ask(cypher)
    return int(str(row["count"]))


def _counted(rows: Iterable[Row], column: str) -> dict[str, int]:
    """Return how often each name in a column's lists occurs, the most frequent first."""
    counts: Counter[str] = Counter()
    for row in rows:
        names = row[column]
        for name in names if isinstance(names, list) else []:
            counts[str(name)] += int(str(row["count"]))
    return _sorted(counts)


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _text(name: str) -> str:
    """Return a name as a text of Cypher: parameters have no place in what is put together of many statements."""
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
