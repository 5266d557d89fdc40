"""Definitions of indexes that wait or are being built, in a file beside the graph: after a crash they are made anew."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

from memory.graph.definitions import IndexDefinition
from memory.graph.store import VectorOptions
from memory.sync import rename_durably


class Unfinished:
    """Every method blocks; threads may call them at the same time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._one = Lock()

    def read(self) -> list[IndexDefinition]:
        """Return what is written down; nothing when there is no file, or none of ours."""
        try:
            return [_definition(row) for row in json.loads(self._path.read_bytes())]
        except (OSError, ValueError, TypeError, KeyError):
            return []

    def add(self, wanted: IndexDefinition) -> None:
        """Write one down, durably, in the place of one of the same name. Raises OSError."""
        with self._one:
            self._write([*(each for each in self.read() if each.known_as != wanted.known_as), wanted])

    def cross_out(self, names: Iterable[str]) -> None:
        """Take these out. Raises OSError."""
        with self._one:
            there, gone = self.read(), set(names)
            left = [each for each in there if each.known_as not in gone]
            if left != there:
                self._write(left)

    def _write(self, definitions: list[IndexDefinition]) -> None:
        beside = self._path.with_suffix(".new")
        with beside.open("w", encoding="utf-8") as file:
            json.dump([asdict(each) for each in definitions], file)
            file.flush()
            os.fsync(file.fileno())
        rename_durably(beside, self._path)


def _definition(row: Mapping[str, Any]) -> IndexDefinition:
    options = row["options"] and VectorOptions(**row["options"])
    return IndexDefinition(**{**row, "properties": tuple(row["properties"]), "options": options})
