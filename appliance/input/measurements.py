"""What was found out about this box by measuring it, each in a small JSON file of the state folder."""

from pathlib import Path
from typing import TypeVar

import msgspec

from memory.durable import replace_durably
from memory.json_value import read_json

Found = TypeVar("Found")


def recall(kind: type[Found], file: Path) -> Found | None:
    """Return what was kept in a file; None where none was, or it cannot be read any more."""
    try:
        return read_json(file.read_bytes(), kind)
    except (OSError, ValueError):
        return None


def keep(found: msgspec.Struct, file: Path) -> None:
    """Write what was found; a reader finds the old or the new whole. Raises OSError when that cannot be done."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_durably(file, [msgspec.json.format(msgspec.json.encode(found), indent=1)])
