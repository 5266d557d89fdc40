"""What JSON can hold. Not `json.py`: a child process whose script lies in this folder would import that."""

from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def listed(value: Json) -> list[Json]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def objects(value: Json) -> list[dict[str, Json]]:
    """Return the objects of a list; [] for what is none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def fields(value: Json) -> dict[str, Json]:
    """Return an object as it is, and {} for anything else."""
    return value if isinstance(value, dict) else {}
