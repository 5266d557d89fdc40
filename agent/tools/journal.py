"""Her own journal as a tool: what was said and heard, however long ago."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from agent.context.block import format_time
from agent.errors import ToolFailed
from agent.event import Event
from agent.tools.tool import Tool, tool
from memory.errors import EmbeddingUnavailable
from memory.json_value import Json
from memory.state.journal import WORDS, Journal, Stored
from memory.state.recall import Recall

MAX_WORDS: Final = 500
"""Characters shown of one utterance."""


def journal_tool(journal: Journal) -> Tool:
    """Return journal_search over this journal; it finds only what belongs to the owner of the event in hand."""

    async def journal_search(
        event: Event,
        words: Annotated[str, Field(min_length=1, description="Words that were said, in the language they were in.")],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Json:
        """Search everything that was ever said here, by them and by you, for words; the newest whole matches first."""
        # What was said is in the journal once as it began and once as it ended: look a little further than asked.
        found = said(await journal.search(words, event.owner_key, 3 * limit))[:limit]
        return list(found) or "nothing with these words was said; try other words, or one alone"

    return tool(journal_search, effect="pure")


def recall_tool(recall: Recall) -> Tool:
    """Return journal_recall over these vectors; it finds only what belongs to the owner of the event in hand."""

    async def journal_recall(
        event: Event,
        about: Annotated[str, Field(min_length=1, description="What it was about, in any words and any language.")],
        limit: Annotated[int, Field(ge=1, le=50)] = 5,
    ) -> Json:
        """Find what mattered among all that people ever told you here, by its meaning; the nearest first.

        For the exact words around it, use journal_search.
        """
        try:
            found = await recall.find(about, event.owner_key, limit)
        except EmbeddingUnavailable as error:
            raise ToolFailed(f"{error}; journal_search finds it by its words") from error
        told: list[Json] = [
            {
                "when": format_time(each.item.at),
                "who": each.item.who,
                "words": each.item.words,
                "similarity": round(each.similarity, 2),
                "importance": each.item.importance,
            }
            for each in found
        ]
        return told or "nothing that mattered was said yet"

    return tool(journal_recall, effect="pure")


def said(entries: Iterable[Stored]) -> list[Json]:
    """Return when, who and words of entries in their order; the same words of the same event only once."""
    seen: dict[tuple[str, str, str], Json] = {}
    for entry in entries:
        who, words = _who(entry), str(entry.body[WORDS])
        shown = words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}…"
        seen.setdefault((entry.event_id, who, words), {"when": format_time(entry.at), "who": who, "words": shown})
    return list(seen.values())


def _who(entry: Stored) -> str:
    """Return who said it: `you` for her own speech, else what the entry says, else where it came from."""
    if entry.topic.startswith("speech."):
        return "you"
    return str(entry.body.get("who") or entry.body.get("source") or "person")
