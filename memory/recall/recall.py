"""Recall over the journal: filled by itself, asked by one question."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import structlog

from memory.chinese import has_chinese
from memory.clock import within
from memory.errors import EmbeddingUnavailable, StateUnusable
from memory.recall.index import Index
from memory.recall.meaning import Meaning
from memory.recall.question import AGENT, Found, Hit, Question
from memory.recall.search import bring_back, page, rank, with_meaning
from memory.recall.terms import is_common
from memory.state.journal import Journal
from memory.state.reader import Reader
from memory.state.tiers import Tiers
from memory.vectors.embedding import Embedder

log = structlog.get_logger()

CATCHES_UP: Final = 3
"""Pages of the journal taken over before a search, so that what was just said or noted is found; more is idle work."""

ANYTHING: Final = "the weather 天气"
"""What needs both stems and characters to be looked for."""

AGAIN_SECONDS: Final = 600.0
"""Between two tries while no model makes vectors."""


class Recall:
    """Finds what was said by either side, and what the agent noted: by words, speaker, time and session.

    Everything comes from the journal by a cursor, and what is erased there is gone here in the same transaction.
    Searches run in a thread and over a connection of their own.
    """

    def __init__(self, journal: Journal, embedder: Embedder) -> None:
        self._index = Index(journal)
        self._reader = Reader(journal.database.path)
        self._meaning = Meaning(journal.database, self._reader, embedder)

    async def find(self, question: Question, owner_key: str) -> Found:
        """Return what an owner's memory holds of a question. Raises `StateUnusable`."""
        await self._index.fill(CATCHES_UP)
        ranking = await self._reader.look(partial(rank, question=question, owner_key=owner_key))
        if question.words.strip() and ranking.sureness != "sure":
            near = await self._meaning.near(question, owner_key)
            both = partial(with_meaning, by_words=ranking, near=near, fuses=self._meaning.is_for_search)
            if near:
                ranking = await self._reader.look(partial(both, question=question, owner_key=owner_key))
        return await self._reader.look(partial(page, ranking=ranking, question=question))

    async def all_with(self, words: str, owner_key: str) -> set[str]:
        """Return the ids of the events in which either side said, or the agent noted, all of these words in one breath.

        A word counts within a longer one, whatever its capitals, and however common it is; one of one or two letters
        of an alphabet stands alone. Raises `StateUnusable`.
        """
        await self._index.fill()
        return await self._reader.look(partial(ids_with, words=words, owner_key=owner_key))

    async def brought_back(self, words: str, owner_key: str) -> tuple[Hit, ...]:
        """Return what was said or noted with the rare ones of these words, the best first; at once, without meaning.

        Raises `StateUnusable`.
        """
        return await self._reader.look(partial(bring_back, words=words, owner_key=owner_key))

    async def warm(self) -> None:
        """Load what a search needs, so that the first words of a person bring back what they should. Never raises.

        For that nobody waits long (`agent.context.recollection.SECONDS`).
        """
        with suppress(StateUnusable):
            await self.brought_back(ANYTHING, "")

    async def fill(self, pages: int = -1) -> int:
        """Take over all that the journal has got since the last time; return how many entries.

        Raises `StateUnusable`.
        """
        return await self._index.fill(pages)

    async def embed(self) -> int:
        """Make the vectors that are missing; return how many. Raises `EmbeddingUnavailable`, `StateUnusable`."""
        return await self._meaning.fill()


async def keep_filled(tiers: Tiers, recall: Recall, again: float = AGAIN_SECONDS) -> None:
    """Take over what happens, and make vectors of it, until cancelled; nothing else calls for it.

    At start it takes over what happened before. Without a model for vectors the rest fills all the same, and it looks
    again later; so it does while the disk is full.
    """
    while True:
        tiers.changed.clear()
        wait = None
        try:
            await tiers.fill()
            await recall.fill()
            await recall.embed()
        except StateUnusable as error:
            log.warning("tiers_not_filled", reason=str(error))
            wait = again
        except EmbeddingUnavailable as error:
            log.debug("vectors_missing", reason=str(error))
            wait = again
        await within(wait, tiers.changed)


def holding(words: str) -> Callable[[str], bool]:
    """Return what tells whether a text holds all of these words, whatever their capitals; of no words none does.

    A word counts within a longer one, but for one of one or two letters of an alphabet: that has to stand alone.
    """
    found = [re.compile(_standing(word)) for word in words.casefold().split()]
    return lambda text: bool(found) and all(each.search(text.casefold()) for each in found)


def _standing(word: str) -> str:
    is_short = len(word) <= 2 and word.isalnum() and not has_chinese(word)
    return rf"(?<!\w){re.escape(word)}(?!\w)" if is_short else re.escape(word)


def ids_with(connection: sqlite3.Connection, words: str, owner_key: str) -> set[str]:
    """Return the ids of the events of which one item holds all of these words, common ones too.

    What the agent said itself is looked at for words that tell something only: "I will keep that" is about nobody.
    """
    is_held, tells = holding(words), not is_common(words)
    rows = connection.execute("SELECT event_id, speaker, words FROM recall_item WHERE owner_key = ?", (owner_key,))
    return {row["event_id"] for row in rows if (tells or row["speaker"] != AGENT) and is_held(row["words"])}
