"""The `Store` that `Graph` uses, and a Neo4j server as one."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec import Struct

from memory.egress import SendsTo, host_of
from memory.errors import GraphRefused
from memory.graph.cypher import Statement


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

Login: TypeAlias = tuple[str, str] | None
"""User and password; None where the server asks for none."""


class Endpoint(Struct, frozen=True):
    """Where a store answers now, and as whom to come. Another one after each start of an own store."""

    uri: str
    """bolt://host:port, or any scheme of the neo4j driver."""
    database: str | None
    """None for the server's default."""
    reader: Login
    writer: Login

    def __repr__(self) -> str:
        """Without the passwords."""
        return f"Endpoint({self.uri!r}, {self.database!r})"


class VectorOptions(Struct, frozen=True):
    """Of a vector index."""

    dimensions: int
    similarity: str
    """COSINE or EUCLIDEAN."""


class Made(Struct, frozen=True):
    """What came of the definition of an index."""

    added: int
    """0 when it was there."""
    note: str = ""
    """What is still to be done, for the model; "" when nothing is."""
    constraints: int = 0
    """Constraints added."""
    removed: int = 0
    """Indexes that were to be made, and are not any more."""


class Refused(Struct, frozen=True):
    """A statement that the store refused."""

    login: Login
    """As whom it was run."""
    cypher: str
    params: Mapping[str, object]
    message: str
    """What came with the refusal."""
    seconds: float
    """How long it ran before."""


class StoreIndexes:
    """What `Graph` asks about a store's indexes; as they are of a server, which builds, keeps and tells them itself."""

    @property
    def states(self) -> dict[str, str]:
        """What is to be said of those that are not ready though SHOW INDEXES calls them online, by name."""
        return {}

    async def ready_for(self, statement: Statement, params: Mapping[str, object]) -> None:
        """Wait a moment for what a statement needs; raises `GraphUnavailable`, `GraphRefused` when it takes longer."""

    def wrote(self, counters: Mapping[str, int]) -> None:
        """Take note of what a committed write did, each of `memory.graph.results.COUNTERS`."""

    async def unmade(self) -> dict[str, str]:
        """Return the statements of those that were accepted and that SHOW INDEXES may not have yet, by name."""
        return {}

    async def vector_options(self) -> dict[str, VectorOptions]:
        """Return what SHOW INDEXES leaves out of the vector indexes, by name. Raises `GraphUnavailable`."""
        return {}


class Store(ABC):
    """A store as `Graph` sees it; where nothing else is said a server that looks after itself."""

    indexes: StoreIndexes = StoreIndexes()
    dialect: Dialect = NEO4J
    """What its Cypher is like."""

    @property
    @abstractmethod
    def sends_to(self) -> tuple[SendsTo, ...]:
        """What it hands to other machines, by its own settings; () for nothing. Told before it is used."""

    @abstractmethod
    async def endpoint(self) -> Endpoint:
        """Return where it answers, waiting at most about 2 s for one that is starting.

        Raises `GraphUnavailable` with the reason when it is down.
        """

    @abstractmethod
    async def overran(self) -> None:
        """Take note that a statement did not end at the store's own limit, so that it must be made to."""

    async def frees_name(self, name: str) -> bool:
        """Take away a label, or a relationship type, that nothing has any more; say whether its name is free now.

        At a server a name may be both.
        """
        return False

    async def explained(self, refused: Refused) -> GraphRefused:
        """Return the refusal with what was wrong, also where the message hides it, as Neo4j's do not."""
        return GraphRefused(refused.message)

    def shim(self, statement: Statement) -> Callable[[], Awaitable[Made]] | None:
        """Return what makes, or unmakes, the index of a statement, where the store's own Cypher does not do it.

        Called, it raises `GraphRefused` (also at once), `GraphUnavailable` and `CommitUncertain`. None for every
        statement that the store takes itself.
        """
        return None


@dataclass(eq=False)
class Neo4jServer(Store):
    """A Neo4j server that somebody runs, of version 5.26 or newer."""

    uri: str
    """neo4j://, bolt:// and their +s and +ssc forms."""
    user: str = ""
    """Empty where the server asks for no login."""
    password: str = ""
    database: str | None = None

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """The whole graph, to the server."""
        return (SendsTo("the graph, which is all that is remembered", host_of(self.uri)),)

    async def endpoint(self) -> Endpoint:
        """Return the configured address; whether anybody answers there is found out by asking."""
        login = (self.user, self.password) if self.user else None
        return Endpoint(self.uri, self.database, login, login)

    async def overran(self) -> None:
        """Do nothing: the server is not ours to restart, and closing the connection was the way to tell it."""

    def __repr__(self) -> str:
        """Without the password."""
        return f"Neo4jServer({self.uri!r})"
