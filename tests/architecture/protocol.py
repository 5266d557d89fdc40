"""The protocol of the streams, made from its models. Run it to write the JSON Schema and the page's types anew."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Union

from pydantic import Field, TypeAdapter

from appliance.live.from_client import FROM_CLIENT
from appliance.live.messages import MESSAGES
from tests.architecture.source import ROOT

SCHEMA: Final = ROOT / "appliance" / "live" / "protocol.schema.json"
TYPES: Final = ROOT / "appliance" / "console" / "src" / "protocol.ts"

TO_CLIENT: Final[TypeAdapter[Any]] = TypeAdapter(
    Annotated[Union[tuple(MESSAGES.values())], Field(discriminator="event")]  # type: ignore[arg-type]  # noqa: UP007  made of a list
)
"""What the appliance says."""

_PRIMITIVES: Final = {
    "": "JsonValue",
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}

_HEAD: Final = """\
// The messages of the streams. Made from appliance/live/ by `python -m tests.architecture.protocol`.

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
"""


def schema() -> dict[str, Any]:
    """Return the JSON Schema of both directions: `ServerMessage` and `ClientMessage` in its definitions."""
    to_client = TO_CLIENT.json_schema(mode="serialization", ref_template="#/$defs/{model}")
    from_client = FROM_CLIENT.json_schema(mode="validation", ref_template="#/$defs/{model}")
    definitions = to_client.pop("$defs") | from_client.pop("$defs")
    definitions |= {"ServerMessage": to_client, "ClientMessage": from_client}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": dict(sorted(definitions.items()))}


def types(definitions: Mapping[str, Any]) -> Iterator[str]:
    """Yield the page's types, one for each definition of the schema."""
    for name, definition in definitions.items():
        if name == "JsonValue":
            continue
        if about := definition.get("description"):
            yield f"/** {' '.join(about.split())} */"
        yield f"export type {name} = {_type(definition)};\n"


def _type(part: Mapping[str, Any]) -> str:
    """Return the TypeScript of one piece of a JSON Schema; raises KeyError for what no message has used so far."""
    union = part.get("oneOf") or part.get("anyOf")
    if union:
        return " | ".join(map(_type, union))
    if "$ref" in part:
        return str(part["$ref"]).rsplit("/", 1)[1]
    if values := part.get("enum") or ([part["const"]] if "const" in part else []):
        return " | ".join(map(json.dumps, values))
    return _PRIMITIVES.get(part["type"]) or (
        _object(part) if part["type"] == "object" else f"Array<{_type(part['items'])}>"
    )


def _object(part: Mapping[str, Any]) -> str:
    if "properties" not in part:
        values = part.get("additionalProperties", True)
        return f"{{ [key: string]: {_type(values) if isinstance(values, dict) else 'JsonValue'} }}"
    required = part.get("required", ())
    lines = [
        f"  {name}{'' if name in required else '?'}: {_type(value)};" for name, value in part["properties"].items()
    ]
    return "\n".join(["{", *lines, "}"])


def pages() -> dict[Any, str]:
    """Return what each of the two files has to hold."""
    whole = schema()
    return {
        SCHEMA: json.dumps(whole, indent=2) + "\n",
        TYPES: "\n".join([_HEAD, *types(whole["$defs"])]),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
