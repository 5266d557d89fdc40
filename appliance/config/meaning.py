"""A setting of a section: its default, what it means, and the least and the most that it may be."""

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field, fields
from typing import TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What `nakari config show` says of a setting."""

    text: str
    unit: str = ""
    between: tuple[float, float] | None = None
    """The least and the most."""

    def __str__(self) -> str:
        return f"{self.text} In {self.unit}." if self.unit else self.text


def setting(default: T, text: str, *, between: tuple[float, float] | None = None, unit: str = "") -> T:
    """Declare a setting of a section: its default, what it means, and the least and the most that it may be."""
    bounds = {} if between is None else {"ge": between[0], "le": between[1]}  # as pydantic calls them
    metadata = {"meaning": Meaning(text, unit, between), **bounds}
    if isinstance(default, dict):
        return cast("T", field(default_factory=default.copy, metadata=metadata))
    return field(default=default, metadata=metadata)


def settings_of(section: type) -> Iterator[tuple[str, object, Meaning]]:
    """Yield name, default and meaning of a section's settings, in the file's order."""
    for each in fields(section):
        default = each.default if each.default_factory is MISSING else each.default_factory()
        yield each.name, default, each.metadata["meaning"]
