"""Hostile and careless schemas: each becomes one that every provider takes, or a sentence."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.model.messages import ToolSpec
from agent.model.wire.openai import validate_tools
from agent.tools.mcp.schema import (
    MOST_CHARACTERS,
    MOST_DESCRIPTION,
    MOST_NODES,
    PROPERTY,
    TYPES,
    SchemaRefused,
    legal_schema,
    plain,
)

pytestmark = pytest.mark.shows("B13")


def of_one(argument: object, **root: object) -> Any:
    """The legal form of an argument's schema."""
    properties: Any = legal_schema({"type": "object", "properties": {"a": argument}, **root})["properties"]
    return properties["a"]


def test_what_every_provider_understands_stays_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {
            "street": {"type": "string", "description": "Where.", "minLength": 1},
            "kind": {"type": ["string", "null"], "enum": ["a", "b"], "default": "a"},
            "many": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 3},
            "any": {"anyOf": [{"type": "number"}, {"type": "boolean"}]},
            "map": {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
        },
        "required": ["street"],
        "additionalProperties": False,
    }
    legal = legal_schema(schema)
    assert {**legal, "properties": {**legal["properties"], "kind": None}} == {  # type: ignore[dict-item]
        **schema,
        "properties": {**schema["properties"], "kind": None},  # type: ignore[dict-item]
    }
    assert legal["properties"]["kind"] == {"type": ["string", "null"], "enum": ["a", "b"], "default": "a"}  # type: ignore[index,call-overload]


def test_no_arguments_are_an_empty_object() -> None:
    assert legal_schema({}) == {"type": "object", "properties": {}}


@pytest.mark.parametrize("kind", ["string", "array", 7, ["object"], None])
def test_arguments_that_are_no_object_are_refused(kind: object) -> None:
    with pytest.raises(SchemaRefused, match="no object"):
        legal_schema({"type": kind})


def test_references_are_written_out() -> None:
    place = {"type": "object", "properties": {"city": {"$ref": "#/$defs/name"}}}
    shared = {"place": place, "name": {"type": "string"}, "a/b": {"type": "null"}}
    assert of_one({"$ref": "#/$defs/place"}, **{"$defs": shared}) == {
        "type": "object",
        "properties": {"city": {"type": "string"}},
    }
    assert of_one({"$ref": "#/$defs/name", "description": "Who."}, **{"$defs": shared})["description"] == "Who."
    assert of_one({"$ref": "#/$defs/a~1b"}, **{"$defs": shared}) == {"type": "null"}


def test_a_reference_that_leads_round_ends_in_anything() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}}
    assert of_one({"$ref": "#/$defs/tree"}, **{"$defs": {"tree": tree}}) == {
        "type": "object",
        "properties": {"left": {}},
    }
    assert of_one({"$ref": "#"}) == {}
    to_itself = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}
    assert of_one({"$ref": "#/$defs/a"}, **{"$defs": to_itself}) == {}


@pytest.mark.parametrize("reference", ["http://evil.example/s.json", "file:///etc/passwd", "#/nowhere", "", "#anchor"])
def test_a_reference_to_elsewhere_is_not_followed(reference: str) -> None:
    assert of_one({"$ref": reference, "type": "string"}) == {"type": "string"}


def test_references_that_multiply_are_refused() -> None:
    doubling = {f"d{n}": {"properties": {name: {"$ref": f"#/$defs/d{n + 1}"} for name in "abcdef"}} for n in range(40)}
    with pytest.raises(SchemaRefused, match=f"more than {MOST_NODES} parts"):
        of_one({"$ref": "#/$defs/d0"}, **{"$defs": doubling})


def test_a_deep_schema_ends_in_anything_and_a_huge_one_is_refused() -> None:
    deep: dict[str, object] = {"type": "string"}
    for _ in range(500):
        deep = {"type": "array", "items": deep}
    assert '"string"' not in json.dumps(of_one(deep))
    wide = {f"a{number}": {"type": "string", "description": "x" * 200} for number in range(100)}
    with pytest.raises(SchemaRefused, match=f"more than {MOST_CHARACTERS} characters"):
        legal_schema({"properties": wide})


def test_what_no_provider_takes_is_left_out() -> None:
    properties: Any = legal_schema(
        {
            "properties": {
                "good": {"type": "text", "format": "weird", "pattern": "(a+)+$", "minLength": -1, "title": "Good"},
                "bad name": {"type": "string"},
                "x" * 65: {},
                "numbers": {"minimum": math.inf, "maximum": 10**30, "multipleOf": True, "default": [1], "enum": [[]]},
                "no": False,
            },
            "required": ["good", "bad name", "ghost", 7],
        }
    )
    assert properties == {
        "type": "object",
        "properties": {"good": {}, "numbers": {}, "no": {}},
        "required": ["good"],
    }


def test_descriptions_are_cut_and_hold_no_control_characters() -> None:
    told = of_one({"description": "Go\x1b[2J\n\u202e on " + "x" * 1_000})["description"]
    assert told.startswith("Go [2J on xxx")
    assert told.isprintable()
    assert len(told) == MOST_DESCRIPTION + 1
    assert plain(None, 10) == ""
    assert plain("a\ud800b", 10) == "a?b"
    assert plain("0123456789", 10) == "0123456789"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["#/$defs/a", "#"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "$ref", "anyOf", "required", "enum", "$defs", "a", "é b"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from(["properties", "required", "$defs", "$ref", "anyOf"]), anything))
def test_anything_at_all_becomes_legal_or_a_sentence(given: dict[str, object]) -> None:
    try:
        legal = legal_schema(given)
    except SchemaRefused:
        return
    validate_tools([ToolSpec("t", "d", legal)])
    json.dumps(legal, allow_nan=False).encode()
    assert legal_schema(legal) == legal
    check(legal)


def check(schema: Any) -> None:
    """Every schema within holds legal words only."""
    kinds = schema.get("type", [])
    assert set([kinds] if isinstance(kinds, str) else kinds) <= set(TYPES)
    assert "$ref" not in schema
    for name, inner in schema.get("properties", {}).items():
        assert PROPERTY.fullmatch(name)
        check(inner)
    for inner in schema.get("anyOf", []):
        check(inner)
