"""The embedded store's folder: locked by one process, checked before the engine opens it and after it has closed."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from memory.durable import replace_durably
from memory.graph.by_itself import is_by_itself
from memory.graph.embedded import checksums
from memory.lock import lock


class Unstartable(Exception):
    """Why the store cannot start, as a sentence with the fix."""

    is_damaged = False
    """Whether no other try will help, because what is in the folder cannot be opened."""
    may_open = False
    """Whether the engine may open what is damaged all the same."""


class Damaged(Unstartable):
    """The folder holds something that is no store any more."""

    is_damaged = True


class Changed(Damaged):
    """The folder holds something that was changed since the store was stopped; the engine may not notice."""

    may_open = True


DATABASE: Final = "graph"
"""The engine's name of the one database in the folder."""

LOOKUPS: Final = "lookups-unfinished.json"
"""The file of pairs of label and key over which indexes are being made by themselves."""


def schema_of(folder: Path) -> Path:
    """Return where the engine writes down the labels, their properties' types and the indexes."""
    return folder / "databases" / DATABASE / "schema.json"


def note_lookups(folder: Path, lookups: Iterable[tuple[str, str]]) -> None:
    """Write down, durably, that indexes are being made by themselves over these. Blocking. Raises OSError."""
    replace_durably(folder / LOOKUPS, [json.dumps([*lookups]).encode()])


def undeclare(folder: Path) -> None:
    """Take back the types that the engine gave to properties when an index over them was made by itself.

    The engine converts every later value of such a property to that type. Without the type the index, whose keys are
    texts, goes on, and what is written stays what it was. A property in another index, or with rules, keeps its type.
    To be called while the engine does not run. Blocking. Raises OSError.
    """
    place = schema_of(folder)
    if place.is_file():
        schema = json.loads(place.read_bytes())
        unfinished, is_changed = _unfinished(folder), False
        for label, kind in schema["types"].items():
            properties, indexes = kind.get("properties", {}), [*kind.get("indexes", {}).values()]
            own = [key for each in indexes if is_by_itself(each.get("typeIndexName")) for key in each["properties"]]
            others = {
                key for each in indexes if not is_by_itself(each.get("typeIndexName")) for key in each["properties"]
            }
            for key in {*own, *(key for name, key in unfinished if name == label)} - others:
                if properties.get(key) == {"type": "STRING", "custom": {}}:
                    del properties[key]
                    is_changed = True
        if is_changed:
            replace_durably(place, [json.dumps(schema).encode()])
    (folder / LOOKUPS).unlink(missing_ok=True)


def _unfinished(folder: Path) -> list[tuple[str, str]]:
    with suppress(OSError, ValueError, TypeError):
        return [(str(label), str(key)) for label, key in json.loads((folder / LOOKUPS).read_bytes())]
    return []


def enter(folder: Path) -> None:
    """Make the folder, work in it, and hold it until this process is gone, however it goes. Raises `Unstartable`."""
    os.umask(0o077)
    with writable(folder):
        (folder / "config").mkdir(parents=True, exist_ok=True)
        (folder / "log").mkdir(exist_ok=True)
        os.chdir(folder)
        try:
            lock(folder / "in-use")
        except BlockingIOError as error:
            raise Unstartable(
                f"the memory in {folder} is in use by another nakari: stop that one, "
                "or set another folder with [state] folder"
            ) from error


def look(folder: Path, *, as_it_is: bool) -> checksums.Sums:
    """Return what is known of the folder's files, once they are seen to be as they were left.

    `as_it_is` takes them as they are, but for a damaged list of labels. Raises `Damaged`, `Changed`.
    """
    try:
        known = {} if as_it_is else checksums.compare(folder)
    except checksums.Differs as error:
        raise Changed(
            f"the memory's own store in {folder} is damaged ({error} since it was stopped): the running service "
            "makes it again from snapshots and audit log; nothing in it was changed"
        ) from error
    _check_schema(schema_of(folder))
    return known


def _check_schema(schema: Path) -> None:
    """Refuse a store whose list of labels is damaged: the engine would open it as an empty one and go on writing."""
    try:
        json.loads(schema.read_bytes())["types"]
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(
            f"the memory's own store is damaged, {schema} cannot be read ({error}): "
            "restore the folder from a backup; nothing in it was changed"
        ) from error


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Say as `Unstartable` what the disk refuses in the block."""
    try:
        yield
    except OSError as error:
        raise Unstartable(
            f"the folder {folder} of the memory cannot be written ({error.strerror}): "
            "make it writable for this user, or set another one with [state] folder"
        ) from error
