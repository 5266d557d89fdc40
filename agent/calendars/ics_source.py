"""A calendar that is one ICS file, on this machine or at an address; it can only be read."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from agent.calendars.fetching import MOST_BYTES, UNCHANGED, Fetcher
from agent.calendars.source import Collection, Source
from agent.charset import as_utf_8
from agent.errors import CalendarLost
from memory.egress import SendsTo, host_of


class IcsFile(Source):
    """A file on this machine."""

    sends_to = ()

    def __init__(self, name: str, path: Path) -> None:
        self._name = name
        self._path = path

    async def look(self, known: Mapping[str, Collection]) -> list[Collection]:
        """Return the file, by its time and size."""
        del known
        try:
            told = await asyncio.to_thread(self._path.stat)
        except OSError as error:
            raise CalendarLost(f"{self._path} cannot be read: {error.strerror}") from error
        return [Collection(str(self._path), self._name, f"{told.st_mtime_ns} {told.st_size}")]

    async def body(self, collection: Collection, begin: datetime, end: datetime) -> bytes:
        """Return its content, in UTF-8."""
        del collection, begin, end
        return await asyncio.to_thread(lambda: as_utf_8(self._read()))

    def _read(self) -> bytes:
        try:
            with self._path.open("rb") as file:
                body = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise CalendarLost(f"{self._path} cannot be read: {error.strerror}") from error
        if len(body) > MOST_BYTES:
            raise CalendarLost(f"it is larger than {MOST_BYTES / 1_000_000:g} MB")
        return body


class IcsAddress(Source):
    """A file at an address, as many services share a calendar."""

    def __init__(self, name: str, fetcher: Fetcher) -> None:
        self._name = name
        self._fetcher = fetcher
        self._body = b""

    @property
    def sends_to(self) -> Sequence[SendsTo]:
        """Nothing but that it asks."""
        return (SendsTo("requests for a calendar", host_of(self._fetcher.url)),)

    async def look(self, known: Mapping[str, Collection]) -> list[Collection]:
        """Fetch the file, where its server does not say that it is as it was."""
        before = known.get(self._fetcher.url)
        kind, _, tag = before.tag.partition(" ") if before else ("", "", "")
        headers = {"ETag": {"If-None-Match": tag}, "Last-Modified": {"If-Modified-Since": tag}}.get(kind, {})
        answer = await self._fetcher.send("GET", self._fetcher.url, headers)
        if answer.status == UNCHANGED and before is not None:
            return [before]
        if answer.status != 200:
            raise CalendarLost(f"there is nothing to read at its address (status {answer.status})")
        self._body = answer.body
        tags = (
            f"{name} {answer.headers[name.lower()]}"
            for name in ("ETag", "Last-Modified")
            if name.lower() in answer.headers
        )
        own = f"body {blake2b(answer.body, digest_size=16).hexdigest()}"
        return [Collection(self._fetcher.url, self._name, next(tags, own))]

    async def body(self, collection: Collection, begin: datetime, end: datetime) -> bytes:
        """Return what `look` fetched, in UTF-8."""
        del collection, begin, end
        body, self._body = self._body, b""
        return await asyncio.to_thread(as_utf_8, body)

    async def aclose(self) -> None:
        """Let the connection go."""
        await self._fetcher.aclose()
