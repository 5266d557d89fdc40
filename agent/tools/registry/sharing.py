"""Restricts the tools of the household's memory: who does not share it uses their own, or gets a sentence instead."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeAlias

from msgspec.structs import replace

from agent.errors import ToolFailed
from agent.event import HOUSEHOLD, Event
from agent.tools.tool import Tool
from memory.errors import MemoryFailure
from memory.graph.store import Dialect
from memory.json_value import Json

NOT_SHARED: Final = (
    "this memory is the household's, and whoever speaks is no member of it: answer without it; "
    "recall finds what they themselves said"
)

Lend: TypeAlias = Callable[[str], AbstractAsyncContextManager[Mapping[str, Tool]]]
"""Lends the tools over an owner's own memory, by name, each taking what the shared one of its name takes. Raises
`ToolFailed` with `NOT_SHARED` where they have none for good, `MemoryFailure` where they have none for now."""

_ASKER: Final = "event of whoever asks"
"""A name no parameter can have."""


def shared(tools: Iterable[Tool], shares: Callable[[str], bool], lend: Lend) -> list[Tool]:
    """Return the tools; in an event whose owner does not share, each does its work on what is lent to that owner.

    `shares` is asked at each call. The list is the same for everybody, so that an epoch's tools are.
    """
    return [_guarded(tool, shares, lend) for tool in tools]


def for_members(tool: Tool, shares: Callable[[str], bool], refusal: str) -> Tool:
    """Return a tool of the household's own; an event whose owner does not share gets the refusal instead."""

    async def guarded(**values: object) -> Json:
        asker = values.pop(_ASKER)
        if not isinstance(asker, Event) or not shares(asker.owner_key):
            raise ToolFailed(refusal)
        return await tool.function(**values)

    return replace(tool, function=guarded, hidden=(*tool.hidden, (_ASKER, Event)), is_for=shares)


def for_household(tool: Tool) -> Tool:
    """Return a tool that acts on the box itself, or tells of it: for the household alone."""
    return for_members(tool, lambda owner_key: owner_key == HOUSEHOLD, "only the household may do that")


def in_another_dialect(tools: Iterable[Tool], dialect: Dialect, described: Dialect) -> list[Tool]:
    """Return the tools of a store whose answers say so where its Cypher is not the one that everybody's list describes.

    Each answer to a statement, and each refusal, names the dialect; `memory_schema` tells how it differs.
    """
    if dialect == described:
        return [*tools]
    return [_explained(tool, dialect) for tool in tools]


def _guarded(tool: Tool, shares: Callable[[str], bool], lend: Lend) -> Tool:
    async def guarded(**values: object) -> Json:
        asker = values.pop(_ASKER)
        if not isinstance(asker, Event):
            raise ToolFailed(NOT_SHARED)
        if shares(asker.owner_key):
            return await tool.function(**values)
        async with lend(asker.owner_key) as own:
            return await own[tool.name].function(**values)

    return replace(tool, function=guarded, hidden=(*tool.hidden, (_ASKER, Event)))


def _explained(tool: Tool, dialect: Dialect) -> Tool:
    short = f"{dialect.name}, not what these tools describe: memory_schema tells how it differs"
    whole: Json = {"name": dialect.name, "reading": [*dialect.reading], "writing": [*dialect.writing]}
    told: Json = whole if tool.name == "memory_schema" else short

    async def explained(**values: object) -> Json:
        try:
            answer = await tool.function(**values)
        except (ToolFailed, MemoryFailure) as error:
            raise ToolFailed(f"{error} (this memory takes {short})") from error
        return {"dialect": told, **answer} if isinstance(answer, dict) else answer

    return tool if tool.name == "embedding" else replace(tool, function=explained)
