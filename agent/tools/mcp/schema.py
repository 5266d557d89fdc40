"""Makes a server's JSON Schema legal for every provider, bounded, without references; or refuses it with the reason."""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeGuard

from memory.json_value import Json

MOST_CHARACTERS: Final = 8_000
"""Of a schema as JSON: about 2,000 tokens, in every call of a model."""

MOST_NODES: Final = 1_000
"""Schemas within a schema, once its references are written out; doubling references reach any number."""

MOST_DEPTH: Final = 16
"""Of schemas and references within one another; below it anything is allowed."""

MOST_DESCRIPTION: Final = 300
"""Characters that describe one argument."""

MOST_CHOICES: Final = 100
"""Of an enumeration, and alternatives of a schema."""

PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""What Anthropic, the strictest, takes as the name of an argument."""

TYPES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")
_OF_AN_OBJECT: Final = ("type", "properties", "required", "additionalProperties")
FORMATS: Final = ("date-time", "date", "time", "uri", "email", "uuid")


class SchemaRefused(Exception):
    """A schema that no provider would take, or that costs too much; the text says why."""


def legal_schema(given: Mapping[str, object]) -> dict[str, Json]:
    """Return a schema of type object that says the same as far as it can be said everywhere.

    References within it are written out, a loop of them ends in "anything"; what leads outside, patterns, unknown words
    and values of the wrong type are left out. Equal schemas give equal ones. Raises `SchemaRefused`.
    """
    kind = given.get("type", "object")
    if kind != "object":
        raise SchemaRefused("its arguments are no object")
    try:
        copied = _Copy(given).of({**given, "type": "object"}, ("#",))
    except RecursionError:
        raise SchemaRefused("its arguments are nested too deeply") from None
    legal: dict[str, Json] = {word: copied[word] for word in _OF_AN_OBJECT if word in copied}
    legal.setdefault("properties", {})
    if len(json.dumps(legal)) > MOST_CHARACTERS:
        raise SchemaRefused(f"its arguments take more than {MOST_CHARACTERS} characters to describe")
    return legal


def plain(text: object, most: int) -> str:
    """Return a stranger's text on one line, without control characters, cut to so many characters."""
    given = text if isinstance(text, str) else ""
    words = given[: 2 * most].encode(errors="replace").decode()
    line = " ".join("".join(one if one.isprintable() else " " for one in words).split())
    return line if len(line) <= most and len(given) <= 2 * most else f"{line[:most]}…"


class _Copy:
    """One pass over a schema, which counts what it copies."""

    def __init__(self, root: Mapping[str, object]) -> None:
        self._root = root
        self._nodes = 0

    def of(self, node: object, within: tuple[str, ...]) -> dict[str, Json]:
        """Return the legal part of a schema; `within` is its path: a reference that leads to it, "" for each level."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise SchemaRefused(f"its arguments have more than {MOST_NODES} parts")
        if not isinstance(node, dict) or len(within) > MOST_DEPTH:
            return {}
        if isinstance(reference := node.get("$ref"), str):
            target = None if reference in within else self._at(reference)
            beside = {word: value for word, value in node.items() if word != "$ref"}
            return self.of({**target, **beside} if isinstance(target, dict) else beside, (*within, reference))
        inner = (*within, "")
        values = {word: read(node.get(word)) for word, read in _VALUES.items()}
        schemas = {word: copy(self, node.get(word), inner) for word, copy in _SCHEMAS.items()}
        legal: dict[str, Json] = {word: value for word, value in (values | schemas).items() if value is not None}
        return _with_required(legal, node.get("required"))

    def _at(self, reference: str) -> object:
        """Return what a reference within the document points to; None for any other."""
        if not reference.startswith("#/"):
            return None
        found: object = self._root
        for part in reference[2:].split("/"):
            found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found

    def properties(self, value: object, within: tuple[str, ...]) -> Json:
        """Return the arguments whose names are legal."""
        if not isinstance(value, dict):
            return None
        return {name: self.of(inner, within) for name, inner in value.items() if PROPERTY.fullmatch(str(name))}

    def inner(self, value: object, within: tuple[str, ...]) -> Json:
        """Return a schema within a schema; as a schema may be a yes or a no, that stays."""
        return self.of(value, within) if isinstance(value, dict) else _flag(value)

    def alternatives(self, value: object, within: tuple[str, ...]) -> Json:
        """Return a list of schemas."""
        if not isinstance(value, list) or not value:
            return None
        return [self.of(one, within) for one in value[:MOST_CHOICES]]


def _kind(value: object) -> Json:
    if isinstance(value, list):
        kinds: list[Json] = [kind for kind in TYPES if kind in value]
        return kinds or None
    return value if isinstance(value, str) and value in TYPES else None


def _choices(value: object) -> Json:
    if not isinstance(value, list):
        return None
    choices: list[Json] = [one for one in value[:MOST_CHOICES] if _is_scalar(one)]
    return choices or None


def _count(value: object) -> Json:
    return value if _is_number(value) and isinstance(value, int) and value >= 0 else None


def _flag(value: object) -> Json:
    return value if isinstance(value, bool) else None


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is one that every reader of JSON can hold."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _is_scalar(value: object) -> TypeGuard[str | int | float]:
    if isinstance(value, str):
        return len(value) <= MOST_DESCRIPTION and value.isprintable()
    return isinstance(value, bool) or _is_number(value)


def _with_required(schema: dict[str, Json], required: object) -> dict[str, Json]:
    """Return an object's schema that requires what it is said to, of the arguments it describes."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return schema
    texts = dict.fromkeys(name for name in required if isinstance(name, str))
    names: list[Json] = [name for name in texts if name in properties]
    return schema | {"required": names} if names else schema


_VALUES: Final[Mapping[str, Callable[[object], Json]]] = {
    "type": _kind,
    "description": lambda value: plain(value, MOST_DESCRIPTION) or None,
    "format": lambda value: value if isinstance(value, str) and value in FORMATS else None,
    "enum": _choices,
    "default": lambda value: value if _is_scalar(value) else None,
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        lambda value: value if _is_number(value) else None,
    ),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _count),
    "uniqueItems": _flag,
}
"""What is kept of a schema, in this order. Patterns are not: some servers of models fail on one they cannot parse."""

_SCHEMAS: Final[Mapping[str, Callable[[_Copy, object, tuple[str, ...]], Json]]] = {
    "properties": _Copy.properties,
    "additionalProperties": _Copy.inner,
    "items": _Copy.inner,
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), _Copy.alternatives),
}
"""What of it holds further schemas, after the values; what is required comes last."""
