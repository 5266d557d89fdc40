"""The type of what JSON can hold. Not `json.py`: a child process whose script lies in this folder would import that."""

from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
