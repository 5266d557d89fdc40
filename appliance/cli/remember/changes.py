"""Changes of the graph since a moment, in lines for people."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any, Final

from memory.json_value import Json

_COUNTERS: Final = {
    "nodesCreated": ("node made", "nodes made"),
    "nodesDeleted": ("node deleted", "nodes deleted"),
    "relationshipsCreated": ("relationship made", "relationships made"),
    "relationshipsDeleted": ("relationship deleted", "relationships deleted"),
    "propertiesSet": ("property set", "properties set"),
    "labelsAdded": ("label added", "labels added"),
    "labelsRemoved": ("label removed", "labels removed"),
    "indexesAdded": ("index added", "indexes added"),
    "indexesRemoved": ("index removed", "indexes removed"),
}

LONGEST: Final = 100
"""Characters of a statement, and of a node."""


def changes_told(found: Json, zone: tzinfo) -> Json:
    """Return the lines that tell what `memory.changes` found, in this zone."""
    return [*_lines(found, zone)] if isinstance(found, dict) else found


def counted(stats: Mapping[str, Json]) -> str:
    """Return counters of the graph in words, "nothing changed" where all are 0."""
    told = [f"{stats[name]} {words[stats[name] != 1]}" for name, words in _COUNTERS.items() if stats.get(name)]
    return ", ".join(told) or "nothing changed"


def _lines(found: Mapping[str, Any], zone: tzinfo) -> Iterator[str]:
    writes = found["writes"]
    since = datetime.fromisoformat(found["since"]).astimezone(zone)
    times = f"{len(writes)} write{'' if len(writes) == 1 else 's'}"
    yield f"since {since:%Y-%m-%d %H:%M}: {counted(found['totals'])}, in {times}"
    for each in writes:
        at = datetime.fromisoformat(each["at"]).astimezone(zone)
        yield f"{at:%Y-%m-%d %H:%M}  {each['event_id']}: {counted(each['stats'])}"
        yield f"    {_short(each['statement'] or '(erased)')}"
    for kind in ("nodes", "relationships"):
        for way, mark in (("came", "+"), ("went", "-")):
            sides = found.get(kind, {}).get(way, {"count": 0, "first": []})
            yield from (f"{mark} {_thing(text)}" for text in sides["first"])
            if (more := sides["count"] - len(sides["first"])) > 0:
                yield f"{mark} {more} more {kind}"


def _thing(text: str) -> str:
    """Return a node, or a relationship between two, as Cypher draws it."""
    what = json.loads(text)
    if len(what) == 2:
        return _short(_node(*what))
    kind, properties, start, end = what
    told = f" {_values(properties)}" if properties else ""
    return _short(f"{_node(*json.loads(start))}-[:{kind}{told}]->{_node(*json.loads(end))}", 2 * LONGEST)


def _node(labels: list[str], properties: Any) -> str:
    return f"({''.join(f':{label}' for label in labels)} {_values(properties)})"


def _values(properties: Any) -> str:
    return json.dumps({key: _plain(value) for key, value in properties.items()}, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return a time, a place or a vector without the mark that says which it is."""
    if isinstance(value, dict) and len(value) == 1 and (mark := next(iter(value))).startswith("$"):
        return value[mark]
    return value


def _short(text: str, most: int = LONGEST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"
