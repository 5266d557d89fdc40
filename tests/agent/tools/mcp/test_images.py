"""Images and resources of MCP servers: real programs, the official client, and what reaches the mind of them."""

import base64
import json
from pathlib import Path

import pytest
from mcp.types import BlobResourceContents, CallToolResult, EmbeddedResource, ImageContent

from agent.tools.mcp.answer import MOST_IMAGES, said_in
from tests.agent.files import png
from tests.agent.mcp_house import a_house, of_program
from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("B13", "G9", "G17")

REPLY = ("reply", json.dumps({"text": "Done."}))
GARDEN = png(64, 48)


def image(content: bytes, kind: str = "image/png") -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(content).decode(), mime_type=kind)


async def test_an_image_of_a_server_reaches_the_model_behind_the_result_and_is_kept_with_the_event(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(calls(("here_camera", "{}"), prefix="a"), calls(REPLY, prefix="b"))
    async with a_mind(tmp_path / "mind", [model]) as mind:
        run_state, registry = mind.mind.run_state, mind.mind.registry
        async with a_house(of_program(tmp_path), registry=registry, run_state=run_state) as house:
            await house.connected("here")
            event = spoken("is anybody in the garden?")
            await mind.handle(event)
            result = next(message for message in model.requests[1] if message.role == "tool")
            kept = house.showing.images.folder
            assert [(image.media_type, image.width, image.height) for image in result.images] == [("image/png", 64, 48)]
            assert (kept / result.images[0].digest).read_bytes() == GARDEN
            assert await house.showing.images.sweep() == 0, "the event refers to it"
        tool = mind.mind.registry.find("here_camera")
        assert tool is not None
        assert tool.outside == "here", "whoever asks first sees whose words these are"
    assert "The garden:\n(an image, image/png, 64x48 pixels: it comes behind this result)" in result.content
    assert result.content.startswith('<From_Outside source="here"')
    assert result.images[0].name == "image 1 of here"


async def test_resources_are_listed_and_read_by_a_tool_marked_as_a_strangers_words(tmp_path: Path) -> None:
    async with a_house(of_program(tmp_path)) as house:
        await house.connected("here")
        listed = await house.said("here_read_resource")
        assert sorted(line.partition(": ")[0] for line in listed.splitlines()) == ["note://plums", "photo://garden"]
        read = await house.said("here_read_resource", '{"uri": "note://plums"}')
        assert read == "(note://plums holds:)\nThe plums are in the bowl."
        shown = await house.said("here_read_resource", '{"uri": "photo://garden"}')
        assert shown == "(an image, photo://garden, image/png, 64x48 pixels: it comes behind this result)"
        assert [len(laid) for laid in house.showing.run_state.images.values()] == [1]
        refused = await house.call("here_read_resource", '{"uri": "note://nothing"}')
        assert refused.startswith("error: here refused: ")
        assert house.registry.find("here_read_resource").effect == "pure"  # type: ignore[union-attr]  # it is there


def test_no_more_images_are_taken_than_an_answer_may_have_and_none_that_is_a_bomb() -> None:
    """A PNG bomb in a result is words; so is one that is cut off, no base64, or one too many."""
    blocks = [image(png(claimed=(50_000, 50_000))), image(GARDEN[:50]), *[image(GARDEN)] * 6]
    blocks.append(ImageContent(type="image", data="~~~", mime_type="image/png"))
    said = said_in(CallToolResult(content=[*blocks]))
    assert said.images == (GARDEN,) * MOST_IMAGES
    assert said.words.count("it cannot be shown to you") == len(blocks) - MOST_IMAGES


def test_an_embedded_image_is_shown_too() -> None:
    blob = base64.b64encode(GARDEN).decode()
    held = BlobResourceContents(uri="file:///garden.png", blob=blob, mime_type="image/png")
    said = said_in(CallToolResult(content=[EmbeddedResource(type="resource", resource=held)]))
    assert said.images == (GARDEN,)
