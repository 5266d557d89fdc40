"""Tools that are offered when they are needed: found by words, and called through one tool that is always there."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from agent.errors import ToolFailed
from agent.model.messages import ToolCall, ToolSpec
from agent.tools.tool import Tool, tool
from memory.json_value import Json

FIND: Final = "find_tools"
USE: Final = "use_tool"

FINDING: Final = frozenset({FIND, USE})

MOST_FOUND: Final = 4
"""Tools whose whole schema one answer gives."""

MOST_NAMED: Final = 800
"""Characters of the list of those that are not offered; the rest is only found."""


def finding_tools(tools: Callable[[], Iterable[Tool]]) -> list[Tool]:
    """Return find_tools and use_tool over the tools that there are at each call.

    What is called through use_tool is carried out as that tool (`unwrapped`); its own function only tells why a call
    names none.
    """

    async def find_tools(words: str = "") -> Json:
        """Tell what tools take that are not listed here, by words of what you want to do."""
        found = ranked(words, tools())
        if not found:
            return [tool.name for tool in tools()]
        return [_described(tool.spec) for tool in found[:MOST_FOUND]]

    async def use_tool(name: str, arguments: dict[str, object] = {}) -> Json:  # noqa: B006  pydantic copies it
        """Call a tool that is not listed here by its name, with its arguments as an object."""
        there = ", ".join(tool.name for tool in tools())
        raise ToolFailed(f"there is no tool {name!r}; there are: {there}")

    return [tool(find_tools, counted=False, effect="pure"), tool(use_tool, counted=False, effect="pure")]


def unwrapped(call: ToolCall) -> ToolCall:
    """Return the call that a call of use_tool stands for, under its id; any other, or a malformed one, as it is."""
    if call.name != USE:
        return call
    try:
        given = json.loads(call.arguments)
        name, arguments = given["name"], given.get("arguments") or {}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return call
    if not isinstance(name, str) or name in FINDING:
        return call
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return replace(call, name=name, arguments=text)


def offered(tools: Iterable[Tool], finding: Iterable[Tool]) -> tuple[ToolSpec, ...]:
    """Return what a model with little room is told, by name: those that have a brief, and how to find the rest."""
    every = [*tools]
    rest = [tool.spec for tool in every if tool.brief is None]
    ways = [
        replace(tool.spec, description=_with_names(tool.spec, rest)) if tool.name == USE else tool.spec
        for tool in finding
    ]
    briefs = [tool.brief for tool in every if tool.brief is not None]
    return tuple(sorted([*briefs, *ways], key=lambda spec: spec.name))


def are_few(specs: Iterable[ToolSpec]) -> bool:
    """Whether these are what a model with little room is told."""
    return any(spec.name == USE for spec in specs)


def ranked(words: str, tools: Iterable[Tool]) -> list[Tool]:
    """Return the tools that share words with the request, the one with most first; those in a name count double."""
    wanted = {word.strip("s") for word in words.casefold().replace("_", " ").split() if len(word) > 1}
    scored = [(_score(wanted, tool.spec), tool) for tool in tools]
    return [tool for score, tool in sorted(scored, key=lambda pair: (-pair[0], pair[1].name)) if score]


def _score(wanted: set[str], spec: ToolSpec) -> int:
    name, told = spec.name.casefold(), spec.description.casefold()
    return sum(2 * (word in name) + (word in told) for word in wanted)


def _described(spec: ToolSpec) -> Json:
    return {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}


def _with_names(spec: ToolSpec, rest: Sequence[ToolSpec]) -> str:
    """Return the description of use_tool with the tools it reaches and their parameters, as far as there is room."""
    there = list(_within(map(_signature, rest), MOST_NAMED))
    more = f" and {len(rest) - len(there)} more" if len(rest) > len(there) else ""
    return f"{spec.description} There are {', '.join(there)}{more}." if rest else spec.description


def _within(texts: Iterable[str], most: int) -> Iterator[str]:
    for text in texts:
        most -= len(text)
        if most < 0:
            return
        yield text


def _signature(spec: ToolSpec) -> str:
    """Return `set_alarm(at, label?, repeat?)`."""
    properties, required = spec.parameters.get("properties"), spec.parameters.get("required")
    names = list(properties) if isinstance(properties, dict) else []
    needed = required if isinstance(required, list) else []
    return f"{spec.name}({', '.join(name if name in needed else f'{name}?' for name in names)})"
