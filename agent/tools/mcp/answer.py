"""What a call of a server's tool gave, in words: text as it is, of everything else what it is."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from agent.tools.mcp.schema import plain
from agent.tools.tool import MAX_OBSERVATION, render
from memory.json_value import Json

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock

NOTHING: Final = "done; it said nothing"

_NAME: Final = 200
"""Characters of an address or a name that a server gives to something."""


def words_of(result: "CallToolResult") -> str:
    """Return an answer as the model reads it; how much of a long one is cut, `agent.tools.tool.bounded` says."""
    said = "\n".join(_told(result.content))
    if said.strip():
        return said
    structured: Json = result.structured_content
    return NOTHING if structured is None else render(structured)


def _told(blocks: "Iterable[ContentBlock]") -> Iterable[str]:
    """Yield the words of each block, none past what is cut anyway but their number."""
    length = 0
    left_out = 0
    for block in blocks:
        if length > MAX_OBSERVATION:
            left_out += 1
            continue
        told = _one(block)
        length += len(told) + 1
        yield told
    if left_out:
        yield f"(and {left_out} more parts)"


def _one(block: "ContentBlock") -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            article = "an image" if block.type == "image" else "a recording"
            return f"({article}, {plain(block.mime_type, _NAME)}, {_size(block.data)}: it cannot be shown to you)"
        case "resource_link":
            return f"(a link to {plain(block.name, _NAME)}: {plain(str(block.uri), _NAME)})"
        case "resource":
            held = block.resource
            where = plain(str(held.uri), _NAME)
            text = getattr(held, "text", None)
            if isinstance(text, str):
                return f"({where} holds:)\n{text}"
            return f"({where}, {plain(held.mime_type, _NAME) or 'data'}, {_size(getattr(held, 'blob', ''))}: no text)"


def _size(base64: str) -> str:
    size = len(base64) * 3 // 4
    return f"{size} bytes" if size < 1_000 else f"{size / 1_000:.0f} kB"
