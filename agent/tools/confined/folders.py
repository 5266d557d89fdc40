"""Allow-listed folders: what is in them is listed, read page by page and written whole or not at all."""

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from itertools import filterfalse, islice
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agent.errors import ToolFailed
from agent.tools.confined.paths import (
    MOST_LOOKED_THROUGH,
    found,
    is_hidden,
    kind_of,
    opened_file,
    opened_folder,
    parts_of,
    shown,
)
from agent.tools.confined.placing import BEFORE, How, put
from agent.tools.confined.text import SAMPLE, Encoding, decoded, encoding_of

PAGE: Final = 12_000
"""Bytes of one answer about a file's text."""

LISTED: Final = 100
"""Entries of one answer about a folder."""

MOST_WRITTEN: Final = 1_000_000
"""Bytes that a file may have after it was written to."""

MOST_A_DAY: Final = 50_000_000
"""Bytes that may be written in a day (UTC) and since the start."""

LEFT_FREE: Final = 500_000_000
"""Bytes of the disk that writing leaves free."""


class Entry(Struct, frozen=True):
    """What a folder holds."""

    name: str
    kind: str
    size: int
    """Bytes."""
    modified: datetime | None
    """Aware UTC; None of an allowed folder itself, at which nobody looked."""


class Listing(Struct, frozen=True):
    """A part of a folder's entries, by name."""

    entries: tuple[Entry, ...]
    total: int
    is_whole: bool
    """False for a folder with so many entries that not all were looked at."""


class Page(Struct, frozen=True):
    """A part of a file's text."""

    text: str
    size: int
    """Bytes of the file."""
    end: int
    """Byte at which the next page begins; `size` at the end."""
    encoding: Encoding


Trouble: TypeAlias = Literal["", "absent", "closed", "read-only", "never"]
"""Why a folder cannot be used: it is not there, may not be opened, may not be written to, or is never shown."""


class Folders:
    """The folders that the configuration allows. All calls block; for a pool of threads of their own."""

    def __init__(self, folders: Sequence[Path], never: Mapping[Path, str]) -> None:
        """`never` are places with what they are, which no folder may hold, be, or lie in. Looks at no disk."""
        self._never = never
        self._roots: dict[str, str] = {}
        self._day, self._written = date.min, 0
        for folder in folders:
            name = shown(folder.name)
            while name in self._roots:
                name += "'"
            self._roots[name] = str(folder)

    @property
    def names(self) -> Mapping[str, str]:
        """The allowed folders: their paths by the names that paths begin with."""
        return self._roots

    def trouble(self, name: str) -> tuple[Trouble, str]:
        """Return why a folder cannot be used, and what it has to do with what is never shown; two "" where it can."""
        root = self._roots[name]
        if why := self._why_never(root):
            return "never", why
        try:
            os.scandir(root).close()
        except PermissionError:
            return "closed", ""
        except OSError:
            return "absent", ""
        return ("", "") if os.access(root, os.W_OK | os.X_OK) else ("read-only", "")

    def list(self, path: str, start: int = 0) -> Listing:
        """Return a folder's entries from number `start` on; the folders themselves where `path` is empty.

        Raises `ToolFailed`.
        """
        if not parts_of(path):
            there = sorted(self._roots)
            return Listing(tuple(Entry(name, "folder", 0, None) for name in there[start:]), len(there), is_whole=True)
        with self.folder(path) as folder:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in islice(entries, MOST_LOOKED_THROUGH)]
            seen = sorted(filterfalse(is_hidden, names), key=str.casefold)
            page = tuple(_entries(folder, seen[start : start + LISTED]))
        return Listing(page, len(seen), is_whole=len(names) < MOST_LOOKED_THROUGH)

    def read(self, path: str, start: int = 0) -> Page:
        """Return the text of a file from byte `start` on. Raises `ToolFailed`, for one that is no text as well."""
        with self.folder(path, above=True) as folder, opened_file(folder, _last(path)) as file:
            size = os.fstat(file).st_size
            encoding = encoding_of(os.pread(file, SAMPLE, 0))
            if not encoding.name:
                raise ToolFailed(f"{_last(path)} holds no text ({size} bytes, binary): its content cannot be read here")
            raw = os.pread(file, PAGE, max(start, encoding.mark))
        begin = max(start, encoding.mark)
        text, used = decoded(raw, encoding, is_end=begin + len(raw) >= size)
        return Page(text, size, min(begin + (used or len(raw)), size) if raw else size, encoding)

    def has_copy(self, path: str) -> bool:
        """Whether replacing this file loses the copy of what it held before. False where it cannot be told."""
        with suppress(ToolFailed, OSError), self.folder(path, above=True) as folder:
            name = found(folder, _last(path))
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            os.stat(name + BEFORE, dir_fd=folder, follow_symlinks=False)
            return True
        return False

    def write(self, path: str, text: str, how: How) -> int:
        """Write a text file whole, or not at all; return its size in bytes.

        A new one is not put over another; what is replaced is kept beside it, once (`BEFORE`). Raises `ToolFailed`.
        """
        with self.folder(path, above=True, make=how == "new") as folder:
            name = found(folder, _last(path))
            before = _held(folder, name, _last(path), how)
            raw = (before if how == "append" else b"") + text.encode(errors="replace")
            self._check_room(folder, len(raw))
            try:
                put(folder, name, raw, how)
            except OSError as error:
                raise ToolFailed(_not_written(error, _last(path))) from error
        return len(raw)

    @contextmanager
    def folder(self, path: str, *, above: bool = False, make: bool = False) -> Iterator[int]:
        """Give the descriptor of a folder, or of the one that a file is in. Raises `ToolFailed`."""
        parts = parts_of(path)
        root = self._roots.get(parts[0]) if parts else None
        if root is None or (above and len(parts) == 1):
            there = ", ".join(sorted(self._roots)) or "none that can be used"
            raise ToolFailed(f"a path begins with an allowed folder: {there}")
        if why := self._why_never(root):
            raise ToolFailed(f"{parts[0]} {why}")
        try:
            with opened_folder(root, parts[1 : -1 if above else None], make=make) as folder:
                yield folder
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ToolFailed(f"{parts[0]} cannot be used ({reason}); `nakari doctor` tells why") from error

    def _why_never(self, root: str) -> str:
        real = os.path.realpath(root)
        for place, what in self._never.items():
            there = os.path.realpath(place)
            if os.path.commonpath((real, there)) in (real, there):
                return f"holds, or lies in, {what} ({place}), which is never shown"
        return ""

    def _check_room(self, folder: int, size: int) -> None:
        if size > MOST_WRITTEN:
            raise ToolFailed(f"a file may have {MOST_WRITTEN} bytes at most, and this had {size}: begin another one")
        disk = os.fstatvfs(folder)
        if disk.f_bavail * disk.f_frsize - size < LEFT_FREE:
            raise ToolFailed("the disk is nearly full: nothing more is written to it")
        today = datetime.now(UTC).date()
        if today != self._day:
            self._day, self._written = today, 0
        if self._written + size > MOST_A_DAY:
            raise ToolFailed(f"{MOST_A_DAY // 1_000_000} MB were written today, and no more may be until tomorrow")
        self._written += size


def _last(path: str) -> str:
    return parts_of(path)[-1]


def _entries(folder: int, names: Sequence[str]) -> Iterator[Entry]:
    for name in names:
        with suppress(OSError):  # it went meanwhile
            told = os.stat(name, dir_fd=folder, follow_symlinks=False)
            modified = datetime.fromtimestamp(int(told.st_mtime), UTC)
            yield Entry(shown(name), kind_of(told.st_mode), told.st_size, modified)


def _held(folder: int, name: str, part: str, how: How) -> bytes:
    """Return what a file holds that is to be appended to, and check that it is there, or is not, as `how` wants."""
    try:
        told = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        if how == "new":
            return b""
        raise ToolFailed(f"there is no {part} to {how}: write it as new") from None
    if how == "new":
        raise ToolFailed(
            f"there is a {kind_of(told.st_mode)} named {part} already: append to it, replace it, or rename"
        )
    with opened_file(folder, part) as file:
        if how == "replace":
            return b""
        raw = os.pread(file, MOST_WRITTEN + 1, 0)
    if (encoding := encoding_of(raw[:SAMPLE])).name != "utf-8":
        raise ToolFailed(f"{part} is no text in UTF-8 ({encoding.name or 'binary'}): nothing is appended to it")
    return raw


def _not_written(error: OSError, part: str) -> str:
    match error.errno:
        case errno.EEXIST:
            return f"somebody else made {part} at this moment: read it first"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"nakari may not write {part} there; `nakari doctor` tells how it is allowed to"
    return f"{part} was not written: {(error.strerror or str(error)).lower()}"
