"""What a server's tool answers, in words: text, pictures, recordings, links and files."""

import base64

import pytest
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from agent.tools.mcp.answer import NOTHING, said_in
from agent.tools.tool import MAX_OBSERVATION

pytestmark = pytest.mark.shows("B13")

DATA = base64.b64encode(bytes(60)).decode()


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], NOTHING),
        ([text("  ")], NOTHING),
        ([text("one"), text("two")], "one\ntwo"),
        (
            [ImageContent(type="image", data=DATA, mime_type="image/png")],
            "(an image, image/png, 60 bytes: it cannot be shown to you)",
        ),
        (
            [AudioContent(type="audio", data=DATA * 100, mime_type="audio/wav")],
            "(a recording, audio/wav, 6 kB: it cannot be shown to you)",
        ),
        (
            [ResourceLink(type="resource_link", name="Plan", uri="file:///plan.txt")],
            "(a link to Plan: file:///plan.txt)",
        ),
        (
            [EmbeddedResource(type="resource", resource=TextResourceContents(uri="file:///a", text="plums"))],
            "(file:///a holds:)\nplums",
        ),
        (
            [EmbeddedResource(type="resource", resource=BlobResourceContents(uri="file:///b", blob=DATA))],
            "(file:///b, data, 60 bytes: no text)",
        ),
    ],
)
def test_everything_is_told_in_words(content: list[ContentBlock], words: str) -> None:
    assert said_in(CallToolResult(content=content)).words == words


def test_a_structure_is_told_where_there_is_no_text() -> None:
    assert said_in(CallToolResult(content=[], structured_content={"n": [1, "é"]})).words == '{"n":[1,"é"]}'
    assert said_in(CallToolResult(content=[text("one")], structured_content={"n": 1})).words == "one"


def test_parts_beyond_what_is_read_are_counted() -> None:
    told = said_in(CallToolResult(content=[text("x" * 5_000)] * 1_000)).words
    assert len(told) < MAX_OBSERVATION + 10_000
    assert told.endswith("(and 996 more parts)")
