"""The `Store` that `Graph` uses, and a Neo4j server as one."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from msgspec import Struct

from memory.egress import SendsTo, host_of
from memory.errors import GraphRefused
from memory.graph.cypher import Statement
from memory.graph.dialect import NEO4J, Dialect

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
