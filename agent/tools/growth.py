"""Tools of growth: what is new since the last reflection, and a night's evidence; each offered in its event alone."""

from typing import Annotated, Final, Literal

from msgspec import Struct
from pydantic import Field

from agent.errors import ToolFailed
from agent.event import HOUSEHOLD, NIGHT, REFLECTION, Event
from agent.growth.dreams import Dreams
from agent.growth.evidence import Evidence
from agent.growth.said import Said
from agent.intents.intent import language_of
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, tool
from memory.json_value import Json

PAGE: Final = 20
"""Pieces of evidence in one answer."""

SECONDS: Final = 40.0
"""For reading what is looked at of a graph."""


class Growth(Struct, frozen=True):
    """What is new, and what the nights are given."""

    said: Said
    evidence: Evidence | None
    """None without a graph."""
    dreams: Dreams | None
    """Likewise."""


def tools(context: ToolContext) -> list[Tool]:
    """Return the tools of growth that this box has a use for."""
    growth = context.growth
    if growth is None:
        return []
    at_night = night_tools(growth.evidence) if growth.evidence else []
    return [*reflection_tools(growth.said), *at_night, *([dream_tool(growth.dreams)] if growth.dreams else [])]


def reflection_tools(said: Said) -> list[Tool]:
    """Return new_since_reflection."""

    async def new_since_reflection(
        event: Event,
        after: Annotated[int, Field(ge=0, description="Where the last page ended, as it says; 0 at first.")] = 0,
    ) -> Json:
        """List what was said since you last looked back, oldest first: event ids, times (UTC), speakers, your answers.

        What you were shown counts as looked back on once you complete the event.
        """
        if event.type != REFLECTION:
            raise ToolFailed("this is for the event that asks you to look back")
        page = await said.page(event.id, event.owner_key, REFLECTION, after)
        if not page.exchanges:
            return "that was all"
        told: dict[str, Json] = {"said": [*page.exchanges]}
        if page.has_more:
            return told | {"more": f"read on with after={page.last}"}
        return told | ({"more": "is for your next look; this one has no room for it"} if page.leaves else {})

    return [tool(new_since_reflection, effect="pure", offered_in=lambda kind: kind == REFLECTION)]


def dream_tool(dreams: Dreams) -> Tool:
    """Return last_night."""

    async def last_night(event: Event) -> Json:
        """Answer "what did you dream?"."""
        if event.owner_key != HOUSEHOLD:
            raise ToolFailed("what it dreams is the household's")
        return await dreams.tell(language_of(event.content))

    return tool(last_night, effect="pure")


def night_tools(evidence: Evidence) -> list[Tool]:
    """Return night_evidence."""

    async def night_evidence(
        event: Event,
        kind: Literal["unlinked", "alike", "contradicting", "unasked", "repeated", "failed"],
        skip: Annotated[int, Field(ge=0, description="How many of them to pass over.")] = 0,
    ) -> Json:
        """List evidence of a kind, by ids, as it was when you first asked.

        unlinked: nodes without relationships. alike: nodes that may be the same, with the values in which they differ.
        contradicting: what one node says of several, with their dates. unasked: names that no query has used.
        repeated: what people said alike on several days. failed: tools that failed, and why.
        """
        if event.type != NIGHT:
            raise ToolFailed("this is for the event that comes at night")
        found = await evidence.of(event.id, kind)
        page: list[Json] = [*found[skip : skip + PAGE]]
        left = len(found) - skip - len(page)
        told: dict[str, Json] = {kind: page}
        return told | ({"more": f"{left}: read on with skip={skip + len(page)}"} if left > 0 else {})

    return [tool(night_evidence, effect="pure", timeout=SECONDS, offered_in=lambda kind: kind == NIGHT)]
