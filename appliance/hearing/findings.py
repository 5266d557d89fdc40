"""What was found out about this box by measuring it, each in a small JSON file of the state folder."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Found = TypeVar("Found", bound="DataclassInstance")


def recall(kind: type[Found], file: Path) -> Found | None:
    """Return what was kept in a file; None where nothing was, or it cannot be read any more."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def keep(found: "DataclassInstance", file: Path) -> None:
    """Write it such that a reader finds the old or the new whole. Raises OSError when the folder cannot be written."""
    new = file.with_suffix(".new")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new.write_text(json.dumps(asdict(found), default=datetime.isoformat, indent=1), encoding="utf-8")
    new.replace(file)
