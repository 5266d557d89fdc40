"""What JSON can hold. Not `json.py`: a child process whose script lies in this folder would import that."""

import json
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import msgspec

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # msgspec follows no type that is part of itself

T = TypeVar("T")

MOST_NESTED: Final = 300
"""Lists and objects within each other in what a stranger sends: more than any door takes, which pydantic keeps (200 in
text, some 250 in what is parsed), as what was accepted is read by this too. Python parses thousands from 3.12 on, and
nothing that looks through them comes to their end."""


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


def parse_json(data: str | bytes) -> Json:
    """Return a stranger's JSON. Raises ValueError where it is none, or nested deeper than `MOST_NESTED`."""
    text = _text_of(data)
    try:
        found: Json = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if text.count("[") + text.count("{") > MOST_NESTED and _is_too_deep(found):
        raise ValueError("it is nested too deeply")
    return found


def _is_too_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MOST_NESTED + 1):  # the innermost holds what is no list or object
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else listed(each))]
        if not level:
            return False
    return True


def read_whole(data: str | bytes) -> Json:
    """Return a stranger's JSON, half a character as "?". Raises ValueError as `parse_json` does."""
    text = _text_of(data)
    found = parse_json(text)
    return whole(found) if "\\ud" in text.lower() else found


def _text_of(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode(json.detect_encoding(data), "surrogatepass")


def listed(value: Json) -> list[Json]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def objects(value: Json) -> list[dict[str, Json]]:
    """Return the objects of a list; [] for what is none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def number(value: Json) -> float:
    """Return a number, 0.0 for anything else."""
    return float(value) if isinstance(value, int | float) else 0.0


def fields(value: Json) -> dict[str, Json]:
    """Return an object as it is, and {} for anything else."""
    return value if isinstance(value, dict) else {}
