"""Definitions of indexes in Neo4j's words, as the embedded store takes them; and the file of those not made yet."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from memory.durable import replace_durably
from memory.errors import GraphRefused
from memory.graph.by_itself import lookup_index
from memory.graph.cypher import Statement, quoted, unquoted
from memory.graph.store import VectorOptions
from memory.json_value import Json, listed, read_json

SIMILARITIES: Final = ("COSINE", "EUCLIDEAN")

_BUILT: Final = {"maxConnections": 16, "beamWidth": 64}
"""How densely the store links vectors: built in 0.4 of the time of its own 32 and 100, 99 of 100 neighbours found."""

_NAME: Final = r"(?:`(?:[^`]|``)+`|\w+)"
_BEGINNING: Final = re.compile(r"CREATE\s+(VECTOR|FULLTEXT)\s+INDEX\b", re.IGNORECASE)
_DEFINITION: Final = re.compile(
    rf"""CREATE\s+(?P<kind>VECTOR|FULLTEXT)\s+INDEX
    (?:\s+(?!IF\s+NOT\b|FOR\s*\()(?P<name>{_NAME}))?
    (?P<once>\s+IF\s+NOT\s+EXISTS)?
    \s+FOR\s*\(\s*(?:{_NAME}\s*)?:\s*(?P<label>{_NAME})\s*\)
    \s*ON\s*(?:EACH\s*)?[(\[]?\s*(?P<properties>{_NAME}\s*\.\s*{_NAME}(?:\s*,\s*{_NAME}\s*\.\s*{_NAME})*)\s*[)\]]?
    (?:\s*OPTIONS\s*(?P<options>\{{.*\}}))?\s*;?""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_PLAIN: Final = re.compile(
    rf"""CREATE\s+(?:(?:RANGE\s+|TEXT\s+|POINT\s+)?INDEX|CONSTRAINT)\b(?:\s+(?!IF\s+NOT\b|FOR\b|ON\b)(?P<name>{_NAME}))?
    (?:(?:\s+IF\s+NOT\s+EXISTS)?\s+(?:FOR|ON)\s*\(\s*(?:{_NAME}\s*)?:\s*(?P<label>{_NAME})\s*\))?""",
    re.IGNORECASE | re.VERBOSE,
)
_DROP: Final = re.compile(rf"DROP\s+INDEX\s+(?P<name>{_NAME})(?:\s+IF\s+EXISTS)?\s*;?", re.IGNORECASE)
_ASKS: Final = re.compile(r"\b(vector|fulltext)\W*\.\W*queryNodes\b", re.IGNORECASE)
_PROPERTY: Final = re.compile(rf"{_NAME}\s*\.\s*({_NAME})")
_DIMENSIONS: Final = re.compile(r"vector\.dimensions[`'\"]?\s*:\s*(\d+)")
_SIMILARITY: Final = re.compile(r"vector\.similarity_function[`'\"]?\s*:\s*['\"](\w+)['\"]")


class IndexDefinition(Struct, frozen=True):
    """What a statement asks for that makes an index or a constraint."""

    kind: Literal["VECTOR", "FULLTEXT", "PLAIN"]
    """PLAIN is what the store takes as it is; only its name, its label and `cypher` are known."""
    name: str
    """"" where the statement gives none."""
    label: str
    """"" of a plain one on relationships."""
    properties: tuple[str, ...]
    once: bool
    """IF NOT EXISTS."""
    options: VectorOptions | None = None
    """Of a vector index."""
    cypher: str = ""
    """The statement, of a plain one."""

    @property
    def known_as(self) -> str:
        """Its name, the store's own where the statement gives none; of a plain one without a name the statement."""
        return self.name or self.cypher or f"{self.label}[{','.join(self.properties)}]"

    @property
    def commands(self) -> tuple[tuple[str, str], ...]:
        """The languages and statements that make it, to be run one after another."""
        return (("opencypher", self.cypher),) if self.cypher else tuple(("sql", each) for each in self.sql)

    @property
    def sql(self) -> tuple[str, ...]:
        """The store's own statements for it, to be run one after another; each may be run again.

        A vector index is not built by them: the store would build it twice, and hold up every writer meanwhile.
        """
        label = f"`{self.label}`"
        kind = "ARRAY_OF_DOUBLES" if self.options else "STRING"
        declared = (f"CREATE PROPERTY {label}.`{name}` IF NOT EXISTS {kind}" for name in self.properties)
        method = "FULL_TEXT"
        if self.options:
            given = asdict(self.options) | _BUILT | {"buildGraphNow": False}
            method = f"LSM_VECTOR METADATA {json.dumps(given)}"
        names = ", ".join(f"`{name}`" for name in self.properties)
        called = f"`{self.name}` " if self.name else ""
        index = f"CREATE INDEX {called}ON {label} ({names}) {method}"
        return (f"CREATE VERTEX TYPE {label} IF NOT EXISTS", *declared, index)


class WantedIndexes:
    """The file of definitions that are not ready. Every method blocks; threads may call them at the same time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._one = Lock()

    def read(self) -> list[IndexDefinition]:
        """Return what is in it; nothing when there is no file, or one that cannot be read."""
        try:
            return read_json(self._path.read_bytes(), list[IndexDefinition])
        except (OSError, ValueError):
            return []

    def add(self, wanted: IndexDefinition) -> None:
        """Write one down, durably, in the place of one of the same name. Raises OSError."""
        with self._one:
            self._write([*(each for each in self.read() if each.known_as != wanted.known_as), wanted])

    def remove(self, names: Iterable[str]) -> None:
        """Take these out. Raises OSError."""
        with self._one:
            there, gone = self.read(), set(names)
            left = [each for each in there if each.known_as not in gone]
            if left != there:
                self._write(left)

    def _write(self, definitions: list[IndexDefinition]) -> None:
        replace_durably(self._path, [msgspec.json.encode(definitions)])


def definition(wanted: Statement) -> IndexDefinition | None:
    """Return the index or constraint that a statement defines; None for every other statement.

    Raises `GraphRefused` for one that the store of the box cannot make.
    """
    bare = wanted.without_comments.strip()
    if plain := _PLAIN.match(bare):
        return IndexDefinition(
            "PLAIN", unquoted(plain["name"] or ""), unquoted(plain["label"] or ""), (), once=False, cypher=wanted.text
        )
    if not _BEGINNING.match(bare):
        return None
    found = _DEFINITION.fullmatch(bare)
    if found is None:
        raise GraphRefused(
            "an index of this kind is made here for nodes with one label: CREATE VECTOR INDEX name IF NOT EXISTS "
            "FOR (n:Label) ON (n.property) OPTIONS {…}, or CREATE FULLTEXT INDEX name IF NOT EXISTS "
            "FOR (n:Label) ON EACH [n.property]"
        )
    kind: Literal["VECTOR", "FULLTEXT"] = "VECTOR" if found["kind"].upper() == "VECTOR" else "FULLTEXT"
    properties = tuple(unquoted(name) for name in _PROPERTY.findall(found["properties"]))
    name, label = unquoted(found["name"] or ""), unquoted(found["label"])
    _check_names(name, label, properties)
    options = _options(found["options"] or "", properties) if kind == "VECTOR" else None
    return IndexDefinition(kind, name, label, properties, bool(found["once"]), options)


def create_lookup(label: str, key: str) -> str:
    """Return the Cypher that makes the index over a property of nodes with a label, once."""
    name = lookup_index(label, key)
    return f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{quoted(label)}) ON (n.{quoted(key)})"


def makes_index(given: Statement) -> bool:
    """Say whether a statement makes an index or a constraint."""
    bare = given.without_comments.strip()
    return bool(_PLAIN.match(bare) or _BEGINNING.match(bare))


def dropped_index(given: Statement) -> str | None:
    """Return the name of the index that a statement drops; None for every other statement."""
    found = _DROP.fullmatch(given.without_comments.strip())
    return unquoted(found["name"]) if found else None


def queried_index(given: Statement) -> Literal["VECTOR", "FULLTEXT"] | None:
    """Return the kind of index that a statement asks for nodes; None where it asks none."""
    found = _ASKS.search(given.text)
    return None if found is None else "VECTOR" if found[1].upper() == "VECTOR" else "FULLTEXT"


def names_index(name: str, given: Statement, params: Mapping[str, object]) -> bool:
    """Say whether a statement that asks an index gives this name, written out or as a parameter."""
    return f"'{name}'" in given.text or f'"{name}"' in given.text or name in params.values()


def create_statement(index: Mapping[str, Json], options: Mapping[str, VectorOptions]) -> str:
    """Return the Cypher that makes an index of either store anew, from its row of SHOW INDEXES.

    `options` are what the store of the box keeps beside; empty for a server, whose own statement is whole.
    """
    kind, name = str(index["type"]), str(index["name"])
    if kind == "VECTOR" and name in options:
        config = f"`vector.dimensions`: {options[name].dimensions}, "
        config += f"`vector.similarity_function`: '{options[name].similarity.lower()}'"
        return f"{_head(index)} ON ({_each(index)}) OPTIONS {{indexConfig: {{{config}}}}}"
    if kind == "FULLTEXT" and index["entityType"] == "NODE":
        return f"{_head(index)} ON EACH [{_each(index)}]"
    return str(index["createStatement"])


def as_cypher(wanted: IndexDefinition) -> str:
    """Return the Cypher that makes an index, or a constraint, anew."""
    if wanted.cypher:
        return wanted.cypher
    name, options = wanted.known_as, wanted.options
    row: dict[str, Json] = {"type": wanted.kind, "name": name, "entityType": "NODE", "labelsOrTypes": [wanted.label]}
    return create_statement({**row, "properties": [*wanted.properties]}, {name: options} if options else {})


def _head(index: Mapping[str, Json]) -> str:
    labels = "|".join(quoted(str(label)) for label in listed(index["labelsOrTypes"]))
    return f"CREATE {index['type']} INDEX {quoted(str(index['name']))} IF NOT EXISTS FOR (n:{labels})"


def _each(index: Mapping[str, Json]) -> str:
    return ", ".join(f"n.{quoted(str(name))}" for name in listed(index["properties"]))


def _options(given: str, properties: tuple[str, ...]) -> VectorOptions:
    dimensions, similarity = _DIMENSIONS.search(given), _SIMILARITY.search(given)
    function = similarity[1].upper() if similarity else SIMILARITIES[0]
    if dimensions is None or function not in SIMILARITIES or len(properties) != 1:
        raise GraphRefused(
            "a vector index here is on one property and needs OPTIONS {indexConfig: {`vector.dimensions`: 384, "
            "`vector.similarity_function`: 'cosine'}} with numbers written out, the function cosine or euclidean"
        )
    return VectorOptions(int(dimensions[1]), function)


def _check_names(name: str, label: str, properties: tuple[str, ...]) -> None:
    """Refuse names that the store's own language cannot say."""
    if "`" in name + label or "~" in name + label or not all(re.fullmatch(r"\w+", each) for each in properties):
        raise GraphRefused(
            "an index of this kind takes no ` or ~ in its name and label, and a property of letters, digits and _ only"
        )
