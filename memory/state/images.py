"""Images that were given to the agent: files by their digest, kept as long as an event refers to them."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Final

import structlog

from memory.clock import utc_now, utc_text, within
from memory.durable import replace_durably
from memory.errors import MemoryFailure, StateUnusable
from memory.state.database import Database

log = structlog.get_logger()

FOLDER: Final = "images"
"""Of the state folder."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS image_references (
    digest    TEXT NOT NULL,
    event_id  TEXT NOT NULL,
    owner_key TEXT NOT NULL,
    bytes     INTEGER NOT NULL,
    at        TEXT NOT NULL,
    PRIMARY KEY (digest, event_id)
);
CREATE INDEX IF NOT EXISTS image_references_by_event ON image_references (event_id);
"""
"""For `Database.open`; part of the mailbox's."""

FRESH_SECONDS: Final = 900.0
"""For which a file stays that no event refers to yet: an upload whose question is still being typed."""

PERIOD_SECONDS: Final = 3600.0
"""Between two looks at what is there, where nothing came meanwhile."""

PAUSE_SECONDS: Final = 60.0
"""At least, between two looks."""

MOST_BYTES: Final = 500_000_000
"""Of one owner's images; the oldest go first."""


def refer(connection: sqlite3.Connection, owner_key: str, event_id: str, images: Mapping[str, int], at: str) -> None:
    """Keep these images, sizes in bytes by digest, as long as the event; `at` is UTC as ISO text."""
    rows = [(digest, event_id, owner_key, size, at) for digest, size in images.items()]
    connection.executemany("INSERT OR IGNORE INTO image_references VALUES (?, ?, ?, ?, ?)", rows)


def release(connection: sqlite3.Connection, event_id: str) -> None:
    """Let go of an event's images; the files go with the next look (`Images.sweep`)."""
    connection.execute("DELETE FROM image_references WHERE event_id = ?", (event_id,))


def release_owner(connection: sqlite3.Connection, owner_key: str) -> None:
    """Let go of all images of an owner."""
    connection.execute("DELETE FROM image_references WHERE owner_key = ?", (owner_key,))


def read(folder: Path, digest: str) -> bytes | None:
    """Return an image, None where it is not kept any more. Blocking."""
    if not _is_digest(digest):
        return None
    try:
        return (folder / digest).read_bytes()
    except OSError:
        return None


class Images:
    """Keeps files. The name of each is the SHA-256 of its owner's key and its content, so that no two owners share one.

    Guarantees: what `keep` returned is whole on the disk. A file without an event goes: at the start, after a kill in
    between, and `FRESH_SECONDS` after it came.
    """

    def __init__(
        self, folder: Path, database: Database, *, clock: Callable[[], float] = monotonic, most: int = MOST_BYTES
    ) -> None:
        """`clock` is in seconds, `most` in bytes, for each owner."""
        self.folder = folder
        self.database = database
        self._clock = clock
        self._most = most
        self._fresh: dict[str, float] = {}
        """When each file came that may have no event yet."""
        self._one = asyncio.Lock()
        self._came = asyncio.Event()

    async def keep(self, owner_key: str, content: bytes) -> str:
        """Keep an image and return its digest; durable on return. Raises OSError."""
        digest = await asyncio.to_thread(_digest, owner_key, content)
        async with self._one:
            self._fresh[digest] = self._clock()
            await asyncio.to_thread(self._write, digest, content)
        self._came.set()
        return digest

    async def hold(self, digests: Collection[str]) -> bool:
        """Keep what is about to be referred to, for a while; False when one of it is gone."""
        async with self._one:
            self._fresh.update(dict.fromkeys(digests, self._clock()))
            files = [self.folder / digest for digest in digests if _is_digest(digest)]
            return len(files) == len(digests) and await asyncio.to_thread(lambda: all(map(Path.is_file, files)))

    async def refer(self, owner_key: str, event_id: str, images: Mapping[str, int]) -> None:
        """Keep these, sizes in bytes by digest, as long as the event. Raises `StateUnusable`."""
        at = utc_text(utc_now())
        await self.database.write(lambda connection: refer(connection, owner_key, event_id, images, at), durable=False)

    async def sweep(self, days: int = 0) -> int:
        """Remove what no event refers to, what is too much, and what is older than so many days; 0 is for ever.

        Returns how many files it was. Raises `StateUnusable`, OSError.
        """
        oldest = utc_text(utc_now() - timedelta(days=days)) if days else ""
        async with self._one:
            referred = await self.database.write(lambda connection: _referred(connection, oldest, self._most))
            fresh = {digest for digest, came in self._fresh.items() if self._clock() - came < FRESH_SECONDS}
            self._fresh = {digest: self._fresh[digest] for digest in fresh - referred}
            return await asyncio.to_thread(self._remove_others, referred | fresh)

    async def forget(self) -> None:
        """Remove at once the files that no event refers to any more, new ones too. Raises `StateUnusable`."""
        self._fresh.clear()
        try:
            await self.sweep()
        except OSError as error:
            what = f"an image in {self.folder} cannot be removed ({error.strerror})"
            raise StateUnusable(f"{what}: make that folder writable for this user") from error

    async def run(self, days: int) -> None:
        """Sweep now and then, until cancelled."""
        while True:
            self._came.clear()
            try:
                if removed := await self.sweep(days):
                    log.info("images_removed", files=removed)
            except (MemoryFailure, OSError) as error:
                log.warning("images_not_swept", reason=str(error))
            await asyncio.sleep(PAUSE_SECONDS)
            await within(PERIOD_SECONDS, self._came)

    def _write(self, digest: str, content: bytes) -> None:
        file = self.folder / digest
        if file.is_file() and file.stat().st_size == len(content):
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_durably(file, [content])

    def _remove_others(self, stay: Collection[str]) -> int:
        if not self.folder.is_dir():
            return 0
        gone = [file for file in self.folder.iterdir() if file.name not in stay]
        for file in gone:
            file.unlink(missing_ok=True)
        return len(gone)


def _digest(owner_key: str, content: bytes) -> str:
    return hashlib.sha256(owner_key.encode(errors="surrogatepass") + b"\0" + content).hexdigest()


def _is_digest(name: str) -> bool:
    return len(name) == hashlib.sha256().digest_size * 2 and all(each in "0123456789abcdef" for each in name)


def _referred(connection: sqlite3.Connection, oldest: str, most: int) -> set[str]:
    """Return the images that events refer to, after the too old and the too many were let go of."""
    connection.execute("DELETE FROM image_references WHERE at < ?", (oldest,))
    connection.execute(
        "DELETE FROM image_references WHERE rowid IN (SELECT id FROM (SELECT rowid AS id, "
        "sum(bytes) OVER (PARTITION BY owner_key ORDER BY at DESC, rowid DESC) AS newer "
        "FROM image_references) WHERE newer > ?)",
        (most,),
    )
    return {row["digest"] for row in connection.execute("SELECT DISTINCT digest FROM image_references")}
