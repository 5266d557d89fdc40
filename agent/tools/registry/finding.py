"""Tools that are offered when they are needed: found by words, and called through one tool that is always there."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agent.context.tokens import TokenCounter
from agent.errors import ToolFailed
from agent.model.messages import ToolCall, ToolSpec
from agent.tools.tool import Tool, tool
from memory.json_value import Json, fields, listed, parse_json

FIND: Final = "find_tools"
USE: Final = "use_tool"

CALL: Final = "call_tool"
"""The same as use_tool beside a long list. Which of them is in a list tells which list it is (`are_few`)."""

FINDING: Final = frozenset({FIND, USE, CALL})

TOKENS_A_NAME: Final = 12
"""Kept free for each tool that may be only named."""

_ESTIMATE: Final = TokenCounter()
"""Without a vocabulary."""

MOST_FOUND: Final = 4
"""Tools whose whole schema one answer gives."""

MOST_NAMED: Final = 800
"""Characters of the list of those that are not offered; the rest is only found."""


def finding_tools(tools: Callable[[], Iterable[Tool]]) -> list[Tool]:
    """Return find_tools, use_tool and call_tool over the tools that there are at each call.

    What is called through the last two is carried out as that tool (`unwrapped`); their own functions only tell why a
    call names none.
    """

    async def find_tools(words: str = "") -> Json:
        """Tell what tools take that are not listed here, by words of what you want to do."""
        found = ranked(words, tools())
        if not found:
            return [tool.name for tool in tools()]
        return [tool.spec.to_json() for tool in found[:MOST_FOUND]]

    async def use_tool(name: str, arguments: dict[str, object] = {}) -> Json:  # noqa: B006  pydantic copies it
        """Call a tool that is not listed here by its name, with its arguments as an object."""
        there = ", ".join(tool.name for tool in tools())
        raise ToolFailed(f"there is no tool {name!r}; there are: {there}")

    async def call_tool(name: str, arguments: dict[str, object] = {}) -> Json:  # noqa: B006  pydantic copies it
        """Call a tool that is only named here, with its arguments as an object; find_tools tells what each takes."""
        return await use_tool(name, arguments)

    return [tool(each, counted=False, effect="pure") for each in (find_tools, use_tool, call_tool)]


RENAMED: Final = {"journal_search": ("recall", "words"), "journal_recall": ("recall", "about")}
"""Tools that older contexts list, by what they are called now, with the parameter that is `words` now."""


def unwrapped(call: ToolCall) -> ToolCall:
    """Return the call that one of use_tool or call_tool stands for, under its id; any other, or malformed, as it is.

    A tool that a context was opened with and that has another name since is called by that.
    """
    if call.name in RENAMED:
        name, argument = RENAMED[call.name]
        return replace(call, name=name, arguments=call.arguments.replace(f'"{argument}":', '"words":', 1))
    if call.name not in (USE, CALL):
        return call
    try:
        given: Any = parse_json(call.arguments)
        name, arguments = given["name"], given.get("arguments") or {}
    except (ValueError, TypeError, LookupError, AttributeError):
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
        if tool.name != CALL
    ]
    briefs = [tool.brief for tool in every if tool.brief is not None]
    return tuple(sorted([*briefs, *ways], key=lambda spec: spec.name))


def grouped(tools: Iterable[Tool], finding: Iterable[Tool], most_tokens: int) -> tuple[ToolSpec, ...]:
    """Return all tools, by name; where they cost more than `most_tokens`, the largest groups are only named.

    Those that also a model with little room is told of are always listed, and those of no group. Each other group is
    one line of call_tool's description: the names and parameters of its tools, or the names, or only how many. Where
    the tools that are always listed cost more by themselves, so does the list. The same tools are the same list.
    """
    every = sorted(tools, key=lambda tool: tool.name)
    if tokens_of([tool.spec for tool in every]) <= most_tokens:
        return tuple(tool.spec for tool in every)
    ways = {tool.name: tool.spec for tool in finding}
    listed = [tool.spec for tool in every if not tool.group or tool.brief is not None]
    away: dict[str, list[ToolSpec]] = {}
    for each in every:
        if each.group and each.brief is None:
            away.setdefault(each.group, []).append(each.spec)
    room = most_tokens - tokens_of([ways[FIND], ways[CALL]])
    for group in sorted(away, key=lambda name: (tokens_of(away[name]), name)):
        rest = sum(map(len, away.values())) - len(away[group])
        if tokens_of([*listed, *away[group]]) + min(rest * TOKENS_A_NAME, most_tokens // 4) > room:
            break
        listed += away.pop(group)
    call = replace(ways[CALL], description=_with_groups(ways[CALL], away, room - tokens_of(listed)))
    return tuple(sorted([*listed, ways[FIND], call], key=lambda spec: spec.name))


def tokens_of(specs: Iterable[ToolSpec]) -> int:
    """Return what tools cost in a prompt, estimated by their bytes: the same before and after a vocabulary is there."""
    return _ESTIMATE.of_tools(tuple(specs))


def are_few(specs: Iterable[ToolSpec]) -> bool:
    """Whether these are what a model with little room is told."""
    return any(spec.name == USE for spec in specs)


def has_more(specs: Iterable[ToolSpec]) -> bool:
    """Whether tools beside these are reached by their names."""
    return any(spec.name in (USE, CALL) for spec in specs)


def ranked(words: str, tools: Iterable[Tool]) -> list[Tool]:
    """Return the tools that share words with the request, the one with most first; those in a name count double."""
    wanted = {word.strip("s") for word in words.casefold().replace("_", " ").split() if len(word) > 1}
    scored = [(_score(wanted, tool.spec), tool) for tool in tools]
    return [tool for score, tool in sorted(scored, key=lambda pair: (-pair[0], pair[1].name)) if score]


def _score(wanted: set[str], spec: ToolSpec) -> int:
    name, told = spec.name.casefold(), spec.description.casefold()
    return sum(2 * (word in name) + (word in told) for word in wanted)


def _with_names(spec: ToolSpec, rest: Sequence[ToolSpec]) -> str:
    """Return the description of use_tool with the tools it reaches and their parameters, as far as there is room."""
    there = list(_within(map(_signature, rest), MOST_NAMED))
    more = f" and {len(rest) - len(there)} more" if len(rest) > len(there) else ""
    return f"{spec.description} There are {', '.join(there)}{more}." if rest else spec.description


def _with_groups(spec: ToolSpec, away: Mapping[str, Sequence[ToolSpec]], room: int) -> str:
    """Return the description of call_tool with a line for each group; the longest are shortened to fit the room."""
    shorter = [
        lambda group: f"{group}: {', '.join(map(_signature, away[group]))}",
        lambda group: f"{group}: {', '.join(each.name for each in away[group])}",
        lambda group: f"{group}: {len(away[group])} tools",
    ]
    forms = dict.fromkeys(away, 0)
    while True:
        lines = {group: shorter[form](group) for group, form in forms.items()}
        told = "\n".join([spec.description, *lines.values()])
        if _ESTIMATE.count(told) - _ESTIMATE.count(spec.description) <= room:
            return told
        longer = [group for group, form in forms.items() if form < len(shorter) - 1]
        if not longer:
            return told
        forms[max(longer, key=lambda group: len(lines[group]))] += 1


def _within(texts: Iterable[str], most: int) -> Iterator[str]:
    for text in texts:
        most -= len(text)
        if most < 0:
            return
        yield text


def _signature(spec: ToolSpec) -> str:
    """Return `set_alarm(at, label?, repeat?)`."""
    properties, required = spec.parameters.get("properties"), spec.parameters.get("required")
    needed = listed(required)
    return f"{spec.name}({', '.join(name if name in needed else f'{name}?' for name in fields(properties))})"
