"""The driver's values as JSON for a reader: nodes, relationships, paths, times, points, bytes."""

import base64
import math
import re
from collections.abc import Mapping
from typing import Final

from neo4j import graph, spatial, time

from memory.graph.results import LONGEST_VECTOR
from memory.json_value import Json

_ZEROS: Final = re.compile(r"(\.\d*?)0+(?!\d)")
"""The end of a fraction: the driver writes nine digits always."""


def plain(value: object, longest_vector: int = LONGEST_VECTOR) -> Json:
    """Return a value of the driver as JSON.

    A node is `{elementId, labels, properties}`, a relationship `{elementId, type, start, end, properties}` with the
    elementIds of its ends, a path `{nodes, relationships}`; times and durations are ISO 8601 as Cypher's own functions
    read them, points `{x, y[, z], srid}`, bytes `{base64}`, NaN and infinities their names. Lists of more than
    `longest_vector` floats are replaced by a word about them: an embedding is of no use to a reader.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case graph.Node() | graph.Relationship():
            return _entity(value, longest_vector)
        case graph.Path():
            return {
                "nodes": [_entity(node, longest_vector) for node in value.nodes],
                "relationships": [_entity(each, longest_vector) for each in value.relationships],
            }
        case list():
            return _list(value, longest_vector)
        case Mapping():
            return {str(key): plain(item, longest_vector) for key, item in value.items()}
    return _scalar(value)


def _scalar(value: object) -> Json:
    match value:
        case float():
            return value if math.isfinite(value) else _not_finite(value)
        case bytes() | bytearray():
            return {"base64": base64.b64encode(value).decode("ascii")}
        case spatial.Point():
            return {**dict(zip("xyz", value, strict=False)), "srid": value.srid}
        case time.DateTime() | time.Time():
            return _short(value.iso_format()) + _zone(value)
        case time.Date() | time.Duration():
            return value.iso_format()
    return str(value)


def _list(values: list[object], longest_vector: int) -> Json:
    if len(values) > longest_vector and all(isinstance(item, float) for item in values):
        return f"({len(values)} numbers, left out)"
    return [plain(item, longest_vector) for item in values]


def _entity(value: graph.Node | graph.Relationship, longest_vector: int) -> Json:
    properties: Json = {key: plain(each, longest_vector) for key, each in sorted(value.items())}
    if isinstance(value, graph.Node):
        return {"elementId": value.element_id, "labels": [*sorted(value.labels)], "properties": properties}
    start, end = (None if each is None else each.element_id for each in value.nodes)
    return {"elementId": value.element_id, "type": value.type, "start": start, "end": end, "properties": properties}


def _short(moment: str) -> str:
    """Return an ISO time without the zeros its fraction ends in."""
    return _ZEROS.sub(lambda found: found[1].rstrip("."), moment, count=1)


def _zone(moment: time.DateTime | time.Time) -> str:
    """Return a region as Cypher writes it, `[Asia/Shanghai]`; nothing for UTC and plain offsets."""
    region = getattr(moment.tzinfo, "zone", None)  # pytz's name for it, which the driver makes its zones with
    return f"[{region}]" if region and "/" in region and region != "Etc/UTC" else ""


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
