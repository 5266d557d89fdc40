"""The text of a document, read in a child process that may die of it."""

import asyncio
import json
from pathlib import Path
from typing import Final

from agent.attachments.attachment import MOST_CHARACTERS, Document
from agent.charset import as_utf_8
from agent.child import reading_child
from agent.errors import NotAttached

MOST_BYTES: Final = 20_000_000
"""Of a document's file."""

SECONDS: Final = 30.0
"""That a child may take on a busy machine; its own bound is of processor time."""

_PROGRAM: Final = Path(__file__).with_name("extract.py")


async def read_document(name: str, content: bytes, most: int = MOST_CHARACTERS) -> Document:
    """Return the text of a PDF, a .docx, an .odt, a page of HTML or a plain text, at most so many characters.

    Raises `NotAttached` for what is none, damaged, locked, too large, or takes too long.
    """
    if len(content) > MOST_BYTES:
        raise NotAttached(
            f"{name} has {len(content) / 1e6:.1f} MB; a document may have {MOST_BYTES // 1_000_000}: attach a part"
        )
    if b"%PDF-" not in content[:1024] and not content.startswith(b"PK"):
        content = await asyncio.to_thread(as_utf_8, content)
    try:
        async with reading_child(_PROGRAM, str(most)) as child, asyncio.timeout(SECONDS):
            told, _ = await child.communicate(content)
        found = json.loads(told)
    except TimeoutError as error:
        raise NotAttached(f"{name} takes too long to read; attach a part of it, or a picture of a page") from error
    except ValueError as error:  # it was killed: out of memory, or of processor time
        raise NotAttached(f"{name} takes too much to read; attach a part of it, or a picture of a page") from error
    if "error" in found:
        raise NotAttached(f"{name} {found['error']}")
    extent = [found["extent"]] if found["extent"] else []
    extent += [f"its first {most} characters"] if found["cut"] else []
    return Document(found["media_type"], found["text"], name, ", ".join(extent))
