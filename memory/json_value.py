"""What JSON can hold. Not `json.py`: a child process whose script lies in this folder would import that."""

from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def listed(value: Json) -> list[Json]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []
