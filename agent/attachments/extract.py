"""The program of the child process that reads a document: standard input to text, as one JSON object, within limits.

Run by its path in an isolated interpreter, so that it imports nothing of ours. Whatever a hostile file brings about in
a library ends this process only.
"""

import io
import json
import os
import re
import resource
import sys
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final
from xml.etree import ElementTree as ET

MOST_MEMORY: Final = 768_000_000
"""Bytes of address space."""

MOST_SECONDS: Final = 15
"""Of processor time."""

NICE: Final = 10
"""Somebody may be speaking meanwhile."""

MOST_PAGES: Final = 200
"""That are read of a PDF."""

MOST_COUNT: Final = 20_000
"""Pages that a PDF may claim to have; more are no document that somebody wants to ask about."""

MOST_XML: Final = 20_000_000
"""Bytes to which the text of a packed document may unpack."""

WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
ODT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"

_BLOCKS: Final = re.compile(
    "address|article|aside|blockquote|br|d[dlt]|div|footer|h[1-6]|header|hr|li|main|nav|[ou]l|p|pre|section|table|t[dhr]"
    "|title"
)
_UNSHOWN: Final = frozenset({"script", "style", "template", "noscript", "svg"})
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f]")


class Unreadable(Exception):
    """What follows on the name of the file, for a person."""


def main() -> None:
    """Read standard input; the argument is how many characters are wanted at most."""
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    most = int(sys.argv[1])
    try:
        media_type, pieces, extent = _opened(sys.stdin.buffer.read())
        text, is_cut = _gathered(pieces, most)
    except Unreadable as error:
        _tell({"error": str(error)})
        return
    except MemoryError:
        _tell({"error": "takes more memory to read than it is worth; attach a part of it"})
        return
    except Exception as error:  # noqa: BLE001  a library that met a damaged or a hostile file
        _tell({"error": f"is damaged, and cannot be read ({type(error).__name__})"})
        return
    if not text.strip():
        _tell({"error": "holds no text that can be read; attach pictures of its pages instead"})
        return
    _tell({"media_type": media_type, "text": text, "extent": extent, "cut": is_cut})


def _tell(found: dict[str, object]) -> None:
    json.dump(found, sys.stdout)


def _gathered(pieces: Iterator[str], most: int) -> tuple[str, bool]:
    """Return the text up to so many characters, and whether there was more."""
    found: list[str] = []
    length = 0
    for piece in pieces:
        found.append(piece)
        length += len(piece)
        if length > most:
            break
    lines = "".join(found).encode(errors="replace").decode().splitlines()
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()
    return text[:most], length > most


def _opened(content: bytes) -> tuple[str, Iterator[str], str]:
    """Return the media type, the text in pieces, and how much of the document that is."""
    if b"%PDF-" in content[:1024]:
        return ("application/pdf", *_pdf(content))
    if content.startswith(b"PK"):
        return (*_packed(content), "")
    text = _decoded(content)
    if re.match(r"\s*(<!doctype html|<html|<\?xml[^>]*>\s*<!doctype html)", text, re.IGNORECASE):
        return "text/html", _html(text), ""
    return "text/plain", iter((text,)), ""


def _decoded(content: bytes) -> str:
    """Return a text, which comes in UTF-8; what has other control characters than a text's is none."""
    text = content.decode("utf-8-sig", "replace")
    if _CONTROL.search(text.replace("\x0c", "\n")):
        raise Unreadable(
            "is neither an image (PNG, JPEG, WebP, GIF) nor a document that can be read "
            "(PDF, Word's .docx, .odt, HTML, plain text)"
        )
    return text


def _pdf(content: bytes) -> tuple[Iterator[str], str]:
    from pypdf import PdfReader
    from pypdf.errors import PdfReadError

    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("is locked with a password; attach a copy without one")
    claimed = int(reader.root_object["/Pages"].get("/Count", 0))  # type: ignore[attr-defined]
    if claimed > MOST_COUNT:
        raise Unreadable(f"has {claimed} pages; attach the part that is meant")
    try:
        pages = len(reader.pages)
    except (RecursionError, PdfReadError) as error:
        raise Unreadable("is damaged: its pages cannot be found") from error

    def texts() -> Iterator[str]:
        for number in range(min(pages, MOST_PAGES)):
            yield f"{reader.pages[number].extract_text()}\n\n"

    extent = f"the first {MOST_PAGES} of {pages} pages" if pages > MOST_PAGES else f"{pages} page{'s'[: pages != 1]}"
    return texts(), extent


def _packed(content: bytes) -> tuple[str, Iterator[str]]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError) as error:
        raise Unreadable("is damaged: it breaks off, or was changed") from error
    if "word/document.xml" in names:
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        return kind, _word(_xml(archive, "word/document.xml"))
    if "content.xml" in names and "mimetype" in names:
        return "application/vnd.oasis.opendocument.text", _odt(_xml(archive, "content.xml"))
    raise Unreadable("is an archive, or a kind of office document that cannot be read; attach what is in it, or a PDF")


def _xml(archive: zipfile.ZipFile, name: str) -> ET.Element:
    """Return a part of a packed document; unpacked no further than its bound, and without entities of its own."""
    with archive.open(name) as part:
        text = part.read(MOST_XML + 1)
    if len(text) > MOST_XML:
        raise Unreadable(f"unpacks to more than {MOST_XML // 1_000_000} MB of text; attach the part that is meant")
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise Unreadable("is no document that an office program wrote")
    return ET.fromstring(text)


def _word(root: ET.Element) -> Iterator[str]:
    for element in root.iter():
        match element.tag.removeprefix(WORD):
            case "t":
                yield element.text or ""
            case "tab":
                yield "\t"
            case "p" | "br" | "cr":
                yield "\n"


def _odt(root: ET.Element) -> Iterator[str]:
    for element in root.iter():
        if element.tag in (f"{ODT}p", f"{ODT}h"):
            yield "".join(element.itertext())
            yield "\n"


class _Page(HTMLParser):
    """Takes the text out of a page, and leaves out what a browser does not show."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSHOWN:
            self._hidden.append(tag)
        elif _BLOCKS.fullmatch(tag):
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._hidden and tag == self._hidden[-1]:
            self._hidden.pop()
        elif _BLOCKS.fullmatch(tag):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(re.sub(r"\s+", " ", data))


def _html(text: str) -> Iterator[str]:
    page = _Page()
    page.feed(text)
    page.close()
    yield from page.pieces


if __name__ == "__main__":
    main()
