"""The graph's driver, imported without what it keeps of its tables of every month and every 16-bit number."""

import sys
from calendar import monthrange
from collections.abc import Callable, Mapping
from importlib import import_module
from struct import Struct
from typing import Final, Generic, TypeVar

_UINT_16: Final = Struct(">H")

Key = TypeVar("Key")


class Computed(dict[Key, object], Generic[Key]):
    """A table whose entries are computed when they are looked up, and not kept."""

    def __init__(self, compute: Callable[[Key], object]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: Key) -> object:
        return self._compute(key)


_NUMBERS: Final[Mapping[str, object]] = {
    "PACKED_UINT_16": Computed[int](_UINT_16.pack),
    "UNPACKED_UINT_16": Computed[bytes](lambda packed: _UINT_16.unpack(packed)[0]),
}

TABLES: Final[Mapping[str, Mapping[str, object]]] = {
    "neo4j.time": {"_DAYS_IN_MONTH": Computed[tuple[int, int]](lambda month: monthrange(*month)[1])},
    "neo4j._codec.packstream.v1": _NUMBERS,
    "neo4j._codec.packstream.v2": _NUMBERS,
}
"""By the driver's module (6.4): tables of 120,000 months and 131,072 numbers, 23 MB, which it makes when imported."""


def load_driver() -> None:
    """Import it, and free those tables. Blocking (0.2 s of processor time). A driver that has none stays as it is."""
    import_module("neo4j")
    for name, tables in TABLES.items():
        module = sys.modules.get(name)
        for table in tables.keys() & vars(module).keys() if module else ():
            setattr(module, table, tables[table])
