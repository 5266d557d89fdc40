"""An image or a document beside the words of an event, and how the event carries it."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from memory.json_value import Json, listed, read_as

ATTACHMENTS: Final = "attachments"
"""Key of an event's metadata; only the program itself writes it."""

PROGRAM_SAYS: Final = "text/x-program"
"""Kind of a document that says what the program is like that a person writes with; only nakari makes one."""

MOST_ATTACHED: Final = 8
"""Files beside one event."""

MOST_IMAGE_BYTES: Final = 12_000_000
"""Of the images of one event, and of all that one context shows: 16 MB as base64, where Gemini takes 20."""

MOST_CHARACTERS: Final = 24_000
"""Of one document: some 6,000 tokens of English."""

MOST_TOGETHER: Final = 48_000
"""Characters of all documents of one event."""

_NAME: Final = 100
"""Characters of a file's name that are told."""

_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters of a name that nobody sees, or that turn the order of the others round."""


class Image(Struct, frozen=True):
    """An image, by reference: its bytes are a file of the state folder, read where a request is made."""

    digest: str
    """Names the file (`memory.state.images`)."""
    media_type: str
    """image/png, image/jpeg, image/webp, image/gif."""
    width: int
    """Pixels."""
    height: int
    bytes: int
    """Of the file."""
    name: str = ""
    """For people and the model; never part of a path."""

    def described(self, number: int) -> str:
        """Return what stands for it where it is not shown: without its name, which a stranger may have chosen."""
        return f"image {number} of this message ({self.media_type}, {self.width}x{self.height} pixels)"


class Document(Struct, frozen=True):
    """The text of a document; the file itself is not kept."""

    media_type: str
    text: str
    """At most `MOST_CHARACTERS`."""
    name: str = ""
    extent: str = ""
    """How much of it that is, such as "3 pages", "the first 200 of 950 pages"."""


Attachment: TypeAlias = Image | Document


def attachments_from(metadata: Mapping[str, Json]) -> tuple[Attachment, ...]:
    """Return what an event carries; what cannot be read is left out."""
    found: list[Attachment] = []
    for each in listed(metadata.get(ATTACHMENTS)):
        try:
            is_image = isinstance(each, dict) and "digest" in each
            found.append(read_as(each, Image) if is_image else read_as(each, Document))
        except ValueError:
            continue
    return tuple(found)


def in_metadata(attachments: tuple[Attachment, ...]) -> dict[str, Json]:
    """Return what an event's metadata has of them; nothing without any."""
    return {ATTACHMENTS: [asdict(each) for each in attachments]} if attachments else {}


def named(path: str) -> str:
    """Return the name by which a file is told: the last part of any path, without what nobody sees."""
    name = PurePosixPath(path.replace("\\", "/")).name
    return _UNSEEN.sub("", name).strip()[:_NAME].lstrip(".") or "unnamed"
