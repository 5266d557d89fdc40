"""Differences of each store's Cypher, in the words the model reads."""

from typing import Final

from msgspec import Struct


class Dialect(Struct, frozen=True):
    """A store's Cypher, told by its differences from what a model has learnt."""

    name: str
    reading: tuple[str, ...]
    """Sentences for who queries; none names a label, property or relationship type of its own."""
    writing: tuple[str, ...]
    """Sentences for who writes."""
    unexplained: tuple[str, ...] = ()
    """How messages begin that do not say what was wrong."""
    is_one_kind: bool = False
    """Whether a name is either a label or a relationship type, never both."""


# Each sentence is shown by a test on the store: tests/memory/graph/test_dialects.py, test_graph_contract.py.
EMBEDDED: Final = Dialect(
    "openCypher (Neo4j 5 style)",
    reading=(
        "Vectors: vector.similarity.cosine(n.v, $vector) is the cosine, from -1 to 1; ORDER BY it DESC with a LIMIT: "
        "exact, 0.1 s for 1000, too slow over 50000. By a vector index, CALL db.index.vector.queryNodes(index, k, "
        "$vector) YIELD node, score takes 0.1 s over 50000; approximate, score is (1 + cosine) / 2. One that is being "
        "built is refused: memory_schema says how far it is.",
        "toString() of a time leaves out zero seconds: compare times as times.",
        "Not there: SHORTEST k, ANY SHORTEST (shortestPath() is), CYPHER and USE prefixes, EXPLAIN, LOAD CSV, gds, "
        "apoc procedures (many apoc functions are). db.propertyKeys() is empty.",
    ),
    writing=(
        "A name is either a label or a relationship type, never both. No ~ in a label.",
        "CREATE (n:$($names)) does not count in labelsAdded; CREATE leaves out one that is a relationship type.",
        "elementId changes when a node's labels change: give what you want to find again an id of your own.",
        "An index fixes the type of its property: later values are converted (1.5 becomes 1, a date a text) or "
        "refused. Those for finding by name come by themselves, and fix nothing.",
        "Indexes: RANGE, uniqueness constraints, CREATE VECTOR INDEX name IF NOT EXISTS FOR … ON … OPTIONS "
        "{indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine'}}, CREATE FULLTEXT INDEX name "
        "IF NOT EXISTS FOR … ON EACH […]; the last two for nodes of one label. Over many nodes it is built later.",
    ),
    unexplained=("Error executing ",),
    is_one_kind=True,
)

NEO4J: Final = Dialect(
    "Neo4j 5 Cypher",
    reading=(
        "Vectors: vector.similarity.cosine(n.v, $vector) is (1 + cosine) / 2, from 0 to 1; ORDER BY it DESC with a "
        "LIMIT, or CALL db.index.vector.queryNodes(index, k, $vector) YIELD node, score where there is an index.",
        "What stands beside count() or collect() is the group: give it a column of its own, not a place in a list.",
        "Not there: LOAD CSV, and gds and apoc unless the server has them.",
    ),
    writing=(
        "A property holds a text, number, boolean, time, point or a list of one of these, not a list of lists.",
        "elementIds are reused: give what you want to find again an id of your own.",
        "A vector index: CREATE VECTOR INDEX … IF NOT EXISTS FOR … ON … OPTIONS {indexConfig: "
        "{`vector.dimensions`: …, `vector.similarity_function`: 'cosine'}}.",
    ),
)
