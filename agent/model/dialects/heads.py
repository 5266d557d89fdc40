"""The head of a call in a model's text: which tool it names, and in which notation the arguments follow."""

import json
import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agent.model.dialects import bodies, marks
from agent.model.dialects.names import known_name
from agent.model.messages import ToolSpec
from memory.json_value import fields, listed

MOST_UNDECIDED: Final = 2000
"""Characters that are held while a call's name is not known; a name is at most 64."""

_NAMING: Final = ("<function=", "<function name=", "<invoke", "<｜DSML｜invoke")
_FILLERS: Final = tuple(sorted((mark for mark in marks.BETWEEN if not mark.startswith(_NAMING)), key=len, reverse=True))
_BEGUN: Final = marks.beginnings((*marks.BETWEEN, *marks.CLOSERS, *bodies.PARAMETER_STARTS))
_TEXTS: Final = ("text", "message", "content")
"""What models name the words of an answer in JSON that nobody asked for, beside what they call an answer."""
_RECIPIENT: Final = re.compile(r"to=(?!user\b)([\w.-]+)")
_NAMED: Final = re.compile(r"<function=|<(?:function|(?:｜DSML｜)?invoke)\s+name=[\"']?")
_MEMBERS: Final = r"""(?:"\w+"\s*:\s*(?:"(?:[^"\\]|\\.)*"|null)\s*,\s*)*"""
_WRAPPER: Final = re.compile(
    rf"""\{{\s*{_MEMBERS}(?:["'](?:tool_calls?|function_call)["']\s*:\s*\[?|["']\w+["']\s*:\s*(?:\{{\s*["']\w+["']\s*:\s*)?\[)\s*"""
)
"""A whole message, or the calls of one, or a call of a tool that takes calls; thoughts may stand before them."""
_BEFORE_NAME: Final = re.compile(rf"{marks.BEFORE_CALL}(?={re.escape(marks.PACKER)})|{marks.BEFORE_CALL}")
_KEYED: Final = re.compile(r"""\{\s*"([\w.-]+)"\s*:\s*(?=\{)""")
"""An object whose only key is the tool's name, as Apertus writes it."""
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*")
_AFTER_NAME: Final = re.compile(r":\d+|[\"'>:]|\[CALL_ID\]\w*|json(?=\s*\{)")
_KEYWORD: Final = re.compile(r"\(\s*(?:\)|[A-Za-z_]\w*\s*=)")
_POSITIONAL: Final = re.compile(r"\(\s*(?=[\"'])")
_OBJECT: Final = re.compile(r"\{\s*[\"'}]")
_OBJECT_BEGUN: Final = re.compile(r"\{\s*")
_BARE_KEY: Final = re.compile(r"\{\s*[A-Za-z_]")
_WRAPPED: Final = re.compile(r"\(\s*(?=\{)")
_KEYWORD_BEGUN: Final = re.compile(r"\(\s*(?:[A-Za-z_]\w*\s*)?")


class Head(Struct, frozen=True):
    """A call whose name is known."""

    name: str
    body: bodies.Body
    rest: str
    """What the body is to be fed."""


Verdict: TypeAlias = Head | Literal["open", "none"]
"""A call, or not decided yet, or no call."""


def read_head(
    text: str, tools: Mapping[str, ToolSpec], *, is_explicit: bool, is_last: bool, begins: bool = False
) -> Verdict:
    """Judge a text that begins with the mark of a call (`is_explicit`), or as a call does that has none.

    Only the name of a known tool makes a call, but where an answer begins with a mark and a whole object behind it
    (`begins`): nobody is told of calls so. With `is_last` nothing more will come.
    """
    verdict = _read(text, tools, is_explicit=is_explicit, is_last=is_last, begins=begins)
    return "none" if verdict == "open" and (is_last or len(text) > MOST_UNDECIDED) else verdict


def _read(text: str, tools: Mapping[str, ToolSpec], *, is_explicit: bool, is_last: bool, begins: bool) -> Verdict:
    text = _skip(text)
    if text.startswith("[") and not _is_begun(text):
        text = _skip(text[1:])
    if wrapper := _WRAPPER.match(text):
        text = text[wrapper.end() :]
    if not text or _is_begun(text):
        return "open"
    if text.startswith("{"):
        return _envelope(text, tools, is_explicit=is_explicit, is_last=is_last, begins=begins)
    named = _NAMED.match(text)
    if named is None and text.startswith("<"):
        return "open" if ">" not in text and text.startswith(_NAMING) else "none"
    text = text[named.end() :] if named else text
    bare = _BEFORE_NAME.sub("", text, count=1)
    text = bare if bare.startswith(tuple(tools)) else text
    found = _NAME.match(text)
    written = found[0] if found else ""
    if marks.may_begin_call(text, tools) and not is_last:
        return "open"
    tool = tools.get(written.rstrip(".-").removesuffix(".call"))
    if tool is None:
        return "none"
    return _arguments(tool, text[len(tool.name) :].removeprefix(".call"), is_explicit=is_explicit)


def recipient_of(head: str) -> str:
    """Return the tool to which a message in gpt-oss's format goes, "" where its head names none, or the user."""
    found = _RECIPIENT.search(head)
    return found[1].removeprefix("functions.") if found else ""


def _is_begun(text: str) -> bool:
    return text in _BEGUN or marks.TOKEN_BEGUN.fullmatch(text) is not None


def _skip(text: str) -> str:
    """Return the text without blanks and marks at its beginning; what may become a longer mark stays."""
    while True:
        bare = text.lstrip()
        if _is_begun(bare):
            return bare
        token = marks.TOKEN.match(bare)
        other = token[0] if token and token[0] not in marks.CLOSERS else ""
        mark = next((mark for mark in _FILLERS if bare.startswith(mark)), other)
        if not mark:
            return bare
        text = bare[len(mark) :]


def _envelope(text: str, tools: Mapping[str, ToolSpec], *, is_explicit: bool, is_last: bool, begins: bool) -> Verdict:
    if (is_explicit or begins) and (keyed := _KEYED.match(text)) and keyed[1] in tools:
        return Head(keyed[1], bodies.JsonBody(), text[keyed.end() :])
    body = bodies.EnvelopeBody()
    body.read(text)
    known = (*bodies.NAME_KEYS, *bodies.ARGUMENT_KEYS, *bodies.OTHER_KEYS)
    if not (is_explicit or begins) and any(key not in known for key in body.keys[:1]):
        return "none"
    name, is_first = body.name, begins and is_explicit
    if name is not None:
        name = known_name(name, tools)
        if name not in tools and not (is_first and body.has_arguments):
            return "open" if begins and not body.is_done else "none"
        if body.has_arguments or (is_explicit and (body.is_done or is_last)):
            return Head(name, body, "")
    if body.is_done:
        return _flat(body, tools, name)
    return "none" if body.is_broken else "open"


def _flat(body: bodies.EnvelopeBody, tools: Mapping[str, ToolSpec], name: str | None) -> Verdict:
    """Judge a whole object without a key for arguments: they stand beside the name, or are the text under it."""
    given = body.others
    texts = {key: _tool_under(key, tools, is_alone=len(given) == 1) for key in given if isinstance(given[key], str)}
    key = next((key for key, tool in texts.items() if tool in tools), None)
    if name is None and key is not None:
        name, given = texts[key], {only_text(tools[texts[key]]): given[key]}
    if name is None or not given or not given.keys() <= fields(tools[name].parameters.get("properties")).keys():
        return "none"
    return Head(name, bodies.JsonBody(), f"{json.dumps(given)}{body.rest}")


def _tool_under(key: str, tools: Mapping[str, ToolSpec], *, is_alone: bool) -> str:
    """Return the tool whose text stands under a key of an object: one of that name, or reply where it is alone."""
    if key in tools or not is_alone:
        return key
    return known_name("reply" if key in _TEXTS else key, tools)


def _arguments(tool: ToolSpec, text: str, *, is_explicit: bool) -> Verdict:
    """Judge what follows a tool's name."""
    bare = _skip(text)
    while found := _AFTER_NAME.match(bare):
        bare = _skip(bare[found.end() :])
    is_begun = _is_begun(bare) or any(mark.startswith(bare) for mark in ("[CALL_ID]", "json"))
    if is_begun or _OBJECT_BEGUN.fullmatch(bare):
        return "open"
    if (positional := _POSITIONAL.match(bare)) and (only := only_text(tool)):
        return Head(tool.name, bodies.TokenQuotedBody(), f"({only}={bare[positional.end() :]}")
    if wrapped := _WRAPPED.match(bare):
        bare, is_explicit = bare[wrapped.end() :], True
    if bare.startswith("("):
        begun: Verdict = "open" if _KEYWORD_BEGUN.fullmatch(bare) else "none"
        return Head(tool.name, bodies.TokenQuotedBody(), bare) if _KEYWORD.match(bare) else begun
    if bare.startswith("{"):
        body = bodies.TokenQuotedBody() if _BARE_KEY.match(bare) else bodies.JsonBody()
        return Head(tool.name, body, bare) if is_explicit or _OBJECT.match(bare) else "none"
    if is_explicit and bare.startswith((*bodies.PARAMETER_STARTS, *marks.CLOSERS)):
        properties = tool.parameters.get("properties")
        return Head(tool.name, bodies.TaggedBody(properties if isinstance(properties, dict) else {}), bare)
    return "none"


def only_text(tool: ToolSpec) -> str:
    """Return the name of the one text that a tool demands, of its first where it demands nothing: a bare text is that.

    "" where it demands other things.
    """
    properties = fields(tool.parameters.get("properties"))
    demanded = listed(tool.parameters.get("required")) or [*properties][:1]
    name = demanded[0] if len(demanded) == 1 else ""
    return name if isinstance(name, str) and fields(properties.get(name)).get("type") == "string" else ""
