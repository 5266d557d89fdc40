"""The schema in use and how tidy it is: by looking at all of a graph, or by the counts of a large one."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from memory.errors import GraphRefused
from memory.graph.cypher import quoted
from memory.json_value import Json

Row: TypeAlias = dict[str, Json]
Ask: TypeAlias = Callable[[str], Awaitable[list[Row]]]
"""Runs a statement that only reads."""

WHOLE: Final = 200_000
"""Nodes of a graph that is all looked at: 0.7 s of a core for 100,000, 9 s for a million."""

LOOKED: Final = 5_000
"""Of a large graph, nodes of each label whose property keys, and whose relationships', are looked at."""

COMPARED: Final = 20_000
"""Nodes that are looked at for duplicates, 0.4 s, and of a large graph for orphans."""

EVIDENCE: Final = 1_000
"""Nodes, and relationships, that are looked at for dates and for ids of events: 0.4 s where each has a vector."""

_NOT_TELLING: Final = re.compile(r"[\W_]+")

# Grouped by all their names at once: two looks at everything instead of four.
_NODES: Final = "MATCH (n) RETURN labels(n) AS names, keys(n) AS keys, count(*) AS count"
_RELATIONSHIPS: Final = "MATCH ()-[r]->() RETURN [type(r)] AS names, keys(r) AS keys, count(*) AS count"
_SOME_WITHOUT_LABEL: Final = (
    f"MATCH (n) WITH n LIMIT {LOOKED} WITH n WHERE size(labels(n)) = 0 RETURN keys(n) AS keys, count(*) AS count"
)
_LABELS: Final = "CALL db.labels() YIELD label AS name RETURN name"
_TYPES: Final = "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name"
_STATS: Final = "CALL apoc.meta.stats() YIELD value RETURN value.relTypes AS counts"
_LABELLED: Final = "(n:{name})"
_TYPED: Final = "()-[n:{name}]->()"
_LOOKS: Final = (
    f"MATCH (n:{{name}}) WITH n LIMIT {LOOKED} RETURN keys(n) AS keys, count(*) AS count",
    f"MATCH (n:{{name}}) WITH n LIMIT {LOOKED} MATCH (n)-[r]->() RETURN keys(r) AS keys, count(*) AS count",
)
_ALL: Final = "MATCH (n) RETURN count(n) AS count"
_ORPHANS: Final = "MATCH (n) WHERE NOT (n)--() RETURN count(n) AS count"
_SOME_ORPHANS: Final = f"MATCH (n) WITH n LIMIT {COMPARED} WITH n WHERE NOT (n)--() RETURN count(n) AS count"
# Lists are left out: vectors would not fit, and whose texts are the same is a double with any vector.
_DOUBLES: Final = (
    f"MATCH (n) WITH n LIMIT {COMPARED} WITH labels(n) AS l, count(*) AS c, "
    "[k IN keys(n) WHERE NOT valueType(n[k]) STARTS WITH 'LIST' | [k, n[k]]] AS p "
    "WHERE c > 1 AND size(p) > 0 RETURN sum(c - 1) AS count"
)


# What is in short lists counts too; the long ones are vectors.
_EVIDENCE: Final = (
    "MATCH {pattern} WITH n LIMIT {most} WITH [k IN keys(n) WHERE NOT valueType(n[k]) STARTS WITH 'LIST' | n[k]] + "
    "reduce(all = [], k IN [k IN keys(n) WHERE valueType(n[k]) STARTS WITH 'LIST' AND size(n[k]) < 32] | all + n[k]) "
    "AS held RETURN any(v IN held WHERE valueType(v) STARTS WITH 'DATE' OR valueType(v) CONTAINS 'DATETIME' OR "
    "(valueType(v) STARTS WITH 'STRING' AND v =~ '[0-9]{4}-[0-9]{2}(-.*)?')) AS dated, [v IN held WHERE "
    "valueType(v) STARTS WITH 'STRING' AND v =~ '[0-9a-f]{32}' | v] AS ids, count(*) AS count"
)


class Evidence(Struct, frozen=True):
    """Whether nodes, or relationships, hold when something was, and from which event it is known."""

    looked: int
    """How many were looked at, of which these tell."""
    undated: int
    """Without a time or an ISO date in any value."""
    cited: tuple[tuple[frozenset[str], int], ...]
    """What may be ids of events among the values, and how many have these."""

    def unsourced(self, events: Collection[str]) -> int:
        """Return how many have no id of these events in any value."""
        return self.looked - sum(count for ids, count in self.cited if not ids.isdisjoint(events))


class Schema(Struct, frozen=True):
    """What is in use now; names with how often they occur, the most frequent first."""

    labels: dict[str, int]
    relationship_types: dict[str, int]
    property_keys: dict[str, int]
    """Of nodes and relationships together."""
    nodes: int
    orphans: int
    """Nodes without any relationship."""
    duplicates: int
    """Nodes that have the labels and properties, lists left out, of another one: at least so many."""
    compared: int
    """Nodes looked at for duplicates; 0 where that was too much for one statement, in memory or in time."""
    note: str = ""
    """What of a large graph was not looked at, for the model; "" when all was."""
    evidence: tuple[Evidence, Evidence] | None = None
    """Of nodes and of relationships; None where that was too much for one statement."""
    vector_indexes: list[dict[str, Json]] = []
    """`{name, labels, properties, state}` each; the state is `ready`, or what is still to be done.

    Plain ones that were made by themselves too; others only while there is something to be said of them:
    `{name, state}`.
    """


async def survey(ask: Ask, whole: int = WHOLE) -> Schema:
    """Look at a graph: at all of it when it has at most `whole` nodes. Raises what `ask` raises."""
    nodes = await _figure(ask, _ALL)
    found = await (_whole(ask, nodes) if nodes <= whole else _large(ask, nodes))
    try:
        return replace(found, evidence=(await _evidence(ask, "(n)"), await _evidence(ask, "()-[n]->()")))
    except GraphRefused:
        return found


async def _whole(ask: Ask, nodes: int) -> Schema:
    of_nodes, of_relationships = await ask(_NODES), await ask(_RELATIONSHIPS)
    doubles = await _doubles(ask)
    return Schema(
        _counted(of_nodes, "names"),
        _counted(of_relationships, "names"),
        _counted([*of_nodes, *of_relationships], "keys"),
        nodes,
        await _figure(ask, _ORPHANS),
        doubles or 0,
        0 if doubles is None else min(COMPARED, nodes),
    )


async def _large(ask: Ask, nodes: int) -> Schema:
    labels, types = await _counts(ask, _LABELS, _LABELLED), await _types(ask)
    keys = [row for name in labels for look in _LOOKS for row in await ask(_for(name, look))]
    doubles = await _doubles(ask)
    return Schema(
        _sorted(labels),
        _sorted(types),
        _counted([*keys, *await ask(_SOME_WITHOUT_LABEL)], "keys"),
        nodes,
        await _figure(ask, _SOME_ORPHANS),
        doubles or 0,
        0 if doubles is None else COMPARED,
        f"a large graph: propertyKeys are counted among {LOOKED} nodes of each label and what leaves them, orphans "
        f"among {COMPARED} nodes; labels and relationshipTypes are exact",
    )


async def _types(ask: Ask) -> dict[str, int]:
    """Return how many relationships have each type, from the store's own counts; it may have a procedure for them."""
    try:
        [row] = await ask(_STATS)
    except GraphRefused:
        return await _counts(ask, _TYPES, _TYPED)
    counts = row["counts"] if isinstance(row["counts"], dict) else {}
    return {name: int(str(count)) for name, count in counts.items() if count}


async def _counts(ask: Ask, names: str, pattern: str) -> dict[str, int]:
    """Return how many nodes or relationships have each name; one that nothing has any more is left out.

    A statement for each: only this form is answered from the store's own counts.
    """
    known = [str(row["name"]) for row in await ask(names)]
    counts = {name: await _figure(ask, f"MATCH {_for(name, pattern)} RETURN count(n) AS count") for name in known}
    return {name: count for name, count in counts.items() if count}


async def _doubles(ask: Ask) -> int | None:
    """Return the number of doubles; None where that is too much for one statement, in memory or in time."""
    try:
        return await _figure(ask, _DOUBLES)
    except GraphRefused:
        return None


async def _evidence(ask: Ask, pattern: str) -> Evidence:
    rows = await ask(_EVIDENCE.replace("{pattern}", pattern).replace("{most}", str(EVIDENCE)))
    counted = [(row, int(str(row["count"]))) for row in rows]
    cited = ((frozenset(map(str, ids)), count) for row, count in counted if isinstance(ids := row["ids"], list) and ids)
    undated = sum(count for row, count in counted if not row["dated"])
    return Evidence(sum(count for _, count in counted), undated, tuple(cited))


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


def _for(name: str, pattern: str) -> str:
    return pattern.replace("{name}", quoted(name))


def alike(names: Iterable[str]) -> list[list[str]]:
    """Return groups of names that differ only in case, in marks between their words, or in a plural's s."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[_key(name)].append(name)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def used_once(counts: Mapping[str, int]) -> list[str]:
    """Return the names that one node or relationship has."""
    return sorted(name for name, count in counts.items() if count == 1)


def _key(name: str) -> str:
    plain = _NOT_TELLING.sub("", unicodedata.normalize("NFKC", name).casefold()) or name
    return plain.removesuffix("s") if len(plain) > 3 else plain
