"""Tiers over a real state database, with a clock of their own and vectors made of a table of words."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.errors import EmbeddingUnavailable
from memory.json_value import Json
from memory.recall import Question, Recall
from memory.recall import index as recall_module
from memory.state import journal as journal_module
from memory.state import tiers as tiers_module
from memory.state.database import Database
from memory.state.journal import Entry, Journal
from memory.state.tiers import MARKED, TASK, Tiers, TierSizes
from memory.vectors.embedding import Use

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass
class WordEmbedder:
    """An `Embedder` whose vectors count words: real enough for order, useless for meaning."""

    name: str = "words"
    sends_to = ()
    is_for_search = False
    words: Sequence[str] = ("tea", "dog", "train", "anna", "secret")
    is_there: bool = True
    asked: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
        if not self.is_there:
            raise EmbeddingUnavailable("there is no embedding model here")
        self.asked += texts
        return [[0.1 + text.lower().count(word) for word in self.words] for text in texts]

    async def close(self) -> None:
        return


@dataclass
class Memory:
    """What a test looks at."""

    database: Database
    journal: Journal
    tiers: Tiers
    recall: Recall
    embedder: WordEmbedder
    now: datetime = NOON

    async def heard(self, words: str, event: str, owner: str = "household", **entry: object) -> None:
        """Journal what the mind journals when it takes up what a person said."""
        await self.journal.append(task(words, event, owner, self.now, **entry))

    async def marked(self, event: str, importance: float, owner: str = "household", **body: Json) -> None:
        """Journal what the mind journals when it judges an event."""
        await self.journal.append(
            Entry(MARKED, {"importance": importance, **body}, event, owner_key=owner, at=self.now)
        )

    async def counts(self) -> dict[str, int]:
        """Return how many members of the household's each tier has, L4 what has a vector."""
        vectors = "SELECT count(*) FROM recall_vector JOIN recall_item USING (id) WHERE owner_key = 'household'"
        views = await self.tiers.views("household")
        return {
            "L1": len(views.recent),
            "L2": len(views.important),
            "L3": len(views.summaries),
            "L4": await self.database.read(lambda connection: connection.execute(vectors).fetchone()[0]),
        }

    async def fill(self) -> None:
        await self.tiers.fill()
        await self.recall.fill()
        await self.recall.embed()

    async def words_of(self, words: str, owner: str = "household", limit: int = 10) -> list[str]:
        """Return what recall finds of some words, the best first."""
        return [hit.words for hit in (await self.recall.find(Question(words, limit=limit), owner)).hits]


def task(words: str, event: str, owner: str = "household", at: datetime = NOON, **body: object) -> Entry:
    told: dict[str, Json] = {"source": "mic", "attempt": 1, "content": "", "words": words}
    return Entry(TASK, told | body, event, session_id="room", owner_key=owner, at=at)  # type: ignore[arg-type]


@asynccontextmanager
async def a_memory(
    folder: Path, embedder: WordEmbedder | None = None, sizes: TierSizes = tiers_module.SIZES
) -> AsyncIterator[Memory]:
    """Open the state in `folder`, as after a start of the machine."""
    database = Database(folder / "nakari.db")
    await database.open(journal_module.SCHEMA, tiers_module.SCHEMA, recall_module.SCHEMA)
    made = embedder or WordEmbedder()
    journal = Journal(database)
    memory = Memory(database, journal, Tiers(database, journal, lambda: memory.now, sizes), Recall(journal, made), made)
    try:
        yield memory
    finally:
        await database.close()


def hours(count: float) -> timedelta:
    return timedelta(hours=count)
