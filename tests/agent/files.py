"""Small files of the kinds that people attach, and hostile ones, made on the spot."""

import io
import struct
import zipfile
import zlib
from collections.abc import Sequence


def png(width: int = 8, height: int = 6, *, claimed: tuple[int, int] | None = None, junk: int = 0) -> bytes:
    """A grey PNG; with `claimed` its header says another size, as a bomb's does, with `junk` it has more bytes."""
    header = struct.pack(">IIBBBBB", *(claimed or (width, height)), 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + bytes([128] * width) for _ in range(height)))
    chunks = [(b"IHDR", header), (b"juNk", bytes(junk)), (b"IDAT", rows), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def jpeg(width: int = 8, height: int = 6) -> bytes:
    """The segments of a JPEG, with a thumbnail of another size in its EXIF; no picture that decodes."""
    thumbnail = b"\xff\xd8\xff\xc0\x00\x11\x08\x00\x01\x00\x01\xff\xd9"
    exif = b"\xff\xe1" + struct.pack(">H", len(thumbnail) + 2) + thumbnail
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8" + exif + frame + b"\xff\xda\x00\x0c" + bytes(40) + b"\xff\xd9"


def gif(width: int = 8, height: int = 6) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(20) + b"\x3b"


def webp(width: int = 8, height: int = 6) -> bytes:
    body = b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + (width - 1).to_bytes(3, "little")
    body += (height - 1).to_bytes(3, "little")
    return b"RIFF" + struct.pack("<I", len(body)) + body


def pdf(*pages: str, claimed: int | None = None) -> bytes:
    """A PDF with a line of text on each page; with `claimed` it says that it has so many."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages) if claimed is None else claimed}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, words in enumerate(pages):
        stream = f"BT /F1 12 Tf 20 700 Td ({words}) Tj ET"
        box = "/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R{box}/Contents {5 + 2 * number} 0 R>>")
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj{body}endobj\n".encode()
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += "".join(f"{place:010} 00000 n \n" for place in places).encode()
    out += f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(out)


def packed(parts: dict[str, str | bytes]) -> bytes:
    """A zip of these files, packed quickly: what is to unpack to very much is packed by each process of the suite."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def docx(paragraphs: Sequence[str]) -> bytes:
    spaces = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = "".join(f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>" for words in paragraphs)
    return packed({"word/document.xml": f"<w:document {spaces}><w:body>{body}</w:body></w:document>"})


def odt(paragraphs: Sequence[str]) -> bytes:
    spaces = (
        'xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:t="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    )
    body = "".join(f"<t:p>{words}</t:p>" for words in paragraphs)
    kind = "application/vnd.oasis.opendocument.text"
    return packed({"mimetype": kind, "content.xml": f"<o:document-content {spaces}>{body}</o:document-content>"})
