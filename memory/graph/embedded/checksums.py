"""Checksums of a stopped store's files, by which the next start sees what the disk changed."""

import json
import os
import random
import re
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from memory.durable import replace_durably, sync_folder

FILE: Final = "seal"
"""The file they are in, in the store's folder."""

READ_SECONDS: Final = 15.0
"""For reading all files at a start: 600 MB from an SD card (40 MB/s). What is not reached is left to another start."""

WRITE_SECONDS: Final = 0.7
"""For reading those that changed, at a stop; they are in memory still. What is not reached has no checksum."""

_STARTED: Final = Path("config") / "server-users.jsonl"
"""What every start writes anew, with other salts: the checksums are of the files as they were after that start only."""

_ENGINES: Final = re.compile(
    r"(?!\._).+\.\d+\.\d+\.v\d+\.[a-z]+(\.[a-z]+)?|(schema|configuration|statistics)\.json|last-tx-id\.bin"
)
"""Files that are the engine's, by name: pages of `name.number.page size.version.kind`, and its notes."""

_CHUNK: Final = 1 << 20


class Sum(Struct, frozen=True):
    """What a file held when it was read last."""

    size: int
    """Bytes."""
    crc: int
    """CRC-32: it finds every change of up to 32 bits in a row, and all others but one in four thousand million."""
    changed: int = 0
    """When the file was changed last, in ns since the epoch, by its file system's clock; not in the file."""


Sums: TypeAlias = Mapping[str, Sum]
"""By the file's path in the store's folder."""


class Differs(Exception):
    """The files are not as they were when the store stopped; the text says which, and how."""


def compare(folder: Path, seconds: float = READ_SECONDS, clock: Callable[[], float] = time.monotonic) -> Sums:
    """Read the files that have checksums, for so many seconds at most, and return what is known of them.

    Of what is not reached the size is compared; the order is by chance, so that it is not always the same. Nothing is
    known where there are no checksums, or those of another start. Blocking. Raises `Differs`.
    """
    until = clock() + seconds
    expected, known = _read(folder), dict[str, Sum]()
    for name in random.sample(sorted(expected), len(expected)):
        was = expected[name]
        try:
            stat = (folder / name).stat()
            found = _crc(folder / name, lambda: clock() > until)
        except OSError as error:
            raise Differs(f"{name} became unreadable, {error.strerror},") from error
        if stat.st_size != was.size or found not in (was.crc, None):
            raise Differs(f"{name} was changed")
        known[name] = Sum(was.size, was.crc, stat.st_mtime_ns)
    return known


def remove(folder: Path) -> None:
    """Remove the checksums, on the disk too: whoever is killed from here on leaves none. Raises OSError."""
    with suppress(FileNotFoundError, IsADirectoryError):
        (folder / FILE).unlink()
        sync_folder(folder)


def write(
    folder: Path, known: Sums, seconds: float = WRITE_SECONDS, clock: Callable[[], float] = time.monotonic
) -> None:
    """Write the checksums of the files as they are now, all on the disk on return; nobody may write any more.

    Of those in `known` that have not changed since, nothing is read. Blocking. Raises OSError.
    """
    until = clock() + seconds
    sums = dict[str, Sum]()
    for path in sorted(_files(folder), key=lambda path: path.stat().st_size):
        name, stat = str(path.relative_to(folder)), path.stat()
        was = known.get(name)
        if was is not None and (was.size, was.changed) == (stat.st_size, stat.st_mtime_ns):
            sums[name] = was
        elif (crc := _crc(path, lambda: clock() > until, is_synced=True)) is not None:
            sums[name] = Sum(stat.st_size, crc)
    for each in {path.parent for path in _files(folder)}:
        sync_folder(each)
    content = {"started": _started(folder), "files": {name: (each.size, each.crc) for name, each in sums.items()}}
    text = json.dumps(content, separators=(",", ":")).encode()
    replace_durably(folder / FILE, [b"%08x %b" % (zlib.crc32(text), text)])


def _files(folder: Path) -> Iterator[Path]:
    databases = folder / "databases"
    return (path for path in databases.rglob("*") if _ENGINES.fullmatch(path.name) and path.is_file())


def _crc(path: Path, is_over: Callable[[], bool], *, is_synced: bool = False) -> int | None:
    """Return a file's checksum; None where the time was over before its end."""
    crc, buffer = 0, memoryview(bytearray(_CHUNK))
    with path.open("rb", buffering=0) as file:
        if is_synced:
            os.fsync(file.fileno())
        while not is_over():
            got = file.readinto(buffer)
            if not got:
                return crc
            crc = zlib.crc32(buffer[:got], crc)
    return None


def _read(folder: Path) -> Sums:
    """Return the checksums; none where they are not known, or of another start."""
    try:
        check, _, text = (folder / FILE).read_bytes().partition(b" ")
        if int(check, 16) != zlib.crc32(text):
            return {}
        read = json.loads(text)
        if read["started"] != _started(folder):
            return {}
        return {str(name): Sum(size, crc) for name, (size, crc) in read["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _started(folder: Path) -> int:
    return zlib.crc32((folder / _STARTED).read_bytes())
