"""Evidence for tidying a graph, found without a model and without knowing a label: ids, and why they are told."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from msgspec import Struct

from memory.graph.graph import Graph
from memory.json_value import Json

LOOKED: Final = 20_000
"""Nodes, and relationships, that are looked at."""

COMPARED: Final = 2_000
"""Nodes with a vector that are compared: 2,000 with 384 numbers each take 0.1 s."""

SECONDS: Final = 30.0

LONGEST_NAME: Final = 60
"""Characters of a value that may be a name."""

MOST_ALIKE: Final = 4
"""Nodes that share a name; what more have is no name but a kind."""

NEAR: Final = 0.95
"""Cosine of vectors that say the same."""

SHOWN: Final = 3
"""Values by which a node is shown."""

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORD: Final = re.compile(r"\w+")

_NODES: Final = f"MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties LIMIT {LOOKED}"
_LINKS: Final = (
    "MATCH (a)-[r]->(b) RETURN type(r) AS type, elementId(a) AS start, elementId(b) AS end, "
    f"properties(r) AS properties LIMIT {LOOKED}"
)


class Node(Struct, frozen=True):
    """A node as it is looked at."""

    id: str
    labels: tuple[str, ...]
    properties: Mapping[str, Json]
    """Without lists."""
    vector: tuple[float, ...] = ()
    """The first list of numbers among its properties."""

    def shown(self) -> dict[str, Json]:
        """Return what tells it from others: its id, labels, and a few short values."""
        short = {key: value for key, value in self.properties.items() if len(str(value)) <= 2 * LONGEST_NAME}
        return {"id": self.id, "labels": [*self.labels], **dict(list(short.items())[:SHOWN])}


class Link(Struct, frozen=True):
    """A relationship as it is looked at."""

    type: str
    start: str
    end: str
    properties: Mapping[str, Json]


class Shape(Struct, frozen=True):
    """What of a graph is looked at: all of it, up to `LOOKED` nodes and relationships."""

    nodes: Sequence[Node]
    links: Sequence[Link]
    by_id: Mapping[str, Node] = {}


async def look(graph: Graph) -> Shape:
    """Read nodes and relationships in one transaction. Raises what `Graph.transaction` raises."""
    from memory.graph.values import plain

    async with graph.transaction(writes=False, seconds=SECONDS) as transaction:
        nodes = [
            _node(row["id"], row["labels"], row["properties"], plain) async for row in await transaction.run(_NODES)
        ]
        links = [
            Link(row["type"], row["start"], row["end"], {k: plain(v) for k, v in row["properties"].items()})
            async for row in await transaction.run(_LINKS)
        ]
    return Shape(nodes, links, {node.id: node for node in nodes})


def unlinked(shape: Shape) -> list[dict[str, Json]]:
    """Return the nodes without relationships."""
    linked = {end for link in shape.links for end in (link.start, link.end)}
    return [node.shown() for node in shape.nodes if node.id not in linked]


def alike(shape: Shape) -> list[dict[str, Json]]:
    """Return groups of nodes that may be the same: by a name that is the same, or longer; or by their vectors."""
    found = {tuple(sorted(node.id for node in group)): why for why, group in (*_by_name(shape), *_by_vector(shape))}
    return [{"why": why, "nodes": _with_differences([shape.by_id[name] for name in ids])} for ids, why in found.items()]


def contradicting(shape: Shape) -> list[dict[str, Json]]:
    """Return what one node says with several dates: relationships of one type to several nodes.

    Where all but one of them have two dates or more, the others are over, and nothing is told.
    """
    by_kind: defaultdict[tuple[str, str], list[Link]] = defaultdict(list)
    for link in shape.links:
        if link.start in shape.by_id and link.end in shape.by_id:
            by_kind[link.start, link.type].append(link)
    found = list[dict[str, Json]]()
    for (start, kind), links in by_kind.items():
        if not 1 < len({link.end for link in links}) <= MOST_ALIKE:
            continue
        dates = [_dates(link, shape) for link in links]
        still_open = [each for each in dates if len(each) < 2]
        if len({tuple(sorted(each.items())) for each in dates}) > 1 and len(still_open) > 1 and any(dates):
            values: list[Json] = [
                {**shape.by_id[link.end].shown(), "dates": {**each}} for link, each in zip(links, dates, strict=True)
            ]
            found.append({"of": shape.by_id[start].shown(), "type": kind, "values": values})
    return found


def _node(name: str, labels: Sequence[str], properties: Mapping[str, Any], plain: Any) -> Node:
    vectors = (tuple(value) for value in properties.values() if isinstance(value, list) and _is_vector(value))
    told = {key: plain(value) for key, value in properties.items() if not isinstance(value, list)}
    return Node(name, tuple(labels), told, next(vectors, ()))


def _is_vector(value: Sequence[object]) -> bool:
    return len(value) > SHOWN and all(isinstance(item, float) for item in value)


def _by_name(shape: Shape) -> Iterator[tuple[str, list[Node]]]:
    """Yield nodes with a label in common that have the same short text, or all words of each other's."""
    named: defaultdict[tuple[str, str], defaultdict[tuple[str, ...], list[Node]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for node in shape.nodes:
        for key, value in node.properties.items():
            if isinstance(value, str) and len(value) <= LONGEST_NAME and (words := _words(value)):
                for label in node.labels:
                    named[label, key][words].append(node)
    for (_, key), by_words in named.items():
        for words, nodes in by_words.items():
            if 1 < len(nodes) <= MOST_ALIKE:
                yield f"the same {key}", nodes
            yield from _longer(key, words, nodes, by_words)


def _longer(
    key: str, words: tuple[str, ...], nodes: Sequence[Node], by_words: Mapping[tuple[str, ...], Sequence[Node]]
) -> Iterator[tuple[str, list[Node]]]:
    """Yield a node named by one word with the few whose name has that word and others."""
    if len(words) != 1 or len(nodes) > 1:
        return
    longer = [node for other, held in by_words.items() if len(other) > 1 and words[0] in other for node in held]
    if 0 < len(longer) < MOST_ALIKE:
        yield f"one {key} is part of the other", [*nodes, *longer]


def _by_vector(shape: Shape) -> Iterator[tuple[str, list[Node]]]:
    import numpy as np

    by_length: defaultdict[int, list[Node]] = defaultdict(list)
    for node in shape.nodes:
        if node.vector:
            by_length[len(node.vector)].append(node)
    for nodes in by_length.values():
        compared = nodes[:COMPARED]
        matrix = np.array([node.vector for node in compared], np.float32)
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
        for one, other in zip(*np.where(np.triu(matrix @ matrix.T, 1) >= NEAR), strict=True):
            if set(compared[one].labels) & set(compared[other].labels):
                yield "vectors that are near", [compared[one], compared[other]]


def _with_differences(nodes: Sequence[Node]) -> list[Json]:
    """Return nodes as they are shown, with the values in which two of them differ."""
    shared = set.intersection(*(set(node.properties) for node in nodes)) if nodes else set()
    differing = [
        key for key in sorted(shared) if any(a.properties[key] != b.properties[key] for a, b in combinations(nodes, 2))
    ][:SHOWN]
    return [{**node.shown(), **{key: node.properties[key] for key in differing}} for node in nodes]


def _dates(link: Link, shape: Shape) -> dict[str, Json]:
    """Return what holds a date on a relationship, or, where nothing does, on the node that it leads to."""
    of_link = {key: value for key, value in link.properties.items() if _DATE.match(str(value))}
    return of_link or {k: v for k, v in shape.by_id[link.end].properties.items() if _DATE.match(str(v))}


def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return () if _DATE.match(plain) else tuple(_WORD.findall(plain))
