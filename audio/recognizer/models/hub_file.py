"""One file from the hub: received, resumed where it stopped, and checked."""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Final

from msgspec import Struct

from audio.recognizer.models.hub_faults import Damaged, may_pass

HUB_SECONDS: Final = 10
"""How long the hub may take to answer, and to send the next piece."""

PIECE: Final = 256 * 1024
"""Bytes written at a time: what an interruption may cost."""

PARTIAL_CONTENT: Final = 206
"""HTTP's answer to a range: the rest comes; anything else is the whole file."""

SHA256_DIGITS: Final = 64
GIT_DIGITS: Final = 40


class HubFile(Struct, frozen=True):
    """One file as the hub describes it."""

    name: str
    url: str
    size: int
    """Bytes."""
    digest: str
    """sha256 (64 digits) of a large file, git's blob hash (40) of a small one, "" where the hub tells none."""


def receive_file(file: HubFile, path: Path, count: Callable[[int], None], pauses: Sequence[float]) -> None:
    """Fetch a file, or what is missing of it. Raises `Damaged` when it is not what was listed, even from the start.

    What lies here from before may be of an older version, or have holes where a power cut took what was not yet on
    the disk.
    """
    for _ in range(2):
        if size_of(path) > file.size:
            path.unlink()
        _receive_all(file, path, count, pauses)
        if is_intact(path, file):
            return
        path.unlink()
    raise Damaged(file.name)


def _receive_all(file: HubFile, path: Path, count: Callable[[int], None], pauses: Sequence[float]) -> None:
    from httpx import HTTPError

    left = list(pauses)
    while True:
        start = size_of(path)
        try:
            return _receive(file, path, start, count)
        except HTTPError as error:
            if size_of(path) > start:
                left = list(pauses)
            if not left or not may_pass(error):
                raise
            time.sleep(left.pop(0))


def _receive(file: HubFile, path: Path, start: int, count: Callable[[int], None]) -> None:
    """Append what is missing from `start` on, on the disk when it returns; a hub that knows no ranges sends it all."""
    from huggingface_hub import get_session

    count(start)
    if start == file.size and path.is_file():
        return
    asked = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with get_session().stream("GET", file.url, headers=asked, timeout=HUB_SECONDS) as response:
        response.raise_for_status()
        with path.open("ab" if response.status_code == PARTIAL_CONTENT else "wb") as out:
            for piece in response.iter_bytes(PIECE):
                out.write(piece)
                count(out.tell())
                if out.tell() > file.size:
                    break
            out.flush()
            os.fsync(out.fileno())


def is_intact(path: Path, file: HubFile) -> bool:
    """Say whether a file has the size and the digest that the hub lists; a digest of another kind proves nothing."""
    if size_of(path) != file.size:
        return False
    with path.open("rb") as content:
        if len(file.digest) == SHA256_DIGITS:
            return hashlib.file_digest(content, "sha256").hexdigest() == file.digest
        if len(file.digest) == GIT_DIGITS:
            return _git_hash(content, file.size) == file.digest
    return True


def _git_hash(content: BufferedReader, size: int) -> str:
    """Return git's name of a blob: SHA-1 over a header and the bytes."""
    return hashlib.file_digest(content, lambda: hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)).hexdigest()


def size_of(path: Path) -> int:
    """Return the bytes that are there of a file, 0 for none."""
    return path.stat().st_size if path.is_file() else 0
