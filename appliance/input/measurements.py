"""What was found out about this box by measuring it, each in a small JSON file of the state folder."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from memory.durable import replace_durably

Found = TypeVar("Found")


def recall(kind: type[Found], file: Path) -> Found | None:
    """Return the dataclass that was kept in a file; None where none was, or it cannot be read any more."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def keep(found: Mapping[str, object], file: Path) -> None:
    """Write a dataclass's fields; a reader finds the old or the new whole. Raises OSError when that cannot be done."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_durably(file, [json.dumps(found, default=datetime.isoformat, indent=1).encode()])
