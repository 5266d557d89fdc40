"""Targets that read a file: sound, images by their header, documents, pages and calendars."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st

from agent.attachments.documents import read_document
from agent.attachments.formats import checked
from agent.calendars.reading import read
from agent.errors import CalendarLost, NotAttached
from agent.web import extractor
from appliance.errors import Problem
from appliance.remote.decoding import decoded
from audio.errors import SynthesisFailed
from audio.tts.decoding import Mp3Decoder, WavStream
from benchmarks.fuzz.inputs import GIF, HTML, ICS, JPEG, PDF, PNG, changed, docx, odt, wav
from benchmarks.fuzz.target import Target

BEGIN = datetime(2026, 11, 20, tzinfo=UTC)


def image(content: bytes) -> None:
    """Look at the header of an attached image."""
    with suppress(NotAttached):
        checked("a", content)


def voice_sound(content: bytes) -> None:
    """Read the sound that a voice's server sent."""
    for decoder in (WavStream(), Mp3Decoder()):
        with suppress(SynthesisFailed):
            for at in range(0, len(content), 97):
                decoder.feed(content[at : at + 97])
            decoder.finish()


def recording(content: bytes) -> None:
    """Decode a recording that a program sent."""

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    with suppress(Problem):
        asyncio.run(decoded(pieces()))


def document(content: bytes) -> None:
    """Read the text of an attached document."""
    with suppress(NotAttached):
        asyncio.run(read_document("a", content))


def web_page(content: bytes) -> None:
    """Take the text out of a page, as the child process does; its library's own errors end that process only."""
    with suppress(SyntaxError, ValueError, RecursionError, AssertionError):  # lxml's are syntax errors
        extractor.read(content, "https://example.org/", "", 1_000)


def calendar(content: bytes) -> None:
    """Read a calendar."""
    with tempfile.TemporaryDirectory() as folder, suppress(CalendarLost):
        file = Path(folder) / "calendar"
        file.write_bytes(content)
        asyncio.run(read([{"path": str(file), "kind": "ics"}], BEGIN, BEGIN + timedelta(days=60), "Europe/Berlin"))


TARGETS = (
    Target("image", changed(PNG, JPEG, GIF) | st.binary(max_size=100), image),
    Target("voice_sound", changed(wav()) | st.binary(max_size=300), voice_sound),
    Target(
        "recording",
        changed(wav(), b"OggS" + bytes(60), b"ID3" + bytes(60), b"fLaC" + bytes(60)),
        recording,
        examples=6,
        seconds=25.0,
    ),
    Target("document", changed(PDF, docx(), odt(), HTML), document, examples=8, seconds=35.0),
    Target("web_page", changed(HTML), web_page, examples=40, seconds=8.0),
    Target("calendar", changed(ICS), calendar, examples=6, seconds=45.0),
)
