"""Pages of strangers as text: fetched behind the guard, read by a child process that may be ended."""

import asyncio
import json
from asyncio.subprocess import Process
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from agent.charset import decoded
from agent.child import PYTHON, reading_child
from agent.errors import ToolFailed
from agent.web.fetch import PAGE, Fetched, Fetcher
from agent.web.guard import Guard
from memory.egress import SendsTo
from memory.json_value import Json

log = structlog.get_logger()

READING_SECONDS: Final = 8.0
"""For the child, which begins while the page is still on its way."""

MOST_CHILDREN: Final = 2
"""At a time; a page may take hundreds of megabytes."""

MOST_TEXT: Final = 8_000
"""Characters of a page that the model is given, some two thousand tokens."""

MARKED_UP: Final = frozenset({"text/html", "application/xhtml+xml"})
PLAIN: Final = frozenset({"application/json", "application/xml", "application/rss+xml", "application/atom+xml"})

INSTALL: Final = "run scripts/setup, which brings what is missing"

PROGRAM: Final = Path(__file__).with_name("extractor.py")

REFUSALS: Final = {
    401: "it wants a login",
    403: "it lets no programs in",
    404: "there is no such page",
    410: "the page is gone",
    429: "it has been asked too often; try again later",
    451: "it may not be shown here",
}


class Page(Struct, frozen=True):
    """What was read of a page."""

    url: str
    """Where it was in the end."""
    text: str
    title: str = ""
    date: str = ""
    """As ISO 8601, where the page tells one."""
    links: tuple[tuple[str, str], ...] = ()
    """Addresses on it, with their words."""
    is_cut: bool = False
    """Whether there was more of it than was read."""


class PageReader:
    """Reads pages; `agent` is what it calls itself to their servers."""

    sends_to = (SendsTo("the addresses of pages that the agent reads, and this house's", "the servers of those pages"),)

    def __init__(
        self,
        agent: str,
        guard: Guard | None = None,
        reading_seconds: float = READING_SECONDS,
        python: Sequence[str] = PYTHON,
    ) -> None:
        """Take the guard that lets nothing pass but the public internet where none is given.

        `python` starts the child's interpreter.
        """
        self._python = python
        self._fetcher = Fetcher(agent, guard or Guard(), PAGE)
        self._seconds = reading_seconds
        self._room = asyncio.Semaphore(MOST_CHILDREN)

    async def read(self, address: str) -> Page:
        """Return what an address leads to. Raises `ToolFailed`."""
        async with self._room, reading_child(PROGRAM, python=self._python) as child:
            fetched = await self._fetcher.page(address)
            if reason := REFUSALS.get(fetched.status, "" if fetched.status < 400 else f"error {fetched.status}"):
                raise ToolFailed(f"the page cannot be read: {reason}")
            if _is_plain(fetched):
                text = _decoded(fetched)
                return Page(fetched.url, text[:MOST_TEXT], is_cut=fetched.is_cut or len(text) > MOST_TEXT)
            if not _is_marked_up(fetched):
                raise ToolFailed(f"that is no page but {fetched.media_type or 'something without a type'}: not read")
            return _page_of(fetched, await self._extracted(child, fetched))

    async def _extracted(self, child: Process, fetched: Fetched) -> dict[str, Json]:
        head: dict[str, Json] = {"url": fetched.url, "charset": fetched.charset, "most": MOST_TEXT}
        try:
            async with asyncio.timeout(self._seconds):
                told, _ = await child.communicate(json.dumps(head).encode() + b"\n" + fetched.body)
        except TimeoutError as error:
            raise ToolFailed("the page is made so that reading it takes too long; it was given up") from error
        try:
            read = dict(json.loads(told))
        except ValueError as error:  # it ran out of processor time or memory, or lxml fell over the page
            raise ToolFailed("the page is made so that it cannot be read within bounds; it was given up") from error
        if missing := read.get("missing"):
            log.error("page_reader_incomplete", reason=missing, fix=INSTALL)
            raise ToolFailed(f"this installation cannot read pages ({missing}): {INSTALL}")
        return read


def _is_marked_up(fetched: Fetched) -> bool:
    start = fetched.body[:1_000].lower()
    return fetched.media_type in MARKED_UP or (not fetched.media_type and (b"<html" in start or b"<!doctype" in start))


def _is_plain(fetched: Fetched) -> bool:
    return fetched.media_type in PLAIN or (fetched.media_type.startswith("text/") and not _is_marked_up(fetched))


def _decoded(fetched: Fetched) -> str:
    if fetched.charset:
        try:
            return fetched.body.decode(fetched.charset, "replace")
        except (LookupError, ValueError):  # no charset, or one that makes no text of bytes
            pass
    return decoded(fetched.body)


def _page_of(fetched: Fetched, told: dict[str, Json]) -> Page:
    text, links = str(told.get("text", "")), told.get("links")
    if not text:
        raise ToolFailed("there is no text on that page that could be read; it may need a browser")
    found = [each for each in links if isinstance(each, list) and len(each) == 2] if isinstance(links, list) else []
    return Page(
        fetched.url,
        text,
        str(told.get("title", "")),
        str(told.get("date", "")),
        tuple((str(address), str(words)) for address, words in found),
        is_cut=fetched.is_cut or bool(told.get("left_out")),
    )
