"""The contract suite on both real stores; what differs is told to the model, and docs/graph.md says what passes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.results import Limits
from memory.graph.store import Neo4jServer
from tests.agent.tools.test_memory import described, tools_of
from tests.memory.contract import BEGIN, PAGE, STORES, Case, gives, page, people, told
from tests.memory.contract_reads import READS
from tests.memory.contract_values import VALUES
from tests.memory.contract_writes import WRITES
from tests.memory.graph_looks import SESSION, empty

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = pytest.mark.shows("C2", "C4", "C18")

CASES = [*READS, *VALUES, *WRITES]


def store_of(graph: Graph) -> str:
    return next(name for name, dialect in STORES.items() if dialect is graph.dialect)


def verdict(case: Case, store: str, passed: bool) -> str:
    """Return what is wrong with the contract; "" when the store did as it is written there."""
    if passed == (store not in case.differs):
        return ""
    return f"{case.cypher}: {'passes but is said to differ' if passed else 'differs, and no sentence tells of it'}"


@pytest_asyncio.fixture(loop_scope="session")
async def patient(graph: Graph) -> AsyncIterator[Graph]:
    """The same graph with the limits of the box: a server compiles each statement anew, on a busy machine for long."""
    same = Graph(graph._store, Limits())
    yield same
    await same.close()


@SESSION
async def test_every_question_is_answered_as_the_contract_says(patient: Graph) -> None:
    await people(patient)
    store = store_of(patient)
    assert [wrong for case in (*READS, *VALUES) if (wrong := verdict(case, store, await gives(case, patient)))] == []


@SESSION
@pytest.mark.parametrize("group", dict.fromkeys(case.group for case in WRITES))
async def test_every_change_is_counted_as_the_contract_says(patient: Graph, group: str) -> None:
    store, wrong = store_of(patient), []
    for case in (case for case in WRITES if case.group == group):
        await empty(patient)
        await people(patient)
        wrong.append(verdict(case, store, await gives(case, patient)))
    assert [each for each in wrong if each] == []


def test_there_are_enough_of_them() -> None:
    assert len({case.cypher for case in CASES}) == len(CASES) >= 140
    assert {"paths", "temporal", "merge", "deleting", "names in any script"} <= {case.group for case in CASES}


@pytest.mark.parametrize("store", STORES)
def test_every_difference_is_in_the_generated_tool_description(store: str, tmp_path: Path) -> None:
    graph = Graph(EmbeddedStore(tmp_path) if store == "embedded" else Neo4jServer("bolt://127.0.0.1"))
    text = " ".join(described(tool) for tool in tools_of(graph, tmp_path))
    for words in [case.differs[store] for case in CASES if store in case.differs]:
        assert words in text
        assert words in told(STORES[store])


def test_the_page_is_not_stale() -> None:
    """`python -m benchmarks.memory.graph_page` writes it anew."""
    written = PAGE.read_text(encoding="utf-8")
    assert BEGIN in written
    assert written == page(written, CASES)
