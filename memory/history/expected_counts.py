"""Nodes and relationships that the audit log expects, compared with what is there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from memory.errors import GraphRefused
from memory.graph.graph import Graph
from memory.history.audit_record import Record

# Looking at what each holds reads the files; a bare count comes out of the store's own notes, which may be whole.
_NODES: Final = "MATCH (n) WHERE size(keys(n)) >= 0 RETURN count(*) AS n"
_RELATIONSHIPS: Final = "MATCH ()-[r]->() WHERE size(keys(r)) >= 0 RETURN count(*) AS n"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many there are."""

    nodes: int
    relationships: int

    @property
    def all(self) -> int:
        """Both together."""
        return self.nodes + self.relationships

    def lacks(self, other: "Counts") -> bool:
        """Say whether there are fewer of either kind than in another."""
        return self.nodes < other.nodes or self.relationships < other.relationships


def expected(records: Iterable[Record]) -> Counts | None:
    """Return what must be there after these records, all from the first on; None where they do not tell.

    A write of which nobody knows whether it was kept counts as one that was not.
    """
    counts: Counts | None = Counts(0, 0)
    for record in records:
        match record.kind:
            case "snapshot":
                counts = Counts(_figure(record.facts, "nodes"), _figure(record.facts, "relationships"))
            case "restoring" | "erased" | "lost":
                counts = None  # until the snapshot that follows
            case "outcome" if counts is not None:
                counts = _after(counts, record.facts.get("stats"))
    return counts


async def counted(graph: Graph) -> Counts | None:
    """Return what is there, by reading all of it (1 s of a core for 100,000); None where that cannot be read.

    Raises `GraphUnavailable`.
    """
    try:
        figures = [(await graph.read(statement)).records[0] for statement in (_NODES, _RELATIONSHIPS)]
    except GraphRefused:
        return None
    nodes, relationships = (_figure(row, "n") for row in figures)
    return Counts(nodes, relationships)


def _after(counts: Counts, stats: object) -> Counts:
    if not isinstance(stats, dict):
        return counts
    return replace(
        counts,
        nodes=counts.nodes + _figure(stats, "nodesCreated") - _figure(stats, "nodesDeleted"),
        relationships=counts.relationships
        + _figure(stats, "relationshipsCreated")
        - _figure(stats, "relationshipsDeleted"),
    )


def _figure(figures: Mapping[str, object], name: str) -> int:
    return int(str(figures.get(name, 0)))
