"""What parsers are fed: any bytes, any JSON, and honest files and lines with something changed in them."""

import io
import json
import struct
import zipfile
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

ANY_TEXT = st.text(st.characters(), max_size=30)
"""With lone surrogates and NUL."""

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT

ANY_JSON: SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=10,
)

DEEP = st.sampled_from((b"[" * 100_000, b'{"a":' * 30_000, b"[" * 5_000 + b"]" * 5_000, b"1" * 5_000, b"1e999"))
"""What ends a parser that calls itself, or that believes in numbers."""


def as_bytes(value: object) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value).encode()


def changed(*whole: bytes) -> SearchStrategy[bytes]:
    """Return one of these with a few bytes replaced, taken out or put in, or torn off."""

    def apply(content: bytes, changes: list[tuple[int, int, bytes]], length: int) -> bytes:
        found = bytearray(content)
        for place, taken, put in changes:
            at = place % (len(found) + 1)
            found[at : at + taken] = put
        return bytes(found[: length or None])

    edits = st.lists(st.tuples(st.integers(0, 4_000), st.integers(0, 8), st.binary(max_size=8)), max_size=6)
    return st.builds(apply, st.sampled_from(whole), edits, st.just(0) | st.integers(0, 2_000))


def json_like(shape: SearchStrategy[Any]) -> SearchStrategy[bytes]:
    """Return JSON of a shape, any JSON, any bytes, and what is too deep."""
    return (shape | ANY_JSON).map(as_bytes) | st.binary(max_size=200) | DEEP


def fields(*names: str, sure: dict[str, SearchStrategy[Any]] | None = None) -> SearchStrategy[dict[str, Any]]:
    """Return objects with any of these keys, of any value."""
    return st.fixed_dictionaries(sure or {}, optional=dict.fromkeys(names, ANY_JSON))


def wav() -> bytes:
    """Return a tenth of a second of silence."""
    samples = bytes(3_200)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 16_000, 32_000, 2, 16)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def packed(parts: dict[str, str]) -> bytes:
    """Return a zip of these texts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def docx() -> bytes:
    """Return a document of Word's with one sentence."""
    spaces = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    return packed({"word/document.xml": f"<w:document {spaces}><w:p><w:t>The plums.</w:t></w:p></w:document>"})


def odt() -> bytes:
    """Return an OpenDocument text with one sentence."""
    spaces = 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<a {spaces}><text:p>The plums.</text:p></a>",
        }
    )


PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
    b"4 0 obj<</Length 22>>stream\nBT (The plums.) Tj ET\nendstream endobj\ntrailer<</Size 5/Root 1 0 R>>\n%%EOF"
)
HTML = b"<!DOCTYPE html><html><title>Plums</title><p>The <a href='/b'>plums</a><table><tr><td>are</table></html>"
PNG = (
    b"\x89PNG\r\n\x1a\n"
    + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 8, 6, 8, 0, 0, 0, 0)
    + bytes(4)
    + b"\0\0\0\0IEND\xaeB\x60\x82"
)
JPEG = (
    b"\xff\xd8\xff\xc0"
    + struct.pack(">HBHHB", 17, 8, 6, 8, 3)
    + bytes(9)
    + b"\xff\xda\x00\x0c"
    + bytes(40)
    + b"\xff\xd9"
)
GIF = b"GIF89a" + struct.pack("<HH", 8, 6) + bytes(20) + b"\x3b"
ICS = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20261101T000000Z\r\nDTSTART:20261124T140000Z\r\n"
    b"RRULE:FREQ=WEEKLY;COUNT=3\r\nSUMMARY:Dentist\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
