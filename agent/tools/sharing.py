"""Tools of a memory that is not everybody's: who does not share it gets a sentence instead."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from agent.errors import ToolFailed
from agent.event import Event
from agent.model.messages import Json
from agent.tools.tool import Tool

NOT_SHARED: Final = (
    "this memory is the household's, and whoever speaks is no member of it: answer without it; "
    "journal_search finds what they themselves said"
)

_ASKER: Final = "event of whoever asks"
"""A name no parameter can have."""


def shared(tools: Iterable[Tool], shares: Callable[[str], bool]) -> list[Tool]:
    """Return the tools, refusing every event whose owner does not share; `shares` is asked at each call.

    They stay in the list, so that an epoch's tools are the same for everybody.
    """
    return [_guarded(tool, shares) for tool in tools]


def _guarded(tool: Tool, shares: Callable[[str], bool]) -> Tool:
    async def guarded(**values: object) -> Json:
        asker = values.pop(_ASKER)
        if not isinstance(asker, Event) or not shares(asker.owner_key):
            raise ToolFailed(NOT_SHARED)
        return await tool.function(**values)

    return replace(tool, function=guarded, hidden=(*tool.hidden, (_ASKER, Event)))
