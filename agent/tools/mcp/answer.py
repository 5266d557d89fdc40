"""What a server's answer says, in words, and the images in it that a model can be shown: bounded, nothing decoded."""

from base64 import b64decode
from binascii import Error as NoBase64
from collections.abc import Sequence
from typing import Final

from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)

from agent.attachments import formats
from agent.errors import NotAttached
from agent.tools.mcp.schema import plain
from agent.tools.mcp.server import Said
from agent.tools.tool import MAX_OBSERVATION, render
from memory.json_value import Json

NOTHING: Final = "done; it said nothing"

NO_RESOURCES: Final = "it has nothing to be read"

MOST_IMAGES: Final = 4
"""Of one answer."""

MOST_LISTED: Final = 100
"""Resources that are named."""

_NAME: Final = 200
"""Characters of an address or a name that a server gives to something."""


def said_in(result: CallToolResult) -> Said:
    """Return an answer as the model gets it; how much of a long one is cut, `agent.tools.tool.bounded` says."""
    answer = _Answer()
    for block in result.content:
        answer.add(block)
    if (said := answer.said()).words.strip():
        return said
    structured: Json = result.structured_content
    return Said(NOTHING if structured is None else render(structured))


def said_of_resources(result: ReadResourceResult) -> Said:
    """Return what was read of a resource."""
    answer = _Answer()
    for held in result.contents:
        answer.add_resource(held)
    said = answer.said()
    return said if said.words.strip() else Said("(it is empty)")


def listing_of(resources: Sequence[Resource]) -> str:
    """Return a line for each resource: its address, and what the server says of it."""
    lines = [_line(resource) for resource in resources[:MOST_LISTED]]
    if len(resources) > MOST_LISTED:
        lines.append(f"(and {len(resources) - MOST_LISTED} more)")
    return "\n".join(lines) or NO_RESOURCES


def _line(resource: Resource) -> str:
    about = [plain(each, _NAME) for each in (resource.name, resource.mime_type, resource.description) if each]
    return f"{plain(resource.uri, _NAME)}: {', '.join(about)}"


class _Answer:
    """Gathers the parts of one answer; of what is cut anyway nothing but the number."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._images: list[bytes] = []
        self._length = 0
        self._left_out = 0

    def said(self) -> Said:
        """Return all of it."""
        more = [f"(and {self._left_out} more parts)"] if self._left_out else []
        return Said("\n".join([*self._words, *more]), tuple(self._images))

    def add(self, block: ContentBlock) -> None:
        """Take the next part."""
        match block.type:
            case "text":
                self._say(block.text)
            case "image":
                self._show(plain(block.mime_type, _NAME), block.data)
            case "audio":
                kind = plain(block.mime_type, _NAME)
                self._say(f"(a recording, {kind}, {_size(block.data)}: it cannot be shown to you)")
            case "resource_link":
                self._say(f"(a link to {plain(block.name, _NAME)}: {plain(str(block.uri), _NAME)})")
            case "resource":
                self.add_resource(block.resource)

    def add_resource(self, held: TextResourceContents | BlobResourceContents) -> None:
        """Take what a resource holds: a text, or data in base64."""
        where, kind = plain(str(held.uri), _NAME), plain(held.mime_type, _NAME)
        if isinstance(held, TextResourceContents):
            self._say(f"({where} holds:)\n{held.text}")
        elif kind.startswith("image/"):
            self._show(f"{where}, {kind}", held.blob)
        else:
            self._say(f"({where}, {kind or 'data'}, {_size(held.blob)}: no text)")

    def _say(self, words: str) -> None:
        if self._length > MAX_OBSERVATION:
            self._left_out += 1
            return
        self._length += len(words) + 1
        self._words.append(words)

    def _show(self, what: str, data: str) -> None:
        """Take an image, if it is one that can be shown."""
        try:
            content = b64decode(data, validate=True) if len(data) * 3 // 4 <= formats.MOST_BYTES else b""
            is_image = formats.looks_like_image(content)
            header = formats.checked("it", content) if is_image and len(self._images) < MOST_IMAGES else None
        except (NoBase64, ValueError, NotAttached):
            header = None
        if header is None:
            self._say(f"(an image, {what}, {_size(data)}: it cannot be shown to you)")
            return
        self._images.append(content)
        self._say(f"(an image, {what}, {header.width}x{header.height} pixels: it comes behind this result)")


def _size(base64: str) -> str:
    size = len(base64) * 3 // 4
    return f"{size} bytes" if size < 1_000 else f"{size / 1_000:.0f} kB"
