"""Files that come before the question about them: looked at, and kept until they are asked about."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Annotated, Final

from msgspec.structs import replace
from pydantic import Field

from agent.attachments import documents, formats
from agent.attachments.attachment import (
    MOST_ATTACHED,
    MOST_IMAGE_BYTES,
    MOST_TOGETHER,
    Attachment,
    Document,
    Image,
    named,
)
from agent.errors import NotAttached
from appliance.api.register import Name
from memory.json_value import Json
from memory.state.images import FRESH_SECONDS, Images

MOST_COMING_BYTES: Final = 64_000_000
"""Of all files that are just coming."""

MOST_OF_ONE: Final = 64
"""Files that one owner may attach within `FRESH_SECONDS`, those that were refused among them."""

MOST_OF_ALL: Final = 256

MOST_CHILDREN: Final = 2
"""Documents that are read at a time."""

TOO_MANY: Final = "too many files were attached in the last {minutes:.0f} minutes: try again later"

Attached = Annotated[list[Name], Field(max_length=MOST_ATTACHED)]
"""Ids of files that were given to `POST /attachments` before."""


class Attaching:
    """Takes files of all owners, each known to its own only. What nobody asks about is forgotten after a while."""

    def __init__(self, images: Images, clock: Callable[[], float] = monotonic) -> None:
        """`clock` is in seconds."""
        self.images = images
        self._clock = clock
        self._coming: dict[object, int] = {}
        """Bytes so far, by the file that they are of."""
        self._ready: dict[tuple[str, str], tuple[Attachment, float]] = {}
        self._tried: deque[tuple[float, str]] = deque()
        """When, and whose, the files of the last minutes came; the oldest first."""
        self._children = asyncio.Semaphore(MOST_CHILDREN)

    @contextmanager
    def coming(self, owner_key: str) -> Iterator[Callable[[int], None]]:
        """Give what counts the bytes of a file that is coming in, for as long as the block takes.

        It raises `NotAttached` when that is more than one may have, or than there is room for; so does the block.
        """
        self._check_room(owner_key)
        mine = object()

        def count(size: int) -> None:
            if size > documents.MOST_BYTES:
                raise NotAttached(f"the file has more than {documents.MOST_BYTES // 1_000_000} MB: attach a part of it")
            self._coming[mine] = size
            if sum(self._coming.values()) > MOST_COMING_BYTES:
                raise NotAttached("too many large files come at the same time: try again in a minute")

        try:
            yield count
        finally:
            self._coming.pop(mine, None)

    async def keep(self, owner_key: str, name: str, file_name: str, content: bytes) -> Attachment:
        """Look at a whole file, and keep what it is under this name. Raises `NotAttached`, OSError."""
        self._check_room(owner_key)
        self._tried.append((self._clock(), owner_key))
        shown = named(file_name)
        if not content:
            raise NotAttached(f"{shown} is empty")
        if unshown := formats.unshown_format(content):
            raise NotAttached(
                f"{shown} is a picture as {unshown}, which few models can be shown: save it as JPEG or PNG"
            )
        found: Attachment
        if formats.looks_like_image(content):
            header = formats.checked(shown, content)
            digest = await self.images.keep(owner_key, content)
            found = Image(digest, header.media_type, header.width, header.height, len(content), shown)
        else:
            async with self._children:
                found = await documents.read_document(shown, content)
        self._ready[owner_key, name] = (found, self._clock())
        return found

    async def given(self, owner_key: str, names: Sequence[str]) -> tuple[Attachment, ...]:
        """Return what these names of an owner stand for, for an event. Raises `NotAttached`."""
        self._drop_old()
        if missing := [name for name in names if (owner_key, name) not in self._ready]:
            raise NotAttached(f"there is no file {missing[0]} any more: attach it again")
        found = [self._ready[owner_key, name][0] for name in dict.fromkeys(names)]
        images = [each for each in found if isinstance(each, Image)]
        if sum(image.bytes for image in images) > MOST_IMAGE_BYTES:
            raise NotAttached(f"the images have more than {MOST_IMAGE_BYTES // 1_000_000} MB together: ask about fewer")
        if not await self.images.hold([image.digest for image in images]):
            raise NotAttached("an image is not kept any more: attach it again")
        most = MOST_TOGETHER // max(1, len(found) - len(images))
        return tuple(_cut(each, most) if isinstance(each, Document) else each for each in found)

    def forget(self) -> None:
        """Forget what nobody has asked about yet."""
        self._ready.clear()

    def _check_room(self, owner_key: str) -> None:
        self._drop_old()
        owners = [owner for _, owner in self._tried]
        if len(owners) >= MOST_OF_ALL or owners.count(owner_key) >= MOST_OF_ONE:
            raise NotAttached(TOO_MANY.format(minutes=FRESH_SECONDS / 60))

    def _drop_old(self) -> None:
        oldest = self._clock() - FRESH_SECONDS
        while self._tried and self._tried[0][0] <= oldest:
            self._tried.popleft()
        self._ready = {key: each for key, each in self._ready.items() if each[1] > oldest}


def _cut(document: Document, most: int) -> Document:
    if len(document.text) <= most:
        return document
    extent = ", ".join(filter(None, (document.extent, f"its first {most} characters")))
    return replace(document, text=document.text[:most], extent=extent)


def described(found: Attachment) -> dict[str, Json]:
    """Return what a file is, as it is told to whoever gave it."""
    told: dict[str, Json] = {"name": found.name, "type": found.media_type}
    if isinstance(found, Image):
        return {**told, "width": found.width, "height": found.height}
    return {**told, "characters": len(found.text), "extent": found.extent}
