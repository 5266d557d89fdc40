"""The contract of the two stores: statements as models write them, what each must give, and where a store differs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from memory.errors import GraphRefused
from memory.graph.graph import Graph
from memory.graph.store import EMBEDDED, NEO4J, Dialect

PAGE: Final = Path(__file__).parents[2] / "docs" / "graph.md"
BEGIN: Final = "<!-- contract -->\n"
END: Final = "<!-- /contract -->"

PEOPLE: Final = [
    {"id": 1, "name": "Ann", "age": 30, "born": "1995-01-02", "tags": ["x", "y"]},
    {"id": 2, "name": "Bob", "age": 40, "born": "1985-03-04", "tags": ["y"]},
    {"id": 3, "name": "小明", "age": 20, "born": "2005-05-06", "tags": []},
    {"id": 4, "name": "Dee", "age": None, "born": "1999-01-01", "tags": ["z"]},
]

STORES: Final[dict[str, Dialect]] = {"neo4j": NEO4J, "embedded": EMBEDDED}


class Case(Struct, frozen=True):
    """One statement, run on the graph that `people` makes."""

    group: str
    cypher: str
    params: Mapping[str, Any] = {}
    rows: list[Any] | None = None
    """The values `v` of a reading one, in order."""
    stats: Mapping[str, int] | None = None
    """The counters that are not zero of a writing one; with `rows` None too, both stores refuse it, in words."""
    differs: Mapping[str, str] = {}
    """Store -> words of the sentence in its tool descriptions that tells of the difference."""


async def people(graph: Graph) -> None:
    """Fill an empty graph with four nodes and three relationships."""
    await graph.write("UNWIND $rows AS row CREATE (n:A) SET n = row, n.born = date(row.born)", {"rows": PEOPLE})
    await graph.write(
        "UNWIND $links AS l MATCH (a:A {id: l[0]}), (b:A {id: l[1]}) CREATE (a)-[:L {w: l[2]}]->(b)",
        {"links": [[1, 2, 1], [2, 3, 2], [1, 4, 3]]},
    )


async def gives(case: Case, graph: Graph) -> bool:
    """Run a case and say whether it gave what it must."""
    try:
        if case.rows is not None:
            return bool([row["v"] for row in (await graph.read(case.cypher, case.params)).records] == case.rows)
        stats = (await graph.write(case.cypher, case.params)).stats
    except GraphRefused:
        return case.rows is None and case.stats is None
    return {name: count for name, count in stats.items() if count} == case.stats


def told(dialect: Dialect) -> str:
    """Return all that the tool descriptions say of a store's Cypher."""
    return " ".join(dialect.reading + dialect.writing)


def rendered(cases: list[Case]) -> str:
    """Return the page's table: a line a group, and one for each statement that a store takes otherwise."""
    lines = ["| statements about | in all | Neo4j | embedded |", "|---|---|---|---|"]
    for group in dict.fromkeys(case.group for case in cases):
        members = [case for case in cases if case.group == group]
        passed = [sum(store not in case.differs for case in members) for store in STORES]
        lines.append(f"| {group} | {len(members)} | {passed[0]} | {passed[1]} |")
    totals = [sum(store not in case.differs for case in cases) for store in STORES]
    lines += [f"| **all** | **{len(cases)}** | **{totals[0]}** | **{totals[1]}** |", ""]
    lines += ["| what differs | on | what the model is told |", "|---|---|---|"]
    for case in cases:
        for store, words in case.differs.items():
            lines.append(f"| `{_cell(case.cypher)}` | {store} | {_cell(_sentence(STORES[store], words))} |")
    return "\n".join(lines) + "\n"


def page(before: str, cases: list[Case]) -> str:
    """Return the page with its generated part made anew. Raises ValueError where its marks are missing."""
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not rest or not tail:
        raise ValueError(f"{PAGE} has no {BEGIN.strip()} and {END}")
    return f"{head}{BEGIN}{rendered(cases)}{END}{tail}"


def _sentence(dialect: Dialect, words: str) -> str:
    return next((each for each in dialect.reading + dialect.writing if words in each), "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
