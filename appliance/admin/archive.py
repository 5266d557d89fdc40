"""A backup of everything in one archive: written while the service runs, read only if whole."""

import asyncio
import hashlib
import json
import os
import shutil
import sqlite3
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from msgspec import Struct

from agent.event import new_id
from appliance.admin.exchange import DATABASE, MANIFEST
from appliance.config.load import Config
from appliance.errors import Exit, Problem, in_room_of
from appliance.version import version
from memory.durable import rename_durably
from memory.graph.dump.fingerprint import fingerprint
from memory.history.writer import Writer
from memory.json_value import Json, read_as
from memory.passing_files import folder_for_now
from memory.progress import Progress
from memory.state.failures import explained
from memory.state.images import FOLDER

FORMAT: Final = 1
CONFIGURATION: Final = "nakari.toml"
"""The configuration file as it was, beside the state."""

NOT_KEPT: Final = ("graph*", "models", "logs", "*.lock", "*.sock", f"{DATABASE}*", "before-*", "replay-*", "diff-*")
NOT_KEPT_EITHER: Final = ("recordings", "voices.json", "backup-*", "restoring", "forgetting-*", "*.new", "crash*")
"""Of the state folder: what is made again or fetched again, what belongs to a process, what was put aside."""
FETCHED: Final = "backup-fetched-"
"""How an archive in the state folder is called until whoever asked for it has taken it away."""

HANDED_OVER: Final = "backup-handed-over-"
"""How a folder in the state folder begins that is for what somebody hands to the service."""

LEFT_SECONDS: Final = 3600.0
"""After which either counts as left by a command that was killed, when nothing was written to it since.

Others may be under way at the same time: what is younger is theirs.
"""

_UNREADABLE: Final = (tarfile.TarError, zlib.error, OSError, EOFError)
_MISREAD: Final = (ValueError, LookupError, TypeError, ArithmeticError, RecursionError)
"""What reading a damaged archive raises, and what understanding one that somebody changed."""


class Manifest(Struct, frozen=True):
    """What an archive holds, as its first file says."""

    at: str
    version: str
    snapshot: str
    """The snapshot's name that is the graph; "" without a graph."""
    graph: str
    """The graph's fingerprint."""
    files: Mapping[str, str]
    """SHA-256 of each, by its path."""


class Everything(Struct, frozen=True):
    """What a backup is of."""

    state_folder: Path
    configuration: Path | None
    """The file; None where there is none."""
    keeps_phrases: bool
    """Whether the phrases that were spoken are to last."""


def everything_of(config: Config) -> Everything:
    """Return what a backup is of with this configuration."""
    return Everything(config.state_folder, config.file, config.voice.keep_phrases)


def fetched(state_folder: Path, now: Callable[[], float] = time.time) -> Path:
    """Return a new archive's place in the state folder, those that nobody took away removed. `now`: POSIX seconds."""
    _remove_left(state_folder, FETCHED, now())
    return state_folder / f"{FETCHED}{new_id()}"


def handed_over(state_folder: Path, name: str, now: Callable[[], float] = time.time) -> Path:
    """Make an empty file of this name in a new folder of the state folder; those that nobody took up are removed.

    `now`: POSIX seconds.
    """
    _remove_left(state_folder, HANDED_OVER, now())
    place = state_folder / f"{HANDED_OVER}{new_id()}"
    place.mkdir(mode=0o700)
    file = place / Path(name).name
    file.touch(mode=0o600)
    return file


def _remove_left(folder: Path, name: str, now: float) -> None:
    for old in folder.glob(f"{name}*"):
        with suppress(FileNotFoundError):  # taken away meanwhile
            if now - max(one.stat().st_mtime for one in (old, *old.rglob("*"))) > LEFT_SECONDS:
                shutil.rmtree(old) if old.is_dir() else old.unlink()


async def write_archive(
    everything: Everything,
    writer: Writer | None,
    path: Path,
    told: Progress,
    still: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> Json:
    """Write everything into a new file, durable on return; graphs and database are of one moment.

    The household's graph is a snapshot of now, by its `writer`, None where there is no graph; while `still` is entered,
    the folders of all others hold theirs. Nothing waits for it but who wants to write into a graph. Raises `Problem`
    when the file is there or a disk has no room, `MemoryFailure`, OSError.
    """
    await asyncio.to_thread(refuse_what_is_there, path)
    state = everything.state_folder
    whole = in_room_of(state, "a backup, which takes once more what the state takes; free some disk space")
    with whole:
        async with folder_for_now(state, "backup-") as place:
            if writer is None:
                graph, left_out = ("", ""), await asyncio.to_thread(_gather, everything, place)
                if await asyncio.to_thread((state / "graph").exists):  # one that was switched off
                    left_out.append(str(state / "graph"))
            else:
                async with still(), writer.exclusively() as alone:
                    snapshot = await alone.snapshot("for a backup")
                    left_out = await asyncio.to_thread(_gather, everything, place)
                graph = (snapshot.path.name, await asyncio.to_thread(fingerprint, snapshot.path))
            written = await asyncio.to_thread(_pack, place, path, graph, told)
    return {**written, "left_out": [*left_out]} if left_out else written


def _gather(everything: Everything, place: Path) -> list[str]:
    """Copy what lasts, the database as one of its transactions left it; return what `_copy_folder` does."""
    state = everything.state_folder
    not_kept = [*NOT_KEPT, *NOT_KEPT_EITHER, FOLDER, *([] if everything.keeps_phrases else ["phrases"])]
    left_out = _copy_folder(state, place, not_kept)
    if (state / DATABASE).exists():
        try:
            with closing(sqlite3.connect(state / DATABASE)) as source:
                source.execute("VACUUM INTO ?", (str(place / DATABASE),))
        except sqlite3.Error as error:
            raise explained(state / DATABASE, error) from error
    if (state / FOLDER).is_dir():  # after what refers to them: an image is kept before its event is
        left_out += _copy_folder(state / FOLDER, place / FOLDER, not_kept)
    if everything.configuration is not None:
        shutil.copy(everything.configuration, place / CONFIGURATION)
    return left_out


def _copy_folder(source: Path, target: Path, not_kept: Sequence[str]) -> list[str]:
    """Copy a folder but for names of these patterns; return what in it is no file, and no folder that ends.

    It lives meanwhile, and lets go of a phrase or a thinned snapshot: what is gone by then is no part of it.
    """
    target.mkdir(exist_ok=True)
    left_out: list[str] = []
    for item in source.iterdir():
        if any(fnmatchcase(item.name, pattern) for pattern in not_kept):
            continue
        with suppress(FileNotFoundError):
            if item.is_dir() and not _leads_back(item):
                left_out += _copy_folder(item, target / item.name, not_kept)
            elif item.is_file():
                shutil.copy2(item, target / item.name)
            elif os.path.lexists(item):
                left_out.append(str(item))
    return left_out


def _leads_back(folder: Path) -> bool:
    """Whether it is a link to a folder that it lies in: following it would never end."""
    return folder.is_symlink() and any(folder.samefile(above) for above in folder.parents)


def _pack(place: Path, path: Path, graph: tuple[str, str], told: Progress) -> dict[str, Json]:
    files = sorted(file for file in place.rglob("*") if file.is_file())
    digests = {str(file.relative_to(place)): _digest(file) for file in files}
    manifest: dict[str, Json] = {"nakari": "backup", "format": FORMAT, "at": datetime.now(UTC).isoformat()}
    manifest |= {"version": version(), "snapshot": graph[0], "graph": graph[1], "files": {**digests}}
    (place / MANIFEST).write_text(json.dumps(manifest, indent=1))
    with in_the_making(path) as raw, tarfile.open(fileobj=raw, mode="w:gz", compresslevel=3) as archive:
        for number, file in enumerate([place / MANIFEST, *files]):
            archive.add(file, arcname=str(file.relative_to(place)))
            told(number, len(files))
    return {"file": str(path), "bytes": path.stat().st_size, "files": len(files)}


def refuse_what_is_there(file: Path) -> None:
    """Raise `Problem` where a file is there already."""
    if file.exists():
        raise Problem(f"{file} is there already; name a new file", Exit.CANNOT_CREATE)


@contextmanager
def in_the_making(file: Path) -> Iterator[BinaryIO]:
    """Give what becomes this file at the end of the block, whole and on the disk; nothing is left when it fails.

    What a command that was killed left of it is replaced. Raises `Problem` where the file is there already.
    """
    refuse_what_is_there(file)
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    room = in_room_of(file.parent, f"{file.name}; free some disk space")
    try:
        with room, os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        rename_durably(new, file)
    finally:
        new.unlink(missing_ok=True)


def unpack(path: Path, place: Path) -> Manifest:
    """Unpack an archive into an empty folder and check every file of it. Blocking.

    Raises `Problem` for what is no backup, torn or changed, and where there is no room for it; nothing but `place` is
    touched.
    """
    here = in_room_of(place.parent, f"what is in {path}; nothing was changed. Free some disk space")
    try:
        with here, tarfile.open(path, "r:gz") as archive:
            _extract(archive, place)
        manifest = _manifest(place)
    except FileNotFoundError as error:
        raise Problem(f"{path} is not there, or is no backup of a nakari", Exit.NO_INPUT) from error
    except (*_UNREADABLE, *_MISREAD) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise Problem(f"{path} is no whole backup of a nakari ({why}); nothing was changed", Exit.NO_INPUT) from error
    found = {str(file.relative_to(place)): _digest(file) for file in place.rglob("*") if file.is_file()}
    if found.pop(MANIFEST) and found != manifest.files:
        raise Problem(f"{path} is not what was written, or not all of it; nothing was changed", Exit.NO_INPUT)
    return manifest


def _extract(archive: tarfile.TarFile, place: Path) -> None:
    """Write its files into a folder. Raises ValueError for anything but a file of that folder.

    `extractall` knows how to be so careful from Python 3.11.4 on; Debian 12 has 3.11.2.
    """
    for member in archive:
        name = PurePosixPath(member.name)
        content = archive.extractfile(member) if member.isreg() else None
        if content is None or name.is_absolute() or ".." in name.parts:
            raise ValueError(f"it holds {member.name}, which is no file of a state")
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as target:
            shutil.copyfileobj(content, target)
        file.chmod(0o600)
        os.utime(file, (member.mtime, member.mtime))


def _manifest(place: Path) -> Manifest:
    read = json.loads((place / MANIFEST).read_text())
    if read["nakari"] != "backup" or read["format"] != FORMAT:
        raise ValueError("of another program, or a newer version")
    manifest = read_as(read, Manifest)
    if manifest.snapshot and f"snapshots/{manifest.snapshot}" not in manifest.files:
        raise ValueError("its graph is missing")
    return manifest


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
