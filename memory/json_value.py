"""What JSON can hold. Not `json.py`: a child process whose script lies in this folder would import that."""

import json
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # msgspec follows no type that is part of itself

T = TypeVar("T")


def read_as(value: object, kind: type[T], always: str = "") -> T:
    """Return what a class wrote as JSON, read as that class; what it does not know is left out.

    `always` is a field that has a default and is always written: without it a bit of the disk fell over. Raises
    ValueError, which says what is wrong, and where.
    """
    if always and isinstance(value, dict) and always not in value:
        raise ValueError(f"no {kind.__name__}: it has no {always}")
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"no {kind.__name__}: {error}") from error


def read_json(data: bytes, kind: type[T]) -> T:
    """Return the JSON of a file, read as a class. Raises ValueError for what is no JSON, or of another shape."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:  # any bit of it may have fallen over
        raise ValueError(str(error)) from error


def whole(value: Json) -> Json:
    """Return it with each half of a character, for which UTF-8 has no bytes, as "?"."""
    found: Json = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    return found


def read_whole(data: str | bytes) -> Json:
    """Return a stranger's JSON, half a character as "?". Raises ValueError where it is none, and RecursionError."""
    text = data if isinstance(data, str) else data.decode(json.detect_encoding(data), "surrogatepass")
    found: Json = json.loads(text)
    return whole(found) if "\\ud" in text.lower() else found


def listed(value: Json) -> list[Json]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def objects(value: Json) -> list[dict[str, Json]]:
    """Return the objects of a list; [] for what is none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def fields(value: Json) -> dict[str, Json]:
    """Return an object as it is, and {} for anything else."""
    return value if isinstance(value, dict) else {}
