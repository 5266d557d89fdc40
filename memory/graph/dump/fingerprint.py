"""Fingerprints of dumps: equal for graphs that are equal but for the ids their stores gave."""

import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

from memory.graph.dump.dump import check_dump, read_dump

ROUNDS: Final = 3
"""How far around itself a node is seen: graphs that differ only farther away, among nodes alike in all else, pass."""


def fingerprint(path: Path) -> str:
    """Return the fingerprint of a dumped graph: equal for equal graphs, whatever the order and the ids.

    By colour refinement (Weisfeiler and Leman, 1968): a node's colour is its labels and properties, then those and the
    colours around it. Blocking, with the whole graph in memory. Raises `SnapshotBroken`.
    """
    colours: dict[str, str] = {}
    around: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    rest: Counter[str] = Counter()
    for row in read_dump(path):
        match row:
            case {"n": [node, labels, properties]}:
                colours[node] = _digest([sorted(labels), properties])
            case {"r": [kind, start, end, properties]}:
                told = _digest([kind, properties])
                around[start].append(("out", told, end))
                around[end].append(("in", told, start))
                rest[told] += 1
    for _ in range(ROUNDS):
        colours = {
            node: _digest([colour, sorted((way, told, colours[other]) for way, told, other in around[node])])
            for node, colour in colours.items()
        }
    return _digest([sorted(Counter(colours.values()).items()), sorted(rest.items())])


def contents(path: Path) -> tuple[Counter[str], Counter[str]]:
    """Return how often each node, and each relationship with its two ends, is in a dump, as JSON texts.

    Blocking. Raises `SnapshotBroken`.
    """
    check_dump(path)  # of a damaged file any value may be of any kind
    nodes: dict[str, str] = {}
    relationships: Counter[str] = Counter()
    for row in read_dump(path):
        match row:
            case {"n": [node, labels, properties]}:
                nodes[node] = _text([sorted(labels), properties])
            case {"r": [kind, start, end, properties]}:
                relationships[_text([kind, properties, nodes[start], nodes[end]])] += 1
    return Counter(nodes.values()), relationships


def _digest(value: object) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
