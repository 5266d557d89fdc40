"""The last known copy of a calendar in the state folder: what was fetched, as it came, and when."""

import shutil
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from agent.calendars.source import Collection
from memory.clock import Moment
from memory.durable import replace_durably
from memory.json_value import read_json

INDEX: Final = "index.json"


class Held(Struct, frozen=True):
    """A collection whose body is in a file."""

    collection: Collection
    file: str
    """Its name in the folder."""


class Copy(Struct, frozen=True):
    """What was there the last time that the source answered."""

    held: tuple[Held, ...] = ()
    seen_at: Moment | None = None
    """When it was seen last to be so (aware); None where it never was."""
    fetched_at: Moment | None = None
    """When its bodies were asked for (aware)."""
    reminded_until: Moment | None = None
    """Until when reminders were given (aware)."""
    source: str = ""
    """Of which source; the copy of another one is none."""

    @property
    def known(self) -> Mapping[str, Collection]:
        """The collections, by their keys."""
        return {each.collection.key: each.collection for each in self.held}


class Store(Struct):
    """A folder of its own. Its methods block, and raise OSError where the disk does."""

    folder: Path
    _number: int = field(default=0)

    def load(self, source: str) -> Copy:
        """Return the copy; an empty one where there is none of this source, or it cannot be read."""
        try:
            copy = read_json((self.folder / INDEX).read_bytes(), Copy)
            is_whole = all((self.folder / each.file).is_file() for each in copy.held)
        except (OSError, ValueError):
            return Copy(source=source)
        return copy if is_whole and copy.source == source else Copy(source=source)

    def put(self, body: bytes) -> str:
        """Write a body beside the others; return the name of its file."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        while (file := self.folder / f"{self._number}.body").exists():
            self._number += 1
        file.write_bytes(body)
        return file.name

    def commit(self, copy: Copy) -> None:
        """Let the folder hold this copy, and no other file."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_durably(self.folder / INDEX, [msgspec.json.encode(copy)])
        self.sweep(copy)

    def sweep(self, copy: Copy) -> None:
        """Remove what the copy does not name."""
        wanted = {INDEX, *(each.file for each in copy.held)}
        for file in self.folder.glob("*"):
            if file.name not in wanted:
                file.unlink(missing_ok=True)

    def files(self, held: Iterable[Held]) -> list[Mapping[str, str]]:
        """Return what `agent.calendars.reading.read` is to read."""
        return [{"path": str(self.folder / each.file), "kind": each.collection.kind} for each in held]


def forget_others(folder: Path, names: Container[str]) -> None:
    """Remove the copies of calendars that are configured no more. Blocking; what cannot be removed stays."""
    for copy in folder.glob("*"):
        if copy.name not in names:
            shutil.rmtree(copy, ignore_errors=True)
