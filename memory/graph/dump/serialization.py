"""Values of a graph as JSON without loss, for audit log and snapshots."""

import base64
import math
import re
from array import array
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from memory.graph.cypher import quoted
from memory.json_value import Json

Properties: TypeAlias = Mapping[str, Any]
"""By name, as JSON."""

LONGEST_PLAIN_LIST: Final = 16
"""Floats that stay readable; a longer list of nothing but floats is an embedding, and is packed."""

_POINTS: Final = {7203: "CartesianPoint", 9157: "CartesianPoint", 4326: "WGS84Point", 4979: "WGS84Point"}
"""The driver's classes by srid."""

_OFFSET: Final = re.compile(r"(Z|[+-]\d\d:\d\d(:\d\d)?)$")
"""How a time with a zone ends; one without has nothing behind its seconds."""


def serialized(value: object) -> Json:
    """Return a value as JSON: what JSON has as it is, anything else as an object with one key that begins with $.

    Takes what a property or a parameter can be: null, booleans, integers, floats (NaN and infinities too), texts,
    bytes, times, durations, points, lists and maps of these. Raises TypeError for anything else.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"$float": str(value)}
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(value).decode()}
        case list() | tuple() if type(value) in (list, tuple):  # the driver's durations and points are tuples too
            return _list([*value])
        case Mapping():
            items: Json = {str(key): serialized(item) for key, item in value.items()}
            return {"$map": items} if str(next(iter(value), "")).startswith("$") else items
    return _moment_or_place(value)


def deserialized(value: Json) -> object:
    """Return the value that `serialized` was given, with the driver's types for times and points.

    Raises ValueError for what `serialized` never writes.
    """
    match value:
        case list():
            return [deserialized(item) for item in value]
        case dict():
            key = next(iter(value), "")
            if not key.startswith("$"):
                return {name: deserialized(item) for name, item in value.items()}
            try:
                return _read(key, value[key], value.get("zone"))
            except (KeyError, TypeError) as error:
                raise ValueError(f"no value is written as {key!r}") from error
    return value


def zoned(properties: Properties) -> tuple[tuple[str, str, bool], ...]:
    """Return which properties hold times with a zone: key, the function that reads them, whether in a list.

    The embedded store drops the zone of a time that stands inside of a list of maps, so that these go in as texts.
    """
    found = []
    for key, value in sorted(properties.items()):
        first = value[0] if isinstance(value, list) and value else value
        kind = next((name for name in ("datetime", "time") if isinstance(first, dict) and f"${name}" in first), "")
        if kind and _OFFSET.search(first[f"${kind}"]):
            found.append((key, kind, isinstance(value, list)))
    return tuple(found)


def given(properties: Properties, times: tuple[tuple[str, str, bool], ...]) -> dict[str, object]:
    """Return a row's properties: those that can be sent as they are, and the times as texts."""
    texts = {
        key: [_text(item, kind) for item in properties[key]] if many else _text(properties[key], kind)
        for key, kind, many in times
    }
    return {"p": deserialized({key: value for key, value in properties.items() if key not in texts}), "z": texts}


def _text(value: Properties, kind: str) -> str:
    zone = value.get("zone", "")
    return f"{value[f'${kind}']}[{zone}]" if zone else str(value[f"${kind}"])


def setting(name: str, times: tuple[tuple[str, str, bool], ...]) -> str:
    """Return what reads the texts of `given` into properties."""
    read = {True: "[x IN row.z.{key} | {kind}(x)]", False: "{kind}(row.z.{key})"}
    return "".join(
        f", {name}.{quoted(key)} = {read[many].format(key=quoted(key), kind=kind)}" for key, kind, many in times
    )


def _list(values: list[object]) -> Json:
    floats = [value for value in values if type(value) is float]
    if len(floats) == len(values) > LONGEST_PLAIN_LIST:
        return {"$floats": base64.b64encode(array("d", floats).tobytes()).decode()}
    return [serialized(item) for item in values]


def _moment_or_place(value: object) -> Json:
    from neo4j import spatial, time

    match value:
        case time.Duration():
            return {"$duration": [value.months, value.days, value.seconds, value.nanoseconds]}
        case spatial.Point():
            return {"$point": [value.srid, *value]}
        case time.DateTime():
            region = getattr(value.tzinfo, "zone", None)  # pytz's name for it; None for a plain offset
            return {"$datetime": value.iso_format(), **({"zone": region} if _is_a_place(region) else {})}
        case time.Date():
            return {"$date": value.iso_format()}
        case time.Time():
            return {"$time": value.iso_format()}
    raise TypeError(f"no {type(value).__name__} can be written down")


def _is_a_place(region: str | None) -> bool:
    """Whether a zone is more than the offset that stands in the time already."""
    return region is not None and "/" in region and not region.startswith("Etc/")


def _read(key: str, written: Json, zone: Json) -> object:
    match key, written:
        case "$map", dict():
            return {name: deserialized(item) for name, item in written.items()}
        case "$float", str():
            return float(written)
        case "$bytes", str():
            return base64.b64decode(written, validate=True)
        case "$floats", str():
            return array("d", base64.b64decode(written, validate=True)).tolist()
    return _read_moment_or_place(key, written, zone)


def _read_moment_or_place(key: str, written: Json, zone: Json) -> object:
    import pytz
    from neo4j import spatial, time

    match key, written:
        case "$datetime", str():
            moment = time.DateTime.from_iso_format(written)
            # zoneinfo's zones make the driver crash CPython 3.11; pytz's are what it makes itself.
            return moment.as_timezone(pytz.timezone(str(zone))) if zone else moment
        case "$date", str():
            return time.Date.from_iso_format(written)
        case "$time", str():
            return time.Time.from_iso_format(written)
        case "$duration", [int() as months, int() as days, int() as seconds, int() as nanoseconds]:
            return time.Duration(months=months, days=days, seconds=seconds, nanoseconds=nanoseconds)
        case "$point", [int() as srid, *place]:
            kind: type[spatial.Point] = getattr(spatial, _POINTS[srid])
            return kind([float(str(number)) for number in place])
    raise ValueError(f"no value is written as {key!r}")
