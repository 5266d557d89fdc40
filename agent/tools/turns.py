"""How long the last answer took, as a tool: why it was slow."""

from agent.event import Event
from agent.intents.intent import language_of
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, tool
from agent.turns.waterfall import turns_of, why_slow
from memory.json_value import Json
from memory.state.journal import Journal


def tools(context: ToolContext) -> list[Tool]:
    """Return why_slow."""
    return [slow_tool(context.journal)]


def slow_tool(journal: Journal) -> Tool:
    """Return why_slow over this journal; it tells only of turns of the owner of the event in hand."""

    async def why_slow_tool(event: Event) -> Json:
        """Say how long your last answer took, and which step of it took longer than usual; for "why was that slow?"."""
        turns = await turns_of(journal, event.owner_key)
        return why_slow(turns[-1] if turns else None, turns[:-1], language_of(event.content))

    why_slow_tool.__name__ = "why_slow"
    return tool(why_slow_tool, effect="pure", brief="Say why your last answer was slow.")
