"""A call as an XML element of the tool's name: `<reply text="Hello."/>`, `<reply>Hello.</reply>`."""

import html
import json
import re
from collections.abc import Mapping
from typing import Final

from agent.model.dialects.bodies import JsonBody, json_between_tags
from agent.model.dialects.heads import MOST_UNDECIDED, Head, Verdict, only_text
from agent.model.dialects.names import known_name
from agent.model.dialects.react import PlainBody
from agent.model.messages import ToolSpec
from memory.json_value import fields, listed

_ATTRIBUTE: Final = r"\s+([\w.-]+)\s*=\s*(\"[^\"]*\"|'[^']*')"
_TAG: Final = re.compile(rf"<([\w.-]+)((?:{_ATTRIBUTE})*)\s*(/?)>")
_TAG_BEGUN: Final = re.compile(r"<[\w.-]+\s+[\w.-]+\s*=\s*[\"']")
_CHILD: Final = re.compile(r"<([\w.-]+)>\s*(.*?)\s*</\1>", re.DOTALL)

MOST_OF_A_TAG: Final = 20_000
"""Characters of a tag with an argument in it, which may be a long reply."""


def read_element(text: str, tools: Mapping[str, ToolSpec], *, is_last: bool) -> Verdict:
    """Judge a text that begins with a tag: of a tool's name, or with that name as its `name`."""
    verdict = _read(text, tools, is_last=is_last)
    most = MOST_OF_A_TAG if _TAG_BEGUN.match(text) else MOST_UNDECIDED
    return "none" if verdict == "open" and (is_last or len(text) > most) else verdict


def _read(text: str, tools: Mapping[str, ToolSpec], *, is_last: bool) -> Verdict:
    tag = _TAG.match(text)
    if tag is None:
        return "open"
    given = {key: html.unescape(value[1:-1]) for key, value in re.findall(_ATTRIBUTE, tag[2])}
    tool = tools.get(known_name(tag[1], tools)) or tools.get(given.pop("name", ""))
    if tool is None:
        return "none"
    is_whole = bool(given) and given.keys() >= {*listed(tool.parameters.get("required"))}
    if tag[5] or is_whole:
        return Head(tool.name, JsonBody(), json_of(given, tool) + text[tag.end() :])
    return _with_content(tool, given, text[tag.end() :], f"</{tag[1]}>", is_last=is_last)


def _with_content(tool: ToolSpec, given: dict[str, str], inner: str, end: str, *, is_last: bool) -> Verdict:
    """Judge what stands behind an opening tag: JSON or words, told as they come, or an element for each argument."""
    only, bare = only_text(tool), inner.lstrip()
    if not (given or bare or is_last):
        return "open"
    if not given and bare.startswith("{"):
        return Head(tool.name, JsonBody(), bare)
    if not given and only and not bare.startswith("<"):
        return Head(tool.name, PlainBody(only, ends=(end,), closer=end), inner)
    content, found, behind = inner.partition(end)
    if not (found or is_last):
        return "open"
    children = {key: html.unescape(value) for key, value in _CHILD.findall(content)}
    if not (found or given or children):  # a tag that people are told of
        return "none"
    given |= children or ({only: content.strip()} if only and content.strip() else {})
    return Head(tool.name, JsonBody(), json_of(given, tool) + found + behind)


def json_of(given: Mapping[str, str], tool: ToolSpec) -> str:
    """Return arguments that came as texts as JSON, each of the type that the tool's schema has."""
    properties = fields(tool.parameters.get("properties"))
    pairs = (f"{json.dumps(key)}: {json_between_tags(text, properties.get(key))}" for key, text in given.items())
    return f"{{{', '.join(pairs)}}}"
