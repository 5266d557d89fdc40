"""What kind of image some bytes are, and how large, by their headers alone: nothing is decoded."""

import struct
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from agent.errors import NotAttached

MOST_BYTES: Final = 3_900_000
"""Of one image: Anthropic takes 5 MB of base64, which is so much; the others take more."""

MOST_SIDE: Final = 8_000
"""Pixels; Anthropic's bound."""

MOST_PIXELS: Final = 25_000_000
"""A model's server decodes them all, into 75 MB; a telephone's camera has 12 million."""

_TOO_MUCH: Final = "make a smaller copy of it and attach that"


class Header(Struct, frozen=True):
    """What an image says of itself."""

    media_type: str
    width: int
    """Pixels."""
    height: int
    is_whole: bool
    """Whether it reaches its end."""


def looks_like_image(content: bytes) -> bool:
    """Whether the beginning is that of a format that every model which sees can be shown."""
    return content.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")) or _is_webp(content)


def unshown_format(content: bytes) -> str:
    """Return the name of an image format that not every model can be shown, "" for what is none."""
    if content[4:8] == b"ftyp" and content[8:12] in (b"heic", b"heix", b"mif1", b"msf1", b"avif", b"heim", b"hevc"):
        return "AVIF" if content[8:12] == b"avif" else "HEIC"
    if content.startswith((b"II*\0", b"MM\0*")):
        return "TIFF"
    return "BMP" if content.startswith(b"BM") and content[6:10] == bytes(4) else ""


def checked(name: str, content: bytes) -> Header:
    """Return what an image says of itself. Raises `NotAttached` for one that is damaged, too large or cut off.

    A small file that would unpack to gigabytes says so in its header, and gets no further.
    """
    try:
        header = _header(content)
    except (struct.error, IndexError, ValueError) as error:
        raise NotAttached(f"{name} is damaged: it is no whole image; take another copy of it") from error
    if min(header.width, header.height) < 1 or not header.is_whole:
        raise NotAttached(f"{name} is damaged: it breaks off; take another copy of it")
    if max(header.width, header.height) > MOST_SIDE or header.width * header.height > MOST_PIXELS:
        size = f"{header.width}x{header.height}"
        most = f"{MOST_PIXELS // 1_000_000} million pixels, and {MOST_SIDE} a side"
        raise NotAttached(f"{name} has {size} pixels; at most {most}, can be shown: {_TOO_MUCH}")
    if len(content) > MOST_BYTES:
        raise NotAttached(
            f"{name} has {len(content) / 1e6:.1f} MB; an image may have {MOST_BYTES / 1e6:.1f} MB: {_TOO_MUCH}"
        )
    return header


def _header(content: bytes) -> Header:
    if content.startswith(b"\x89PNG"):
        return _png(content)
    if content.startswith(b"GIF8"):
        width, height = struct.unpack_from("<HH", content, 6)
        return Header("image/gif", width, height, b"\x3b" in content[-16:])
    return _webp(content) if _is_webp(content) else _jpeg(content)


def _png(content: bytes) -> Header:
    """Read the first chunk, and follow the others by their lengths to the last (PNG specification, 5.3)."""
    if content[12:16] != b"IHDR":
        raise ValueError("no header")
    width, height = struct.unpack_from(">II", content, 16)
    place, kind = 8, b""
    while kind != b"IEND" and place + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        kind = content[place + 4 : place + 8]
        place += 12 + length
    return Header("image/png", width, height, kind == b"IEND" and place <= len(content))


def _jpeg(content: bytes) -> Header:
    """Find the frame's header among the segments (ITU-T T.81, B.1.1.3 and B.2.2)."""
    for marker, place in _segments(content):
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", content, place + 5)
            return Header("image/jpeg", width, height, content.rfind(b"\xff\xd9") > place)
    raise ValueError("no frame")


def _segments(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield marker and place of each segment before the picture itself."""
    place = 2
    while place + 4 <= len(content):
        if content[place] != 0xFF:
            return
        marker = content[place + 1]
        if marker == 0xFF:  # a marker may be preceded by any number of these
            place += 1
            continue
        if marker == 0xDA:
            return
        yield marker, place
        place += 2 + struct.unpack_from(">H", content, place + 2)[0]


def _is_webp(content: bytes) -> bool:
    return content[:4] == b"RIFF" and content[8:12] == b"WEBP"


def _webp(content: bytes) -> Header:
    """Read the first chunk: lossy, lossless or extended (RFC 9649)."""
    is_whole = struct.unpack_from("<I", content, 4)[0] + 8 <= len(content)
    kind = content[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27))
    elif kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif kind == b"VP8 ":
        width, height = (each & 0x3FFF for each in struct.unpack_from("<HH", content, 26))
    else:
        raise ValueError("no picture")
    return Header("image/webp", width, height, is_whole and len(content) >= 30)
