"""A setting of a section: its default, what it means, the least and the most that it may be; and values as TOML."""

import json
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Final, Literal, TypeVar, cast, get_args, get_origin

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import fields

T = TypeVar("T")

_TABLES: Final[Mapping[type, str]] = {dict: "table", list: "list"}
"""What TOML calls them."""

_KINDS: Final = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false"}


class Meaning(Struct, frozen=True):
    """A setting's default, and what `nakari config show` says of it."""

    default: object
    text: str
    unit: str = ""
    between: tuple[float, float] | None = None
    """The least and the most."""

    def __call__(self) -> object:
        """Return the default; a table is the caller's own."""
        return copy(self.default)

    def __str__(self) -> str:
        return f"{self.text} In {self.unit}." if self.unit else self.text

    def read(self, value: object, kind: object) -> object:
        """Return a value of TOML as the setting's type has it. Raises ValueError, which says what is wrong with it."""
        try:
            read = convert(value, kind)
        except ValidationError as error:
            raise ValueError(f"should be {_told(kind)}; {_given(value, kind)}") from error
        if self.between is not None and not (self.between[0] <= read <= self.between[1]):
            least, most = self.between
            wanted = f"at least {least}" if read < least else f"at most {most}" if read > most else "a number"
            raise ValueError(f"should be {wanted}; it is {shown(value)}")
        return cast("object", read)


def setting(default: T, text: str, *, between: tuple[float, float] | None = None, unit: str = "") -> T:
    """Declare a setting of a section: its default, what it means, and the least and the most that it may be."""
    return cast("T", field(default_factory=Meaning(default, text, unit, between)))


def settings_of(section: type[Struct]) -> Iterator[tuple[str, object, Meaning]]:
    """Yield name, default and meaning of a section's settings, in the file's order."""
    for each in fields(section):
        meaning = cast("Meaning", each.default_factory)
        yield each.name, meaning(), meaning


def _told(kind: object) -> str:
    if get_origin(kind) is Literal:
        *others, last = map(shown, get_args(kind))
        return f"{', '.join(others)} or {last}"
    if get_origin(kind) is tuple:
        return f"a list, each {_told(get_args(kind)[0])}"
    return "a table, each a text in quotes" if get_origin(kind) is Mapping else _KINDS[cast("type", kind)]


def _given(value: object, kind: object) -> str:
    """Return what a wrong value is, or the first wrong one in it."""
    if isinstance(value, list) and get_origin(kind) is tuple:
        return f"one is {shown(next(each for each in value if not _is(each, get_args(kind)[0])))}"
    if isinstance(value, dict) and get_origin(kind) is Mapping:
        return next(f"{name} is {shown(each)}" for name, each in value.items() if not _is(each, str))
    return f"it is {shown(value)}"


def _is(value: object, kind: object) -> bool:
    try:
        convert(value, kind)
    except ValidationError:
        return False
    return True


def toml_value(value: object) -> str:
    """Return a setting's value as TOML writes it; for texts that is JSON's way too, DEL apart."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {toml_value(inner)}' for name, inner in value.items())} }}" if value else "{}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | str) else str(value)


def shown(value: object) -> str:
    """Return a value of any type in few characters, for a sentence."""
    text = (
        toml_value(value)
        if isinstance(value, bool | int | float | str)
        else f"a {_TABLES.get(type(value), type(value).__name__)}"
    )
    return text if len(text) <= 60 else f"{text[:60]}…"
