"""Whether a model sees images, who said so, and the images it is shown."""

import asyncio
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

import structlog

from agent.attachments.attachment import Image
from agent.model.messages import Message
from memory.json_value import Json, fields, objects
from memory.state.images import read

log = structlog.get_logger()

Vision: TypeAlias = Literal["auto", "yes", "no"]
"""What the configuration says; "auto" is what the server says, or the table that comes with litellm."""

NOT_KEPT: Final = "({} was shown to you here; it is not kept any more)"
REFUSED: Final = "({} cannot be shown to you: your server could not read it; say so if asked)"
UNSEEN: Final = "({} cannot be shown to you: the model you think with reads text only; say so if asked)"


class Sight:
    """What is known of one model's eyes; a refusal outweighs everything else, until the process ends."""

    def __init__(self, vision: Vision = "auto", folder: Path | None = None) -> None:
        """`folder` has the images; None where there are none to be shown, as in a check of a model."""
        self._configured = None if vision == "auto" else vision == "yes"
        self._told: bool | None = None
        self._was_refused = False
        self._folder = folder
        self._urls: dict[str, str | None] = {}
        """Data URLs of the images of the last list, by digest; None of one that is not kept any more."""
        self._took: set[str] = set()
        """Digests of images that its server has read."""
        self._refused: set[str] = set()
        """Of those that it cannot read."""

    @property
    def sees(self) -> bool:
        """Whether it is shown images; not while nobody knows."""
        if self._was_refused:
            return False
        return bool(self._told if self._configured is None else self._configured)

    @property
    def is_known(self) -> bool:
        """Whether anybody has said so, or the opposite."""
        return self._was_refused or self._configured is not None or self._told is not None

    def told(self, sees: bool | None) -> None:
        """Take what the server, or a table, says; None where it says nothing."""
        if sees is not None:
            self._told = sees

    def refused(self) -> None:
        """Learn that its server takes no images, whoever said that it does."""
        log.warning("images_refused", fix='set vision = "no" for this model, or give its server the part that sees')
        self._was_refused = True

    async def look_at(self, images: Iterable[Image]) -> None:
        """Read what will be shown with the next list, off the event loop; what is none of it is let go of."""
        needed = {image.digest: image for image in images} if self.sees else {}
        known = {digest: url for digest, url in self._urls.items() if digest in needed}
        for digest in needed.keys() - known.keys():
            known[digest] = await asyncio.to_thread(self._url, needed[digest])
        self._urls = known

    def _url(self, image: Image) -> str | None:
        content = read(self._folder, image.digest) if self._folder is not None else None
        return None if content is None else f"data:{image.media_type};base64,{b64encode(content).decode('ascii')}"

    def took(self, images: Iterable[Image]) -> None:
        """Take note that its server answers to a list with these."""
        self._took.update(image.digest for image in images)

    def refused_new(self, images: Iterable[Image]) -> bool:
        """Show no more what its server has not read yet of these; False where there is nothing of the kind."""
        new = {image.digest for image in images} - self._took - self._refused
        self._refused |= new
        return bool(new)

    @property
    def state(self) -> tuple[bool, int]:
        """Changes whenever an image would be shown otherwise than before."""
        return self.sees, len(self._refused)

    def shown(self, text: str, images: Sequence[Image]) -> Json:
        """Return the content of a user's message in OpenAI's form: the text, with the images or words in their place.

        Reads those that were not looked at. What was made once is kept by whoever asks, so that a prefix stays.
        """
        if not self.sees:
            return "\n".join([text, *(UNSEEN.format(each.described(at)) for at, each in enumerate(images, 1))])
        parts: list[Json] = [{"type": "text", "text": text}]
        for number, image in enumerate(images, 1):
            url = self._urls[image.digest] if image.digest in self._urls else self._url(image)
            if image.digest in self._refused:
                parts.append({"type": "text", "text": REFUSED.format(image.described(number))})
            elif url is None:
                parts.append({"type": "text", "text": NOT_KEPT.format(image.described(number))})
            else:
                parts.append({"type": "image_url", "image_url": {"url": url}})
        return parts


@runtime_checkable
class HasSight(Protocol):
    """A model of which can be known whether it sees."""

    @property
    def sight(self) -> Sight:
        """What is known of it."""

    async def learn_sight(self) -> None:
        """Ask where it can be asked, while nobody knows; as `HasWindow.learn_window` does."""


async def look_ahead(model: HasSight, messages: Iterable[Message]) -> None:
    """Learn whether a model sees, and read what it is to be shown, where there are images at all."""
    if images := [image for message in messages for image in message.images]:
        await model.learn_sight()
        await model.sight.look_at(images)


async def sees(model: object) -> bool | None:
    """Return whether a model sees, asked where nobody knows yet; None where nobody says."""
    if not isinstance(model, HasSight):
        return False
    await model.learn_sight()
    return model.sight.sees if model.sight.is_known else None


def sees_listed(listed: Json, model: str) -> bool | None:
    """Return what a server's list says of a model: OpenRouter's, Mistral's, LM Studio's, llama.cpp's."""
    listing = objects(fields(listed).get("data"))
    entries = [each for each in listing if each.get("id") == model]
    for entry in entries or (listing if len(listing) == 1 else []):
        for told in (entry.get("architecture"), entry.get("capabilities")):
            if isinstance(kinds := fields(told).get("input_modalities"), list):
                return "image" in kinds
            if isinstance(sees := fields(told).get("vision"), bool):
                return sees
        if entry.get("type") in ("vlm", "llm"):
            return entry["type"] == "vlm"
    return None


def sees_by_props(props: Json) -> bool | None:
    """Return what llama.cpp says of itself, {"modalities": {"vision": true}}."""
    seen = fields(fields(props).get("modalities")).get("vision")
    return seen if isinstance(seen, bool) else None


def sees_by_show(shown: Mapping[str, Json]) -> bool | None:
    """Return what Ollama's /api/show says of a model; older ones say nothing."""
    told = shown.get("capabilities")
    return "vision" in told if isinstance(told, list) else None
